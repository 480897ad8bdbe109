"""The base of rehearsals and trials: code that runs while its question is open, bounded in time, and ends with it."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.sandbox.contract import Killable
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from runner.model.record import Record
    from runner.model.result import Result, Usage
    from runner.requests.case import Case
    from runner.sandbox.contract import Job, Run, Sandbox

MOST_AT_ONCE = 2
"""Attempts of one kind that run at the same time, of all agents; one agent has one."""
MOST_QUEUED = 5
"""Requests of one agent that wait for theirs."""
HOUR = 3600.0
MOST_SECONDS = 600.0
"""Time that those of one agent may take within an hour."""
OVER = "The question is over."
OFF = "Trying its code by itself was switched off for this agent."
BUSY = f"More than {MOST_QUEUED} of its requests wait to be tried."
SPENT = f"Its trials took {MOST_SECONDS / 60:g} minutes within the last hour."
FAILED = "Assent itself failed while trying it; see the fault log."
CLOSING_SECONDS = 1.2
"""Time for what is stopped to end; the sandboxes are closed after that in any case."""


@dataclass(eq=False, slots=True, kw_only=True)
class Attempt:
    """Code of one open question that is run, or waits to be."""

    case: Case
    run: Run | None = None
    over: str = ""
    """Why it ends before it is shown; empty while it may continue."""
    task: asyncio.Task[None] | None = None
    noted: bool = False
    """Whether the ledger says that it began, and not yet how it ended."""

    async def result(self, sandbox: Sandbox, job: Job) -> Result:
        """Return what its code leaves. Raises KnownError."""
        try:
            self.run = await sandbox.start(job, _unheard)
            if self.over:
                self.run.stop(self.over)
            return await self.run.finished()
        finally:
            if self.run is not None:
                self.run.transcript.release()
                self.run = None

    def stop(self, why: str, record: Record, kind: str) -> None:
        """Stop it, and note an entry of `kind` where the ledger says that it began."""
        self.over = self.over or why
        if self.run is not None:
            self.run.stop(why)
        if self.noted:
            self.noted = False
            request_id = self.case.request.id
            spawn(f"end of the attempt of {request_id}", record.note(kind, request_id, {"why": why}))


class TimeSpent:
    """How long the attempts of each agent took within the last hour; `now` is in seconds and never goes back."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.now = now
        self._spent: defaultdict[str, deque[tuple[float, float]]] = defaultdict(deque)
        """When those of an agent ended and how many seconds they took."""

    def add(self, agent: str, began: float) -> None:
        """Add one that began at `began` and ends now."""
        self._spent[agent].append((self.now(), self.now() - began))

    def is_over(self, agent: str) -> bool:
        """Return whether an agent may have no more for now."""
        spent = self._spent[agent]
        while spent and spent[0][0] <= self.now() - HOUR:
            spent.popleft()
        return sum(seconds for _, seconds in spent) >= MOST_SECONDS


def end_without_loop(attempts: Iterable[Attempt], why: str) -> None:
    """End what runs although the loop does not come round. May be called on any thread."""
    for one in tuple(attempts):
        if (run := one.run) is not None:
            run.stop(why)
            if isinstance(run, Killable):
                run.kill_now()


async def ended(attempts: Iterable[Attempt]) -> None:
    """Wait for what was stopped, as long as closing may take."""
    if tasks := [one.task for one in attempts if one.task is not None]:
        await asyncio.wait(tasks, timeout=CLOSING_SECONDS)


def _unheard(_usage: Usage) -> None:
    """Report what it uses to nobody: the result has its curve."""
