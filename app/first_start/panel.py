"""First steps: work on a project, connect a program, decide a test request, the keyring, the sandbox, trials."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app import phrases
from app.agents.connecting import Connecting
from app.first_start.isolation import IsolationStep
from app.first_start.keyring import KeyringStep
from app.first_start.step import FirstStep
from app.first_start.trial_step import TrialStep
from app.first_start.trying import TryStep
from app.parts.column import ScrollColumn
from app.parts.gauges.state_ring import RingState, StateRing
from app.parts.key_names import key_text
from app.parts.plain import plain_label
from app.parts.text.copying import CopyButton
from runner.gateway.own_command import typed_command
from runner.model.request import Isolation
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtGui import QShowEvent

    from app.agents.client_link import ClientLink
    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.cards import Cards
    from runner.commands.check import Check
    from runner.identity.agents import Agent
    from runner.system.places import Places

TITLE = tr("First steps")
WORK = tr(
    "Type the line below in the folder of a project. The agent works over a copy of the folder, and reaches its own"
    " service alone; your folder stays as it is until you apply what it changed, on the page Work."
)
SENTENCE = tr(
    "An agent works over a copy of your project, or asks Assent before it runs code; you decide. Nothing on this page"
    " approves anything. You can leave it at any time and open it again from Help or {key}.",
    key=key_text("Ctrl+K"),
)
NO_SANDBOX = tr("Worth most on this machine: step 5. Without a sandbox no code runs.")
BEGIN = tr("Worth most now: step 1. Until a program works on a project, or is connected, there is nothing to decide.")
STRONGER = tr("Worth most on this machine: step 5. A stronger sandbox lets more run, and holds it better.")
KEEP_KEY = tr("Worth most now: step 4. Without a kept key, what was signed cannot be verified later.")
MOST_AGENTS = 6
MARK = 48
WIDEST = 900
"""Pixels; longer lines tire."""


class FirstSteps(QWidget):
    """Shows how things are, however they came to be so: it keeps nothing of its own that could be lost."""

    queue_wanted = Signal()
    work_wanted = Signal()
    agents_wanted = Signal()
    """A program that is not among the tiles."""
    doctor_wanted = Signal()
    gvisor_wanted = Signal()
    """gVisor is to be installed."""
    file_wanted = Signal()
    test_decided = Signal(str)
    """What became of the test request, while another page is shown."""
    keyring_answered = Signal()

    def __init__(
        self,
        cases: Cards,
        bridge: EngineLink,
        link: ClientLink,
        look: Look,
        places: Places,
        examine: Callable[[Places], Sequence[Check]] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """`examine` as in `IsolationStep`."""
        super().__init__(parent)
        self._cases = cases
        self._bridge = bridge
        self._look = look
        self._opened = False
        # Focused where there is nothing else yet: no key does anything here.
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setAccessibleName(TITLE)
        self.connecting = Connecting(link, cases, look, embedded=True)
        self.calls: list[CallRow] = []
        self.work_step = FirstStep(look, 1, tr("Let an agent work on a project of yours"))
        self.line = QLineEdit(f"{typed_command()} work claude")
        self.start = QPushButton(tr("Work on a project\N{HORIZONTAL ELLIPSIS}"))
        self.start.setAutoDefault(False)
        self.connect_step = FirstStep(look, 2, tr("Or connect the program that your agent runs in"))
        self.try_step = TryStep(cases, bridge, look)
        self.keyring_step = KeyringStep(bridge, look)
        self.isolation_step = IsolationStep(cases, look, places, bridge.may_run_critical, examine)
        self.trial_step = TrialStep(cases, bridge, look)
        self.worth = plain_label(role="strong", wrap=True)
        self.go = QPushButton(tr("Go to the queue"))
        self.go.setProperty("kind", "primary")
        self.go.setAutoDefault(False)
        self._lay_out()
        self._connect()
        self._show_agents()

    @Slot()
    def look_again(self) -> None:
        """Ask again how everything is (F5)."""
        self._opened = False
        self._open()

    @Slot()
    def _open(self) -> None:
        """Begin, once there is an engine to ask; what is under way in a step stays as it is."""
        if self._opened or not self.isVisible() or not (self._cases.address or self._cases.troubles):
            return
        self._opened = True
        if not self.connecting.busy:
            self.connecting.open()
        self.keyring_step.look_again()
        self.isolation_step.refresh()
        self.trial_step.refresh()
        self._show_worth()

    @Slot()
    def _show_worth(self) -> None:
        """Name the one step that is worth most on this machine now."""
        nobody = not any(agent.last_seen for agent in self._cases.agents or ())
        worked = bool(self._bridge.work.sessions())
        self.work_step.show_state(RingState.DONE if worked else RingState.TODO)
        found = str(self._cases.sandbox.get("isolation", ""))
        open_steps = [
            (found not in ("", *list(Isolation)), NO_SANDBOX),
            (nobody and not worked, BEGIN),
            (bool(found) and self.isolation_step.ring.state is not RingState.DONE, STRONGER),
            (self.keyring_step.ring.state is not RingState.DONE, KEEP_KEY),
        ]
        words = next((words for is_open, words in open_steps if is_open), "")
        self.worth.setText(words)
        self.worth.setVisible(bool(words))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self.setFocus()
            self._opened = False
            self._open()

    # ---- the agents ----

    @Slot()
    def _know_again(self) -> None:
        self._cases.know_agents(self._bridge.agents.all())

    @Slot()
    def _show_agents(self) -> None:
        """Say of each agent whether its first call has come."""
        known = [agent for agent in self._cases.agents or () if not agent.revoked]
        waiting = [agent for agent in known if not agent.last_seen]
        # Of those that have never called, the newest: it is the one that was connected just now.
        agents = [agent for agent in known if agent.last_seen or agent is waiting[-1]][-MOST_AGENTS:]
        # The one that is being connected says it itself.
        self._agents.setVisible(bool(agents) and not self.connecting.busy)
        while len(self.calls) < len(agents):
            self.calls.append(CallRow(self._look))
            self._called.addWidget(self.calls[-1])
        for number, row in enumerate(self.calls):
            row.setVisible(number < len(agents))
            if number < len(agents):
                row.show_agent(agents[number])
        # Green only where nobody is waited for below: another agent's call says nothing about this one's.
        self.connect_step.show_state(RingState.WAITING if waiting else RingState.DONE if agents else RingState.TODO)

    @Slot(str)
    def _tell(self, words: str) -> None:
        if not self.isVisible():
            self.test_decided.emit(words)

    # ---- building ----

    def _connect(self) -> None:
        self._cases.agents_known.connect(self._show_agents)
        self._cases.agents_known.connect(self._show_worth)
        self._cases.sandbox_known.connect(self._show_worth)
        self.keyring_step.answered.connect(self._show_worth)
        self._cases.happened.connect(self._open)
        self.connecting.changed.connect(self._know_again)
        self.connecting.turned.connect(self._show_agents)
        self.connecting.other.connect(self.agents_wanted)
        self.connecting.done.connect(self.connecting.open)
        self.try_step.sent.connect(self.queue_wanted)
        self.try_step.decided.connect(self._tell)
        self.keyring_step.answered.connect(self.keyring_answered)
        self.keyring_step.file_wanted.connect(self.file_wanted)
        self.isolation_step.doctor_wanted.connect(self.doctor_wanted)
        self.isolation_step.gvisor_wanted.connect(self.gvisor_wanted)
        self.start.clicked.connect(self.work_wanted)
        self.go.clicked.connect(self.queue_wanted)

    def _lay_out_work(self) -> None:
        """Show the line to type, which may be longer than the page is wide."""
        self.line.setReadOnly(True)
        self.line.setFont(self._look.mono())
        self.line.setAccessibleName(tr("The line that starts it"))
        copy = CopyButton(tr("Copy"), tr("Copy the command"))
        copy.set_text_to_copy(self.line.text())
        typed = QHBoxLayout()
        typed.setSpacing(self._look.px(8))
        typed.addWidget(self.line, 1)
        typed.addWidget(copy)
        begin = QHBoxLayout()
        begin.addWidget(self.start)
        begin.addStretch()
        self.work_step.column.addWidget(plain_label(WORK, "muted", wrap=True))
        self.work_step.column.addLayout(typed)
        self.work_step.column.addLayout(begin)

    def _lay_out(self) -> None:
        px = self._look.px
        self._agents = QWidget()
        self._called = QVBoxLayout(self._agents)
        self._called.setContentsMargins(0, 0, 0, 0)
        self._called.setSpacing(px(4))
        self._lay_out_work()
        self.connect_step.column.addWidget(self.connecting)
        self.connect_step.column.addWidget(self._agents)
        head = QWidget()
        words = QVBoxLayout()
        words.setSpacing(px(4))
        words.addWidget(plain_label(TITLE, "large"))
        words.addWidget(plain_label(SENTENCE, "muted", wrap=True))
        words.addWidget(self.worth)
        mark = plain_label()
        mark.setPixmap(self._look.pixmap("assent", size=MARK))
        row = QHBoxLayout(head)
        row.setContentsMargins(px(4), px(4), px(4), px(4))
        row.setSpacing(px(14))
        row.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        scroll = ScrollColumn(TITLE)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.column.setContentsMargins(0, 0, px(6), 0)
        scroll.column.setSpacing(px(8))
        steps = (self.work_step, self.connect_step, self.try_step, self.keyring_step, self.isolation_step)
        for part in (head, *steps, self.trial_step):
            scroll.column.addWidget(part)
        last = QHBoxLayout()
        last.addStretch()
        last.addWidget(self.go)
        page = QWidget()
        page.setMaximumWidth(px(WIDEST))
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(px(8))
        column.addWidget(scroll, 1)
        column.addLayout(last)
        whole = QHBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addStretch(1)
        whole.addWidget(page, 1000)
        whole.addStretch(1)


class CallRow(QWidget):
    """One agent: whether its first call has come."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.ring = StateRing(look, size=18)
        self.words = plain_label(wrap=True)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(look.px(8))
        row.addWidget(self.ring, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.words, 1)

    def show_agent(self, agent: Agent) -> None:
        """Show how things stand with `agent`."""
        name = phrases.visible(agent.name)
        if agent.last_seen:
            self.ring.show_state(RingState.DONE)
            self.words.setText(tr("{name} is connected: its first call has arrived.", name=name))
        else:
            self.ring.show_state(RingState.WAITING)
            self.words.setText(
                tr("Waiting for the first call of {name}. Start its program again, then give it a task.", name=name)
            )
