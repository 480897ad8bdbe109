"""Lets an identical call of an agent join the request that it sent before, instead of asking or running twice.

Clients give up without a word of it (a read time-out, Escape), and their agents then send the same again. Identical
means the same digest and the same agent. A call that joins decides nothing: it extends no window, and what was
approved runs once.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from runner.model.decision import Decider, Verdict
from runner.model.events import RequestJoined
from runner.model.tool_facts import FACTS
from runner.requests.case import JOINED
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from runner.model.record import Record
    from runner.model.request import Request
    from runner.requests.case import Case
    from runner.requests.cases import Cases

ANSWER_SECONDS = 600.0
"""How long an answer that nobody fetched counts for an identical call. Later ones want a new run."""


class Deduplication:
    """Finds the request that a call may join. Every method is called on the engine's loop."""

    def __init__(self, cases: Cases, record: Record, registered: Callable[[str], float]) -> None:
        """`registered(agent)` returns when the agent was added, in seconds since the epoch."""
        self._cases = cases
        self._record = record
        self._registered = registered
        self._arriving: dict[tuple[str, str], asyncio.Event] = {}
        """Requests that are being written to the ledger, by agent and digest."""

    @asynccontextmanager
    async def turn(self, request: Request) -> AsyncIterator[None]:
        """Wait for an identical request that is being written, and let later ones wait for this."""
        key = (request.agent, request.digest)
        while (other := self._arriving.get(key)) is not None:
            await other.wait()
        written = self._arriving[key] = asyncio.Event()
        try:
            yield
        finally:
            del self._arriving[key]
            written.set()

    def join(self, request: Request) -> Case | None:
        """Return the case that `request` joins, with one more caller; None where it is to be asked by itself."""
        case = self._cases.identical(request)
        if case is None or not FACTS[request.tool].joins or not self._open_to(case):
            return None
        case.callers += 1
        case.asked += 1
        self._record.publish(RequestJoined(case.request.id, case.asked))
        body = {"times": case.asked, "title": request.title}
        spawn(f"joined {case.request.id}", self._record.note(JOINED, case.request.id, body))
        return case

    def _open_to(self, case: Case) -> bool:
        """Return whether a call may join `case`: it is open and not given up, or its answer was never fetched."""
        former = case.request.received_at < self._registered(case.request.agent)
        if former or case.gone or not (case.callers or case.parked):
            return False
        if not case.answer.done():
            return True
        # What lies in a kept sandbox may have changed since; and only what a person or a run said is an answer,
        # not that nobody came or that the console was closed.
        decision = case.answer.result().decision
        final = decision.verdict is Verdict.APPROVED or (
            decision.verdict is Verdict.DENIED and decision.by in (Decider.PERSON, Decider.RULE)
        )
        fresh = time.monotonic() - case.closed_at < ANSWER_SECONDS
        return final and fresh and case.parked and not case.delivered and not case.request.has_files
