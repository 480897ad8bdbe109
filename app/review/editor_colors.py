"""Colors the words of the code that a person edits, a few milliseconds at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat

from app.parts.text.lexing import Lexing
from app.parts.text.visible_characters import lines_of

if TYPE_CHECKING:
    from PySide6.QtGui import QTextDocument

    from app.look.look import Look
    from app.parts.text.lexing import Word

PAUSE_MS = 120
"""Without a key after which the words are looked for again."""


class EditorColors(QSyntaxHighlighter):
    """Formats only: the text is never touched. Lines keep their colors until their words are known again."""

    def __init__(self, document: QTextDocument, look: Look) -> None:
        super().__init__(document)
        self._look = look
        self._language = ""
        self._words: list[list[Word]] = []
        self._text: str | None = None
        """The text whose words are known, or being found."""
        self._lexing = Lexing(self)
        self._lexing.grew.connect(self._color)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self._look_again)
        look.changed.connect(self.rehighlight)

    def open(self, language: str) -> None:
        """Begin with another text in `language`, a value of `Language`."""
        self._language = language
        self._words = []
        self._text = None
        self._look_again()

    @Slot()
    def look_again(self) -> None:
        """Find the words again once the keys rest."""
        self._pause.start()

    @Slot()
    def _look_again(self) -> None:
        self._pause.stop()
        text = self.document().toPlainText()
        if text == self._text:  # Qt says of new colors too that the text was changed: it would never end
            return
        self._text = text
        self._lexing.start(lines_of(text, every_return=self._language == "python"), self._language)

    @Slot(int, int)
    def _color(self, first: int, last: int) -> None:
        """Color lines `first` to before `last` where their words are others than before."""
        self._words += [[] for _ in range(last - len(self._words))]
        for line in range(first, last):
            words = self._lexing.line(line)
            if words != self._words[line]:
                self._words[line] = list(words)
                block = self.document().findBlockByNumber(line)
                if block.isValid():
                    self.rehighlightBlock(block)

    def highlightBlock(self, text: str) -> None:
        line = self.currentBlock().blockNumber()
        for start, end, kind in self._words[line] if line < len(self._words) else ():
            made = QTextCharFormat()
            made.setForeground(QColor(getattr(self._look.tokens, kind)))
            self.setFormat(_units(text, start), _units(text, end) - _units(text, start), made)


def _units(text: str, column: int) -> int:
    """Return where a column of characters is in the units of Qt, in which some characters are two."""
    return len(text[:column].encode("utf-16-le")) // 2
