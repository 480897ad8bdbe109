"""Events for listeners. What happens to a request is in the ledger before its event is published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.model.assessment import Assessment
    from runner.model.behaviour import Behaviour
    from runner.model.decision import Decision
    from runner.model.kept_sandbox import Kept
    from runner.model.network import Contact
    from runner.model.rehearsal import Rehearsal, RehearsalPhase
    from runner.model.request import Isolation, Request
    from runner.model.result import Result, Usage
    from runner.model.tried import Tried


@dataclass(frozen=True, slots=True)
class RequestArrived:
    request: Request


@dataclass(frozen=True, slots=True)
class RequestJoined:
    """An identical call of the same agent waits for the answer to this request, too."""

    request_id: str
    times: int
    """Calls in all."""


@dataclass(frozen=True, slots=True)
class RequestAssessed:
    request_id: str
    assessment: Assessment


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    request_id: str
    deadline: float
    """On the clock of `runner.system.clock.since_boot`, in seconds."""
    window: float
    blocked: str
    again: bool = False
    """Whether it is asked again after a restart."""
    accepts: str = ""
    """As in `Ask`."""


@dataclass(frozen=True, slots=True)
class QuestionPaused:
    """A person is looking at a question; not a step in the ledger."""

    request_id: str
    deadline: float
    """The new one, on the clock of `runner.system.clock.since_boot`."""
    window: float
    """Seconds between the question and the new deadline."""


@dataclass(frozen=True, slots=True)
class QuestionsMoved:
    """Open questions expire at another time than before; not a step in the ledger."""

    ends: tuple[tuple[str, float, float], ...]
    """Of each the request, its deadline on the clock of `since_boot`, and the seconds from question to deadline."""


@dataclass(frozen=True, slots=True)
class RehearsalMoved:
    """The rehearsal of an open question has got further, or is over."""

    request_id: str
    phase: RehearsalPhase
    why: str = ""
    """Why there is none, in a sentence; empty otherwise."""
    rehearsal: Rehearsal | None = None
    """The outcome, where it is shown."""
    began: bool = False
    """Whether its code was started."""


@dataclass(frozen=True, slots=True)
class TrialMoved:
    """The trial of an open question has got further, or is over."""

    request_id: str
    phase: RehearsalPhase
    why: str = ""
    """Why there is none, in a sentence; empty otherwise."""
    tried: Tried | None = None
    """The outcome, where it is shown."""
    began: bool = False
    """Whether its code was started."""
    holds: bool = False
    """Whether Approve waits for it."""


@dataclass(frozen=True, slots=True)
class RequestEdited:
    """A person approved their own version of a request; the decision follows."""

    request_id: str
    request: Request
    assessment: Assessment


@dataclass(frozen=True, slots=True)
class RequestDecided:
    request_id: str
    decision: Decision


@dataclass(frozen=True, slots=True)
class ApprovalArmed:
    """A missed request was approved for later."""

    request_id: str
    deadline: float
    """On the clock of `runner.system.clock.since_boot`."""
    window: float


@dataclass(frozen=True, slots=True)
class ApprovalSpent:
    """The late approval of a request is no longer in force."""

    request_id: str
    used: bool
    """False where it expired or was revoked."""


@dataclass(frozen=True, slots=True)
class RunStarted:
    request_id: str
    protections: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunMeasured:
    """Not in the ledger one by one: the whole curve is stored with the result."""

    request_id: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class HostContacted:
    """A run tried to reach a host for the first time, or what came of it changed; the result has all of them."""

    request_id: str
    contact: Contact


@dataclass(frozen=True, slots=True)
class RunObserved:
    """All that a run has done by now, as its sandbox sees it; the result has the whole."""

    request_id: str
    behaviour: Behaviour


@dataclass(frozen=True, slots=True)
class RunHeld:
    """A person paused or resumed a run."""

    request_id: str
    held: bool


@dataclass(frozen=True, slots=True)
class RunFinished:
    request_id: str
    result: Result


@dataclass(frozen=True, slots=True)
class RequestClosed:
    request_id: str


@dataclass(frozen=True, slots=True)
class CallsRefused:
    """Calls that never became requests: a flood, wrong arguments. At most one event a minute for each agent."""

    agent: str
    count: int
    reason: str


@dataclass(frozen=True, slots=True)
class AgentsChanged:
    """An agent was added, revoked, or seen for the first time since the start."""

    connected: str = ""
    """The agent whose token was used for the first time ever, where that is what happened."""


@dataclass(frozen=True, slots=True)
class WorkMoved:
    """Programs at work did something, began or ended; working copies were applied, undone or discarded."""

    names: tuple[str, ...]
    """Of the working copies."""


@dataclass(frozen=True, slots=True)
class WorkRecorded:
    """What programs at work did is in the history now."""


@dataclass(frozen=True, slots=True)
class GrantsChanged:
    """A grant was made, used or revoked."""


@dataclass(frozen=True, slots=True)
class ModeChanged:
    mode: str
    """A value of `runner.approval.modes.Mode`."""
    agent: str = ""
    """The trusted agent; '' in other modes."""
    deadline: float = 0.0
    """Of a trust window, on the clock of `runner.system.clock.since_boot`."""


@dataclass(frozen=True, slots=True)
class AwayChanged:
    """The person is away, and questions wait for them; or is back."""

    away: bool


@dataclass(frozen=True, slots=True)
class SandboxesChanged:
    """A sandbox that an agent keeps was made, used or removed."""

    kept: tuple[Kept, ...]
    """All kept sandboxes, oldest first."""


@dataclass(frozen=True, slots=True)
class SandboxChosen:
    """Runs get another sandbox from now on; what is under way stays where it is."""

    isolation: Isolation
    words: str
    """The same in a sentence for a person."""


@dataclass(frozen=True, slots=True)
class GatewayOpened:
    address: str


@dataclass(frozen=True, slots=True)
class EngineTroubled:
    """A part of Assent does not work, until `TroubleCleared` names its area.

    In the areas `ledger` and `sandbox` nothing is approved meanwhile; in `settings`, `grants` and `isolation`
    everything is asked.
    """

    area: str
    """`ledger`, `sandbox`, `isolation` (a weaker sandbox than last time, or perhaps than need be), `gateway`,
    `settings`, `grants`, `secrets`, `agents`, `artifacts`, `requests` that cannot be read, `leftovers` of earlier runs,
    `work` (working copies), or `start` where opening failed in a way that belongs to no other area.
    """
    what: str
    remedy: str
    damaged: bool = False
    """Whether a file is damaged, so that only a new one in its place helps; otherwise trying again may."""


@dataclass(frozen=True, slots=True)
class TroubleCleared:
    """A part of Assent works again."""

    area: str


Event = (
    RequestArrived
    | RequestJoined
    | RequestAssessed
    | QuestionAsked
    | QuestionPaused
    | QuestionsMoved
    | RehearsalMoved
    | TrialMoved
    | RequestEdited
    | RequestDecided
    | ApprovalArmed
    | ApprovalSpent
    | RunStarted
    | RunMeasured
    | HostContacted
    | RunObserved
    | RunHeld
    | RunFinished
    | RequestClosed
    | CallsRefused
    | AgentsChanged
    | WorkMoved
    | WorkRecorded
    | GrantsChanged
    | ModeChanged
    | AwayChanged
    | SandboxesChanged
    | SandboxChosen
    | GatewayOpened
    | EngineTroubled
    | TroubleCleared
)
