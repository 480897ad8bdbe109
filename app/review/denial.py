"""The reason for a denial, asked in the place of the buttons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QToolButton, QVBoxLayout, QWidget

from app import phrases
from app.parts.back import back_button
from app.parts.flow import Flow
from app.parts.fold import FoldingLine
from app.parts.key_names import key_text
from app.review.buttons import DecisionButton
from runner.model.translation import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent

    from app.look.look import Look
    from app.review.guard import ClickGuard

CANNED = (
    (tr("Not needed"), "Not needed for the task."),
    (tr("Too risky"), "Too risky: choose a narrower way."),
    (tr("Explain first"), "Explain first what this is for."),
    (tr("No network"), "Do not use the network."),
)
"""Words on a button, and the reason it fills in."""


class ReasonField(QLineEdit):
    """A line of text in which Enter sends nothing; Ctrl+Enter does, Escape goes back."""

    sent = Signal()
    back = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if event.modifiers() & Qt.KeyboardModifier.ControlModifier and not event.isAutoRepeat():
                self.sent.emit()
            event.accept()
        elif event.key() == Qt.Key.Key_Escape:
            event.accept()
            self.back.emit()
        else:
            super().keyPressEvent(event)


class Denial(QWidget):
    """Canned reasons to fill in, a field for one's own, and the button that denies."""

    denied = Signal(str)
    """The reason, cleaned; may be empty."""
    back = Signal()

    def __init__(self, look: Look, guard: ClickGuard, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        px = look.px
        self.field = ReasonField()
        self.field.setMaxLength(phrases.REASON_LENGTH)
        self.field.setPlaceholderText(tr("Reason for the agent (optional)"))
        self.field.setAccessibleName(tr("Reason for the denial, sent to the agent"))
        self.field.back.connect(self.back)
        self.button = DecisionButton(tr("Deny  {key}", key=key_text("Ctrl+Enter")), guard)
        self.button.setProperty("kind", "danger")
        self.button.setAccessibleName(tr("Deny, {key}", key=key_text("Ctrl+Enter")))
        self.button.decided.connect(self._deny)
        self.field.sent.connect(self.button.press_key)
        self.cancel = back_button(tr("Escape"))
        self.cancel.clicked.connect(self.back)
        self.reasons = Flow([self._canned(words, reason) for words, reason in CANNED], px(4), left=True)
        buttons = QWidget()
        row = QHBoxLayout(buttons)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(px(8))
        row.addWidget(self.cancel)
        row.addWidget(self.button)
        self.field.setMinimumWidth(px(160))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(px(6))
        column.addLayout(self.reasons)
        column.addWidget(FoldingLine(self.field, buttons, px(8)))

    def open(self) -> None:
        """Start with an empty field, ready to type."""
        self.field.clear()
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _canned(self, words: str, reason: str) -> QToolButton:
        choice = QToolButton()
        choice.setText(words)
        choice.setAccessibleName(tr("Reason: {reason}", reason=reason))
        choice.setProperty("kind", "chip")
        choice.setToolTip(reason)
        choice.clicked.connect(lambda: self._fill(reason))
        return choice

    def _fill(self, reason: str) -> None:
        self.field.setText(reason)
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def _deny(self) -> None:
        self.denied.emit(phrases.cleaned(self.field.text()))
