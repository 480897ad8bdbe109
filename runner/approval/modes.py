"""How the console stands towards agents: guarded, locked down, or trusting one of them for a while."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from runner.model.decision import Ask, Decider, Decision, Verdict
from runner.model.errors import KnownError
from runner.model.events import ModeChanged

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.engine.engine import Engine
    from runner.model.assessment import Assessment
    from runner.model.request import Request

LONGEST_TRUST = 3600.0
"""Seconds (console.md, *Modes*)."""
LOCKED = "Assent is in lockdown: every request is denied at once. Do not ask again until a person has lifted it."
TRUST_RULE = "trust window"
ENTRY = "mode"
"""Kind of the entry in the ledger."""


class Mode(StrEnum):
    GUARDED = "guarded"
    """Asks."""
    LOCKDOWN = "lockdown"
    """Denies everything at once."""
    TRUST = "trust"
    """Approves what one agent asks, up to HIGH, for a while."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The mode that counts now."""

    mode: Mode = Mode.GUARDED
    agent: str = ""
    deadline: float = 0.0
    """Of a trust window, on the clock of `time.monotonic()`."""


class Modes:
    """Every method is called on the engine's loop. A new process is guarded."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.monotonic) -> None:
        self._engine = engine
        self._clock = clock
        self._timer: asyncio.TimerHandle | None = None
        self.now = Standing()

    async def guard(self) -> None:
        """Ask about everything again."""
        self._become(Standing())
        await self._record()

    async def lock(self) -> None:
        """Deny everything, at once: before it is recorded, as a full disk must not keep anybody from it."""
        self._become(Standing(Mode.LOCKDOWN))
        self._engine.desk.clear(LOCKED)
        self._engine.missed.drop()
        await self._record()

    async def trust(self, agent: str, seconds: float) -> None:
        """Approve what `agent` asks, for at most an hour. Raises KnownError where that cannot be recorded first."""
        if not 0 < seconds <= LONGEST_TRUST:
            raise KnownError("A trust window lasts at most 60 minutes.", "Choose a shorter one.")
        await self._engine.rooms.book.append(ENTRY, "", {"mode": Mode.TRUST.value, "agent": agent, "seconds": seconds})
        self._become(Standing(Mode.TRUST, agent, self._clock() + seconds))
        self._timer = asyncio.get_running_loop().call_later(seconds, self._end)

    def denies(self, request: Request) -> Decision | None:
        """The answer of a lockdown; None otherwise."""
        if self.now.mode is not Mode.LOCKDOWN:
            return None
        return Decision(Verdict.DENIED, Decider.ENGINE, LOCKED, digest=request.digest)

    def trusts(self, request: Request, assessment: Assessment, ask: Ask) -> Decision | None:
        """The answer of a trust window; None where a person has to be asked all the same."""
        now = self.now
        if now.mode is not Mode.TRUST or now.agent != request.agent or self._clock() >= now.deadline:
            return None
        # As for what is remembered: the same reasons keep it from counting.
        if ask.blocked or self._engine.rooms.policy.closed_to_grants(request, assessment.level):
            return None
        reason = "Approved without asking: a person trusts this agent for now."
        return Decision(Verdict.APPROVED, Decider.RULE, reason, TRUST_RULE, digest=request.digest)

    def forget(self, agent: str) -> None:
        """The agent was revoked."""
        if self.now.mode is Mode.TRUST and self.now.agent == agent:
            self._become(Standing())

    def close(self) -> None:
        """No clock runs after this."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _become(self, standing: Standing) -> None:
        self.close()
        self.now = standing
        self._engine.publish(ModeChanged(standing.mode.value, standing.agent, standing.deadline))

    def _end(self) -> None:
        self._become(Standing())

    async def _record(self) -> None:
        await self._engine.note(ENTRY, "", {"mode": self.now.mode.value})
