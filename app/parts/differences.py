"""The difference between two texts as lines that were removed, added or stayed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtGui import QColor, QTextBlockFormat, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QPlainTextEdit

from app.parts.amounts import counted
from app.parts.expose import expose
from runner.model.difference import Side

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.look.look import Look
    from runner.model.difference import DiffLine

SHOWN, LONGEST = 2000, 2000
"""Lines, and characters of a line, that are shown."""
MOST_TEXT = 400_000
"""Characters of each text that are compared; a line says that the rest was left out."""
SAME = "Both are the same."
COMPARING = "Comparing\N{HORIZONTAL ELLIPSIS}"


class DifferenceView(QPlainTextEdit):
    """Lines that were removed, added or stayed; unchanged parts fold."""

    def __init__(self, look: Look, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._shown: tuple[tuple[DiffLine, ...], bool] | None = None
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("pane", True)
        self.setFont(look.mono())
        self.setUndoRedoEnabled(False)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setAccessibleName(name)
        self.setPlainText(COMPARING)
        look.changed.connect(self._again)

    def show_lines(self, lines: tuple[DiffLine, ...], cut: bool = False) -> None:
        """Show a difference; `cut`: there is more text that was not compared."""
        self._shown = lines, cut
        self.clear()
        tokens = self._look.tokens
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        if not lines:
            self._write(cursor, SAME, "muted")
        # The end of the last line is not a line of its own, where both texts have it.
        ended = bool(lines) and lines[-1].side is Side.SAME and not lines[-1].text
        for line in lines[: min(SHOWN, len(lines) - ended)]:
            match line.side:
                case Side.FOLDED:
                    self._write(cursor, f"\N{VERTICAL ELLIPSIS}     {counted(line.count, 'unchanged line')}", "muted")
                case Side.REMOVED:
                    self._write(cursor, numbered("-", line.old, line.text), "high", tokens.high_tint)
                case Side.ADDED:
                    self._write(cursor, numbered("+", line.new, line.text), "low", tokens.low_tint)
                case Side.SAME:
                    self._write(cursor, numbered(" ", line.new, line.text), "text")
        if len(lines) > SHOWN:
            self._write(cursor, f"and {len(lines) - SHOWN:,} more lines", "muted")
        if cut:
            self._write(cursor, f"Only the first {MOST_TEXT:,} characters of each were compared.", "muted")
        cursor.endEditBlock()
        self.moveCursor(QTextCursor.MoveOperation.Start)

    @Slot()
    def _again(self) -> None:
        """Show the same in other colors."""
        if self._shown is not None:
            self.show_lines(*self._shown)

    def _write(self, cursor: QTextCursor, text: str, ink: str, ground: str = "") -> None:
        write_line(cursor, text, getattr(self._look.tokens, ink), ground)


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
    cut = f" \N{HORIZONTAL ELLIPSIS} {len(text) - LONGEST:,} more characters" if len(text) > LONGEST else ""
    return f"{sign} {number or '':>4}  {shown}{cut}"
