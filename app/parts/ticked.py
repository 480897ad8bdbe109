"""Rows that a person ticks: how they are painted, and what a press does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF
from PySide6.QtWidgets import QTableView

from app.parts.mirrored import mirrored, row_painter
from app.parts.row_background import RowDelegate, paint_ground
from app.parts.row_model import Row, RowModel
from app.parts.text.lines import set_up_painted
from app.parts.tick import paint_tick, tick_place

if TYPE_CHECKING:
    from PySide6.QtGui import QFont, QKeyEvent, QMouseEvent, QPainter
    from PySide6.QtWidgets import QStyleOptionViewItem

    from app.look.look import Look

_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
_AROUND = (-10, -8, 6, 8)
"""Pixels around a box in which a press still means it."""


class TickedDelegate(RowDelegate):
    """Ground and tick of a row; `paint_row` paints what stands beside them."""

    def __init__(self, look: Look, view: QTableView) -> None:
        super().__init__(view)
        self._look = look

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        px, room = self._look.px, QRectF(option.rect)
        painter.save()
        painter = row_painter(painter, option)
        painter.setRenderHint(painter.RenderHint.Antialiasing)
        # The view has filled the whole of a chosen row by now.
        painter.fillRect(option.rect, QColor(self._look.tokens.surface))
        paint_ground(painter, self._look, option.state, room.adjusted(px(2), 1, -px(2), -1))
        box = tick_place(self._look, room)
        state = index.data(Qt.ItemDataRole.CheckStateRole)
        if state is not None:
            paint_tick(painter, self._look, box, Qt.CheckState(state))
        self.paint_row(painter, room, box, index)
        painter.restore()

    def paint_row(
        self, painter: QPainter, room: QRectF, box: QRectF, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint what a row says into its `room`; `box` is the place of its tick."""
        raise NotImplementedError

    def paint_name(self, painter: QPainter, room: QRectF, left: float, right: float, name: str, font: QFont) -> None:
        """Paint a name from `left` to `right`, its middle left out where it is too long, in the ink of the painter."""
        painter.setFont(font)
        shown = QFontMetricsF(font).elidedText(name, Qt.TextElideMode.ElideMiddle, max(0.0, right - left))
        painter.drawText(QRectF(left, room.top(), right - left, room.height()), _LEFT, shown)

    def paint_small(
        self, painter: QPainter, room: QRectF, right: float, text: str, ink: str, width: float | None = None
    ) -> float:
        """Paint a small text that ends at `right`, in at most `width` pixels; return where it begins."""
        font = self._look.font(-1)
        painter.setFont(font)
        painter.setPen(QColor(ink))
        metrics = QFontMetricsF(font)
        width = metrics.horizontalAdvance(text) + 1 if width is None else width
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)
        painter.drawText(QRectF(right - width, room.top(), width, room.height()), _RIGHT, shown)
        return right - width


class TickedView(Generic[Row], QTableView):
    """A click on the tick, or Space, ticks; nothing else does."""

    def __init__(self, look: Look, model: RowModel[Row], name: str, delegate: type[TickedDelegate], row: int) -> None:
        """`name` is read aloud; `row` is the height of a row in pixels at a scale of 1."""
        super().__init__()
        self._look = look
        self._pressed = -1
        set_up_painted(self, model, name)
        self.setItemDelegate(delegate(look, self))
        self.verticalHeader().setDefaultSectionSize(look.px(row))

    def toggle(self, row: int) -> None:
        """Tick a row or leave it out, where that can be."""
        raise NotImplementedError

    def box(self, row: int) -> QRectF:
        """Return the place of the tick of a row on the screen."""
        room = QRectF(self.visualRect(self.model().index(row, 0)))
        return mirrored(room, tick_place(self._look, room), self.layoutDirection())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self.currentIndex().row()
        if event.key() == Qt.Key.Key_Space and not event.modifiers() and row >= 0:
            if not event.isAutoRepeat():
                self.toggle(row)
            event.accept()
            return
        super().keyPressEvent(event)

    def keyboardSearch(self, search: str) -> None:
        """Go nowhere by letters: those are keys of the page."""

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = self._tick_at(event)
        if self._pressed < 0:
            super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, -1
        if pressed < 0:
            super().mouseReleaseEvent(event)
        elif self._tick_at(event) == pressed:
            self.toggle(pressed)

    def _tick_at(self, event: QMouseEvent) -> int:
        """Return the row whose tick is under the pointer; -1 for none."""
        index = self.indexAt(event.position().toPoint())
        if event.button() is not Qt.MouseButton.LeftButton or not index.isValid():
            return -1
        can = index.flags() & Qt.ItemFlag.ItemIsUserCheckable
        return index.row() if can and self.box(index.row()).adjusted(*_AROUND).contains(event.position()) else -1
