"""What the gateway holds while an agent waits: a request, seen from outside the engine."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.approval.desk import Desk
    from runner.model.answer import Answer
    from runner.model.lifecycle import Phase
    from runner.requests.case import Case
    from runner.sandbox.output import Transcript


@dataclass(frozen=True, slots=True)
class Ticket:
    """Number in hand, agents wait for their answer."""

    case: Case
    desk: Desk

    @property
    def request_id(self) -> str:
        return self.case.request.id

    @property
    def phase(self) -> Phase | None:
        return self.case.phase

    @property
    def transcript(self) -> Transcript | None:
        """Live output once the code runs."""
        return self.case.transcript

    async def answered(self, timeout: float | None) -> Answer | None:
        """Wait at most `timeout` seconds (None: for as long as it takes); None when there is no answer yet."""
        done, _ = await asyncio.wait({self.case.answer}, timeout=timeout)
        return self.case.answer.result() if done else None

    def seconds_left(self) -> float | None:
        """Until the question expires; None when no question is open."""
        return self.desk.seconds_left(self.request_id)

    def position(self) -> int:
        """1 for the question that has waited longest; 0 when no question is open."""
        return self.desk.position(self.request_id)
