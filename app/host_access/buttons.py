"""The buttons that let code reach a host: guarded like those that approve, and reachable by Tab."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from app.review.buttons import DecisionButton
from app.review.key_repeat import Repetition
from runner.model.translation import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent
    from PySide6.QtWidgets import QWidget

    from app.review.guard import ClickGuard

FOR_RUN = tr("Allow for this run")
ALWAYS = tr("Always for this agent\N{HORIZONTAL ELLIPSIS}")


class AllowButton(DecisionButton):
    """A click, or Space while it has the focus; no letter and no Enter. Neither counts within the guard's rest."""

    def __init__(self, text: str, guard: ClickGuard, parent: QWidget | None = None) -> None:
        super().__init__(text, guard, parent)
        self._repetition = Repetition()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space and not self.mouse_only:
            if not self._repetition.repeats(event):
                self._turn = self._guard.press()
                QPushButton.keyPressEvent(self, event)
            event.accept()
        else:
            event.ignore()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        super().keyReleaseEvent(event)
        if not event.isAutoRepeat():
            self._repetition.note_release(event)
            self._turn = None
