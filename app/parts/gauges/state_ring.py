"""A ring that says how one thing stands: still to do, waited for, done. The ring of the countdown, without a clock."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QHideEvent, QPainter, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.parts.roles import Role
from runner.model.translation import to_translate, translated

if TYPE_CHECKING:
    from app.look.look import Look

TURN_MS, FRAME_MS = 1600, 50
"""Time for one turn of a ring that waits, and between two pictures of it."""
ARC = 80
"""Degrees of the part that goes round."""


class RingState(Enum):
    """What a ring says, in words for those who do not see it."""

    TODO = to_translate("not done yet")
    WAITING = to_translate("waiting")
    DONE = to_translate("done")


class StateRing(QWidget):
    """`label` stands in it while there is something to do. It moves only while it waits, is seen, and may move."""

    accessible_role = Role.StaticText

    def __init__(self, look: Look, label: str = "", size: int = 24, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._label = label
        self._size = size
        self._at = 0
        self.state = RingState.TODO
        self._timer = QTimer(self)
        self._timer.setInterval(FRAME_MS)
        self._timer.timeout.connect(self._turn)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(f"{label}: {translated(self.state.value)}" if label else translated(self.state.value))
        look.changed.connect(self.update)

    def show_state(self, state: RingState) -> None:
        """Show another state."""
        if state is self.state:
            return
        self.state = state
        self.setAccessibleName(f"{self._label}: {translated(state.value)}" if self._label else translated(state.value))
        self._run()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._look.px(self._size), self._look.px(self._size))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._run()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    def _run(self) -> None:
        wanted = self.state is RingState.WAITING and self.isVisible() and not self._look.still
        if wanted != self._timer.isActive():
            (self._timer.start if wanted else self._timer.stop)()

    def _turn(self) -> None:
        self._at = (self._at + FRAME_MS) % TURN_MS
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = self._look.tokens
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width = self._look.px(2)
        room = QRectF(self.rect()).adjusted(width, width, -width, -width)
        done = self.state is RingState.DONE
        pen = QPen(QColor(tokens.low if done else tokens.edge if self._label else tokens.border), width)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawEllipse(room)
        if self.state is RingState.WAITING:
            pen.setColor(QColor(tokens.accent))
            painter.setPen(pen)
            painter.drawArc(room, 90 * 16 - 360 * 16 * self._at // TURN_MS, -ARC * 16)
        if done:
            pen.setWidthF(width)
            painter.setPen(pen)
            whole, corner = room.width(), room.topLeft()
            points = [(0.28, 0.53), (0.44, 0.68), (0.73, 0.35)]
            painter.drawPolyline([corner + QPointF(whole * x, whole * y) for x, y in points])
        elif self._label:
            painter.setPen(QColor(tokens.muted))
            painter.setFont(self._look.font(-1, bold=True))
            painter.drawText(QRectF(self.rect()), Qt.AlignmentFlag.AlignCenter, self._label)
        painter.end()
