"""The scroll area in which code and output are drawn, and the frame that shows a focus that came by keyboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

if TYPE_CHECKING:
    from PySide6.QtGui import QFocusEvent, QPainter

    from app.look.look import Look


BY_KEYBOARD = frozenset(
    {Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason}
)


class TextArea(QAbstractScrollArea):
    """Text that is drawn by ourselves, without a frame of Qt's. It takes the focus, and shows one that came by Tab."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # painted from the left
        self._look = look
        self._by_keyboard = False
        self.setProperty("pane", True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def draw_focus(self, painter: QPainter) -> None:
        """Draw a frame around the viewport while it has a focus that came by keyboard."""
        if self.hasFocus() and self._by_keyboard:
            painter.setPen(QPen(QColor(self._look.tokens.accent), 2))
            painter.drawRect(self.viewport().rect().adjusted(1, 1, -1, -1))

    def visible_height(self) -> int:
        """Return how far down nothing around this view cuts it off: what is scrolled away has not been seen."""
        port = self.viewport()
        return port.visibleRegion().boundingRect().bottom() + 1 if port.isVisible() else port.height()

    def focusInEvent(self, event: QFocusEvent) -> None:
        if event.reason() is not Qt.FocusReason.ActiveWindowFocusReason:
            self._by_keyboard = event.reason() in BY_KEYBOARD
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.viewport().update()
