"""Rows that are painted from the side where reading begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetricsF

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter
    from PySide6.QtWidgets import QStyleOptionViewItem

_SIDES = {
    Qt.AlignmentFlag.AlignLeft.value: Qt.AlignmentFlag.AlignRight.value,
    Qt.AlignmentFlag.AlignRight.value: Qt.AlignmentFlag.AlignLeft.value,
}
_SIDE = Qt.AlignmentFlag.AlignLeft.value | Qt.AlignmentFlag.AlignRight.value


def row_painter(painter: QPainter, option: QStyleOptionViewItem) -> QPainter:
    """Return what paints a row whose places are counted from the left.

    Where reading begins at the left it is `painter`. Else its places are mirrored in the row, and nothing that is drawn
    there: a text keeps its own direction, so that a path or a command reads as it is.
    """
    painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    if option.direction is not Qt.LayoutDirection.RightToLeft:
        return painter
    painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)
    return cast("QPainter", _MirroredPainter(painter, QRectF(option.rect)))


def mirrored(room: QRectF, place: QRectF, direction: Qt.LayoutDirection) -> QRectF:
    """Return where a `place` that is counted from the left is on the screen, in the `room` of its row."""
    if direction is not Qt.LayoutDirection.RightToLeft:
        return place
    return place.translated(room.left() + room.right() - place.right() - place.left(), 0)


class _MirroredPainter:
    """What of a `QPainter` takes a place takes it mirrored; all else is the painter's own."""

    def __init__(self, painter: QPainter, room: QRectF) -> None:
        self._painter: Any = painter
        self._room = room

    def __getattr__(self, name: str) -> Any:
        return getattr(self._painter, name)

    def _place(self, place: QRect | QRectF) -> QRectF:
        return mirrored(self._room, QRectF(place), Qt.LayoutDirection.RightToLeft)

    def _point(self, x: float) -> float:
        return self._room.left() + self._room.right() - x

    def drawText(self, place: QRect | QRectF | QPointF, *rest: Any) -> None:
        if isinstance(place, QPointF):
            (text,) = rest
            width = QFontMetricsF(self._painter.font()).horizontalAdvance(text)
            self._painter.drawText(QPointF(self._point(place.x()) - width, place.y()), text)
            return
        flags, text = rest
        flags = int(flags) if isinstance(flags, int) else flags.value
        turned = (flags & ~_SIDE) | _SIDES.get(flags & _SIDE, flags & _SIDE) | Qt.AlignmentFlag.AlignAbsolute.value
        self._painter.drawText(self._place(place), turned, text)

    def drawEllipse(self, place: QRectF | QPointF, *radii: float) -> None:
        if isinstance(place, QPointF):
            self._painter.drawEllipse(QPointF(self._point(place.x()), place.y()), *radii)
        else:
            self._painter.drawEllipse(self._place(place))

    def drawLine(self, one: QPointF, two: QPointF) -> None:
        self._painter.drawLine(QPointF(self._point(one.x()), one.y()), QPointF(self._point(two.x()), two.y()))

    def drawPixmap(self, place: QPoint, picture: Any) -> None:
        width = picture.width() / picture.devicePixelRatio()
        self._painter.drawPixmap(QPointF(self._point(place.x()) - width, place.y()), picture)

    def drawRoundedRect(self, place: QRect | QRectF, across: float, down: float) -> None:
        self._painter.drawRoundedRect(self._place(place), across, down)

    def drawRect(self, place: QRectF) -> None:
        self._painter.drawRect(self._place(place))

    def fillRect(self, place: QRect | QRectF, fill: Any) -> None:
        self._painter.fillRect(self._place(place), fill)

    def drawImage(self, place: QRectF, picture: Any) -> None:
        self._painter.drawImage(self._place(place), picture)

    def drawArc(self, place: QRectF, start: int, length: int) -> None:
        self._painter.drawArc(self._place(place), start, length)
