"""The state of one request. Only a step changes its phase: check the table, write the ledger, publish the event."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from runner.model.codec import encode
from runner.model.lifecycle import Phase, check
from runner.requests.entries import RequestEntries

if TYPE_CHECKING:
    from runner.model.answer import Answer
    from runner.model.assessment import Assessment
    from runner.model.decision import Decision
    from runner.model.events import Event
    from runner.model.record import Record
    from runner.model.rehearsal import Rehearsal
    from runner.model.request import Request
    from runner.model.result import Result
    from runner.sandbox.output import Transcript

PARKED = "parked"
"""Kind of the entry that says that the caller will fetch the answer later."""
JOINED = "joined"
"""Kind of the entry that says that an identical call waits for the same answer."""


class Case:
    """A request and its state. Only the task that handles it advances it; any may attach an entry."""

    def __init__(self, request: Request, record: Record) -> None:
        self.request = request
        self.phase: Phase | None = None
        self.assessment: Assessment | None = None
        self.decision: Decision | None = None
        self.result: Result | None = None
        self.transcript: Transcript | None = None
        self.edited: Request | None = None
        """The person's version, where one was approved in place of the request."""
        self.edited_assessment: Assessment | None = None
        self.rehearsal: Rehearsal | None = None
        """The outcome of its rehearsal, while that is shown to the person."""
        self.rehearsed = False
        """Whether its code was started for a rehearsal."""
        self.released: Rehearsal | None = None
        """The outcome that a person handed over in place of a run."""
        self.generation = 0
        """Value of `Modes.generation` when the decision was made."""
        self.other_values = False
        """Whether the grant that approved it leaves its values open: then no file it writes may become a module."""
        self.callers = 1
        """Calls that wait for the answer."""
        self.asked = 1
        """Calls that were made for it, the first included."""
        self.parked = False
        """Whether a caller was answered `pending`, and will fetch the answer."""
        self.delivered = False
        """Whether a caller got the answer."""
        self.closed_at = 0.0
        """When the answer was there, in seconds of `time.monotonic`."""
        self.gone = ""
        """Why its caller has disconnected; empty while it waits."""
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._record = record
        self._entries = RequestEntries(request.id, record)

    @property
    def approved(self) -> Request:
        """The request that an approval is for: the person's version where there is one."""
        return self.edited or self.request

    @property
    def weighed(self) -> Assessment | None:
        """The assessment of `approved`."""
        return self.assessment if self.edited is None else self.edited_assessment

    async def advance(self, phase: Phase, body: object, event: Event | None) -> None:
        """Take one step, recorded with `body` (a mapping, or a value to encode). Published once it is durable.

        All steps before it are durable as well when this returns. Raises IllegalMove for a step the table does not
        have and LedgerFailed when it cannot be written; the phase is then unchanged.
        """
        check(self.phase, phase)
        await self._entries.write(phase.value, _mapping(body))
        self.phase = phase
        if event is not None:
            self._record.publish(event)

    def advance_soon(self, phase: Phase, body: object, event: Event | None) -> None:
        """Take one step without waiting for the disk, where the next `advance` comes before anything irrevocable.

        Published once it is durable. Raises IllegalMove. One that cannot be written is written with the next step.
        """
        check(self.phase, phase)
        self._entries.write_soon(phase.value, _mapping(body), event)
        self.phase = phase

    def take_back(self) -> bool:
        """Undo an approval that no ledger holds, so that it never counted; return False where one holds it."""
        if self.phase is not Phase.APPROVED or (before := self._entries.take_back(self.phase.value)) is None:
            return False
        self.phase = before
        return True

    async def attach(self, kind: str, body: Mapping[str, object]) -> None:
        """Write a ledger entry that belongs to the request. Raises LedgerFailed."""
        await self._entries.write(kind, body)

    def attach_soon(self, kind: str, body: Mapping[str, object]) -> None:
        """Write such an entry without waiting for it; the next step waits for it."""
        self._entries.write_soon(kind, body)

    async def carry_over(self) -> None:
        """Copy the steps into a ledger that was begun since, without a further one. Raises LedgerFailed."""
        await self._entries.carry_over()

    def resume(
        self,
        phase: Phase,
        assessment: Assessment | None,
        decision: Decision | None,
        result: Result | None,
        steps: Sequence[tuple[str, Mapping[str, object]]],
    ) -> None:
        """Restore the state of a case that an earlier process left, as the ledger has it."""
        self.phase = phase
        self.assessment = assessment
        self.decision = decision
        self.result = result
        self._entries.resume(steps)

    def forget(self) -> int:
        """Free what only an active request needs; return about how many bytes remain in use."""
        self.closed_at = time.monotonic()
        self._entries.forget()
        self.result = None
        self.rehearsal = self.released = None
        if self.transcript is not None:
            self.transcript.release()
        answer = self.answer.result() if self.answer.done() else None
        request = self.request
        texts = (request.code, request.stdin, request.context, request.title, *(one.text for one in request.known))
        return sum(map(sys.getsizeof, texts)) + (answer.size() if answer else 0)


def _mapping(body: object) -> Mapping[str, object]:
    return body if isinstance(body, Mapping) else encode(body)
