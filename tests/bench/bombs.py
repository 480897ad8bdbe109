"""Code that cannot be read in time: what a person and other agents notice of eight such requests at once.

The floors are the same engine without them, and the classifier in this process.
"""

from __future__ import annotations

import asyncio
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from runner.assembly import build
from runner.engine.thread import EngineThread
from runner.model.decision import Verdict
from runner.model.events import (
    GatewayOpened,
    ModeChanged,
    QuestionAsked,
    RequestArrived,
    RequestAssessed,
    RequestDecided,
)
from runner.model.request import Language, Request, Tool
from runner.model.submission import Submission
from runner.risk.tools.tools import weigh
from runner.risk.worker.assessor import DEADLINE, Assessor
from runner.settings.loading import load
from runner.system.places import Places
from tests.bench.row import Row
from tests.doubles import HeldSandbox
from tests.stages.worker import StandIn

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.engine.engine import Engine
    from runner.model.events import Event

BOMBS = (
    (Language.PYTHON, "HANG"),  # in the stand-in of the worker: one match without an end
    (Language.JAVASCRIPT, "x=[" + '"a",' * 121 + "];x.map(a=>x.map(b=>x.map(c=>a+b+c)))"),
    (Language.SHELL, "aa=x\n" + "$aa" * 40 + "-"),
    (Language.PYTHON, f"x = '{'文' * 39_000}'"),
)
AT_ONCE = 8
BOMBER = "bomber"
BOMBERS = ("first", "second", "third")
TIMES = 20
SMALL = Submission("other", Tool.CODE_EXECUTE, Language.PYTHON, "print(1)")
GENEROUS = {
    "ASSENT_PORT": "0",
    "ASSENT_RATE_PER_MINUTE": "100000",
    "ASSENT_BURST": "100000",
    "ASSENT_MAX_PENDING": "10000",
}


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as home:
        bench = Bombs(Path(home))
        try:
            return [*bench.measured(), asyncio.run(_round_trip(Path(home)))]
        finally:
            bench.host.close("the bench is over", 10)


class Bombs:
    """Drives an engine on a thread of its own, as the window does."""

    def __init__(self, home: Path) -> None:
        self._heard = threading.Condition()
        self._events: list[Event] = []
        places = Places.under(home)

        def made() -> Engine:
            engine = build(places, load(places, GENEROUS), (HeldSandbox(),))
            engine.parts.assessor = Assessor(home / "rules", lambda rules: StandIn(rules, DEADLINE))
            engine.listen(self._hear)
            return engine

        self.host = EngineThread(made)
        self.host.start()

    def _hear(self, event: Event) -> None:
        with self._heard:
            self._events.append(event)
            self._heard.notify_all()

    def _until(self, true: Callable[[Event], bool]) -> None:
        self._wait(lambda: any(map(true, self._events)))

    def _wait(self, true: Callable[[], bool]) -> None:
        with self._heard:
            assert self._heard.wait_for(true, 120), "it took too long"

    def measured(self) -> list[Row]:
        self._until(lambda event: isinstance(event, GatewayOpened))
        self._asked()
        idle = self._series()
        self._drop_bombs(BOMBER)
        busy = self._series()
        assert self._left(BOMBER), "there were no bombs any more"
        limits = (200, 200, 1000)
        names = ("Lockdown", "Deny, until it is recorded", "another agent's small call, until it is asked")
        return [
            Row(f"{name}, {AT_ONCE} bombs (worst)", max(now), "ms", at_most=goal, note=f"idle {max(then):.1f} ms")
            for name, now, then, goal in zip(names, busy, idle, limits, strict=True)
        ] + [self._several(max(idle[2]))]

    def _several(self, idle: float) -> Row:
        """Another agent's small calls while three agents' bombs are read, once one of each has been."""
        for agent in BOMBERS:
            self._drop_bombs(agent)
        _, first = self._asked()
        self._wait(lambda: all(self._left(agent) < AT_ONCE for agent in BOMBERS))
        took = [self._asked()[1] for _ in range(TIMES)]
        assert all(map(self._left, BOMBERS)), "there were no bombs any more"
        name = f"another agent's small call, three agents with {AT_ONCE} bombs each (worst)"
        return Row(name, max(took), "ms", at_most=1000, note=f"idle {idle:.1f} ms, the very first {first:.0f} ms")

    def _drop_bombs(self, agent: str) -> None:
        for number in range(AT_ONCE):
            language, code = BOMBS[number % len(BOMBS)]
            self._submit(Submission(agent, Tool.CODE_EXECUTE, language, code))

    def _series(self) -> tuple[list[float], list[float], list[float]]:
        """Milliseconds until Lockdown is told, a denial is told, and a small call is asked."""
        locked, denied, asked = [], [], []
        for _ in range(TIMES):
            request, took = self._asked()
            asked.append(took)
            denied.append(self._denied(request))
            locked.append(self._locked())
            self.host.call(lambda engine: engine.modes.guard()).result(30)
        return locked, denied, asked

    def _left(self, agent: str) -> int:
        """Bombs of `agent` that have not been read yet."""
        bombs = {
            one.request.id for one in self._events if isinstance(one, RequestArrived) and one.request.agent == agent
        }
        return len(bombs - {one.request_id for one in self._events if isinstance(one, RequestAssessed)})

    def _submit(self, submission: Submission) -> Any:
        return self.host.call(lambda engine: engine.submit(submission)).result(30)

    def _asked(self) -> tuple[Request, float]:
        begun = time.perf_counter()
        request = self._submit(SMALL).case.request
        self._until(lambda event: isinstance(event, QuestionAsked) and event.request_id == request.id)
        return request, (time.perf_counter() - begun) * 1e3

    def _denied(self, request: Request) -> float:
        begun = time.perf_counter()
        self.host.post(lambda engine: engine.answer(request.id, request.digest, Verdict.DENIED, "no"))
        self._until(lambda event: isinstance(event, RequestDecided) and event.request_id == request.id)
        return (time.perf_counter() - begun) * 1e3

    def _locked(self) -> float:
        with self._heard:
            self._events = [event for event in self._events if not isinstance(event, ModeChanged)]
        begun = time.perf_counter()
        self.host.call(lambda engine: engine.modes.lock())
        self._until(lambda event: isinstance(event, ModeChanged))
        return (time.perf_counter() - begun) * 1e3


async def _round_trip(home: Path) -> Row:
    """One small assessment through a process, against the same here."""
    assessor = Assessor(home / "rules")
    requests = [replace(_REQUEST, code=f"print({number})") for number in range(300)]
    await assessor.assess(_REQUEST)
    through, here = [], []
    for request in requests:
        begun = time.perf_counter()
        await assessor.assess(request)
        between = time.perf_counter()
        weigh(request)
        through.append((between - begun) * 1e3)
        here.append((time.perf_counter() - between) * 1e3)
    await assessor.close()
    value = median(through)
    return Row(
        "a small assessment through its process (p50)", value, "ms", at_most=5, note=f"here {median(here):.2f} ms"
    )


_REQUEST = Request("bench", "bench", Tool.CODE_EXECUTE, 0.0, Language.PYTHON, "print('first')")
