"""One request's life. `advance` is the only door: check the table, write the ledger, publish the event."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from runner.model.lifecycle import Phase, check

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runner.model.answer import Answer
    from runner.model.assessment import Assessment
    from runner.model.decision import Decision
    from runner.model.events import Event
    from runner.model.request import Request
    from runner.model.result import Result
    from runner.sandbox.output import Transcript


class Book(Protocol):
    """The part of the ledger that a case needs."""

    async def append(self, kind: str, request_id: str, body: Mapping[str, object]) -> int:
        """Durable when it returns. Raises LedgerFailed otherwise."""
        ...


class Case:
    """A request on its way. Only the task that handles it advances it."""

    def __init__(self, request: Request, book: Book, publish: Callable[[Event], None]) -> None:
        self.request = request
        self.phase: Phase | None = None
        self.assessment: Assessment | None = None
        self.decision: Decision | None = None
        self.result: Result | None = None
        self.transcript: Transcript | None = None
        self.edited: Request | None = None
        """The person's version, where one was approved in place of the request."""
        self.gone = ""
        """Why its caller has gone; empty while somebody waits."""
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._book = book
        self._publish = publish

    @property
    def approved(self) -> Request:
        """What an approval is for: the person's version where there is one."""
        return self.edited or self.request

    async def advance(self, phase: Phase, told: Mapping[str, object], event: Event | None) -> None:
        """Take one step, recorded with the body `told`. Nobody hears of it before it is durable.

        Raises IllegalMove for a step the table does not have and LedgerFailed when it cannot be
        written; the case then stands where it stood.
        """
        check(self.phase, phase)
        await self._book.append(phase.value, self.request.id, told)
        self.phase = phase
        if event is not None:
            self._publish(event)

    def resume(
        self, phase: Phase, assessment: Assessment | None, decision: Decision | None, result: Result | None
    ) -> None:
        """Take up a case that an earlier process left: what the ledger says is where it stands."""
        self.phase = phase
        self.assessment = assessment
        self.decision = decision
        self.result = result
