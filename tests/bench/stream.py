"""Output through a container as fast as it comes: how much a second, and what the console feels of it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from runner.model.request import Isolation, Language, Limits
from runner.model.result import Outcome
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.contract import Job
from runner.system.tasks import spawn
from tests import container_engine as engine
from tests.bench import by_hand
from tests.bench.row import Row, attempt, percentile
from tests.resident import resident

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

    from runner.sandbox.docker.client import EngineClient

MEGABYTES = 600
CODE = f"head -c {MEGABYTES}M /dev/zero | tr '\\0' x"
LIMITS = Limits(seconds=120.0, cpu_cores=2.0, output_bytes=16 << 20)
"""A run is ended for writing 64 times as much as is kept."""
MOST_MB = 150
BEAT = 0.005
LOOK = 0.05
"""Seconds between two looks at the output, as the window does."""


@dataclass(slots=True)
class Felt:
    """What a loop noticed meanwhile."""

    gaps: list[float]
    """Milliseconds from one wake of a task that sleeps for BEAT to the next."""
    memory: int
    """Most bytes that the process held."""


def rows() -> Iterator[Row]:
    client = engine.client()
    for kind in (Isolation.DOCKER, Isolation.GVISOR):
        yield from attempt(f"{kind}, output", partial(_measure, kind, client))


def _measure(kind: Isolation, client: EngineClient) -> list[Row]:
    return asyncio.run(_rows(kind, client))


async def _rows(kind: Isolation, client: EngineClient) -> list[Row]:
    sandbox = ContainerSandbox(kind, OWN_IMAGES, client)
    raw, by_hand_felt = await _felt(_raw(client, sandbox))
    before = resident()
    ours, felt = await _felt(_ours(sandbox))
    await sandbox.close()
    more = max(0, felt.memory - before) / (1 << 20)
    gap, floor = percentile(felt.gaps, 0.95), percentile(by_hand_felt.gaps, 0.95)
    return [
        Row(f"{kind}, output of {MEGABYTES} MB", ours, "MB/s", raw, at_least=0.8),
        Row(f"{kind}, memory more meanwhile", more, "MB", at_most=MOST_MB),
        Row(f"{kind}, loop gap meanwhile (p95)", gap, "ms", floor, at_most=3.0),
    ]


async def _felt(work: Coroutine[Any, Any, float]) -> tuple[float, Felt]:
    """What `work` gives, and what the loop felt of it."""
    felt = Felt([], 0)
    beat = spawn("beat", _feel(felt))
    try:
        return await work, felt
    finally:
        beat.cancel()


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


async def _raw(client: EngineClient, sandbox: ContainerSandbox) -> float:
    """The same through the engine's raw API, with nobody who looks at it."""
    shape = await by_hand.shape(sandbox, Language.SHELL, LIMITS)
    moments: list[float] = []
    total = 0

    def told(data: bytes) -> None:
        nonlocal total
        total += len(data)
        moments.append(time.perf_counter())

    await by_hand.cold(client.endpoint.url, shape, ["bash", "-c", CODE], "assent-bench-stream", told)
    assert total >= MEGABYTES << 20
    return MEGABYTES / (moments[-1] - moments[0])


async def _feel(felt: Felt) -> None:
    with contextlib.suppress(asyncio.CancelledError):
        while True:
            before = time.perf_counter()
            await asyncio.sleep(BEAT)
            felt.gaps.append((time.perf_counter() - before) * 1e3)
            felt.memory = max(felt.memory, resident())
