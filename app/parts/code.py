"""Code under review: every character visible, findings at their lines, nothing off to the side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QGuiApplication,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QTextCharFormat,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QToolTip, QWidget

from app.parts.amounts import counted
from app.parts.glyphs import Glyphs, Style
from app.parts.lexing import Lexing
from app.parts.listing import CodeLayout, CodeListing, remark
from app.parts.plain import tip
from app.parts.roles import Role
from app.parts.ruler import Ruler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.look.look import Look
    from runner.model.assessment import Finding, Level

_REMEMBERED = 1500
"""Rows whose layout is kept."""


class CodePosition(NamedTuple):
    """A place between two characters of the source; both count from 0."""

    line: int
    column: int


class CodeView(QAbstractScrollArea):
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
        super().__init__(parent)
        self._look = look
        self._lexing = Lexing(self)
        self._lexing.grew.connect(self._recolor)
        self._ruler = Ruler(look, self)
        self._ruler.wanted.connect(self._go_to_share)
        self._glyphs: dict[int, Glyphs] = {}
        self._seen = False
        self._caret = self._anchor = CodePosition(0, 0)
        self._formats: dict[str, QTextCharFormat] = {}
        self.setProperty("pane", True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._measure_fonts()
        self.set_code("", "")
        look.changed.connect(self._restyle)

    # ---- what it shows ----

    def set_code(self, code: str, language: str, findings: Sequence[Finding] = ()) -> None:
        """Show `code` from its first line; `language` is a value of `Language`."""
        self._listing = CodeListing(code, language, findings)
        self._caret = self._anchor = CodePosition(0, 0)
        self._seen = False
        self._lay_out()
        self.verticalScrollBar().setValue(0)
        self._lexing.start(self._listing.lines, language)
        what = ["Code", language, counted(len(self._listing.lines), "line"), counted(len(findings), "finding")]
        self.setAccessibleName(", ".join(word for word in what if word))
        self._tell_line()
        self.seen_to_end.emit(False)

    @property
    def is_seen_to_end(self) -> bool:
        """Whether the last row of this code has been on the screen."""
        return self._seen

    @property
    def line_count(self) -> int:
        return len(self._listing.lines)

    @property
    def current_line(self) -> int:
        """From 1."""
        return self._caret.line + 1

    def scroll_to(self, line: int) -> None:
        """Make `line`, counted from 1, the current line and bring it to the middle."""
        self._put_caret(CodePosition(min(max(0, line - 1), self.line_count - 1), 0))
        row = self._page.rows.row(self._caret.line)
        self.verticalScrollBar().setValue(row - self._rows_visible() // 2)

    def selected_text(self) -> str:
        """The selected piece of the source; the whole current line where nothing is selected."""
        first, last = sorted((self._anchor, self._caret))
        lines = self._listing.lines
        if first == last:
            return lines[self._caret.line]
        if first.line == last.line:
            return lines[first.line][first.column : last.column]
        middle = lines[first.line + 1 : last.line]
        return "\n".join([lines[first.line][first.column :], *middle, lines[last.line][: last.column]])

    def copy(self) -> None:
        """Put `selected_text` on the clipboard."""
        QGuiApplication.clipboard().setText(self.selected_text())

    def select_all(self) -> None:
        self._anchor = CodePosition(0, 0)
        self._put_caret(CodePosition(self.line_count - 1, len(self._listing.lines[-1])), keep_anchor=True)

    def next_finding(self, step: int = 1) -> None:
        """Go to the next line with findings, or with -1 to the one before; around at the end."""
        flagged = self._listing.flagged
        if not flagged:
            return
        here = self._caret.line
        ahead = [line for line in flagged if (line > here if step > 0 else line < here)]
        line = (ahead or flagged)[0 if step > 0 else -1]
        self.scroll_to(line + 1)
        self._activate(line)

    # ---- measures ----

    def _measure_fonts(self) -> None:
        self._mono = self._look.mono()
        self._small = self._look.font(-1.5)
        metrics = QFontMetricsF(self._mono)
        self._cell = metrics.horizontalAdvance("0")
        self._row_height = math.ceil(metrics.height() * 1.25)
        self._baseline = (self._row_height - metrics.height()) / 2 + metrics.ascent()
        self._remark_metrics = QFontMetricsF(self._small)
        self._pad = self._look.px(10)
        self._bar = self._look.px(3)

    def _lay_out(self) -> None:
        digits = max(3, len(str(len(self._listing.lines))))
        self._gutter = round(self._cell * (digits + 1) + self._bar + self._pad)
        self._room = max(self._cell * 8, self.viewport().width() - self._gutter - 2 * self._pad)
        columns = int(self._room / self._cell)
        self._page = CodeLayout(
            self._listing,
            columns,
            lambda used: self._room - (used + 2) * self._cell,
            self._remark_metrics.horizontalAdvance,
        )
        self._columns = columns
        self._glyphs.clear()
        self._range()
        self.viewport().update()

    def _range(self) -> None:
        visible = self._rows_visible()
        self.verticalScrollBar().setRange(0, max(0, self._page.rows.total - visible))
        self.verticalScrollBar().setPageStep(visible)
        whole = max(self._page.rows.total, visible) - 1 or 1
        self._ruler.set_marks({self._page.rows.row(line) / whole: self._worst(line) for line in self._listing.flagged})

    def _worst(self, line: int) -> Level:
        return max(finding.level for finding in self._listing.findings_at(line))

    def _rows_visible(self) -> int:
        return max(1, self.viewport().height() // self._row_height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        wide = self._look.px(10)
        self.setViewportMargins(0, 0, wide, 0)
        port = self.viewport().geometry()
        self._ruler.setGeometry(port.right() + 1, port.top(), wide, port.height())
        top = self._page.rows.at(min(self.verticalScrollBar().value(), self._page.rows.total - 1))[0]
        if int(max(self._cell * 8, port.width() - self._gutter - 2 * self._pad) / self._cell) != self._columns:
            self._lay_out()
            self.verticalScrollBar().setValue(self._page.rows.row(top))
        else:
            self._room = max(self._cell * 8, port.width() - self._gutter - 2 * self._pad)
            self._range()

    # ---- painting ----

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        try:
            rows_left = self._paint(painter)
        finally:
            # A painter that is left active takes the window with it.
            painter.end()
        if not self._seen and rows_left * self._row_height <= self._visible_height():
            self._seen = True
            # Told later: whoever listens may change widgets, which is not allowed while painting.
            QTimer.singleShot(0, self, self._tell_seen)

    def _paint(self, painter: QPainter) -> int:
        """Everything; how many rows there are from the first that is shown."""
        tokens = self._look.tokens
        port = self.viewport().rect()
        painter.fillRect(port, QColor(tokens.code))
        painter.fillRect(0, 0, self._gutter, port.height(), QColor(tokens.gutter))
        rows = self._page.rows
        first = self.verticalScrollBar().value()
        last = min(rows.total, first + port.height() // self._row_height + 1)
        for row in range(first, last):
            self._paint_row(painter, row, (row - first) * self._row_height)
        if self.hasFocus():
            painter.setPen(QPen(QColor(tokens.accent), 2))
            painter.drawRect(port.adjusted(1, 1, -1, -1))
        return rows.total - first

    def _visible_height(self) -> int:
        """Down to where nothing around this view cuts it off: what is scrolled away has not been seen."""
        port = self.viewport()
        return port.visibleRegion().boundingRect().bottom() + 1 if port.isVisible() else port.height()

    def _tell_seen(self) -> None:
        if self._seen:
            self.seen_to_end.emit(True)

    def _paint_row(self, painter: QPainter, row: int, top: float) -> None:
        line, nth = self._page.rows.at(row)
        tokens = self._look.tokens
        level = self._listing.worst(line)
        width = self.viewport().width()
        if level is not None:
            painter.fillRect(QRectF(self._gutter, top, width, self._row_height), QColor(tokens.tint(level)))
            painter.fillRect(QRectF(0, top, self._bar, self._row_height), QColor(tokens.ink(level)))
        pieces = self._page.pieces(line)
        if nth >= len(pieces):
            self._paint_below(painter, line, nth - len(pieces), top)
            return
        self._paint_number(painter, line, nth, top, level is not None)
        glyphs = self._glyphs_of(row, line, pieces[nth])
        left = self._gutter + self._pad
        self._paint_selection(painter, glyphs, line, nth, top)
        painter.setPen(QColor(tokens.text))
        glyphs.draw(painter, left, top + self._baseline, self._room)
        for beside_level, text in self._page.beside(line):
            painter.setFont(self._small)
            painter.setPen(QColor(tokens.ink(beside_level)))
            room = QRectF(left, top, self._room, self._row_height)
            painter.drawText(room, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_number(self, painter: QPainter, line: int, nth: int, top: float, flagged: bool) -> None:
        tokens = self._look.tokens
        painter.setFont(self._mono)
        current = line == self._caret.line and self.hasFocus()
        painter.setPen(QColor(tokens.text if flagged or current else tokens.muted))
        room = QRectF(0, top, self._gutter - self._pad / 2, self._row_height)
        words = "\N{RIGHTWARDS ARROW WITH HOOK}" if nth else str(line + 1)
        painter.drawText(room, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, words)
        if current:
            painter.fillRect(QRectF(self._gutter - 2, top, 2, self._row_height), QColor(tokens.accent))

    def _paint_below(self, painter: QPainter, line: int, nth: int, top: float) -> None:
        level, text = self._page.below(line)[nth]
        painter.setFont(self._small)
        painter.setPen(QColor(self._look.tokens.ink(level)))
        room = QRectF(self._gutter + self._pad + 2 * self._cell, top, self._room - 2 * self._cell, self._row_height)
        shown = self._remark_metrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
        hook = QRectF(self._gutter + self._pad, top, 2 * self._cell, self._row_height)
        painter.drawText(
            hook, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, "\N{BOX DRAWINGS LIGHT UP AND RIGHT}"
        )

    def _paint_selection(self, painter: QPainter, glyphs: Glyphs, line: int, nth: int, top: float) -> None:
        first, last = sorted((self._anchor, self._caret))
        if first == last or not first.line <= line <= last.line:
            return
        shown = self._listing.shown(line)
        start, end = self._page.pieces(line)[nth]
        begin = shown.place(first.column) if line == first.line else 0
        finish = shown.place(last.column) if line == last.line else len(shown.text)
        begin, finish = max(begin, start), min(finish, end)
        left = self._gutter + self._pad
        box = glyphs.box(begin - start, max(begin, finish) - start, left, top, self._row_height, self._room)
        if line < last.line and end == len(shown.text):
            box.setWidth(box.width() + self._cell)  # the line break
        painter.fillRect(box, QColor(self._look.tokens.selection))
        painter.setPen(QPen(QColor(self._look.tokens.accent), 1))
        painter.drawLine(box.bottomLeft() - QPointF(0, 1), box.bottomRight() - QPointF(0, 1))

    def _glyphs_of(self, row: int, line: int, piece: tuple[int, int]) -> Glyphs:
        glyphs = self._glyphs.get(row)
        if glyphs is None:
            if len(self._glyphs) >= _REMEMBERED:
                self._glyphs.clear()
            start, end = piece
            text = self._listing.shown(line).text[start:end]
            glyphs = self._glyphs[row] = Glyphs(text, self._mono, self._styles(line, start, end))
        return glyphs

    def _styles(self, line: int, start: int, end: int) -> list[Style]:
        shown = self._listing.shown(line)
        spans = [(shown.place(one), shown.place(two), self._format(kind)) for one, two, kind in self._lexing.line(line)]
        for one, two, level in self._listing.marked(line):
            spans.append((shown.place(one), shown.place(two), self._format(f"mark {level.name.lower()}")))
        spans += [(one, two, self._format("escape")) for one, two in shown.escapes]
        return [
            (max(one, start) - start, min(two, end) - start, style)
            for one, two, style in spans
            if one < end and two > start
        ]

    def _format(self, name: str) -> QTextCharFormat:
        if name not in self._formats:
            made = QTextCharFormat()
            tokens = self._look.tokens
            if name == "escape":
                made.setForeground(QColor(tokens.surface))
                made.setBackground(QColor(tokens.critical))
            elif name.startswith("mark "):
                made.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
                made.setUnderlineColor(QColor(getattr(tokens, name.removeprefix("mark "))))
            else:
                made.setForeground(QColor(getattr(tokens, name)))
            self._formats[name] = made
        return self._formats[name]

    def _recolor(self, first: int, last: int) -> None:
        """Lines from `first` to before `last` have their words now."""
        rows = self._page.rows
        from_row, to_row = rows.row(first), rows.row(last - 1) + 1
        for row in [row for row in self._glyphs if from_row <= row < to_row + len(self._page.pieces(last - 1))]:
            del self._glyphs[row]
        top = self.verticalScrollBar().value()
        if from_row <= top + self._rows_visible() and to_row >= top:
            self.viewport().update()

    def _restyle(self) -> None:
        self._formats.clear()
        self._glyphs.clear()
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
        """By whole lines; a page is counted in rows, so that a long line is not jumped over."""
        rows = self._page.rows
        if abs(lines) == 1 or abs(lines) >= self.line_count:
            line = min(max(0, self._caret.line + lines), self.line_count - 1)
        else:
            self.verticalScrollBar().setValue(self.verticalScrollBar().value() + lines)
            row = min(max(0, rows.row(self._caret.line) + lines), rows.total - 1)
            line = rows.at(row)[0]
        self._put_caret(CodePosition(line, 0), keep_anchor)
        self._reveal(line, to_end=lines > 0)

    def _reveal(self, line: int, to_end: bool) -> None:
        bar = self.verticalScrollBar()
        first = self._page.rows.row(line)
        last = self._page.rows.row(line + 1) - 1 if line + 1 < self.line_count else self._page.rows.total - 1
        if first < bar.value():
            bar.setValue(first)
        elif to_end and last >= bar.value() + self._rows_visible():
            bar.setValue(last - self._rows_visible() + 1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        line, column, remarked = self._hit(event.position())
        self._put_caret(CodePosition(line, column), bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
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
        self._put_caret(CodePosition(line, column), keep_anchor=True)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        line, column, _ = self._hit(event.position())
        text = self._listing.lines[line]
        start = end = column
        while start > 0 and _in_word(text[start - 1]):
            start -= 1
        while end < len(text) and _in_word(text[end]):
            end += 1
        self._anchor = CodePosition(line, start)
        self._put_caret(CodePosition(line, end), keep_anchor=True)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            line, _, _ = self._hit(QPointF(event.pos()))
            found = self._listing.findings_at(line)
            text = "\n".join(f"{remark(finding)} {finding.reference}".strip() for finding in found)
            QToolTip.showText(event.globalPos(), tip(text), self.viewport())
            return True
        return super().viewportEvent(event)

    def _hit(self, at: QPointF) -> tuple[int, int, bool]:
        """The line and column at a point of the viewport, and whether it is on a remark or the gutter."""
        row = self.verticalScrollBar().value() + int(at.y() // self._row_height)
        row = min(max(0, row), self._page.rows.total - 1)
        line, nth = self._page.rows.at(row)
        pieces = self._page.pieces(line)
        left = self._gutter + self._pad
        if nth >= len(pieces):
            return line, 0, True
        start, _ = pieces[nth]
        glyphs = self._glyphs_of(row, line, pieces[nth])
        column = self._listing.shown(line).column(start + glyphs.place(at.x() - left, self._room))
        beside = any(
            at.x() > left + self._room - self._remark_metrics.horizontalAdvance(text)
            for _, text in self._page.beside(line)
        )
        return line, column, at.x() < self._gutter or beside

    def _put_caret(self, place: CodePosition, keep_anchor: bool = False) -> None:
        moved = place.line != self._caret.line
        self._caret = place
        if not keep_anchor:
            self._anchor = place
        if moved:
            self._tell_line()
        self.viewport().update()

    def _activate(self, line: int) -> None:
        found = self._listing.findings_at(line)
        if found:
            self.finding_activated.emit(max(found, key=lambda finding: finding.level))

    def _go_to_share(self, share: float) -> None:
        row = round(share * (self._page.rows.total - 1))
        self.scroll_to(self._page.rows.at(row)[0] + 1)

    def _tell_line(self) -> None:
        """Screen readers hear the current line and what was found in it."""
        line = self._caret.line
        remarks = [remark(finding) for finding in self._listing.findings_at(line)]
        text = self._listing.shown(line).text[:500]
        self.setAccessibleDescription(". ".join([f"Line {line + 1}: {text}", *remarks]))

    def focusInEvent(self, event: QEvent) -> None:
        self.viewport().update()

    def focusOutEvent(self, event: QEvent) -> None:
        self.viewport().update()


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"
