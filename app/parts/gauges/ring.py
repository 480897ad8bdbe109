"""The time left to decide, as a ring that empties and as a clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QFontMetricsF, QHideEvent, QPainter, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.parts.amounts import short_clock, time_left
from app.parts.roles import Role
from runner.system.clock import since_boot

if TYPE_CHECKING:
    from app.look.look import Look

HURRY = 10.0
"""Seconds from which on the clock takes the color of a warning."""
_TICK = 200
_CIRCLE = 16


def ring_size(look: Look) -> QSize:
    """Return the room `paint_ring` needs: the clock, a gap and the ring."""
    metrics = QFontMetricsF(look.font(-1))
    return QSize(
        round(metrics.horizontalAdvance("00:00") + look.px(6 + _CIRCLE)), round(max(metrics.height(), look.px(_CIRCLE)))
    )


def paint_ring(painter: QPainter, look: Look, left: float, window: float, corner: QPointF, ink: str = "accent") -> None:
    """Draw clock and ring for `left` of `window` seconds, the upper left of both at `corner`, in the token `ink`."""
    room = QRectF(corner, ring_size(look))
    tokens = look.tokens
    hurry = left <= HURRY
    circle = look.px(_CIRCLE - 3)
    ring = QRectF(room.right() - circle - 1, room.center().y() - circle / 2, circle, circle)
    share = min(1.0, max(0.0, left / window)) if window > 0 else 0.0
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setFont(look.font(-1))
    painter.setPen(QColor(tokens.high if hurry else tokens.muted))
    words = room.adjusted(0, 0, -look.px(6 + _CIRCLE), 0)
    painter.drawText(words, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, short_clock(left))
    pen = QPen(QColor(tokens.border), look.px(2))
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    painter.setPen(pen)
    painter.drawEllipse(ring)
    pen.setColor(QColor(tokens.high if hurry else getattr(tokens, ink)))
    painter.setPen(pen)
    painter.drawArc(ring, 90 * 16, round(360 * 16 * look.step(share)))
    painter.restore()


class CountdownRing(QWidget):
    """Counts down by itself while visible; shows nothing without a deadline."""

    accessible_role = Role.StaticText

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._deadline: float | None = None
        self._window = 0.0
        self._ink = "accent"
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK)
        self._timer.timeout.connect(self._tick)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        look.changed.connect(self.update)

    def set_deadline(self, deadline: float | None, window: float) -> None:
        """Count to `deadline` on the clock of `since_boot`, out of `window` seconds. None: nothing to count."""
        self._deadline, self._window = deadline, window
        if deadline is not None and self.isVisible():
            self._timer.start()
        self._tick()

    def set_ink(self, ink: str) -> None:
        """Draw the ring in the token `ink`."""
        if ink != self._ink:
            self._ink = ink
            self.update()

    @property
    def left(self) -> float:
        """Seconds until the deadline, 0 when it has passed or there is none."""
        return max(0.0, self._deadline - since_boot()) if self._deadline is not None else 0.0

    def sizeHint(self) -> QSize:
        return ring_size(self._look)

    def showEvent(self, event: QShowEvent) -> None:
        if self._deadline is not None:
            self._timer.start()
        self._tick()

    def hideEvent(self, event: QHideEvent) -> None:
        self._timer.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._deadline is None:
            return
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        paint_ring(painter, self._look, self.left, self._window, QPointF(0, 0), self._ink)
        painter.end()

    def _tick(self) -> None:
        left = self.left
        words = time_left(left) if self._deadline is not None else ""
        if words != self.accessibleName():
            self.setAccessibleName(words)
        if left <= 0:
            self._timer.stop()
        self.update()
