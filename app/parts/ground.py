"""The ground of a row in a list, where it is selected or under the pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyle

if TYPE_CHECKING:
    from app.look.look import Look


def paint_ground(painter: QPainter, look: Look, state: QStyle.StateFlag, room: QRectF) -> None:
    """Fill `room` as the state of the row asks for; nothing where it is neither selected nor under the pointer.

    `painter` is left without a pen and with the brush that was used.
    """
    if state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
        chosen = state & QStyle.StateFlag.State_Selected
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(look.tokens.selection if chosen else look.tokens.hover))
        painter.drawRoundedRect(room, look.px(6), look.px(6))
