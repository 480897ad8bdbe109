"""The ground of a row in a list: where it is selected, has the keyboard, or is under the pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate

if TYPE_CHECKING:
    from app.look.look import Look


FOCUS_BAR = 3
"""Width in pixels of the bar at the left of the row that has the keyboard."""


class RowDelegate(QStyledItemDelegate):
    """One that paints with `paint_ground`: it shows the keyboard on the row, and its list needs no ring for that."""


def paint_ground(painter: QPainter, look: Look, state: QStyle.StateFlag, room: QRectF) -> None:
    """Fill `room` as the state of the row asks for; nothing where it is neither selected nor under the pointer.

    A bar at its left marks the row that has the keyboard.

    `painter` is left without a pen and with the brush that was used.
    """
    if state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
        chosen = state & QStyle.StateFlag.State_Selected
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(look.tokens.selection if chosen else look.tokens.hover))
        painter.drawRoundedRect(room, look.px(6), look.px(6))
    if state & QStyle.StateFlag.State_HasFocus:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(look.tokens.accent))
        bar = look.px(FOCUS_BAR)
        painter.drawRoundedRect(QRectF(room.left(), room.top() + 2 * bar, bar, room.height() - 4 * bar), 1, 1)
