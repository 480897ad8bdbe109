"""The mode of the console towards agents: guarded, locked down, or trusting one of them for a limited time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from runner.approval.deliberate import unproven
from runner.audit.ledger.ledger import LedgerFailed
from runner.model.decision import Decider, Decision, Verdict
from runner.model.errors import KnownError
from runner.model.events import ModeChanged
from runner.model.tool_facts import CLIENT_TOOLS
from runner.system.clock import since_boot
from runner.system.expiry import Expiry
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.approval.circumstances import Circumstances
    from runner.model.assessment import Assessment
    from runner.model.decision import Ask
    from runner.model.record import Record
    from runner.model.request import Request

LONGEST_TRUST = 3600.0
"""Seconds (spec D7)."""
LOCKED = "Assent is in lockdown: every request is denied at once. Do not ask again until a person has lifted it."
LOCKDOWN_CHOSEN = "Lockdown was chosen."
"""The same to a person."""
CHANGED = "The mode was changed before this could start. Ask again."
TRUST_RULE = "trust window"
ENTRY = "mode"
"""Kind of the entry in the ledger."""


class Mode(StrEnum):
    GUARDED = "guarded"
    """Asks a person."""
    LOCKDOWN = "lockdown"
    """Denies every request at once."""
    TRUST = "trust"
    """Approves requests of one agent that were read whole, up to HIGH, for a limited time."""


def to_person(why: str) -> str:
    """Return a reason that an agent is given as a person is told it: what is asked of agents is nothing to them."""
    return LOCKDOWN_CHOSEN if why == LOCKED else why


@dataclass(frozen=True, slots=True)
class Standing:
    """The mode in force."""

    mode: Mode = Mode.GUARDED
    agent: str = ""
    deadline: float = 0.0
    """End of a trust window, on the clock of `since_boot`."""


class Modes:
    """The mode of the console. Every method is called on the engine's loop. A new process is guarded.

    `generation` rises with each change of mode and each Stop all. Code that awaits something between a decision and
    its effect compares it afterwards: see `overruled`.
    """

    def __init__(
        self,
        record: Record,
        circumstances: Circumstances,
        deny_all: Callable[[str], None],
        clock: Callable[[], float] = since_boot,
    ) -> None:
        """`deny_all(why)` denies all open requests."""
        self._record = record
        self._circumstances = circumstances
        self._deny_all = deny_all
        self._clock = clock
        self._trust = Expiry(lambda: self._end("its time was over"), clock)
        self._denied_at = 0
        self._denied_why = ""
        self.generation = 0
        self.now = Standing()

    async def guard(self) -> None:
        """Return to the guarded mode."""
        self._become(Standing())
        await self._note("")

    async def lock(self) -> None:
        """Lock down at once: before it is recorded, because it must work on a full disk, too."""
        self._become(Standing(Mode.LOCKDOWN))
        self.deny(LOCKED)
        await self._note("")

    def deny(self, why: str) -> None:
        """Deny all requests that are open, or approved and not started, without a change of mode."""
        self.generation += 1
        self._denied_at, self._denied_why = self.generation, why
        self._deny_all(why)

    async def trust(self, agent: str, seconds: float, *, proven: bool = False) -> None:
        """Approve the requests of `agent` for `seconds`, at most an hour.

        Raises KnownError where that cannot be recorded first, where the agent may not be trusted, and where the mode
        was changed while it was recorded: the later change counts.
        """
        if not 0 < seconds <= LONGEST_TRUST:
            raise KnownError("A trust window lasts at most 60 minutes.", "Choose a shorter one.")
        if why := unproven(self._circumstances.settings(), None, proven=proven):
            raise KnownError(why)
        generation = self.generation
        await self._record.append(ENTRY, "", {"mode": Mode.TRUST.value, "agent": agent, "seconds": seconds})
        # Checked again: the mode or the agent may have changed since the await.
        if generation != self.generation:
            await self._note("changed while it was recorded")
            raise KnownError("The mode was changed meanwhile, and that counts.", "Choose again if you still want to.")
        if why := self._circumstances.barred(agent, float("inf")):
            await self._note(why)
            raise KnownError(why, "Nothing of it can be trusted.")
        deadline = self._clock() + seconds
        self._become(Standing(Mode.TRUST, agent, deadline))
        self._trust.set(deadline)

    def denies(self, request: Request) -> Decision | None:
        """Return the denial of a lockdown; None in other modes."""
        if self.now.mode is not Mode.LOCKDOWN:
            return None
        return Decision(Verdict.DENIED, Decider.ENGINE, LOCKED, digest=request.digest)

    def trusts(self, request: Request, assessment: Assessment, ask: Ask) -> Decision | None:
        """Return the approval of a trust window; None where a person has to be asked all the same."""
        if not assessment.whole or not self._is_trusted(request, assessment, ask):
            return None
        reason = "Approved without asking: a person trusts this agent for now."
        return Decision(Verdict.APPROVED, Decider.RULE, reason, TRUST_RULE, digest=request.digest)

    def unread(self, request: Request, assessment: Assessment, ask: Ask) -> str:
        """Return what keeps a trust window from approving a request that it would approve; empty where that is none.

        In what was not read whole, nothing found means nothing.
        """
        if assessment.whole or not self._is_trusted(request, assessment, ask):
            return ""
        return f"The agent is trusted for now, but asks for this. {assessment.not_whole}"

    def _is_trusted(self, request: Request, assessment: Assessment, ask: Ask) -> bool:
        now = self.now
        if now.mode is not Mode.TRUST or now.agent != request.agent or self._trust.over:
            return False
        if request.tool in CLIENT_TOOLS:
            # Trust was given for what the sandbox holds; these run on the machine itself.
            return False
        # The same reasons exclude a grant and a trust window.
        return not (ask.blocked or self._circumstances.policy().closed_to_grants(request, assessment.level))

    def overruled(self, generation: int, *, by_trust: bool) -> str:
        """Return why an approval made under `generation` is no longer valid; empty where it is.

        Lockdown and Stop all end every approval that has not started, a change of mode those of a trust window.
        """
        if self.now.mode is Mode.LOCKDOWN:
            return LOCKED
        if generation < self._denied_at:
            return self._denied_why
        return CHANGED if by_trust and generation != self.generation else ""

    def forget(self, agent: str, how: str) -> None:
        """End a trust window of `agent`, which was revoked or renamed (`how`)."""
        if self.now.mode is Mode.TRUST and self.now.agent == agent:
            self._end(f"the agent was {how}")

    def awoke(self) -> None:
        """End a trust window after the machine has slept: whoever opened it may be gone."""
        if self.now.mode is Mode.TRUST:
            self._end("the machine slept")

    async def close(self) -> None:
        """Cancel the trust timer; the end of an open trust window is in the ledger when this returns."""
        if self.now.mode is Mode.TRUST:
            self._become(Standing())
            await self._note("the console was closed")
        self._trust.cancel()

    def _become(self, standing: Standing) -> None:
        self._trust.cancel()
        self.generation += 1
        self.now = standing
        self._record.publish(ModeChanged(standing.mode.value, standing.agent, standing.deadline))

    def _end(self, why: str) -> None:
        self._become(Standing())
        spawn("record the mode", self._note(why))

    async def _note(self, why: str) -> None:
        """Record the present mode, with the reason where no person chose it."""
        body: dict[str, object] = {"mode": self.now.mode.value}
        if self.now.agent:
            body["agent"] = self.now.agent
        if why:
            body["why"] = why
        try:
            await self._record.append(ENTRY, "", body)
        except LedgerFailed:
            # What a trust window ends with must not be missing where the disk was full at that moment.
            spawn("record the mode", self._record.keep_noting(ENTRY, "", body))
