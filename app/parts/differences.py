"""The difference between two texts as lines that were removed, added or stayed."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
"""Characters of each text that are compared; what is behind them is said to be left out."""
SAME = "Both are the same."
COMPARING = "Comparing\N{HORIZONTAL ELLIPSIS}"


class DifferenceView(QPlainTextEdit):
    """Lines that were removed, added or stayed; unchanged parts fold."""

    def __init__(self, look: Look, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("pane", True)
        self.setFont(look.mono())
        self.setUndoRedoEnabled(False)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setAccessibleName(name)
        self.setPlainText(COMPARING)

    def show_lines(self, lines: tuple[DiffLine, ...], cut: bool = False) -> None:
        """Show a difference; `cut`: there is more text that was not compared."""
        self.clear()
        tokens = self._look.tokens
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        if not lines:
            self._write(cursor, SAME, "muted")
        for line in lines[:SHOWN]:
            match line.side:
                case Side.FOLDED:
                    self._write(cursor, f"\N{VERTICAL ELLIPSIS}     {counted(line.count, 'unchanged line')}", "muted")
                case Side.REMOVED:
                    self._write(cursor, _numbered("-", line.old, line.text), "high", tokens.high_tint)
                case Side.ADDED:
                    self._write(cursor, _numbered("+", line.new, line.text), "low", tokens.low_tint)
                case Side.SAME:
                    self._write(cursor, _numbered(" ", line.new, line.text), "text")
        if len(lines) > SHOWN:
            self._write(cursor, f"and {len(lines) - SHOWN:,} more lines", "muted")
        if cut:
            self._write(cursor, f"Only the first {MOST_TEXT:,} characters of each were compared.", "muted")
        cursor.endEditBlock()
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def _write(self, cursor: QTextCursor, text: str, ink: str, ground: str = "") -> None:
        if not cursor.atStart():
            cursor.insertBlock()
        block, letters = QTextBlockFormat(), QTextCharFormat()
        if ground:
            block.setBackground(QColor(ground))
        letters.setForeground(QColor(getattr(self._look.tokens, ink)))
        cursor.setBlockFormat(block)
        cursor.insertText(text, letters)


def _numbered(sign: str, number: int | None, text: str) -> str:
    shown = expose(text[:LONGEST]).text
    cut = f" \N{HORIZONTAL ELLIPSIS} {len(text) - LONGEST:,} more characters" if len(text) > LONGEST else ""
    return f"{sign} {number or '':>4}  {shown}{cut}"
