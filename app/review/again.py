"""Approving and not being asked again for a while, in one act: a small list over the buttons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QFrame, QPushButton, QVBoxLayout, QWidget

from app.parts.plain import plain_label
from app.review.buttons import DecisionButton
from app.review.guard import REST_SECONDS, ClickGuard
from runner.model.translation import tr
from runner.policy.grants import Choice, Subject

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent, QShowEvent
    from PySide6.QtWidgets import QLabel

    from app.look.look import Look

SECONDS, USES = 600.0, 10
"""How long and how often such an approval counts; other bounds are chosen in the dialog."""
WAYS = {
    Subject.EXACT: (tr("For this exact code"), tr("Same code, variables, input, limits and sandbox.")),
    Subject.SHAPE: (tr("With other values"), tr("Plain strings and numbers may change, nothing else.")),
}
_REST_MS = round(REST_SECONDS * 1000) + 10
WIDTH = 340


class ApproveAgain(QFrame):
    """A popup whose buttons take the mouse or a screen reader, no key that answers, and only after the guard's rest."""

    chosen = Signal(object)
    """Choice: approve this, and remember that."""
    more = Signal()
    """The person wants the dialog with every choice."""

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self._look = look
        self.guard = ClickGuard(self.isVisible)
        self.setProperty("card", True)
        self.setAccessibleName(tr("Approve and do not ask again"))
        self.setFixedWidth(look.px(WIDTH))
        self.buttons: dict[Subject, DecisionButton] = {}
        self._notes: dict[Subject, QLabel] = {}
        self._possible: dict[Subject, bool] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(look.px(12), look.px(10), look.px(12), look.px(10))
        column.setSpacing(look.px(4))
        heading = plain_label(tr("Approve, and do not ask again for 10 minutes, 10 times at most:"), "muted", wrap=True)
        column.addWidget(heading)
        for subject in WAYS:
            self._add(column, subject)
        self.choices = QPushButton(tr("More choices\N{HORIZONTAL ELLIPSIS}  R"))
        self.choices.setProperty("kind", "quiet")
        self.choices.setAutoDefault(False)
        self.choices.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.choices.clicked.connect(self._more)
        column.addWidget(self.choices)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._show_state)

    def open(self, above: QWidget, offered: tuple[Subject, ...], mouse_only: bool) -> None:
        """Show the list above a button, with what may be remembered of the request."""
        for subject, button in self.buttons.items():
            self._possible[subject] = subject in offered
            button.mouse_only = mouse_only
            button.setVisible(subject in offered)
            self._notes[subject].setText(WAYS[subject][1])
            self._notes[subject].setVisible(subject in offered)
        self._show_state()
        self.adjustSize()
        corner = above.mapToGlobal(QPoint(above.width(), 0)) - QPoint(self.width(), self.height() + self._look.px(4))
        screen = above.screen().availableGeometry()
        self.setGeometry(_within(QRect(corner, self.size()), screen))
        self.show()

    def say(self, subject: Subject, words: str, possible: bool) -> None:
        """Say what a choice would cover, or why it cannot be."""
        self._notes[subject].setText(words)
        self._possible[subject] = possible
        self._show_state()
        self.adjustSize()

    def _add(self, column: QVBoxLayout, subject: Subject) -> None:
        button = DecisionButton(WAYS[subject][0], self.guard)
        button.setAccessibleName(tr("Approve and remember: {ways}", ways=WAYS[subject][0]))
        button.decided.connect(lambda: self._choose(subject))
        note = plain_label(role="small", wrap=True)
        self.buttons[subject], self._notes[subject] = button, note
        column.addWidget(button)
        column.addWidget(note)

    def _choose(self, subject: Subject) -> None:
        if self._possible.get(subject):
            self.hide()
            self.chosen.emit(Choice(subject, USES, SECONDS))

    @Slot()
    def _more(self) -> None:
        self.hide()
        self.more.emit()

    @Slot()
    def _show_state(self) -> None:
        for subject, button in self.buttons.items():
            button.setEnabled(self._possible.get(subject, False) and not self._rest.isActive())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take R, which opens the dialog and approves nothing, and Escape."""
        if event.key() == Qt.Key.Key_R and not event.modifiers() and not event.isAutoRepeat():
            self._more()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        # The second click of a double click lands here.
        self.guard.rearm()
        self._rest.start()
        self._show_state()


def _within(room: QRect, screen: QRect) -> QRect:
    """Return `room` moved so that all of it is on the screen."""
    left = min(max(room.left(), screen.left()), max(screen.left(), screen.right() - room.width()))
    top = min(max(room.top(), screen.top()), max(screen.top(), screen.bottom() - room.height()))
    return QRect(QPoint(left, top), room.size())
