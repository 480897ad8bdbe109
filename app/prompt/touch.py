"""The buttons of the compact card: the pointer has to come to them for what stands there now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.review.buttons import DecisionButton

if TYPE_CHECKING:
    from PySide6.QtGui import QEnterEvent, QMouseEvent
    from PySide6.QtWidgets import QWidget

    from app.review.guard import ClickGuard


class ReachedButton(DecisionButton):
    """A press counts only where the pointer came to the button after the guard had rested.

    A card comes on screen when an agent wants it to. Whoever clicks again and again at one place has it under the
    pointer then, and keeps clicking for longer than any rest: such clicks do nothing until the pointer has left the
    button and come back. Neither a key nor another program presses it.
    """

    def __init__(self, text: str, guard: ClickGuard, parent: QWidget | None = None) -> None:
        super().__init__(text, guard, parent)
        self.mouse_only = True
        self._arrived = 0
        """The turn of the guard in which the pointer came; 0 for one that came too early."""

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._arrived = self._guard.press()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        if not self._arrived or self._turn != self._arrived:
            self._turn = 0
