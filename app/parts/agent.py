"""A color for each agent, by which its lane and requests are found at a glance; its name is always beside it."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.parts.roles import Role
from runner.identity.agents import INKS

if TYPE_CHECKING:
    from app.look.look import Look

_INKS = (
    ("#0f766e", "#5eead4"),
    ("#4f46e5", "#a5b4fc"),
    ("#be185d", "#f9a8d4"),
    ("#7c4a03", "#e7b97d"),
    ("#0369a1", "#7dd3fc"),
    ("#4d7c0f", "#bef264"),
    ("#475569", "#cbd5e1"),
    ("#1e3a8a", "#5b8cff"),
    ("#8a5a66", "#e3b7c1"),
    ("#6b6405", "#d9d36b"),
)
"""Light, dark, in the order of their numbers. None of them is the color of a level."""
DOT = 18
"""Pixels of the disc with the initials."""


def ink_color(look: Look, ink: int) -> QColor:
    """Return the color of an ink by its number."""
    light, dark = _INKS[ink % INKS]
    return QColor(dark if look.dark else light)


def agent_ink(look: Look, agent: str) -> QColor:
    """Return the color of an agent: of the ink in its record, else the same one for the same name."""
    ink = look.inks.get(agent)
    return ink_color(look, zlib.crc32(agent.encode("utf-8", "replace")) if ink is None else ink)


def initials(agent: str) -> str:
    """Return two letters of a name: of its first two words, or its first two."""
    words = [word for word in re.split("[^A-Za-z0-9]+", agent) if word]
    letters = "".join(word[0] for word in words[:2]) if len(words) > 1 else "".join(words)[:2]
    return letters.upper()


def paint_dot(painter: QPainter, look: Look, agent: str, center: QPointF) -> None:
    """Paint the agent's disc with its initials around `center`."""
    size = look.px(DOT)
    room = QRectF(center.x() - size / 2, center.y() - size / 2, size, size)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(agent_ink(look, agent))
    painter.drawEllipse(room)
    painter.setFont(look.font(-3, bold=True))
    painter.setPen(QColor(look.tokens.on_accent))
    painter.drawText(room, Qt.AlignmentFlag.AlignCenter, initials(agent))


class AgentDot(QWidget):
    """The disc as a widget. The name stands beside it, so there is nothing to say about it."""

    accessible_role = Role.Graphic

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._agent = ""
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        look.changed.connect(self.update)

    def show_agent(self, agent: str) -> None:
        self._agent = agent
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._look.px(DOT) + 2, self._look.px(DOT) + 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_dot(painter, self._look, self._agent, QPointF(self.rect().center()) + QPointF(0.5, 0.5))
        painter.end()


def swatch(color: QColor, size: int) -> QIcon:
    """Return a disc of a color."""
    picture = QPixmap(size, size)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawEllipse(1, 1, size - 2, size - 2)
    painter.end()
    return QIcon(picture)
