"""The two buttons that answer a question: they obey the guard, and Enter, Space and Escape do nothing to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QRectF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QWidget

from runner.model.translation import tr

if TYPE_CHECKING:
    from app.look.look import Look
    from app.review.guard import ClickGuard

HOLD_MS = 1000
"""How long the button is held for a CRITICAL request (spec D2)."""
KEEP_HOLDING = tr("Keep holding")
"""On the button while it is held; it is shorter than what stands there otherwise."""
_FRAME_MS = 30


def show_kind(button: QPushButton, kind: str) -> None:
    """Paint `button` as another kind: "primary", or "" for one of several."""
    if button.property("kind") != kind:
        button.setProperty("kind", kind)
        button.style().unpolish(button)
        button.style().polish(button)


class DecisionButton(QPushButton):
    """A press counts only where the guard says so. It takes no focus, so no key can set it off by accident."""

    decided = Signal()

    def __init__(self, text: str, guard: ClickGuard, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._guard = guard
        self._turn: int | None = None
        self.mouse_only = False
        """Neither its letter nor a press by a screen reader counts."""
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAutoDefault(False)
        self.clicked.connect(self._clicked)

    def press_key(self) -> bool:
        """Press the button by its letter; return False where it came too early to count."""
        if not self.isEnabled() or not self.isVisible() or self.mouse_only:
            return True
        self._turn = None
        return self._press_and_release()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._turn = self._guard.press()
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        self._turn = None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()

    @Slot()
    def _clicked(self) -> None:
        self._press_and_release()

    def _press_and_release(self) -> bool:
        """Return whether the press counted."""
        # Without a press of the mouse it was a key or a screen reader: press and release in one.
        if self._turn is None and self.mouse_only:
            return False
        turn = self._guard.press() if self._turn is None else self._turn
        if counted := self._guard.counts(turn):
            self.decided.emit()
        return counted


class ApproveButton(DecisionButton):
    """Approves at a click, or, with `holding`, only after it was held for a second, which fills it from the left."""

    def __init__(self, text: str, guard: ClickGuard, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(text, guard, parent)
        self._look = look
        self._holding = False
        self._held_turn = 0
        self._since = QElapsedTimer()
        self._frames = QTimer(self)
        self._frames.setInterval(_FRAME_MS)
        self._frames.timeout.connect(self._frame)

    def set_holding(self, holding: bool) -> None:
        self.release_hold()
        self._holding = holding

    def press_hold(self) -> None:
        """Held from now on, by mouse or by key."""
        if self.mouse_only and self._turn is None:
            return
        turn = self._guard.press()
        if self._holding and turn and self.isEnabled() and self.isVisible():
            self._held_turn = turn
            self._since.start()
            self._frames.start()

    @Slot()
    def pause_hold(self) -> None:
        """Decide nothing for now: the key came up, and may only have been repeated."""
        self._frames.stop()

    @Slot()
    def resume_hold(self) -> None:
        """Take the key for held all the time, unless the hold has ended meanwhile."""
        if self._held_turn:
            self._frames.start()

    @Slot()
    def release_hold(self) -> None:
        """Let go before the time was over: nothing happens."""
        self._held_turn = 0
        self._frames.stop()
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        if event.button() is Qt.MouseButton.LeftButton:
            self.press_hold()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        if not self.rect().contains(event.position().toPoint()):
            self.release_hold()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.release_hold()
        super().mouseReleaseEvent(event)

    def _press_and_release(self) -> bool:
        # One that is to be held is not too early: it is not the way at all.
        return True if self._holding else super()._press_and_release()

    @Slot()
    def _frame(self) -> None:
        if not self.isEnabled() or not self._guard.counts(self._held_turn):
            self.release_hold()
        elif self._since.hasExpired(HOLD_MS):
            self.release_hold()
            self.decided.emit()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._frames.isActive():
            return
        share = self._look.step(min(1.0, self._since.elapsed() / HOLD_MS))
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        room, round_by = QRectF(self.rect()), self._look.px(6)
        painter.setBrush(QColor(self._look.tokens.accent))
        painter.drawRoundedRect(room, round_by, round_by)
        painter.setClipRect(QRectF(0, 0, room.width() * share, room.height()))
        painter.setBrush(QColor(self._look.tokens.critical))
        painter.drawRoundedRect(room, round_by, round_by)
        painter.setClipping(False)
        painter.setFont(self.font())
        painter.setPen(QColor(self._look.tokens.on_accent))
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter, KEEP_HOLDING)
        painter.end()
