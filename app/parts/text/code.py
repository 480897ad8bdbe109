"""Code under review: every character visible, findings at their lines, nothing off to the side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from app.parts.plain import tip
from app.parts.text.code_canvas import CodeCanvas
from app.parts.text.code_tools import CodeTools, resizes
from app.parts.text.listing import remark
from app.parts.text.selection import TextPosition
from app.parts.text.to_clipboard import to_clipboard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.look.look import Look
    from runner.model.assessment import Finding


class CodeView(CodeCanvas):
    """Read-only. Arrows, Page Up, Page Down, Home and End move by lines; n and p go from finding to finding.

    O shows what is folded. Lines longer than the view continue in the next row; Alt+Z lets them go beyond the edge.
    Characters that show nothing, or that change the order of others, are shown as boxed escapes. Copying gives the
    source as it is.
    """

    finding_activated = Signal(object)
    """The Finding that was clicked or gone to."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(look, parent)
        self.tools = CodeTools(self, look, self._painting, self.next_finding)
        self.set_code("", "")

    def set_code(self, code: str, language: str, findings: Sequence[Finding] = ()) -> None:
        super().set_code(code, language, findings)
        self.tools.forget()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.below = self.tools.height
        super().resizeEvent(event)
        self.tools.place()

    def selected_text(self) -> str:
        """Return the selected piece of the source; the whole current line where nothing is selected."""
        lines = self._listing.lines
        if self._selection.empty:
            return lines[self._selection.caret.line]
        everything = (TextPosition(0, 0), TextPosition(len(lines) - 1, len(lines[-1])))
        ends = "\n" if self._listing.ends_line and self._selection.ends == everything else ""
        return self._selection.text(lines) + ends

    def copy(self) -> None:
        """Put `selected_text` on the clipboard."""
        to_clipboard(self.selected_text())

    def select_all(self) -> None:
        self._selection.anchor = TextPosition(0, 0)
        self._put_caret(TextPosition(self.line_count - 1, len(self._listing.lines[-1])), keep_anchor=True)

    def next_finding(self, step: int = 1) -> None:
        """Go to the next line with findings, or with -1 to the one before; around at the end."""
        flagged = self._listing.flagged
        if not flagged:
            return
        here = self._selection.caret.line
        ahead = [line for line in flagged if (line > here if step > 0 else line < here)]
        line = (ahead or flagged)[0 if step > 0 else -1]
        self.scroll_to(line + 1)
        self._activate(line)

    def event(self, event: QEvent) -> bool:
        # The window has keys with the same numbers, for its pages.
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and resizes(event):
            event.accept()
            return True
        return bool(super().event(event))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, shift = event.key(), bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        others = event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
        page = self._rows_visible() - 1
        moves = {
            Qt.Key.Key_Up: -1,
            Qt.Key.Key_Down: 1,
            Qt.Key.Key_PageUp: -page,
            Qt.Key.Key_PageDown: page,
            Qt.Key.Key_Home: -self.line_count,
            Qt.Key.Key_End: self.line_count,
        }
        if self.tools.press(event):
            event.accept()
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif key in moves and not others & ~Qt.KeyboardModifier.ControlModifier:
            self._move(moves[Qt.Key(key)], shift)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right) and not others and not self.wrapped:
            bar = self.horizontalScrollBar()
            bar.setValue(bar.value() + (bar.singleStep() if key == Qt.Key.Key_Right else -bar.singleStep()))
        elif key in (Qt.Key.Key_N, Qt.Key.Key_P) and not others:
            self.next_finding(1 if key == Qt.Key.Key_N and not shift else -1)
        elif key == Qt.Key.Key_O and not others and self.folds:
            self.show_all(bool(self._listing.folded))
        else:
            event.ignore()  # decisions and other shortcuts belong to the window

    def _move(self, lines: int, keep_anchor: bool) -> None:
        """Move by whole lines; a page is counted in rows, so that a long line is not skipped."""
        rows = self._layout.rows
        if abs(lines) == 1 or abs(lines) >= self.line_count:
            line = min(max(0, self._selection.caret.line + lines), self.line_count - 1)
        else:
            self.verticalScrollBar().setValue(self.verticalScrollBar().value() + lines)
            row = min(max(0, rows.row(self._selection.caret.line) + lines), rows.total - 1)
            line = rows.at(row)[0]
        self._put_caret(TextPosition(line, 0), keep_anchor)
        self._reveal(line, to_end=lines > 0)

    def _reveal(self, line: int, to_end: bool) -> None:
        bar = self.verticalScrollBar()
        first = self._layout.rows.row(line)
        last = self._layout.rows.row(line + 1) - 1 if line + 1 < self.line_count else self._layout.rows.total - 1
        if first < bar.value():
            bar.setValue(first)
        elif to_end and last >= bar.value() + self._rows_visible():
            bar.setValue(last - self._rows_visible() + 1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        line, column, remarked = self._hit(event.position())
        if self._is_fold(event.position()):
            self.show_all(True)
        self._put_caret(TextPosition(line, column), bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        if remarked:
            self._activate(line)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not event.buttons() & Qt.MouseButton.LeftButton:
            return
        y = event.position().y()
        if y < 0 or y > self.viewport().height():
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + (1 if y > 0 else -1))
        line, column, _ = self._hit(event.position())
        self._put_caret(TextPosition(line, column), keep_anchor=True)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        line, column, _ = self._hit(event.position())
        start, end = self._listing.word_at(line, column)
        self._selection.anchor = TextPosition(line, start)
        self._put_caret(TextPosition(line, end), keep_anchor=True)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            line, _, _ = self._hit(QPointF(event.pos()))
            found = self._listing.findings_at(line)
            text = "\n".join(f"{remark(finding)} {finding.reference}".strip() for finding in found)
            QToolTip.showText(event.globalPos(), tip(text), self.viewport())
            return True
        return super().viewportEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_mouse = event.reason() is QContextMenuEvent.Reason.Mouse
        line, column, _ = self._hit(QPointF(event.pos())) if by_mouse else (*self._selection.caret, False)
        self.tools.open_menu(line, column, event.globalPos())

    def _row(self, at: QPointF) -> int:
        row = self.verticalScrollBar().value() + int(at.y() // self._grid.row_height)
        return min(max(0, row), self._layout.rows.total - 1)

    def _is_fold(self, at: QPointF) -> bool:
        """Return whether what stands in place of a folded piece is at a point of the viewport."""
        return self._layout.fold_at(*self._layout.rows.at(self._row(at))) >= 0

    def _hit(self, at: QPointF) -> tuple[int, int, bool]:
        """Return the line and column at a point of the viewport, and whether it is on a remark or the gutter."""
        row = self._row(at)
        line, nth = self._layout.rows.at(row)
        pieces = self._layout.pieces(line)
        if nth >= len(pieces):
            return line, 0, True
        grid, (start, _) = self._grid, pieces[nth]
        glyphs = self._painting.glyphs(row, line, pieces[nth])
        x, width = at.x() - self._painting.left(line, nth), self._painting.width(line, nth)
        column = self._listing.shown(line).column(start + glyphs.place(x, width))
        beside = any(
            at.x() > grid.left - self._painting.offset + grid.width - grid.remark_metrics.horizontalAdvance(text)
            for _, text in self._layout.beside(line)
        )
        return line, column, at.x() < grid.gutter or beside

    def _activate(self, line: int) -> None:
        found = self._listing.findings_at(line)
        if found:
            self.finding_activated.emit(max(found, key=lambda finding: finding.level))
