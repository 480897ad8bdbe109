"""Parses agents' code in worker processes, so that none of it can block the console.

What takes longer than the deadline, or takes its process down, is CRITICAL: nobody can say what it does.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from runner.model.tool_facts import FACTS
from runner.risk.assess import TOO_LARGE, unreadable
from runner.risk.worker.calls import (
    Answer,
    Assess,
    Assessed,
    Call,
    CallFailed,
    Compare,
    Compared,
    Erase,
    Erased,
    FindImports,
    FindPictures,
    FindUsed,
    Imported,
    Outline,
    Outlined,
    Pictured,
    Used,
)
from runner.risk.worker.consumption import LONG, Consumption
from runner.risk.worker.process import Lost, WorkerProcess
from runner.risk.worker.turns import PERSON, Turns
from runner.system import sources
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from runner.model.assessment import Assessment
    from runner.model.difference import Change
    from runner.model.embedded_picture import EmbeddedPicture
    from runner.model.request import KnownFile, Language, Request
    from runner.risk.inputs.imported import Import

T = TypeVar("T", bound="Answer")
log = logging.getLogger(__name__)

DEADLINE = 3.0
"""Seconds on the wall clock for one call, from when a process gets it; more where the machine holds it up."""
MOST_AGENTS = 2
"""Agents whose code is read at once. One place is enough to hold up nobody else: costly agents share it."""
RESERVE = 2
"""Processes besides those: one for a person, and one that takes over when a call is broken off. On a machine that is
busy with what cannot be read, starting one takes longer than all else that a call waits for. Each has 14 MB."""
MOST_PROCESSES = MOST_AGENTS + RESERVE
RESERVE_SECONDS = 5.0
"""From the start of the first process to that of the others: the start of a console has enough to do."""
CLOSING = "The console closed before the code was assessed."
UPDATED = "Assent was updated while it was open, so nobody can say what this code does. Restart Assent."


@dataclass(frozen=True, slots=True, eq=False)
class _Wish:
    """A call that waits for a process, and its answer."""

    call: Call
    kind: type[object]
    answer: asyncio.Future[object]
    """Of `kind`, CallFailed, or None where no process came to an end with it."""


class Assessor:
    """Belongs to one loop. One call of each agent at a time; the person's calls go first."""

    def __init__(self, rules: Path, make: Callable[[Path], WorkerProcess] | None = None) -> None:
        """`rules` is the folder of the person's own rules; `make` makes the processes, in tests slow or broken ones."""
        sources.at_start()
        self._make = make or (lambda folder: WorkerProcess(folder, DEADLINE))
        self._rules = rules
        self._listeners: list[Callable[[tuple[str, ...]], None]] = []
        self._consumption = Consumption()
        self._turns: Turns[_Wish] = Turns(MOST_AGENTS, self._costly)
        self._long: dict[str, tuple[WorkerProcess, _Wish]] = {}
        """Calls of agents that take long, by agent, the latest last."""
        self._broken_off: set[_Wish] = set()
        self._processes: set[WorkerProcess] = set()
        self._idle: list[WorkerProcess] = []
        self._starting = 0
        self._stale: set[WorkerProcess] = set()
        self._failed = False
        """The last start did; the next call tries again."""
        self._updated = False
        """The last start failed, and the files are not those with which this console began."""
        self._closed = False
        self._complete = False
        """Whether all processes are to be had at any time, and not only what is needed."""
        self._later: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    # ---- calls ----

    async def assess(self, request: Request, *, person: bool = False) -> Assessment:
        """Return what `request` would do; CRITICAL where nobody can say. `person`: not its agent asks."""
        answer = await self._ask(PERSON if person else request.agent, Assess(request), Assessed)
        if answer is not None and _possible(request, answer.assessment):
            return answer.assessment
        return unreadable(CLOSING if self._closed else UPDATED if self._updated else TOO_LARGE)

    async def outline(self, language: Language | None, code: str, *, agent: str = PERSON) -> str:
        """Return the outline of `code`; '' where it has none or it could not be made."""
        answer = await self._ask(agent, Outline(language, code), Outlined)
        return "" if answer is None else answer.outline

    async def pictures(self, language: Language | None, code: str) -> tuple[EmbeddedPicture, ...]:
        """Return the pictures that stand in `code` as text; none where that could not be found out."""
        answer = await self._ask(PERSON, FindPictures(language, code), Pictured)
        return () if answer is None else answer.pictures

    async def imported(self, code: str, *, agent: str) -> tuple[Import, ...] | None:
        """Return what the Python `code` imports; None where that could not be found out."""
        answer = await self._ask(agent, FindImports(code), Imported)
        return None if answer is None else answer.imports

    async def used(
        self, language: Language | None, code: str, files: tuple[KnownFile, ...], *, agent: str
    ) -> tuple[KnownFile, ...]:
        """Return those of `files` that `code` starts or imports; none where that could not be found out."""
        answer = await self._ask(agent, FindUsed(language, code, files), Used)
        return () if answer is None else tuple(file for file in files if file.path in answer.paths)

    async def compare(self, old: str, new: str, *, agent: str = PERSON) -> tuple[Change, ...]:
        """Return which lines of two versions are the same; empty where that could not be found out."""
        answer = await self._ask(agent, Compare(old, new), Compared)
        return () if answer is None else answer.changes

    async def without_types(self, code: str, *, agent: str = PERSON) -> str:
        """Return TypeScript without its types; as it is where that could not be done."""
        answer = await self._ask(agent, Erase(code), Erased)
        return code if answer is None else answer.code

    # ---- life cycle ----

    def listen(self, listener: Callable[[tuple[str, ...]], None]) -> None:
        """Set the callback for errors that a new process finds in the person's own rules."""
        self._listeners.append(listener)

    def warm(self) -> None:
        """Have a process ready before anything is asked, and in some seconds all of them."""
        if not self._processes and not self._closed:
            self._launch()
            self._later = asyncio.get_running_loop().call_later(RESERVE_SECONDS, self._warm_all)

    def reload(self) -> None:
        """Replace the worker processes, as the person's own rules have changed."""
        used = bool(self._processes)
        self._stale |= self._processes
        self._failed = False
        for process in self._idle:
            self._spawn("end assessing", self._end(process))
        self._idle.clear()
        if used:
            self._one_more()

    async def close(self) -> None:
        """End every process; waiting calls get no answer."""
        self._closed = True
        if self._later is not None:
            self._later.cancel()
        for wish in self._turns.drain():
            _settle(wish, None)
        await asyncio.gather(*(self._end(process) for process in tuple(self._processes)))
        if self._tasks:
            await asyncio.wait(self._tasks)

    # ---- scheduling ----

    async def _ask(self, asker: str, call: Call, kind: type[T]) -> T | None:
        """Queue a call and return its answer; None where there is none."""
        if self._closed:
            return None
        wish = _Wish(call, kind, asyncio.get_running_loop().create_future())
        self._turns.put(asker, wish)
        self._failed = False
        self._make_way()
        self._go_on()
        answer = await wish.answer
        if isinstance(answer, CallFailed):
            log.error("The classifier failed: %s", answer.why)
        return answer if isinstance(answer, kind) else None

    def _go_on(self) -> None:
        """Give what waits to processes that wait, and start one more where that is not enough."""
        if self._closed:
            return
        for process in [one for one in self._idle if not one.alive]:
            self._idle.remove(process)
            self._spawn("end assessing", self._end(process))
        # The last one that waits is not for a costly agent: starting another would take the others' time.
        while self._idle and (turn := self._turns.take(spared=len(self._idle) == 1 and not self._failed)) is not None:
            self._spawn("assess", self._serve(self._idle.pop(), *turn))
        if self._turns.ready:
            self._one_more(1)
        self._reserve()

    def _one_more(self, idle: int = 0) -> None:
        """Start a process, unless more than `idle` wait already, there are enough, or one is coming."""
        if not (self._starting or len(self._idle) > idle):
            self._launch()

    def _warm_all(self) -> None:
        self._complete = True
        self._fill()

    def _fill(self) -> None:
        """Start one of those that are missing; it starts the next."""
        if self._complete:
            self._one_more(MOST_PROCESSES)

    def _reserve(self) -> None:
        """Start what is missing of the reserve where agents' calls fill every place."""
        if self._turns.full:
            for _ in range(RESERVE - len(self._idle) - self._starting):
                self._launch()

    def _launch(self) -> None:
        """Start a process, unless there are enough."""
        if not (self._closed or self._failed or self._lives() >= MOST_PROCESSES):
            process = self._make(self._rules)
            self._processes.add(process)
            self._starting += 1
            self._spawn("start assessing", self._begin(process))

    def _lives(self) -> int:
        """Return the number of workers that will answer again: stale ones end with their call."""
        return len(self._processes - self._stale)

    async def _begin(self, process: WorkerProcess) -> None:
        """Start `process`. Where that fails and there is no other, waiting calls get no answer."""
        try:
            if self._closed:
                raise Lost("the console closes")
            ready = await process.start()
        except Lost as lost:
            await self._end(process)
            if not self._closed and process not in self._stale:
                self._failed = True
                self._updated = await asyncio.to_thread(sources.replaced)
                log.warning("No process to assess in: %s", lost)
        else:
            self._updated = False
            for listener in self._listeners:
                listener(ready.problems)
            if process in self._stale or self._closed:
                await self._end(process)
            else:
                self._idle.append(process)
        finally:
            self._starting -= 1
            self._stale.discard(process)
        if self._failed and not self._lives():
            for wish in self._turns.drain():
                _settle(wish, None)
        self._go_on()
        self._fill()

    async def _serve(self, process: WorkerProcess, asker: str, wish: _Wish) -> None:
        """Have `process` answer `wish`. A process that does not is ended."""
        long = asyncio.get_running_loop().call_later(LONG, self._note_long, asker, process, wish)
        began, used = time.monotonic(), process.processor_seconds
        spent: float | None = None
        answer: object = None
        try:
            if not wish.answer.done():
                answer = await process.ask(wish.call, wish.kind)
                spent = process.processor_seconds
        except Lost as lost:
            if not self._closed and wish not in self._broken_off:
                log.warning("%s of %s was given up: %s", type(wish.call).__name__, asker or "a person", lost)
            await self._end(process)
        except Exception:
            # A bug of ours: what is left of the process must not count as one that will answer again.
            await self._end(process)
            raise
        finally:
            long.cancel()
            self._long.pop(asker, None)
            if asker != PERSON:
                # On a busy machine an honest call takes long by the clock alone. One that had no answer has no excuse.
                took = time.monotonic() - began if used is None or spent is None else spent - used
                self._consumption.add(asker, took)
            self._turns.done(asker)
            self._conclude(asker, wish, answer)
        if process in self._stale:
            await self._end(process)
        elif process in self._processes:
            self._idle.append(process)
        self._go_on()
        self._fill()

    def _costly(self, agent: str) -> bool:
        """Return whether calls of `agent` have taken long lately, or one does now."""
        return agent in self._long or self._consumption.costly(agent)

    def _note_long(self, asker: str, process: WorkerProcess, wish: _Wish) -> None:
        """A call takes long: have one more process ready, and see that nobody is held up."""
        self._one_more()
        if asker != PERSON:
            self._long[asker] = process, wish
            self._make_way()

    def _make_way(self) -> None:
        """Break the latest long call off where such calls fill every place and keep an agent waiting that has none."""
        if len(self._long) < MOST_AGENTS or not self._turns.held_up:
            return
        asker, (process, wish) = self._long.popitem()
        self._broken_off.add(wish)
        self._consumption.condemn(asker)
        self._spawn("break off assessing", self._end(process))

    def _conclude(self, asker: str, wish: _Wish, answer: object) -> None:
        """Settle a call, or queue it again where it was broken off."""
        broken_off = wish in self._broken_off
        self._broken_off.discard(wish)
        if broken_off and answer is None and not self._closed:
            self._turns.put_back(asker, wish)
        else:
            _settle(wish, answer)

    async def _end(self, process: WorkerProcess) -> None:
        self._processes.discard(process)
        self._stale.discard(process)
        await process.end()

    def _spawn(self, name: str, work: Coroutine[object, object, None]) -> None:
        task = spawn(name, work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _settle(wish: _Wish, answer: object) -> None:
    if not wish.answer.done():
        wish.answer.set_result(answer)


def _possible(request: Request, assessment: Assessment) -> bool:
    """Return whether the classifier can have said that: code is never below HIGH, and always has a reason."""
    return assessment.level >= FACTS[request.tool].least and bool(assessment.reasons)
