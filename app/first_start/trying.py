"""A test request: the person decides one harmless request before an agent sends a real one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from app.first_start.step import FirstStep
from app.link.page_tasks import PageTasks
from app.parts.gauges.state_ring import RingState
from app.parts.plain import plain_label, say
from app.phrases import YOU
from runner.model.decision import Verdict
from runner.model.errors import KnownError
from runner.model.events import RequestDecided
from runner.model.translation import tr

if TYPE_CHECKING:
    from asyncio import Future

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.cards import Cards
    from runner.model.decision import Decision
    from runner.model.events import Event

WHY = tr(
    "The test request asks to print one line. It opens in the queue like any other: look at it, then approve or deny"
    " it. Enter, Space and Escape never decide."
)


class TryStep(FirstStep):
    """Sends the request, and says what was decided about it; it decides nothing."""

    sent = Signal()
    """It is in the queue."""
    decided = Signal(str)
    """What became of it, in a sentence."""

    def __init__(self, cases: Cards, bridge: EngineLink, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(look, 3, tr("Decide a test request"), parent)
        self._cases = cases
        self._bridge = bridge
        self._tasks = PageTasks("test request", self)
        self._id = ""
        self._early: dict[str, Decision] | None = None
        """What was decided while the request was sent and its id was not known yet; None at other times."""
        self.message = plain_label(wrap=True)
        self.message.hide()
        self.send = QPushButton(tr("Send a test request"))
        self.send.setAutoDefault(False)
        self.send.clicked.connect(self._send)
        self.column.addWidget(plain_label(WHY, "muted", wrap=True))
        self.column.addWidget(self.message)
        row = QHBoxLayout()
        row.addWidget(self.send)
        row.addStretch()
        self.column.addLayout(row)
        cases.happened.connect(self._take)

    @Slot()
    def _send(self) -> None:
        self.send.setEnabled(False)
        self._early = {}
        # No agent has asked, so none is said to have.
        self._tasks.start("send", self._await(self._bridge.agents.send_test(YOU)))

    async def _await(self, answer: Future[str]) -> None:
        try:
            self._id = await answer
        except KnownError as error:
            say(self.message, str(error), "bad")
            return
        finally:
            self.send.setEnabled(True)
            early, self._early = self._early or {}, None
        say(self.message, tr("It waits in the queue."), "muted")
        self.show_state(RingState.WAITING)
        if (decision := early.get(self._id)) is not None:
            self._conclude(decision)  # by a rule, or in Lockdown
        self.sent.emit()

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        for event in events:
            if not isinstance(event, RequestDecided):
                continue
            if self._early is not None:
                self._early[event.request_id] = event.decision
            elif event.request_id == self._id and self.ring.state is RingState.WAITING:
                self._conclude(event.decision)

    def _conclude(self, decision: Decision) -> None:
        match decision.verdict:
            case Verdict.APPROVED:
                words, state = tr("The test request was approved."), RingState.DONE
            case Verdict.DENIED:
                words, state = tr("The test request was denied: nothing ran."), RingState.DONE
            case Verdict.EXPIRED:
                words, state = (
                    tr("The test request was not answered in time: nothing ran. Send it again."),
                    RingState.TODO,
                )
            case Verdict.WITHDRAWN:
                words, state = tr("The test request was withdrawn: nothing ran. Send it again."), RingState.TODO
        say(self.message, words, "ok" if state is RingState.DONE else "muted")
        self.show_state(state)
        self.decided.emit(words)
