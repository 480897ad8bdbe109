"""A command that waits for an answer: all of it, why it was held, and the two answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app import phrases
from app.link.page_tasks import PageTasks
from app.parts.fold import fit
from app.parts.order import tab_in_reading_order
from app.parts.plain import plain_label, say
from app.parts.text.code import CodeView
from app.review.buttons import ApproveButton, DecisionButton
from app.review.denial import ReasonField
from app.review.guard import REST_SECONDS, ClickGuard
from app.review.moved_target import Steady
from app.review.proof import ProofEntry, proof_for
from app.work import words
from runner.approval.deliberate import ApproveBy
from runner.model.assessment import Level
from runner.model.errors import KnownError
from runner.model.sentence_translation import in_words
from runner.model.translation import to_translate, tr, translated

if TYPE_CHECKING:
    from asyncio import Future

    from PySide6.QtGui import QShowEvent

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.work_cards import WorkCards
    from runner.model.work import CommandSeen, WorkSession

SCROLL = tr("Scroll to the end of the command to run it.")
WAITS = to_translate("Waiting since {moment}. It waits until you answer, unless the program gives up before.")
GONE = tr("It no longer waits: it was answered, or the program has gone on.")
HOLD = tr("Hold for a second to run it")
_REST_MS = round(REST_SECONDS * 1000) + 10


def level_of(command: CommandSeen) -> Level | None:
    """Return the level of a command; None where it was not assessed."""
    return Level.__members__.get(command.level)


class HeldDialog(QDialog):
    """Opened with `open`. Run counts only once all of the command was on screen; CRITICAL has to be held."""

    def __init__(
        self,
        parent: QWidget,
        cards: WorkCards,
        bridge: EngineLink,
        look: Look,
        session: WorkSession,
        command: CommandSeen,
    ) -> None:
        super().__init__(parent)
        self._cards = cards
        self._bridge = bridge
        self._look = look
        self._name = session.name
        self._command = command
        self._sent = False
        self._problem = ""
        """Why it could not be answered."""
        self._tasks = PageTasks("held command", self)
        by = bridge.decisions.approve_by()
        level = level_of(command)
        self.guard = ClickGuard(self._can_be_answered)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("A command waits"))
        named = f"{command.level} " if command.level else ""
        self.heading = plain_label(
            tr("{named}command of {client}", named=named, client=words.client(session)), "title", wrap=True
        )
        self.where = plain_label(
            tr("In {folder}, over its copy of the project.", folder=words.home_path(command.folder)), "muted", wrap=True
        )
        told = [phrases.visible(in_words(one)) for one in (command.sentence, *command.reasons, command.sandbox) if one]
        self.reasons = plain_label("\n".join(told), "warn", wrap=True)
        self.code = CodeView(look)
        self.code.setAccessibleName(tr("The command"))
        self.code.set_code(command.text, "shell")
        self._make_buttons(by, level)
        proof = proof_for(by, look) if by.asks_word(level) or by.asks_pin(level) else None
        self.proof = None if proof is None else ProofEntry(proof, look, self.guard)
        if self.proof is not None:
            self.proof.approved.connect(self._run_by)
            self.proof.back.connect(self.reject)
        self._steady = Steady((self.refuse, self.run), self)
        self._steady.moved.connect(self._rearm)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._show_state)
        self._lay_out()
        tab_in_reading_order(self)
        self.code.seen_to_end.connect(self._show_state)
        cards.moved.connect(self._show_state)
        self._show_state()
        self.no.setFocus()

    def _make_buttons(self, by: ApproveBy, level: Level | None) -> None:
        """Make the buttons that answer and the one that does not, with what is said and written beside them."""
        self.sentence = plain_label(role="muted", wrap=True)
        self.reason = ReasonField()
        self.reason.setMaxLength(phrases.REASON_LENGTH)
        self.reason.setPlaceholderText(tr("Reason, if you refuse it (optional)"))
        self.reason.setAccessibleName(tr("Reason for refusing, sent to the program"))
        self.reason.back.connect(self.reject)
        self.no = QPushButton(tr("Later"))
        self.no.setDefault(True)
        self.no.setAccessibleName(tr("Later: close this and answer nothing"))
        self.no.clicked.connect(self.reject)
        self.refuse = DecisionButton(tr("Refuse"), self.guard)
        self.refuse.setProperty("kind", "danger")
        self.refuse.decided.connect(self._refuse)
        self.run = ApproveButton(tr("Run"), self.guard, self._look)
        self.run.setProperty("kind", "primary")
        self.run.mouse_only = by is ApproveBy.MOUSE
        self.run.set_holding(level is Level.CRITICAL)
        if level is Level.CRITICAL:
            self.run.setToolTip(HOLD)
            self.run.setText(tr("Hold to run"))
        self.run.decided.connect(self._run)

    @property
    def waits(self) -> bool:
        """Whether the very command on screen still waits."""
        session = self._cards.session(self._name)
        return session is not None and session.at_work and self._command in session.held

    def _can_be_answered(self) -> bool:
        self._steady.look()
        return self.isVisible() and self.isActiveWindow()

    @Slot()
    def _rearm(self) -> None:
        self.guard.rearm()
        self._rest.start()
        self._show_state()

    @Slot()
    def _show_state(self) -> None:
        rested = not self._rest.isActive() and not self._sent
        seen = self.code.is_seen_to_end
        self.refuse.setEnabled(self.waits and rested)
        self.run.setEnabled(self.waits and rested and seen)
        if not self.waits and not self._sent:
            say(self.sentence, GONE, "muted")
        elif not self._sent and self._problem:
            say(self.sentence, self._problem, "bad")
        elif not self._sent:
            waited = translated(WAITS, moment=words.moment(self._command.at))
            say(self.sentence, waited if seen else SCROLL, "muted")
        if self.proof is not None:
            self.proof.setVisible(self.waits and seen)

    @Slot()
    def _run(self) -> None:
        if self.proof is None:
            self._answer(run=True, pin="")

    @Slot(str)
    def _run_by(self, pin: str) -> None:
        self._answer(run=True, pin=pin)

    @Slot()
    def _refuse(self) -> None:
        self._answer(run=False, pin="")

    def _answer(self, *, run: bool, pin: str) -> None:
        if self._sent or not self.waits or (run and not self.code.is_seen_to_end):
            return
        self._sent, self._problem = True, ""
        why = "" if run else phrases.cleaned(self.reason.text())
        answer = self._bridge.work.answer(self._name, self._command.number, run=run, why=why, pin=pin)
        self._show_state()
        self._tasks.start("answer", self._wait(answer))

    async def _wait(self, answer: Future[None]) -> None:
        try:
            await answer
        except KnownError as error:
            self._sent = False
            self._problem = tr("Not answered: {error}", error=phrases.visible(str(error)))
            self._show_state()
            return
        self.accept()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.installEventFilter(self)
        self._steady.watch()
        self._rearm()
        if self.proof is not None:
            self.proof.open()
            self.no.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.WindowActivate:
            self._rearm()
        return super().eventFilter(watched, event)

    def done(self, result: int) -> None:
        """Give the focus back to the window below, also where no window manager does."""
        active, below = self.isActiveWindow(), self.parentWidget()
        super().done(result)
        if active and below is not None:
            below.window().activateWindow()

    def _lay_out(self) -> None:
        px = self._look.px
        row = QHBoxLayout()
        row.setSpacing(px(8))
        row.addWidget(self.sentence, 1)
        row.addStretch()
        row.addWidget(self.no)
        row.addWidget(self.refuse)
        row.addWidget(self.run)
        self.run.setVisible(self.proof is None)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(18), px(16), px(18), px(14))
        column.setSpacing(px(8))
        column.addWidget(self.heading)
        column.addWidget(self.where)
        column.addWidget(self.reasons)
        column.addWidget(self.code, 1)
        column.addWidget(self.reason)
        if self.proof is not None:
            column.addWidget(self.proof)
        column.addLayout(row)
        self.reasons.setVisible(bool(self.reasons.text()))
        fit(self, px(640), px(420))
