"""Output through a container as fast as it comes: how much a second, and what the console feels of it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.available import OWN_IMAGES
from runner.request import Isolation, Language, Limits
from runner.result import Outcome
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.contract import Job
from runner.tasks import spawn
from tests import engine
from tests.bench import by_hand
from tests.bench.row import Row, percentile

if TYPE_CHECKING:
    from runner.sandbox.container.client import Client

MEGABYTES = 600
CODE = f"head -c {MEGABYTES}M /dev/zero | tr '\\0' x"
LIMITS = Limits(seconds=120.0, cpu_cores=2.0, output_bytes=16 << 20)
"""A run is ended for writing 64 times as much as is kept."""
GOAL = "100 MB/s, or 0.8x of a bare read"
MOST_MB = 150
PAGE = 4096
BEAT = 0.005
LOOK = 0.05
"""Seconds between two looks at the output, as the window does."""


@dataclass(slots=True)
class Felt:
    """What a loop noticed meanwhile."""

    lags: list[float]
    """Milliseconds that a task was woken too late."""
    memory: int
    """Most bytes that the process held."""


def rows() -> list[Row]:
    client = engine.client()
    return [row for kind in (Isolation.DOCKER, Isolation.GVISOR) for row in asyncio.run(_rows(kind, client))]


async def _rows(kind: Isolation, client: Client) -> list[Row]:
    sandbox = ContainerSandbox(kind, OWN_IMAGES, client)
    raw = await _raw(client, sandbox)
    before, felt = _memory(), Felt([], 0)
    beat = spawn("beat", _feel(felt))
    ours = await _ours(sandbox)
    beat.cancel()
    await sandbox.close()
    more, lag = max(0, felt.memory - before) / (1 << 20), percentile(felt.lags, 0.95)
    return [
        Row(f"{kind}, output of {MEGABYTES} MB", ours, "MB/s", raw, GOAL, ours >= min(100, 0.8 * raw)),
        Row(f"{kind}, memory more meanwhile", more, "MB", None, f"at most {MOST_MB} MB", more <= MOST_MB),
        Row(f"{kind}, loop lag meanwhile (p95)", lag, "ms", None, "at most 50 ms", lag <= 50),
    ]


async def _ours(sandbox: ContainerSandbox) -> float:
    """Megabytes a second, with somebody who looks at them as they come."""
    run = await sandbox.start(Job("stream", Language.SHELL, CODE, LIMITS), lambda _usage: None)
    while not run.transcript.total:
        await asyncio.sleep(0.001)
    begun, news = time.perf_counter(), run.transcript.since(0)
    while not news.ended:
        await asyncio.sleep(LOOK)
        news = run.transcript.since(news.position)
    result = await run.finished()
    assert (result.outcome, run.transcript.total) == (Outcome.OK, MEGABYTES << 20), result.error
    return MEGABYTES / (time.perf_counter() - begun)


async def _raw(client: Client, sandbox: ContainerSandbox) -> float:
    """The same through the engine's raw API, with nobody who looks at it."""
    shape = await by_hand.shape(sandbox, Language.SHELL, LIMITS)
    moments: list[float] = []
    total = 0

    def told(data: bytes) -> None:
        nonlocal total
        total += len(data)
        moments.append(time.perf_counter())

    await by_hand.cold(client, shape, ["bash", "-c", CODE], "assent-bench-stream", told)
    assert total >= MEGABYTES << 20
    return MEGABYTES / (moments[-1] - moments[0])


async def _feel(felt: Felt) -> None:
    with contextlib.suppress(asyncio.CancelledError):
        while True:
            before = time.perf_counter()
            await asyncio.sleep(BEAT)
            felt.lags.append((time.perf_counter() - before - BEAT) * 1e3)
            felt.memory = max(felt.memory, _memory())


def _memory() -> int:
    """Bytes this process holds now."""
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * PAGE
