"""A level as a word on its color, or that nothing was found, as a widget and for item delegates.

The color is that of attention: what was found. A class, which only sets rules and windows, has none of its own below
CRITICAL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.parts.roles import Role
from runner.model.assessment import Level, attention_words
from runner.model.translation import tr, translated

if TYPE_CHECKING:
    from app.look.look import Look

_STEP = -2.0


def badge_size(look: Look, level: Level | None, found: bool = False) -> QSize:
    """Return the room `paint_badge` needs."""
    return _size(look, translated(attention_words(level, found)))


def _size(look: Look, words: str) -> QSize:
    metrics = QFontMetricsF(look.font(_STEP, bold=True))
    width = metrics.horizontalAdvance(words) + look.px(14)
    return QSize(round(width), round(metrics.height() + look.px(4)))


def paint_badge(painter: QPainter, look: Look, level: Level | None, corner: QPointF, found: bool = False) -> None:
    """Draw the badge with its upper left at `corner`; `found` tells whether there is any finding."""
    _paint(painter, look, translated(attention_words(level, found)), level, corner)


def _paint(painter: QPainter, look: Look, words: str, level: Level | None, corner: QPointF) -> None:
    room = QRectF(corner, _size(look, words))
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(look.tokens.tint(level)))
    painter.drawRoundedRect(room, room.height() / 2, room.height() / 2)
    painter.setPen(QColor(look.tokens.ink(level)))
    painter.setFont(look.font(_STEP, bold=True))
    painter.drawText(room, Qt.AlignmentFlag.AlignCenter, words)
    painter.restore()


class ClassBadge(QWidget):
    """The class of what a rule, a grant or a suggestion is about: `HIGH class`."""

    accessible_role = Role.StaticText

    def __init__(self, look: Look, level: Level, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._words = tr("{name} class", name=level.name)
        self._ground = level if level is Level.CRITICAL else None
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self._words)
        look.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return _size(self._look, self._words)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        _paint(painter, self._look, self._words, self._ground, QPointF(0, 0))
        painter.end()


class Badge(QWidget):
    """A level badge. Hidden text for screen readers: `Risk HIGH`, or `No findings`, or `Nothing stands out`."""

    accessible_role = Role.StaticText

    def __init__(self, look: Look, level: Level | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.set_level(level)
        look.changed.connect(self.update)

    @property
    def level(self) -> Level | None:
        return self._level

    def set_level(self, level: Level | None, found: bool = False) -> None:
        """Show `level`; with None that nothing stands out, where there is a finding, or that there is none."""
        self._level = level
        self._found = found
        words = translated(attention_words(level, found))
        self.setAccessibleName(words if level is None else tr("Risk {words}", words=words))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return badge_size(self._look, self._level, self._found)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        paint_badge(painter, self._look, self._level, QPointF(0, 0), self._found)
        painter.end()
