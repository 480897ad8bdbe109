"""A banner that comes by itself, and does nothing at a press that was meant for what stood at its place before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton

from app.parts.notice import Notice, Tone
from app.review.guard import ClickGuard

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.look.look import Look

_PLACED = frozenset({QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show})
_PRESSED = frozenset({QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick, QEvent.Type.KeyPress})
_RELEASED = frozenset({QEvent.Type.MouseButtonRelease, QEvent.Type.KeyRelease})
_KEYS = frozenset({Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Select})


class RestingNotice(Notice):
    """Each button rests after it came or moved, by itself: an agent that makes others move does not block it."""

    def __init__(
        self, look: Look, tone: Tone, text: str, action: str, closable: bool, parent: QWidget | None = None
    ) -> None:
        super().__init__(look, tone, text, action, closable, parent)
        self.guards: dict[QAbstractButton, ClickGuard] = {
            button: ClickGuard(lambda: True) for button in (self.action, self.cross)
        }
        self._turn = 0
        for button in self.guards:
            button.installEventFilter(self)

    def rearm(self) -> None:
        """Ignore presses for a moment: all of it has moved, or it means something else now."""
        for guard in self.guards.values():
            guard.rearm()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(watched, QAbstractButton) or (isinstance(event, QKeyEvent) and event.key() not in _KEYS):
            return super().eventFilter(watched, event)
        guard = self.guards[watched]
        if event.type() in _PLACED:
            guard.rearm()
        elif event.type() in _PRESSED:
            self._turn = guard.press()
        elif event.type() in _RELEASED and not guard.counts(self._turn):
            watched.setDown(False)
            return True
        return super().eventFilter(watched, event)
