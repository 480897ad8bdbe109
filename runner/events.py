"""What has happened, for whoever listens. Everything about a request is in the ledger before it is here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.assessment import Assessment
    from runner.decision import Decision
    from runner.request import Request
    from runner.result import Result, Usage


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
class RequestDecided:
    request_id: str
    decision: Decision


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
class GatewayOpened:
    address: str


@dataclass(frozen=True, slots=True)
class EngineTroubled:
    """Something keeps Assent from working; while it lasts nothing is approved."""

    room: str
    """`ledger`, `gateway`, `sandbox`, `settings`, `grants` or `secrets`."""
    what: str
    remedy: str


@dataclass(frozen=True, slots=True)
class TroubleCleared:
    room: str


Event = (
    RequestArrived
    | RequestAssessed
    | QuestionAsked
    | RequestDecided
    | RunStarted
    | RunMeasured
    | RunFinished
    | RequestClosed
    | CallsRefused
    | AgentsChanged
    | GrantsChanged
    | GatewayOpened
    | EngineTroubled
    | TroubleCleared
)
