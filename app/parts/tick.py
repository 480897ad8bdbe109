"""The box that says whether something is ticked, as lists and differences paint it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

if TYPE_CHECKING:
    from app.look.look import Look

BOX = 14
"""Side of the box in pixels at a scale of 1."""


def tick_place(look: Look, room: QRectF) -> QRectF:
    """Return where the box stands in the `room` of a row: at its left, in the middle of its height."""
    side = look.px(BOX)
    return QRectF(room.left() + look.px(12), room.center().y() - side / 2, side, side)


def paint_tick(painter: QPainter, look: Look, box: QRectF, state: Qt.CheckState) -> None:
    """Draw the box; `painter` is left without a brush."""
    tokens, on = look.tokens, state is not Qt.CheckState.Unchecked
    painter.setPen(QPen(QColor(tokens.accent if on else tokens.edge), 1))
    painter.setBrush(QColor(tokens.accent if on else tokens.surface))
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if state is Qt.CheckState.Checked:
        painter.drawPixmap(box.toRect().topLeft(), look.pixmap("check", "on_accent", BOX))
    elif on:
        painter.setPen(QPen(QColor(tokens.on_accent), 2))
        half = QPointF(box.width() / 4, 0)
        painter.drawLine(box.center() - half, box.center() + half)
