"""The strip beside the scroll bar that shows where in the whole code the flagged lines are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.parts.roles import Role

if TYPE_CHECKING:
    from app.look.look import Look
    from runner.model.assessment import Level


class Ruler(QWidget):
    """A click asks for the place clicked; the keyboard way to the same places is in the view itself."""

    accessible_role = Role.Graphic
    wanted = Signal(float)
    """The share of the whole, 0 to 1."""

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # painted from the left
        self._look = look
        self._marks: dict[float, Level] = {}
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        look.changed.connect(self.update)

    def set_marks(self, marks: dict[float, Level]) -> None:
        """Set where flagged lines are, as shares of the whole, and how bad they are."""
        self._marks = marks
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        painter.fillRect(self.rect(), QColor(self._look.tokens.gutter))
        thick = self._look.px(3)
        worst: dict[int, Level] = {}
        for share, level in self._marks.items():
            y = round(share * (self.height() - thick))
            worst[y] = max(level, worst.get(y, level))
        for y, level in sorted(worst.items(), key=lambda mark: mark[1]):
            painter.fillRect(QRectF(2, y, self.width() - 4, thick), QColor(self._look.tokens.ink(level)))
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.wanted.emit(min(1.0, max(0.0, event.position().y() / max(1, self.height()))))
