"""The state of one request. Only `advance` changes its phase: check the table, write the ledger, publish the event."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from runner.model.codec import encode
from runner.model.lifecycle import Phase, check

if TYPE_CHECKING:
    from runner.model.answer import Answer
    from runner.model.assessment import Assessment
    from runner.model.decision import Decision
    from runner.model.events import Event
    from runner.model.record import Record
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
        self._writing = asyncio.Lock()
        """Held while an entry is written, with those that a new ledger needs before it."""
        self._ledger = record.ledger
        self._steps: list[tuple[str, Mapping[str, object]]] = []
        self._unwritten: list[tuple[str, Mapping[str, object]]] = []
        """Earlier steps that a new ledger does not hold yet."""

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

        Raises IllegalMove for a step the table does not have and LedgerFailed when it cannot be
        written; the phase is then unchanged.
        """
        check(self.phase, phase)
        await self.attach(phase.value, body if isinstance(body, Mapping) else encode(body))
        self.phase = phase
        if event is not None:
            self._record.publish(event)

    async def attach(self, kind: str, body: Mapping[str, object]) -> None:
        """Write a ledger entry that belongs to the request. Raises LedgerFailed."""
        async with self._writing:
            await self._catch_up()
            await self._record.append(kind, self.request.id, body)
            self._steps.append((kind, body))

    async def carry_over(self) -> None:
        """Copy the steps into a ledger that was begun since, without a further one. Raises LedgerFailed."""
        async with self._writing:
            await self._catch_up()

    async def _catch_up(self) -> None:
        """Copy the earlier steps into a ledger that was begun since: each ledger holds a request as a whole.

        Raises LedgerFailed; steps that were written by then are not written twice.
        """
        while True:
            if self._ledger != self._record.ledger:
                self._ledger = self._record.ledger
                self._unwritten = list(self._steps)
            if not self._unwritten:
                return
            kind, body = self._unwritten[0]
            await self._record.append(kind, self.request.id, body)
            if self._ledger == self._record.ledger:
                del self._unwritten[0]

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
        self._steps = list(steps)

    def forget(self) -> int:
        """Free what only an active request needs; return about how many bytes remain in use."""
        self.closed_at = time.monotonic()
        self._steps, self._unwritten, self.result = [], [], None
        if self.transcript is not None:
            self.transcript.release()
        answer = self.answer.result() if self.answer.done() else None
        request = self.request
        texts = (request.code, request.stdin, request.context, request.title, *(one.text for one in request.known))
        return sum(map(sys.getsizeof, texts)) + (answer.size() if answer else 0)
