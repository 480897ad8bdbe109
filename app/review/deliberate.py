"""A dialog that confirms what lets code run unasked, with what the person chose to approve with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot

from app.parts.confirm import ConfirmDialog
from app.review.proof import proof_for
from runner.approval.deliberate import ApproveBy

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from app.look.look import Look


class DeliberateDialog(ConfirmDialog):
    """Like any other, where a key approves; else its button takes the mouse only, or waits for a word or a PIN."""

    def __init__(
        self,
        parent: QWidget,
        title: str,
        what: str,
        yes: str,
        confirmed: Callable[[str], None],
        by: ApproveBy,
        look: Look,
    ) -> None:
        """`confirmed` gets the PIN, empty where none is asked for; it is not called for a no."""
        super().__init__(parent, title, what, yes, self._answered_with)
        self._confirmed = confirmed
        self._pin = ""
        self.yes.mouse_only = by is ApproveBy.MOUSE
        self.proof = proof_for(by, look)
        if self.proof is not None:
            self.put_above_buttons(self.proof)
            self.proof.changed.connect(self._show_state)
            self.proof.sent.connect(self.yes.click)
            self.proof.back.connect(self.reject)
            self.proof.open()

    def _answered_with(self, yes: bool) -> None:
        if yes:
            self._confirmed(self._pin)

    @Slot()
    def _show_state(self) -> None:
        assert self.proof is not None
        self.yes.setEnabled(self.proof.ready)

    def accept(self) -> None:
        if self.proof is not None:
            if not self.proof.ready:
                return
            # Before it closes, which empties the field.
            self._pin = self.proof.take()
        super().accept()
