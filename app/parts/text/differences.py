"""The difference between two texts as lines that were removed, added or stayed: below each other or side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QColor, QTextBlockFormat, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QWidget

from app.parts.text.difference_colors import DifferenceColors
from app.parts.text.line_notes import LineNote
from app.parts.text.visible_characters import expose
from runner.model.difference import DiffLine, Side
from runner.model.translation import numeral, plural, tr

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.look.look import Look
    from app.parts.text.line_notes import ShownLine

SHOWN, LONGEST = 2000, 2000
"""Lines, and characters of a line, that are shown."""
MOST_TEXT = 400_000
"""Characters of each text that are compared; a line says that the rest was left out."""
SAME = tr("Both are the same.")
COMPARING = tr("Comparing\N{HORIZONTAL ELLIPSIS}")


class DifferenceView(QPlainTextEdit):
    """Lines that were removed, added or stayed; unchanged parts fold."""

    def __init__(self, look: Look, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # painted from the left
        self._look = look
        self._shown: tuple[tuple[ShownLine, ...], bool, str] | None = None
        self._words = ""
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("pane", True)
        self.setFont(look.mono())
        self.setUndoRedoEnabled(False)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setAccessibleName(name)
        self.setPlainText(COMPARING)
        self._colors = DifferenceColors(self.document(), look)
        look.changed.connect(self._again)

    def show_lines(self, lines: tuple[ShownLine, ...], cut: bool = False, language: str = "") -> None:
        """Show a difference; `cut`: there is more text that was not compared.

        With a `language` that has a lexer its words have their colors, and only signs and grounds say what changed.
        """
        self._shown = lines, cut, language
        self._colors.forget()
        self.clear()
        tokens = self._look.tokens
        removed, added = ("text", "text") if language else ("high", "low")
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        if not lines:
            self._write(cursor, SAME, "muted")
        # The end of the last line is not a line of its own, where both texts have it.
        last = lines[-1] if lines else None
        ended = isinstance(last, DiffLine) and last.side is Side.SAME and not last.text
        for line in lines[: min(SHOWN, len(lines) - ended)]:
            if isinstance(line, LineNote):
                self._write(cursor, line.text, line.ink)
                continue
            match line.side:
                case Side.FOLDED:
                    self._write(
                        cursor,
                        f"⋮     {plural('{count} unchanged line', '{count} unchanged lines', line.count)}",
                        "muted",
                    )
                case Side.REMOVED:
                    self._write(cursor, numbered("-", line.old, line.text), removed, tokens.high_tint)
                case Side.ADDED:
                    self._write(cursor, numbered("+", line.new, line.text), added, tokens.low_tint)
                case Side.SAME:
                    self._write(cursor, numbered(" ", line.new, line.text), "text")
        if len(lines) > SHOWN:
            self._write(cursor, tr("and {count} more lines", count=numeral(len(lines) - SHOWN)), "muted")
        if cut:
            self._write(
                cursor,
                tr("Only the first {most_text} characters of each were compared.", most_text=numeral(MOST_TEXT)),
                "muted",
            )
        cursor.endEditBlock()
        self.moveCursor(QTextCursor.MoveOperation.Start)
        if language:
            self._colors.begin(lines[:SHOWN], language)

    def show_words(self, text: str) -> None:
        """Show text that is no difference."""
        self._shown = None
        self._words = text
        self._colors.forget()
        self.clear()
        cursor = QTextCursor(self.document())
        for line in text.split("\n"):
            self._write(cursor, line, "text")
        self.moveCursor(QTextCursor.MoveOperation.Start)

    @Slot()
    def _again(self) -> None:
        """Show the same in other colors."""
        if self._shown is not None:
            self.show_lines(*self._shown)
        elif self._words:
            self.show_words(self._words)

    def _write(self, cursor: QTextCursor, text: str, ink: str, ground: str = "") -> None:
        write_line(cursor, text, getattr(self._look.tokens, ink), ground)


class SideBySide(QWidget):
    """The old text at the left and the new one at the right, each change beside what it replaces."""

    def __init__(
        self,
        look: Look,
        name: str,
        parent: QWidget | None = None,
        make: Callable[[Look, str], DifferenceView] = DifferenceView,
    ) -> None:
        """`make` makes the view of each side."""
        super().__init__(parent)
        self.old = make(look, tr("{name}: before", name=name))
        self.new = make(look, tr("{name}: after", name=name))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(look.px(4))
        for one, other in ((self.old, self.new), (self.new, self.old)):
            row.addWidget(one, 1)
            one.verticalScrollBar().valueChanged.connect(other.verticalScrollBar().setValue)
            one.horizontalScrollBar().valueChanged.connect(other.horizontalScrollBar().setValue)

    def show_lines(self, lines: tuple[ShownLine, ...], language: str = "") -> None:
        """Show a difference."""
        old, new = beside_each_other(lines)
        self.old.show_lines(old, language=language)
        self.new.show_lines(new, language=language)


def beside_each_other(lines: tuple[ShownLine, ...]) -> tuple[tuple[ShownLine, ...], tuple[ShownLine, ...]]:
    """Return the lines of both texts, with empty ones where one of them has nothing; a remark is about the new one."""
    old: list[ShownLine] = []
    new: list[ShownLine] = []
    for line in lines:
        if isinstance(line, LineNote):
            if line.part:
                _fill(old, new)
                old.append(line)
            new.append(line)
            continue
        if line.side is Side.REMOVED:
            old.append(line)
            continue
        if line.side is Side.ADDED:
            new.append(line)
            continue
        _fill(old, new)
        # Each view has the number of its own text.
        old.append(DiffLine(line.side, line.text, new=line.old, count=line.count))
        new.append(line)
    _fill(old, new)
    return tuple(old), tuple(new)


def _fill(old: list[ShownLine], new: list[ShownLine]) -> None:
    for short, long in ((old, new), (new, old)):
        short += [DiffLine(Side.SAME)] * (len(long) - len(short))


def write_line(cursor: QTextCursor, text: str, ink: str, ground: str = "") -> None:
    """Write a line in a color of its own."""
    if not cursor.atStart():
        cursor.insertBlock()
    block, letters = QTextBlockFormat(), QTextCharFormat()
    if ground:
        block.setBackground(QColor(ground))
    letters.setForeground(QColor(ink))
    cursor.setBlockFormat(block)
    cursor.insertText(text, letters)


def numbered(sign: str, number: int | None, text: str) -> str:
    """Return a line of a difference with its sign and number; what is too long is cut, and says so."""
    shown = expose(text[:LONGEST]).text
    cut = tr(" … {count} more characters", count=numeral(len(text) - LONGEST)) if len(text) > LONGEST else ""
    return f"{sign} {number or '':>4}  {shown}{cut}"
