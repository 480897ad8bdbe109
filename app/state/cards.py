"""Every request that the window has heard of, kept up to date by the engine's events."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

from PySide6.QtCore import QObject, Signal

from app.state.sessions import tell_apart
from runner.approval.modes import Mode
from runner.model.decision import Verdict
from runner.model.events import (
    AgentsChanged,
    ApprovalArmed,
    ApprovalSpent,
    AwayChanged,
    CallsRefused,
    EngineTroubled,
    GatewayOpened,
    GrantsChanged,
    HostContacted,
    ModeChanged,
    QuestionAsked,
    QuestionPaused,
    QuestionsMoved,
    RehearsalMoved,
    RequestArrived,
    RequestAssessed,
    RequestClosed,
    RequestDecided,
    RequestEdited,
    RequestJoined,
    RunFinished,
    RunHeld,
    RunMeasured,
    RunObserved,
    RunStarted,
    SandboxChosen,
    SandboxesChanged,
    TrialMoved,
    TroubleCleared,
    WorkMoved,
    WorkRecorded,
)
from runner.model.request import Isolation, Tool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.identity.agents import Agent
    from runner.model.assessment import Assessment, Level
    from runner.model.behaviour import Behaviour
    from runner.model.decision import Decision
    from runner.model.events import Event
    from runner.model.kept_sandbox import Kept
    from runner.model.network import Contact
    from runner.model.request import Request
    from runner.model.result import Result, Usage

KEPT_RUNS = 20
"""Finished runs that stay in the running panel; older ones are in the history."""
KEPT_READINGS = 600
"""Readings of one run that are held for its curves: 150 s at 4 Hz."""
KEPT_REFUSALS, KEPT_MISSED = 50, 50
HOLDABLE = (Isolation.GVISOR, Isolation.GVISOR_DIRECT, Isolation.DOCKER)


@dataclass(slots=True)
class Card:
    """One request as the window shows it. Times are those of `time.monotonic()`, ends those of `since_boot`."""

    request: Request
    arrived: float
    digest: str
    """The request's digest, worked out once."""
    assessment: Assessment | None = None
    looked_at: tuple[Assessment | None, Level | None] = field(default=(None, None), compare=False)
    """The newest assessment of which the attention was worked out, and that attention."""
    deadline: float | None = None
    """None until the question is asked."""
    due: float = 0.0
    """The first deadline: what pauses keeps its place in the queue."""
    window: float = 0.0
    blocked: str = ""
    accepts: str = ""
    """The sandbox below the minimum that the person may accept for this request; empty for none."""
    again: bool = False
    asked: int = 1
    """How often the agent has sent it."""
    several: bool = False
    """Another session of the agent has a request open."""
    paused: bool = False
    """Somebody looks at it: the countdown stands, up to the cap that is now the deadline."""
    rehearsal: RehearsalMoved | None = None
    """How far its rehearsal is; None where none is switched on."""
    trial: TrialMoved | None = None
    """How far its trial among decoys is; None where none was begun."""
    armed: float | None = None
    """Until when an approval waits for the agent to come back, after the question had expired."""
    used: bool = False
    """Such an approval was used."""
    original: Request | None = None
    """What the agent sent, where a person's version was approved in its place."""
    decision: Decision | None = None
    protections: tuple[str, ...] = ()
    started: float | None = None
    held: float | None = None
    """Since when it is paused."""
    rested: float = 0.0
    """Seconds that it was paused before."""
    readings: deque[Usage] = field(default_factory=lambda: deque(maxlen=KEPT_READINGS))
    result: Result | None = None
    contacts: dict[tuple[str, int, bool | None], Contact] = field(default_factory=dict)
    """Hosts that the run tried to reach, by host, port and what came of it; the newest state of each."""
    observed: Behaviour | None = None

    @property
    def id(self) -> str:
        return self.request.id

    @property
    def level(self) -> Level | None:
        return self.assessment.level if self.assessment else None

    @property
    def waiting(self) -> bool:
        """A person is asked and has not answered."""
        return self.deadline is not None and self.decision is None

    @property
    def missed(self) -> bool:
        """Expired before anybody answered, and not approved and used since."""
        return self.decision is not None and self.decision.verdict is Verdict.EXPIRED and not self.used

    @property
    def running(self) -> bool:
        return self.started is not None and self.result is None

    @property
    def can_hold(self) -> bool:
        """Whether it can be paused: containers can, but not builds in sandboxes beside that of the request."""
        return self.running and self.request.tool is Tool.CODE_EXECUTE and self.request.isolation in HOLDABLE

    @property
    def elapsed(self) -> float:
        """Seconds that it has run, without those that it was paused."""
        now = time.monotonic() if self.held is None else self.held
        return 0.0 if self.started is None else now - self.started - self.rested


class Cards(QObject):
    """The store behind every panel. Panels read it and hear of changes; none of them changes it."""

    happened = Signal(object)
    """tuple[Event, ...], after they have been taken in."""
    agents_known = Signal()
    """The list of registered agents has come, or has changed."""
    sandbox_known = Signal()
    """What the sandbox here gives has become known."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cards: dict[str, Card] = {}
        self._waiting: dict[str, Card] = {}
        self._running: dict[str, Card] = {}
        self._over: deque[str] = deque()
        self._missed: dict[str, Card] = {}
        self.mode = ModeChanged(Mode.GUARDED.value)
        self.troubles: dict[str, EngineTroubled] = {}
        self.agents: tuple[Agent, ...] | None = None
        """None until they are known."""
        self.sandbox: Mapping[str, object] = {}
        """What agents get from `code_sandbox_info`: isolation, protections, missing, versions. Empty until known."""
        self.kept: tuple[Kept, ...] = ()
        """The sandboxes that agents keep, oldest first."""
        self.address = ""
        """Where agents connect; empty until the gateway is open."""
        self.refusals: deque[CallsRefused] = deque(maxlen=KEPT_REFUSALS)
        self.refused_by_agent: dict[str, int] = {}
        """Since this start, both."""
        self.first_refused: dict[str, float] = {}
        """When the first of these was reported, in seconds since the epoch."""

    # ---- reading ----

    def card(self, request_id: str) -> Card | None:
        return self._cards.get(request_id)

    def waiting(self) -> tuple[Card, ...]:
        """Return open questions, in the order in which they were asked."""
        return tuple(self._waiting.values())

    def count_waiting(self) -> int:
        return len(self._waiting)

    def missed(self) -> tuple[Card, ...]:
        """Return questions that expired, newest first, until they are dismissed."""
        return tuple(reversed(self._missed.values()))

    def dismiss(self, *request_ids: str) -> None:
        """Drop missed requests that the person has seen."""
        if gone := [one for one in request_ids if self._missed.pop(one, None) is not None]:
            for one in gone:
                self._cards.pop(one, None)
            self.happened.emit(())

    def running(self) -> tuple[Card, ...]:
        return tuple(self._running.values())

    def count_running(self) -> int:
        return len(self._running)

    def count_held(self) -> int:
        """Return the number of paused runs."""
        return sum(card.held is not None for card in self._running.values())

    @property
    def all_held(self) -> bool:
        """Whether some run is paused and no other run could be."""
        return bool(self.count_held()) and all(one.held is not None or not one.can_hold for one in self.running())

    def runs(self) -> tuple[Card, ...]:
        """Return what runs, then the latest that ended, each newest first."""
        return (*reversed(self.running()), *(self._cards[one] for one in reversed(self._over) if one in self._cards))

    def most_urgent(self) -> Card | None:
        """Return the open question that expires first."""
        return min(self._waiting.values(), key=lambda card: card.deadline or 0.0, default=None)

    # ---- taking in ----

    def know_agents(self, agents: tuple[Agent, ...]) -> None:
        """Take over the engine's list of registered agents."""
        self.agents = agents
        self.agents_known.emit()

    def know_sandbox(self, facts: Mapping[str, object]) -> None:
        """Take over the engine's description of the sandbox."""
        self.sandbox = facts
        self.sandbox_known.emit()

    def take(self, events: tuple[Event, ...]) -> None:
        """Take a batch in, then notify the panels."""
        for event in events:
            self._take(event)
        tell_apart((*self._waiting.values(), *self._running.values()))
        self.happened.emit(events)

    def _take(self, event: Event) -> None:
        match event:
            case RequestArrived() | RequestAssessed() | RequestEdited() | RequestDecided() | RequestClosed():
                self._take_request(event)
            case RequestJoined():
                if card := self._cards.get(event.request_id):
                    card.asked = event.times
            case QuestionAsked() | QuestionPaused() | QuestionsMoved() | RehearsalMoved() | TrialMoved():
                self._take_question(event)
            case ApprovalArmed():
                if card := self._missed.get(event.request_id):
                    card.armed, card.window = event.deadline, event.window
            case ApprovalSpent():
                self._spent(event)
            case RunStarted() | RunMeasured() | HostContacted() | RunObserved() | RunHeld() | RunFinished():
                self._take_run(event)
            case ModeChanged() | CallsRefused() | SandboxesChanged() | GatewayOpened() | EngineTroubled():
                self._take_engine(event)
            case TroubleCleared():
                self.troubles.pop(event.area, None)
            case AgentsChanged() | AwayChanged() | GrantsChanged() | SandboxChosen() | WorkMoved() | WorkRecorded():
                pass  # what shows it asks for it
            case _:
                assert_never(event)

    def _take_request(
        self, event: RequestArrived | RequestAssessed | RequestEdited | RequestDecided | RequestClosed
    ) -> None:
        match event:
            case RequestArrived():
                self._arrived(event.request)
            case RequestAssessed():
                if card := self._cards.get(event.request_id):
                    card.assessment = event.assessment
            case RequestEdited():
                self._edited(event)
            case RequestDecided():
                self._decided(event)
            case RequestClosed():
                self._closed(event.request_id)
            case _:
                assert_never(event)

    def _take_question(
        self, event: QuestionAsked | QuestionPaused | QuestionsMoved | RehearsalMoved | TrialMoved
    ) -> None:
        match event:
            case QuestionAsked():
                self._asked(event)
            case QuestionPaused():
                if card := self._waiting.get(event.request_id):
                    card.deadline, card.window, card.paused = event.deadline, event.window, True
            case QuestionsMoved():
                for request_id, deadline, window in event.ends:
                    if card := self._waiting.get(request_id):
                        card.deadline, card.window, card.paused = deadline, window, False
            case RehearsalMoved():
                if card := self._waiting.get(event.request_id):
                    card.rehearsal = event
            case TrialMoved():
                if card := self._waiting.get(event.request_id):
                    card.trial = event
            case _:
                assert_never(event)

    def _take_run(self, event: RunStarted | RunMeasured | HostContacted | RunObserved | RunHeld | RunFinished) -> None:
        match event:
            case RunStarted():
                self._started(event)
            case RunMeasured():
                if card := self._running.get(event.request_id):
                    card.readings.append(event.usage)
            case HostContacted(request_id, contact):
                if card := self._running.get(request_id):
                    card.contacts[contact.host, contact.port, contact.allowed] = contact
            case RunObserved():
                if card := self._running.get(event.request_id):
                    card.observed = event.behaviour
            case RunHeld():
                self._held(event)
            case RunFinished():
                self._finished(event)
            case _:
                assert_never(event)

    def _take_engine(
        self, event: ModeChanged | CallsRefused | SandboxesChanged | GatewayOpened | EngineTroubled
    ) -> None:
        match event:
            case ModeChanged():
                self.mode = event
            case CallsRefused():
                self.refusals.append(event)
                self.first_refused.setdefault(event.agent, time.time())
                self.refused_by_agent[event.agent] = self.refused_by_agent.get(event.agent, 0) + event.count
            case SandboxesChanged():
                self.kept = event.kept
            case GatewayOpened():
                self.address = event.address
            case EngineTroubled():
                self.troubles[event.area] = event
            case _:
                assert_never(event)

    def _arrived(self, request: Request) -> None:
        self._cards[request.id] = Card(request, time.monotonic(), request.digest)

    def _asked(self, event: QuestionAsked) -> None:
        if card := self._cards.get(event.request_id):
            card.deadline, card.due, card.window = event.deadline, event.deadline, event.window
            card.blocked, card.again, card.accepts = event.blocked, event.again, event.accepts
            self._waiting[card.id] = card
            self._replace_missed(card)

    def _replace_missed(self, card: Card) -> None:
        """Let a request that was missed and is sent again stand once: where it waits."""
        for one in [one for one in self._missed.values() if one.digest == card.digest and one.armed is None]:
            self._cards.pop(self._missed.pop(one.id).id, None)
            card.again = True

    def _decided(self, event: RequestDecided) -> None:
        self._waiting.pop(event.request_id, None)
        if (card := self._cards.get(event.request_id)) is None:
            return
        card.decision = event.decision
        if card.missed:
            self._missed[card.id] = card
            while len(self._missed) > KEPT_MISSED:
                self._cards.pop(self._missed.pop(next(iter(self._missed))).id, None)

    def _edited(self, event: RequestEdited) -> None:
        """Replace the request of the card by the version that was approved."""
        if card := self._cards.get(event.request_id):
            card.original = card.request
            card.request, card.digest, card.assessment = event.request, event.request.digest, event.assessment

    def _spent(self, event: ApprovalSpent) -> None:
        if card := self._missed.get(event.request_id):
            card.armed, card.used = None, event.used
            if event.used:
                self._cards.pop(self._missed.pop(card.id).id, None)

    def _started(self, event: RunStarted) -> None:
        if card := self._cards.get(event.request_id):
            card.started, card.protections = time.monotonic(), event.protections
            self._running[card.id] = card

    def _held(self, event: RunHeld) -> None:
        if (card := self._running.get(event.request_id)) and event.held is (card.held is None):
            now = time.monotonic()
            card.rested += 0.0 if card.held is None else now - card.held
            card.held = now if event.held else None

    def _finished(self, event: RunFinished) -> None:
        if (card := self._cards.get(event.request_id)) is None:
            return
        card.result = event.result
        if self._running.pop(card.id, None) is not None:
            self._over.append(card.id)

    def _closed(self, request_id: str) -> None:
        """Forget it, unless it is one of the runs that are kept."""
        if request_id not in self._over and request_id not in self._missed:
            self._cards.pop(request_id, None)
        while len(self._over) > KEPT_RUNS:
            self._cards.pop(self._over.popleft(), None)
