"""Approvals given after the question had expired: good for one use, by the same agent, of exactly the same request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.approval.deliberate import unproven
from runner.audit.ledger.ledger import LedgerFailed
from runner.model.decision import Ask, Decider, Decision, Verdict
from runner.model.events import ApprovalArmed, ApprovalSpent
from runner.policy.explain import Foresight, Step
from runner.system.clock import since_boot
from runner.system.expiry import Expiry
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.approval.circumstances import Circumstances
    from runner.approval.modes import Modes
    from runner.model.assessment import Assessment
    from runner.model.record import Record
    from runner.model.request import Request
    from runner.policy.grants import Outline
    from runner.requests.case import Case
    from runner.requests.cases import Cases

ARMED_SECONDS = 600.0
"""How long an approval waits for its agent (spec D5)."""
ARMED, USED, DROPPED = "armed", "armed-used", "armed-dropped"
"""Kinds of entries in the ledger. Each `armed` has its `armed-used` or `armed-dropped`, unless Assent was killed."""
REASON = "Approved by a person after the first question had expired; this is its one use."
EXPIRED = "its time was over"
REPLACED = "approved again"
REMOVED = "its sandbox was removed"
PUT_BACK = "the files of its sandbox were put back"
TAKEN_BACK = "taken back by a person"
NOT_IN_FORCE = "There is nothing to take back: the approval was used, or its time is over."
GONE = "The sandbox that it was asked for was removed, and code runs in no other instead."
OVERRULED = "The mode was changed meanwhile, and that counts."


@dataclass(frozen=True, slots=True)
class Armed:
    """A late approval that waits for its agent to repeat the request."""

    request_id: str
    """The missed request."""
    sandbox: str
    """The kept sandbox that it names; '' for none."""
    expiry: Expiry


class LateApprovals:
    """The late approvals in force. Every method is called on the engine's loop. None outlives the process."""

    unasked = True

    def __init__(
        self,
        record: Record,
        cases: Cases,
        modes: Modes,
        circumstances: Circumstances,
        clock: Callable[[], float] = since_boot,
    ) -> None:
        self._record = record
        self._cases = cases
        self._modes = modes
        self._circumstances = circumstances
        self._clock = clock
        self._armed: dict[tuple[str, str], Armed] = {}
        self._claimed: set[tuple[str, str]] = set()
        """Late approvals whose use is being written to the ledger."""

    async def arm(self, request_id: str, digest: str, *, proven: bool = False) -> str:
        """Approve a missed request for later; return '' where accepted, else why not. This runs nothing."""
        case = self._cases.find(request_id)
        generation = self._modes.generation
        if why_not := self._why_not(case, digest, generation):
            return why_not
        assert case is not None and case.assessment is not None
        if why_not := unproven(self._circumstances.settings(), case.assessment.level, proven=proven):
            return why_not
        try:
            await self._record.append(ARMED, request_id, {"digest": digest, "seconds": ARMED_SECONDS})
        except LedgerFailed as failure:
            return f"Not approved: {failure.what} {failure.remedy}"
        # Checked again: the console may have been locked down or the agent revoked since the await.
        if why_not := self._why_not(case, digest, generation):
            spawn(f"drop {request_id}", self._record.keep_noting(DROPPED, request_id, {"why": why_not}))
            return why_not
        key = (case.request.agent, digest)
        if key in self._armed:
            self._drop(key, REPLACED)
        expiry = Expiry(lambda: self._expire(key), self._clock)
        expiry.set(self._clock() + ARMED_SECONDS)
        self._armed[key] = Armed(request_id, case.request.sandbox, expiry)
        self._record.publish(ApprovalArmed(request_id, expiry.at, ARMED_SECONDS))
        return ""

    async def take_back(self, request_id: str) -> str:
        """Revoke the late approval of a request; return '' where that was in time, else why not.

        It counts at once. A use that is being written to the ledger at this moment is refused, and the agent's call
        is asked as any other.
        """
        for key, armed in self._armed.items():
            if armed.request_id == request_id and not armed.expiry.over:
                self._drop(key, TAKEN_BACK)
                return ""
        return NOT_IN_FORCE

    @property
    def armed(self) -> frozenset[str]:
        """The requests whose late approval waits for the same request."""
        return frozenset(armed.request_id for armed in self._armed.values())

    async def decide(self, case: Case, ask: Ask) -> Decision | None:
        """Return an approval by the late approval of exactly this request, and use that up. Raises LedgerFailed."""
        request = case.request
        key = (request.agent, request.digest)
        armed = self._waiting(request)
        if armed is None or ask.blocked or key in self._claimed:
            return None
        self._claimed.add(key)
        try:
            await self._record.append(USED, request.id, {"armed": armed.request_id, "digest": request.digest})
        finally:
            # Where its use could not be written it remains in force.
            self._claimed.discard(key)
        # Over, revoked, or armed again, while its use was written.
        if (still := self._waiting(request)) is None or still.request_id != armed.request_id:
            return None
        del self._armed[key]
        still.expiry.cancel()
        self._record.publish(ApprovalSpent(armed.request_id, used=True))
        return Decision(Verdict.APPROVED, Decider.PERSON, REASON, digest=request.digest)

    def foresee(self, request: Request, _assessment: Assessment, ask: Ask, _outline: Outline) -> Foresight:
        armed = self._waiting(request)
        if armed is None or ask.blocked:
            return Foresight()
        decision = Decision(Verdict.APPROVED, Decider.PERSON, REASON, digest=request.digest)
        return Foresight((Step("Approved late", REASON),), decision)

    def drop(self, why: str, agent: str = "") -> int:
        """Revoke the late approvals for `agent`, or all of them; return their number."""
        keys = [key for key in self._armed if not agent or key[0] == agent]
        for key in keys:
            self._drop(key, why)
        return len(keys)

    def drop_for(self, sandbox: str, why: str = REMOVED) -> None:
        """Revoke the late approvals for a kept sandbox that was removed, or whose files are others now."""
        for key in [key for key, armed in self._armed.items() if armed.sandbox == sandbox]:
            self._drop(key, why)

    def awoke(self) -> None:
        """End what is over after the machine has slept."""
        for armed in self._armed.values():
            armed.expiry.awoke()

    def _waiting(self, request: Request) -> Armed | None:
        armed = self._armed.get((request.agent, request.digest))
        return None if armed is None or armed.expiry.over else armed

    def _drop(self, key: tuple[str, str], why: str) -> None:
        armed = self._armed.pop(key)
        armed.expiry.cancel()
        self._record.publish(ApprovalSpent(armed.request_id, used=False))
        spawn(f"drop {armed.request_id}", self._record.keep_noting(DROPPED, armed.request_id, {"why": why}))

    def _expire(self, key: tuple[str, str]) -> None:
        if key in self._armed:
            self._drop(key, EXPIRED)

    def _why_not(self, case: Case | None, digest: str, generation: int) -> str:
        if case is None or case.decision is None or case.decision.verdict is not Verdict.EXPIRED:
            return "Only a request that has expired can be approved for later."
        request = case.request
        if digest != request.digest:
            return "Not approved: the request changed. Look again."
        if self._modes.overruled(generation, by_trust=False):
            return OVERRULED
        if why := self._circumstances.barred(request.agent, request.received_at):
            return why
        if request.sandbox and not self._circumstances.keeps(request.sandbox):
            return GONE
        for other in self._cases.active():
            if other.request.agent == request.agent and other.request.digest == digest and other.decision is None:
                return "The agent has asked for this again: answer it in the queue."
        if case.assessment is None:
            return "It was never assessed."
        settled = self._circumstances.policy().decide(request, case.assessment)
        if isinstance(settled, Decision):
            return settled.reason if settled.verdict is Verdict.DENIED else ""
        return settled.blocked
