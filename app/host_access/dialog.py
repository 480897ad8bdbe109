"""Asks once more before a host is allowed: for good, or although it leads into the person's own network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtWidgets import QComboBox, QDialog, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.host_access.buttons import AllowButton
from app.network import words
from app.parts.plain import plain_label
from app.review.guard import REST_SECONDS, ClickGuard
from app.review.proof import ProofEntry, proof_for
from runner.approval.deliberate import ApproveBy
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtGui import QShowEvent

    from app.look.look import Look

HOUR = 3600.0
DAY = 24 * HOUR
ENDS = ((tr("For 1 hour"), HOUR), (tr("For 8 hours"), 8 * HOUR), (tr("For 1 day"), DAY), (tr("For 30 days"), 30 * DAY))
"""How long a host may be allowed: a grant for a host always has an end."""
_WIDTH = 460


class AllowDialog(QDialog):
    """Opened with `open`, never with `exec`. The focus starts on the button that changes nothing."""

    def __init__(
        self,
        parent: QWidget,
        look: Look,
        by: ApproveBy,
        title: str,
        lines: Sequence[tuple[str, str]],
        yes: str,
        allowed: Callable[[float, str], None],
        ends: bool = False,
    ) -> None:
        """`lines` are texts with their roles; `allowed` gets the chosen seconds, 0 where `ends` are not
        offered, and the PIN, empty where none is asked for.
        """
        super().__init__(parent)
        self._look = look
        self._allowed = allowed
        self.guard = ClickGuard(self._can_be_answered)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.texts = [plain_label(words.breakable(text), role, wrap=True) for text, role in lines]
        self.setAccessibleDescription(" ".join(text for text, _ in lines))
        self.end = QComboBox()
        self.end.addItems([words for words, _ in ENDS])
        self.end.setAccessibleName(tr("Until when"))
        self.end.setVisible(ends)
        self._offered = ends
        self.no = QPushButton(tr("Cancel"))
        self.no.setDefault(True)
        self.no.clicked.connect(self.reject)
        self.yes = AllowButton(yes, self.guard)
        self.yes.setProperty("kind", "danger")
        self.yes.mouse_only = by is ApproveBy.MOUSE
        self.yes.decided.connect(self._allow)
        proof = proof_for(by, look)
        self.proof = None if proof is None else ProofEntry(proof, look, self.guard)
        if self.proof is not None:
            self.proof.approved.connect(self._allow_by)
            self.proof.back.connect(self.reject)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(round(REST_SECONDS * 1000) + 10)
        self._rest.timeout.connect(self._rested)
        self._lay_out(title)
        self.yes.setEnabled(False)
        self.no.setFocus()

    def _can_be_answered(self) -> bool:
        return self.isVisible() and self.isActiveWindow()

    @Slot()
    def _rested(self) -> None:
        self.yes.setEnabled(True)

    @Slot()
    def _allow(self) -> None:
        self._allow_by("")

    @Slot(str)
    def _allow_by(self, pin: str) -> None:
        self.accept()
        self._allowed(ENDS[self.end.currentIndex()][1] if self._offered else 0.0, pin)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.guard.rearm()
        self._rest.start()
        if self.proof is not None:
            self.proof.open()

    def done(self, result: int) -> None:
        """Give the focus back to the window below, also where no window manager does."""
        active, below = self.isActiveWindow(), self.parentWidget()
        super().done(result)
        if active and below is not None:
            below.window().activateWindow()

    def _lay_out(self, title: str) -> None:
        px = self._look.px
        width = px(_WIDTH)
        heading = plain_label(words.breakable(title), "title", wrap=True)
        for label in (heading, *self.texts):
            label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
            label.ensurePolished()
            # Said outright: a dialog does not ask labels that wrap how high they are.
            label.setMinimumHeight(label.heightForWidth(width - px(40)))
        buttons = QHBoxLayout()
        buttons.setSpacing(px(8))
        buttons.addWidget(self.end)
        buttons.addStretch()
        buttons.addWidget(self.no)
        buttons.addWidget(self.yes)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(20), px(18), px(20), px(16))
        column.setSpacing(px(10))
        for label in (heading, *self.texts):
            column.addWidget(label)
        column.addSpacing(px(6))
        if self.proof is not None:
            column.addWidget(self.proof)
        column.addLayout(buttons)
        for button in (self.no, self.yes):
            button.setVisible(self.proof is None)
        self.setFixedWidth(width)
