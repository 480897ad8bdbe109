"""The proof that a person means it: a word that is copied by hand, or their PIN (`window.approve_by`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRegularExpression, Qt, Signal, Slot
from PySide6.QtGui import QKeySequence, QRegularExpressionValidator
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.parts.back import back_button
from app.parts.fold import FoldingLine
from app.parts.key_names import key_text
from app.parts.plain import plain_label
from app.review.buttons import DecisionButton
from app.review.denial import ReasonField
from runner.approval.deliberate import ApproveBy, new_word
from runner.identity.pin import LONGEST, well_formed
from runner.model.translation import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QHideEvent, QKeyEvent, QMouseEvent

    from app.look.look import Look
    from app.review.guard import ClickGuard

NOT_TYPED = (
    QKeySequence.StandardKey.Paste,
    QKeySequence.StandardKey.Undo,
    QKeySequence.StandardKey.Redo,
)
"""Keys that would bring text into a field that nobody types."""


class PinField(ReasonField):
    """Digits that are not shown. They are typed: nothing is pasted, dropped or brought back into the field."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        hints = Qt.InputMethodHint
        self.setEchoMode(QLineEdit.EchoMode.Password)
        self.setInputMethodHints(hints.ImhDigitsOnly | hints.ImhSensitiveData | hints.ImhHiddenText)
        self.setValidator(QRegularExpressionValidator(QRegularExpression(f"[0-9]{{0,{LONGEST}}}"), self))
        self.setMaxLength(LONGEST)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self.setAcceptDrops(False)
        self.setAccessibleName(name)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if any(event.matches(keys) for keys in NOT_TYPED):
            event.accept()
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        # The middle button inserts what another program has selected.
        if event.button() is not Qt.MouseButton.MiddleButton:
            super().mouseReleaseEvent(event)


class Proof(QWidget):
    """One line: what is asked for, and the field. Empty whenever it is not on screen."""

    changed = Signal()
    sent = Signal()
    """Ctrl+Enter."""
    back = Signal()

    def __init__(self, field: ReasonField, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.what = plain_label()
        self.field = field
        self.field.textChanged.connect(self.changed)
        self.field.sent.connect(self.sent)
        self.field.back.connect(self.back)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(look.px(8))
        row.addWidget(self.what)
        row.addWidget(self.field, 1)
        self.field.setMinimumWidth(look.px(90))

    def open(self) -> None:
        """Ask afresh, with an empty field that has the focus."""
        self.field.clear()
        self.changed.emit()
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def ready(self) -> bool:
        """Whether what stands there may be sent."""
        raise NotImplementedError

    def take(self) -> str:
        """Return the PIN, empty where none is asked for, and clear the field."""
        raise NotImplementedError

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.field.clear()


class WordProof(Proof):
    """A word to copy by hand, another one each time."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        field = ReasonField()
        field.setMaxLength(40)
        field.setAccessibleName(tr("The word that approves"))
        super().__init__(field, look, parent)
        self._word = ""

    def open(self) -> None:
        """Ask for another word than the last time."""
        last = self._word
        while self._word == last:
            self._word = new_word()
        self.what.setText(tr("Type {word}:", word=self._word))
        super().open()

    @property
    def ready(self) -> bool:
        return self.field.text().strip().casefold() == self._word

    def take(self) -> str:
        self.field.clear()
        return ""


class PinProof(Proof):
    """The PIN, which the engine checks."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(PinField(tr("Your PIN, which approves")), look, parent)
        self.what.setText(tr("Your PIN:"))

    @property
    def ready(self) -> bool:
        return well_formed(self.field.text())

    def take(self) -> str:
        pin = self.field.text()
        self.field.clear()
        return pin


def proof_for(by: ApproveBy, look: Look) -> Proof | None:
    """Return what is asked for where code is let run unasked; None where a button is enough."""
    if by.asks_word(None):
        return WordProof(look)
    return PinProof(look) if by.asks_pin(None) else None


class ProofEntry(QWidget):
    """A proof in the place of the buttons, and the button that approves once it stands there."""

    approved = Signal(str)
    """The PIN, empty where a word was asked for."""
    back = Signal()

    def __init__(self, proof: Proof, look: Look, guard: ClickGuard, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._proof = proof
        self.what, self.field = proof.what, proof.field
        self.button = DecisionButton(tr("Approve  {key}", key=key_text("Ctrl+Enter")), guard)
        self.button.setProperty("kind", "primary")
        self.button.setAccessibleName(tr("Approve, {key}", key=key_text("Ctrl+Enter")))
        self.button.decided.connect(self._approve)
        proof.changed.connect(self._show_state)
        proof.sent.connect(self.button.press_key)
        proof.back.connect(self.back)
        self.cancel = back_button(tr("Escape"))
        self.cancel.clicked.connect(self.back)
        buttons = QWidget()
        row = QHBoxLayout(buttons)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(look.px(8))
        row.addWidget(self.cancel)
        row.addWidget(self.button)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(FoldingLine(proof, buttons, look.px(8)))

    def open(self) -> None:
        """Ask afresh."""
        self._proof.open()

    @Slot()
    def _show_state(self) -> None:
        self.button.setEnabled(self._proof.ready)

    @Slot()
    def _approve(self) -> None:
        if self._proof.ready:
            self.approved.emit(self._proof.take())
