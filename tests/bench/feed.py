"""What it costs a run in gVisor that its kernel reports what it does, without a container engine and in one."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from runner.model.request import Isolation, Language
from runner.model.result import Outcome
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.contract import Job
from runner.sandbox.gvisor.feed import Feed
from tests import container_engine as engine
from tests import direct_gvisor
from tests.bench.containers import LIMITS
from tests.bench.row import Row, attempt

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from runner.model.result import Result

    Run = Callable[[], Awaitable[Result]]

IMPORTS = """
import importlib, sys, warnings
warnings.simplefilter("ignore")
for name in sorted(sys.stdlib_module_names - {"antigravity", "this", "idlelib", "tkinter", "turtle"})[:200]:
    try:
        importlib.import_module(name)
    except ImportError:
        pass
"""
STARTS = """
import socket, subprocess
for _ in range(20):
    subprocess.run(["/usr/bin/true"])
    socket.socket().connect_ex(("10.1.2.3", 80))
"""
ROUNDS = 16
ROWS = (
    ("starts and connections", STARTS, False, 1.02),
    ("starts and connections of 200 imports", IMPORTS, False, 1.02),
    ("opens of 200 imports", IMPORTS, True, 1.3),
)
"""What is measured, its code, whether opens are reported, and the goal."""


def rows() -> Iterator[Row]:
    for name, code, opens, at_most in ROWS:
        title = f"gvisor-direct feed, {name}, against none (best)"
        yield from attempt(title, partial(_direct, title, code, opens, at_most))
    title = "gvisor feed, starts, connections and opens, against none (best)"
    yield from attempt(title, partial(_in_engine, title))


def _job(code: str) -> Job:
    return Job("bench", Language.PYTHON, code, replace(LIMITS, cpu_cores=2.0, seconds=60.0))


def _direct(title: str, code: str, opens: bool, at_most: float) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="assent-bench-") as folder:
        sandbox = direct_gvisor.sandbox(Path(folder))

        async def run(feed: object) -> Result:
            with patch("runner.sandbox.gvisor.container.Feed", feed):
                return await (await sandbox.start(_job(code), lambda _usage: None)).finished()

        async def body() -> Row:
            await sandbox.check()
            row = await _compared(title, partial(run, _no_feed), partial(run, partial(Feed, opens=opens)), at_most)
            await sandbox.close()
            return row

        return [asyncio.run(body())]


def _in_engine(title: str) -> list[Row]:
    plain, reporting = engine.client(), engine.reporting()
    pair = [ContainerSandbox(Isolation.GVISOR, OWN_IMAGES, client) for client in (plain, reporting)]

    async def run(sandbox: ContainerSandbox) -> Result:
        return await (await sandbox.start(_job(STARTS), lambda _usage: None)).finished()

    async def body() -> Row:
        for each in pair:
            await each.check()
        assert reporting.unreported == "", reporting.unreported
        row = await _compared(title, partial(run, pair[0]), partial(run, pair[1]), None)
        for each in pair:
            await each.close()
        await reporting.close()
        await plain.close()
        return row

    return [asyncio.run(body())]


async def _compared(title: str, plain: Run, fed: Run, at_most: float | None) -> Row:
    """Return the row of runs that report what they do, against those that report nothing; each begins half the turns.

    The best of each: what else the machine does costs more than the hundredth part that this is about.
    """
    times: dict[Run, list[float]] = {plain: [], fed: []}
    for number in range(ROUNDS + 2):
        for run in (plain, fed) if number % 2 else (fed, plain):
            result = await run()
            assert result.outcome is Outcome.OK, result
            times[run].append(result.duration * 1e3)
    without, reported = (min(of[2:]) for of in times.values())
    return Row(title, reported, "ms", without, at_most)


def _no_feed(_folder: Path) -> Feed:
    raise OSError
