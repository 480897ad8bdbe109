"""The word that approves a request, asked in the place of the buttons (`window.approve_by: word`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.parts.plain import plain_label
from app.review.buttons import DecisionButton, back_button
from app.review.denial import ReasonField
from runner.approval.deliberate import new_word

if TYPE_CHECKING:
    from app.look.look import Look
    from app.review.guard import ClickGuard


class WordEntry(QWidget):
    """A word to copy by hand, and the button that approves once it stands there."""

    approved = Signal()
    back = Signal()

    def __init__(self, look: Look, guard: ClickGuard, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._word = ""
        self.what = plain_label()
        self.field = ReasonField()
        self.field.setMaxLength(40)
        self.field.setAccessibleName("The word that approves")
        self.field.textChanged.connect(self._show_state)
        self.field.back.connect(self.back)
        self.button = DecisionButton("Approve", guard)
        self.button.setProperty("kind", "primary")
        self.button.setToolTip("Ctrl+Enter")
        self.button.setAccessibleName("Approve, Ctrl+Enter")
        self.button.decided.connect(self._approve)
        self.field.sent.connect(self.button.press_key)
        self.cancel = back_button(self.back)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(look.px(8))
        row.addWidget(self.what)
        row.addWidget(self.field, 1)
        row.addWidget(self.cancel)
        row.addWidget(self.button)

    def open(self) -> None:
        """Ask for another word than the last time."""
        last = self._word
        while self._word == last:
            self._word = new_word()
        self.what.setText(f"Type {self._word} to approve:")
        self.field.clear()
        self._show_state()
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def _typed(self) -> bool:
        return self.field.text().strip().casefold() == self._word

    @Slot()
    def _show_state(self) -> None:
        self.button.setEnabled(self._typed)

    @Slot()
    def _approve(self) -> None:
        if self._typed:
            self.approved.emit()
