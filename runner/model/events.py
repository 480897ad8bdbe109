"""What has happened, for whoever listens. Everything about a request is in the ledger before it is here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.model.assessment import Assessment
    from runner.model.decision import Decision
    from runner.model.kept_sandbox import Kept
    from runner.model.request import Request
    from runner.model.result import Result, Usage


@dataclass(frozen=True, slots=True)
class RequestArrived:
    request: Request


@dataclass(frozen=True, slots=True)
class RequestAssessed:
    request_id: str
    assessment: Assessment


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    request_id: str
    deadline: float
    """On the clock of `time.monotonic()`, in seconds."""
    window: float
    blocked: str
    again: bool = False
    """Put anew after a restart."""


@dataclass(frozen=True, slots=True)
class QuestionPaused:
    """Somebody looks at it; not in the ledger as a step."""

    request_id: str
    deadline: float
    """The new one, on the clock of `time.monotonic()`."""
    window: float
    """Seconds between the question and the new deadline."""


@dataclass(frozen=True, slots=True)
class RequestEdited:
    """A person's version was approved in place of the request; the decision follows."""

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
    """On the clock of `time.monotonic()`."""
    window: float


@dataclass(frozen=True, slots=True)
class ApprovalSpent:
    """The approval of a missed request counts no more."""

    request_id: str
    used: bool
    """False where its time was over or it was taken back."""


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
class RunHeld:
    """A person paused a run, or let it go on."""

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
    """Calls that never became requests: a flood, wrong arguments. One event per burst."""

    agent: str
    count: int
    reason: str


@dataclass(frozen=True, slots=True)
class AgentsChanged:
    """An agent was added, revoked, or seen for the first time since the start."""


@dataclass(frozen=True, slots=True)
class GrantsChanged:
    """Something was remembered, used or revoked."""


@dataclass(frozen=True, slots=True)
class ModeChanged:
    mode: str
    """A value of `runner.approval.modes.Mode`."""
    agent: str = ""
    """Who is trusted."""
    deadline: float = 0.0
    """Of a trust window, on the clock of `time.monotonic()`."""


@dataclass(frozen=True, slots=True)
class SandboxesChanged:
    """A sandbox that an agent keeps was made, used or removed."""

    kept: tuple[Kept, ...]
    """Those there are, oldest first."""


@dataclass(frozen=True, slots=True)
class GatewayOpened:
    address: str


@dataclass(frozen=True, slots=True)
class EngineTroubled:
    """A part of Assent does not work, until `TroubleCleared` names its area.

    In the areas `ledger` and `sandbox` nothing is approved meanwhile; in `settings` and `grants` everything is asked.
    """

    area: str
    """`ledger`, `sandbox`, `gateway`, `settings`, `grants`, `secrets`, `agents`, `artifacts`, or `start` where opening
    failed in a way that belongs to no other area.
    """
    what: str
    remedy: str


@dataclass(frozen=True, slots=True)
class TroubleCleared:
    """A part of Assent works again."""

    area: str


Event = (
    RequestArrived
    | RequestAssessed
    | QuestionAsked
    | QuestionPaused
    | RequestEdited
    | RequestDecided
    | ApprovalArmed
    | ApprovalSpent
    | RunStarted
    | RunMeasured
    | RunHeld
    | RunFinished
    | RequestClosed
    | CallsRefused
    | AgentsChanged
    | GrantsChanged
    | ModeChanged
    | SandboxesChanged
    | GatewayOpened
    | EngineTroubled
    | TroubleCleared
)
