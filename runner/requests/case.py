"""One request's life. `advance` is the only door: check the table, write the ledger, publish the event."""

from __future__ import annotations

import asyncio
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


class Case:
    """A request on its way. Only the task that handles it advances it."""

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
        """The standing (`Modes.generation`) under which the decision was made."""
        self.gone = ""
        """Why its caller has gone; empty while somebody waits."""
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._record = record
        self._ledger = record.ledger
        self._steps: list[tuple[str, Mapping[str, object]]] = []
        self._unwritten: list[tuple[str, Mapping[str, object]]] = []
        """Earlier steps that a newly begun ledger does not have yet."""

    @property
    def approved(self) -> Request:
        """What an approval is for: the person's version where there is one."""
        return self.edited or self.request

    @property
    def weighed(self) -> Assessment | None:
        """The assessment of what an approval is for."""
        return self.assessment if self.edited is None else self.edited_assessment

    async def advance(self, phase: Phase, body: object, event: Event | None) -> None:
        """Take one step, recorded with `body` (a mapping, or a value to encode). Published once it is durable.

        Raises IllegalMove for a step the table does not have and LedgerFailed when it cannot be
        written; the case then stands where it stood.
        """
        check(self.phase, phase)
        await self.attach(phase.value, body if isinstance(body, Mapping) else encode(body))
        self.phase = phase
        if event is not None:
            self._record.publish(event)

    async def attach(self, kind: str, body: Mapping[str, object]) -> None:
        """Write an entry that belongs to the request. Raises LedgerFailed."""
        await self._catch_up()
        await self._record.append(kind, self.request.id, body)
        self._steps.append((kind, body))

    async def _catch_up(self) -> None:
        """Write the earlier steps again where a new ledger was begun meanwhile: a request is whole in one ledger.

        Raises LedgerFailed; what was written by then is not written twice.
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
        """Take up a case that an earlier process left: what the ledger says is where it stands."""
        self.phase = phase
        self.assessment = assessment
        self.decision = decision
        self.result = result
        self._steps = list(steps)

    def forget(self) -> int:
        """Let go of what only a request on its way needs; about how many bytes stay."""
        self._steps, self._unwritten, self.result = [], [], None
        if self.transcript is not None:
            self.transcript.release()
        answer = self.answer.result() if self.answer.done() else None
        request = self.request
        return len(request.code) + len(request.stdin) + len(request.context) + (answer.size() if answer else 0)
