"""Code under review: every character visible, findings at their lines, nothing off to the side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QGuiApplication,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from app.parts.amounts import counted
from app.parts.code_grid import CodeGrid
from app.parts.code_painting import CodeMarks, CodePainting
from app.parts.lexing import Lexing
from app.parts.listing import CodeLayout, CodeListing, remark
from app.parts.plain import tip
from app.parts.roles import Role
from app.parts.ruler import Ruler
from app.parts.selection import TextPosition, TextSelection
from app.parts.text_area import TextArea

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.look.look import Look
    from runner.model.assessment import Finding


class CodeView(TextArea):
    """Read-only. Arrows, Page Up, Page Down, Home and End move by lines; n and p go from finding to finding.

    Lines longer than the view go on in the next row. Characters that show nothing, or that change the order of
    others, are shown as boxed escapes. Copying gives the source as it is.
    """

    accessible_role = Role.Document
    finding_activated = Signal(object)
    """The Finding that was clicked or gone to."""
    seen_to_end = Signal(bool)
    """False when new code is set, True once its last row has been painted."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(look, parent)
        self._lexing = Lexing(self)
        self._lexing.grew.connect(self._recolor)
        self._ruler = Ruler(look, self)
        self._ruler.wanted.connect(self._go_to_share)
        self._selection = TextSelection()
        self._grid = CodeGrid(look)
        self._painting = CodePainting(look, self._grid, self._lexing, self._selection)
        self.marks = CodeMarks(self._painting, self.scroll_to, self.viewport().update)
        self._seen = False
        self._wanted: tuple[int, int] | None = None
        """The line to go to once it is laid out, and how many rows stand above it then."""
        self._further = QTimer(self)
        self._further.setSingleShot(True)
        self._further.timeout.connect(self._lay_further)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.set_code("", "")
        look.changed.connect(self._restyle)

    # ---- what it shows ----

    def set_code(self, code: str, language: str, findings: Sequence[Finding] = ()) -> None:
        """Show `code` from its first line; `language` is a value of `Language`."""
        self._listing = CodeListing(code, language, findings)
        self._selection.put(TextPosition(0, 0))
        self._seen = False
        self._lay_out()
        self._wanted = None
        self.verticalScrollBar().setValue(0)
        self._lexing.start(self._listing.lines, language)
        what = ["Code", language, counted(len(self._listing.lines), "line"), counted(len(findings), "finding")]
        self.setAccessibleName(", ".join(word for word in what if word))
        self._describe_line()
        self.seen_to_end.emit(False)

    @property
    def is_seen_to_end(self) -> bool:
        """Whether the last row of this code has been on the screen."""
        return self._seen

    @property
    def line_count(self) -> int:
        return len(self._listing.lines)

    def scroll_to(self, line: int) -> None:
        """Make `line`, counted from 1, the current line and bring it to the middle."""
        self._put_caret(TextPosition(min(max(0, line - 1), self.line_count - 1), 0))
        self._go_to(self._selection.caret.line, self._rows_visible() // 2)

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
        QGuiApplication.clipboard().setText(self.selected_text())

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

    # ---- measures ----

    def _lay_out(self) -> None:
        grid = self._grid
        grid.fit(self.line_count, self.viewport().width())
        self._layout = CodeLayout(self._listing, grid.columns, grid.beside, grid.remark_metrics.horizontalAdvance)
        self._painting.begin(self._listing, self._layout)
        self._range()
        self.viewport().update()
        self._further.start()

    @Slot()
    def _lay_further(self) -> None:
        """Lay out more lines in a turn of their own, then go where somebody wanted to go meanwhile."""
        if self._layout.complete:
            return
        self._layout.lay_further()
        self._range()
        if self._wanted is not None:
            self._go_to(*self._wanted)
        self.viewport().update()
        self._further.start()

    def _go_to(self, line: int, above: int) -> None:
        """Put `line` on the screen with so many rows above it, once it is laid out."""
        self._wanted = None if line < self._layout.laid else (line, above)
        self.verticalScrollBar().setValue(self._layout.rows.row(line) - above)

    def _range(self) -> None:
        visible = self._rows_visible()
        self.verticalScrollBar().setRange(0, max(0, self._layout.rows.total - visible))
        self.verticalScrollBar().setPageStep(visible)
        whole = max(self._layout.rows.total, visible) - 1 or 1
        rows = self._layout.rows
        self._ruler.set_marks({min(1.0, rows.row(line) / whole): level for line, level in self._listing.flags()})

    def _rows_visible(self) -> int:
        return max(1, self.viewport().height() // self._grid.row_height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        wide = self._look.px(8)
        self.setViewportMargins(0, 0, wide, 0)
        port = self.viewport().geometry()
        self._ruler.setGeometry(port.right() + 1, port.top(), wide, port.height())
        top = self._layout.rows.at(min(self.verticalScrollBar().value(), self._layout.rows.total - 1))[0]
        if self._grid.columns_in(port.width()) != self._grid.columns:
            self._lay_out()
            self._go_to(*(self._wanted or (top, 0)))
        else:
            self._grid.widen(port.width())
            self._range()

    # ---- painting ----

    def paintEvent(self, event: QPaintEvent) -> None:
        first, port = self.verticalScrollBar().value(), self.viewport().rect()
        painter = QPainter(self.viewport())
        try:
            self._painting.draw(painter, first, port.width(), port.height(), self.hasFocus())
            self.draw_focus(painter)
        finally:
            # A painter that is left active takes the window with it.
            painter.end()
        rows_left = self._layout.rows.total - first
        if not self._seen and self._layout.complete and rows_left * self._grid.row_height <= self.visible_height():
            self._seen = True
            # Said later: whoever listens may change widgets, which is not allowed while painting.
            QTimer.singleShot(0, self, lambda: self.seen_to_end.emit(True) if self._seen else None)

    def _recolor(self, first: int, last: int) -> None:
        """Draw lines `first` to before `last` again, now that their words are known."""
        from_row, to_row = self._painting.recolor(first, last)
        top = self.verticalScrollBar().value()
        if from_row <= top + self._rows_visible() and to_row >= top:
            self.viewport().update()

    def _restyle(self) -> None:
        self._painting.restyle()
        self.viewport().update()

    # ---- keys and mouse ----

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
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif key in moves and not others & ~Qt.KeyboardModifier.ControlModifier:
            self._move(moves[Qt.Key(key)], shift)
        elif key in (Qt.Key.Key_N, Qt.Key.Key_P) and not others:
            self.next_finding(1 if key == Qt.Key.Key_N and not shift else -1)
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

    def _hit(self, at: QPointF) -> tuple[int, int, bool]:
        """Return the line and column at a point of the viewport, and whether it is on a remark or the gutter."""
        row = self.verticalScrollBar().value() + int(at.y() // self._grid.row_height)
        row = min(max(0, row), self._layout.rows.total - 1)
        line, nth = self._layout.rows.at(row)
        pieces = self._layout.pieces(line)
        if nth >= len(pieces):
            return line, 0, True
        grid, (start, _) = self._grid, pieces[nth]
        glyphs = self._painting.glyphs(row, line, pieces[nth])
        x, width = at.x() - self._painting.left(line, nth), self._painting.width(line, nth)
        column = self._listing.shown(line).column(start + glyphs.place(x, width))
        beside = any(
            at.x() > grid.left + grid.width - grid.remark_metrics.horizontalAdvance(text)
            for _, text in self._layout.beside(line)
        )
        return line, column, at.x() < grid.gutter or beside

    def _put_caret(self, place: TextPosition, keep_anchor: bool = False) -> None:
        moved = place.line != self._selection.caret.line
        self._selection.put(place, keep_anchor)
        if moved:
            self._describe_line()
        self.viewport().update()

    def _activate(self, line: int) -> None:
        found = self._listing.findings_at(line)
        if found:
            self.finding_activated.emit(max(found, key=lambda finding: finding.level))

    def _go_to_share(self, share: float) -> None:
        row = round(share * (self._layout.rows.total - 1))
        self.scroll_to(self._layout.rows.at(row)[0] + 1)

    def _describe_line(self) -> None:
        """Give screen readers the current line and what was found in it."""
        line = self._selection.caret.line
        remarks = [remark(finding) for finding in self._listing.findings_at(line)]
        text = self._listing.shown(line).text[:500]
        self.setAccessibleDescription(". ".join([f"Line {line + 1}: {text}", *remarks]))
