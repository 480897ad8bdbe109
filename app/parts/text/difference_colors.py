"""The words of a difference in the colors of code: each of the two texts is lexed by itself."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from app.parts.text.lexing import Lexing
from app.parts.text.line_notes import LineNote
from app.parts.text.visible_characters import expose
from runner.model.difference import Side

if TYPE_CHECKING:
    from app.look.look import Look
    from app.parts.text.line_notes import ShownLine


class DifferenceColors(QSyntaxHighlighter):
    """Colors the blocks of a document that shows a difference, a block each line, as they become known."""

    def __init__(self, document: QTextDocument, look: Look) -> None:
        super().__init__(document)
        self._look = look
        self._lines: tuple[ShownLine, ...] = ()
        self._places: list[tuple[Lexing, int] | None] = []
        """Of each block: where the words of its line are."""
        self._blocks: dict[int, list[int]] = {}
        """Of each text, by its lexing: the blocks of its lines."""
        self._old, self._new = Lexing(self), Lexing(self)
        for side in (self._old, self._new):
            side.grew.connect(partial(self._grown, id(side)))

    def forget(self) -> None:
        """Color nothing."""
        self._lines, self._places, self._blocks = (), [], {}

    def begin(self, lines: tuple[ShownLine, ...], language: str) -> None:
        """Color `lines`, which the document shows from its first block on."""
        self._lines = lines
        texts: dict[int, list[str]] = {id(self._old): [], id(self._new): []}
        self._blocks = {id(self._old): [], id(self._new): []}
        self._places = []
        for number, line in enumerate(lines):
            if isinstance(line, LineNote) or line.side is Side.FOLDED:
                self._places.append(None)
                continue
            in_old, in_new = line.side is not Side.ADDED, line.side is not Side.REMOVED
            for side, there in ((self._old, in_old), (self._new, in_new)):
                if there:
                    texts[id(side)].append(line.text)
                    self._blocks[id(side)].append(number)
            own = self._old if line.side is Side.REMOVED else self._new
            self._places.append((own, len(texts[id(own)]) - 1))
        for side in (self._old, self._new):
            if texts[id(side)]:
                side.start(texts[id(side)], language)
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        """Color one line, as far as its words are known."""
        number = self.currentBlock().blockNumber()
        place = self._places[number] if number < len(self._places) else None
        if place is None:
            return
        line = self._lines[number]
        assert not isinstance(line, LineNote)
        if line.side in (Side.REMOVED, Side.ADDED):
            self.setFormat(0, 1, self._format("high" if line.side is Side.REMOVED else "low"))
        own, at = place
        shown = expose(line.text)
        begin = len(f"  {(line.old if line.side is Side.REMOVED else line.new) or '':>4}  ")
        for start, end, kind in own.line(at):
            first, last = begin + shown.place(start), min(begin + shown.place(end), len(text))
            if first < last:
                self.setFormat(first, last - first, self._format(kind))

    def _grown(self, side: int, first: int, last: int) -> None:
        document = self.document()
        for number in self._blocks.get(side, [])[first:last]:
            self.rehighlightBlock(document.findBlockByNumber(number))

    def _format(self, token: str) -> QTextCharFormat:
        made = QTextCharFormat()
        made.setForeground(QColor(getattr(self._look.tokens, token)))
        return made
