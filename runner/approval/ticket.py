"""The handle on one request that the gateway has while an agent waits."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.approval.desk import Desk
    from runner.model.answer import Answer
    from runner.model.lifecycle import Phase
    from runner.model.request import WorkPlace
    from runner.requests.case import Case
    from runner.sandbox.output import Transcript


@dataclass(frozen=True, slots=True)
class Ticket:
    """Handle on one request for the gateway: its phase, live output and final answer."""

    case: Case
    desk: Desk
    joined: bool = False
    """Whether the call joined an identical one that was open already, or whose answer had not been fetched."""

    @property
    def request_id(self) -> str:
        return self.case.request.id

    @property
    def work(self) -> WorkPlace | None:
        return self.case.request.work

    @property
    def phase(self) -> Phase | None:
        return self.case.phase

    @property
    def transcript(self) -> Transcript | None:
        """Live output once the code runs."""
        return self.case.transcript

    @property
    def awaited(self) -> bool:
        """Whether a caller was answered `pending`: the answer is then fetched."""
        return self.case.parked

    def hand_over(self) -> None:
        """Note that a caller got the answer: an identical call is a new request from now on."""
        self.case.delivered = True

    async def answered(self, timeout: float | None) -> Answer | None:
        """Wait at most `timeout` seconds (None: without limit); return the answer, None where there is none yet."""
        done, _ = await asyncio.wait({self.case.answer}, timeout=timeout)
        return self.case.answer.result() if done else None

    def seconds_left(self) -> float | None:
        """Return the seconds until the question expires; None when none is open."""
        return self.desk.seconds_left(self.request_id)

    def waits_for_return(self) -> bool:
        """Whether the question waits for a person who is away."""
        question = self.desk.question(self.request_id)
        return question is not None and question.parked

    def position(self) -> int:
        """Return the place in the queue: 1 for the oldest question, 0 when none is open."""
        return self.desk.position(self.request_id)
