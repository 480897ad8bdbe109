"""The question about the desktop's keyring, and the person's answer. Only *Use the keyring* opens it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QPushButton, QWidget

from app import phrases
from app.first_start.step import FirstStep
from app.link.page_tasks import PageTasks
from app.parts.flow import FlowRow
from app.parts.gauges.state_ring import RingState
from app.parts.plain import plain_label, say
from runner.identity.keyring_answer import KeyringAnswer
from runner.identity.secrets import PATIENCE, Vault
from runner.model.errors import KnownError
from runner.model.translation import numeral, tr

if TYPE_CHECKING:
    from asyncio import Future

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from runner.identity.secrets import Where

WHY = tr(
    "Assent signs the history, so that a changed or cut history is noticed. The key, and a PIN if you set one, belong"
    " in the keyring of your desktop. If you agree, the desktop may ask for your password now, in a window of its own:"
    " Assent never sees it. Without the keyring the key is lost when Assent ends, and what it signed cannot be verified"
    " later."
)
OPENING = tr(
    "Opening the keyring. If your desktop asks for a password, answer it there; Assent waits {patience} s.",
    patience=numeral(PATIENCE, ".0f"),
)


class KeyringStep(FirstStep):
    """Asks once. What was answered is shown, and can be changed where the keyring was refused."""

    file_wanted = Signal()
    """The person wants to see the setting for a file in place of the keyring."""
    answered = Signal()

    def __init__(self, bridge: EngineLink, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(look, 4, tr("Keep the history signed"), parent)
        self._bridge = bridge
        self._tasks = PageTasks("keyring", self)
        self.message = plain_label(wrap=True)
        self.message.hide()
        self.allow, self.refuse = QPushButton(tr("Use the keyring")), QPushButton(tr("Not now"))
        self.refuse.setToolTip(tr("Keep the key in memory until Assent ends. You can allow the keyring here later."))
        self.file = QPushButton(tr("Use a file instead\N{HORIZONTAL ELLIPSIS}"))
        self.file.setToolTip(tr("Settings has the choice of a file that only you can read"))
        self._buttons = (self.allow, self.refuse, self.file)
        for button in self._buttons:
            button.setAutoDefault(False)
            button.hide()
        self.allow.clicked.connect(lambda: self._answer(KeyringAnswer.ALLOWED))
        self.refuse.clicked.connect(lambda: self._answer(KeyringAnswer.REFUSED))
        self.file.clicked.connect(self.file_wanted)
        self.column.addWidget(plain_label(WHY, "muted", wrap=True))
        self.column.addWidget(self.message)
        self.column.addWidget(FlowRow(self._buttons, look.px(8), look.px(6)))

    @Slot()
    def look_again(self) -> None:
        """Ask where secrets are kept. A keyring that was not allowed stays closed."""
        self._tasks.start("where", self._show(self._bridge.keeping.secrets_where()))

    def _answer(self, answer: KeyringAnswer) -> None:
        self._tasks.cancel()
        for button in self._buttons:
            button.setEnabled(False)
        say(self.message, OPENING if answer is KeyringAnswer.ALLOWED else "", "muted")
        if answer is KeyringAnswer.ALLOWED:
            self.show_state(RingState.WAITING)
        self._tasks.start("answer", self._show(self._bridge.keeping.answer_keyring(answer), answered=True))

    async def _show(self, asked: Future[Where], *, answered: bool = False) -> None:
        try:
            where = await asked
        except KnownError as error:
            if answered:
                say(self.message, str(error), "bad")
                self.show_state(RingState.TODO)
                self.show_choices(KeyringAnswer.UNASKED)
            return
        unasked = where.answer is KeyringAnswer.UNASKED
        words = phrases.visible(f"{where.explanation} {where.remedy}".strip())
        settled = where.kind is not Vault.MEMORY
        role = "ok" if settled else "muted" if where.answer is KeyringAnswer.REFUSED else "warn"
        # Before the answer there is nothing more to say than why it is asked.
        say(self.message, "" if unasked and not settled else words, role)
        self.show_state(RingState.DONE if settled else RingState.TODO)
        self.show_choices(where.answer, settled=settled)
        if answered:
            self.answered.emit()

    def show_choices(self, answer: KeyringAnswer, *, settled: bool = False) -> None:
        """Offer what can still be chosen after `answer`."""
        offered = {
            self.allow: answer is not KeyringAnswer.ALLOWED,
            self.refuse: answer is KeyringAnswer.UNASKED and not settled,
            self.file: answer is not KeyringAnswer.UNASKED and not settled,
        }
        for button, wanted in offered.items():
            button.setVisible(wanted)
            button.setEnabled(wanted)
