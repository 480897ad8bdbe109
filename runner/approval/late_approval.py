"""Approvals given after the question had expired: good for one use, by the same agent, of exactly the same request."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.audit.ledger import LedgerFailed
from runner.model.decision import Decider, Decision, Verdict
from runner.model.events import ApprovalArmed, ApprovalSpent

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.engine.engine import Engine
    from runner.requests.case import Case
    from runner.requests.cases import Cases

ARMED_SECONDS = 600.0
"""How long an approval waits for its agent (console.md, *Deciding*)."""
ARMED, USED, DROPPED = "armed", "armed-used", "armed-dropped"
"""Kinds of entries in the ledger."""
REASON = "Approved by a person after the first question had expired; this is its one use."


@dataclass(frozen=True, slots=True)
class Arm:
    request_id: str
    """The missed request."""
    deadline: float
    """On the clock of `time.monotonic()`."""
    timer: asyncio.TimerHandle


class Missed:
    """Every method is called on the engine's loop. Nothing of this outlives the process."""

    def __init__(self, engine: Engine, cases: Cases, clock: Callable[[], float] = time.monotonic) -> None:
        self._engine = engine
        self._cases = cases
        self._clock = clock
        self._arms: dict[tuple[str, str], Arm] = {}

    async def arm(self, request_id: str, digest: str) -> str:
        """Approve a missed request for later: empty when taken, else why not. Nothing runs by this."""
        case = self._cases.find(request_id)
        if why_not := self._why_not(case, digest):
            return why_not
        assert case is not None
        try:
            told: dict[str, object] = {"digest": digest, "seconds": ARMED_SECONDS}
            await self._engine.rooms.book.append(ARMED, request_id, told)
        except LedgerFailed as failure:
            return f"Not approved: {failure.what} {failure.remedy}"
        key = (case.request.agent, digest)
        if (before := self._arms.pop(key, None)) is not None:
            before.timer.cancel()
        timer = asyncio.get_running_loop().call_later(ARMED_SECONDS, self._expire, key)
        self._arms[key] = arm = Arm(request_id, self._clock() + ARMED_SECONDS, timer)
        self._engine.publish(ApprovalArmed(request_id, arm.deadline, ARMED_SECONDS))
        return ""

    async def decide(self, case: Case) -> Decision | None:
        """The approval that waits for exactly this request; it is used up by this. Raises LedgerFailed."""
        request = case.request
        arm = self._arms.get((request.agent, request.digest))
        if arm is None or self._clock() >= arm.deadline:
            return None
        self._take(request.agent, request.digest)
        await self._engine.rooms.book.append(USED, request.id, {"armed": arm.request_id, "digest": request.digest})
        self._engine.publish(ApprovalSpent(arm.request_id, used=True))
        return Decision(Verdict.APPROVED, Decider.PERSON, REASON, digest=request.digest)

    def drop(self, agent: str = "") -> int:
        """Take back what is armed for `agent`, or everything; how many that were."""
        keys = [key for key in self._arms if not agent or key[0] == agent]
        for key in keys:
            self._engine.publish(ApprovalSpent(self._take(*key).request_id, used=False))
        return len(keys)

    def _take(self, agent: str, digest: str) -> Arm:
        arm = self._arms.pop((agent, digest))
        arm.timer.cancel()
        return arm

    def _expire(self, key: tuple[str, str]) -> None:
        if key in self._arms:
            self._engine.publish(ApprovalSpent(self._take(*key).request_id, used=False))

    def _why_not(self, case: Case | None, digest: str) -> str:
        if case is None or case.decision is None or case.decision.verdict is not Verdict.EXPIRED:
            return "Only a request that has expired can be approved for later."
        request = case.request
        if digest != request.digest:
            return "Not accepted: what was on screen is not the request that expired. Look at it again."
        for other in self._cases.active():
            if other.request.agent == request.agent and other.request.digest == digest and other.decision is None:
                return "The agent has asked for this again: answer it in the queue."
        if case.assessment is None:
            return "It was never assessed."
        settled = self._engine.rooms.policy.decide(request, case.assessment)
        if isinstance(settled, Decision):
            return settled.reason if settled.verdict is Verdict.DENIED else ""
        return settled.blocked
