"""Many runs in a row in containers, cold and warm: what is left over of them afterwards."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from runner.model.request import Isolation, Language, Limits
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.container.shape import RUN_LABEL
from runner.sandbox.contract import Job
from runner.system import tasks
from tests import container_engine as engine
from tests.bench.row import Row, attempt
from tests.resident import resident

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.sandbox.docker.client import EngineClient

RUNS = 500
BEFORE = 30
"""Runs before the first count: what is loaded and kept once is there by then."""
LIMITS = Limits(cpu_cores=2.0)
MORE_MB = 8


@dataclass(frozen=True, slots=True)
class Count:
    """What there is at a moment."""

    containers: int
    networks: int
    descriptors: int
    threads: int
    tasks: int
    memory: float
    """Megabytes this process holds."""


def rows() -> Iterator[Row]:
    client = engine.client()
    for kind in (Isolation.DOCKER, Isolation.GVISOR):
        yield from attempt(f"{kind}, {RUNS} runs", partial(_measure, kind, client))


def _measure(kind: Isolation, client: EngineClient) -> list[Row]:
    return asyncio.run(_rows(kind, client))


async def _rows(kind: Isolation, client: EngineClient) -> list[Row]:
    sandbox = ContainerSandbox(kind, OWN_IMAGES, client)
    await sandbox.warm([Language.PYTHON], LIMITS, 2)
    await _runs(sandbox, BEFORE)
    await _filled(sandbox)
    before = await count(client)
    begun = time.perf_counter()
    await _runs(sandbox, RUNS)
    each = (time.perf_counter() - begun) * 1e3 / RUNS
    await _filled(sandbox)
    after = await count(client)
    warmth = sandbox.warmth
    assert warmth is not None
    hits = 100 * warmth.hits / (warmth.hits + warmth.misses)
    await sandbox.close()
    print(f"  {kind}, before {before}\n  {kind}, after  {after}")
    left = [
        Row(f"{kind}, {name} left of {RUNS} runs", now - then, at_most=0, note=f"{then} before")
        for name in ("containers", "networks", "descriptors", "threads", "tasks")
        for then, now in [(getattr(before, name), getattr(after, name))]
    ]
    more = after.memory - before.memory
    return [
        Row(f"{kind}, {RUNS} runs in a row, each", each, "ms", note=f"{hits:.0f} % found one waiting"),
        *left,
        Row(
            f"{kind}, memory more after {RUNS} runs", more, "MB", at_most=MORE_MB, note=f"{before.memory:.0f} MB before"
        ),
    ]


async def _runs(sandbox: ContainerSandbox, many: int) -> None:
    for number in range(many):
        job = Job(f"run{number}", Language.PYTHON, f"print({number})", LIMITS)
        result = await (await sandbox.start(job, lambda _usage: None)).finished()
        assert result.stdout == f"{number}\n", result


async def _filled(sandbox: ContainerSandbox) -> None:
    """Wait until the pool is as full as it was, and nothing is under way."""
    while sandbox.warmth is None or sandbox.warmth.ready < sandbox.warmth.wanted:
        await asyncio.sleep(0.05)


async def count(client: EngineClient) -> Count:
    """Containers of this process, networks of the engine, and what this process holds."""
    listed = await client.call(lambda api: api.containers(all=True, filters={"label": [RUN_LABEL]}))
    containers = sum(f"-{os.getpid()}-" in one["Labels"][RUN_LABEL] for one in listed)
    networks = len(await client.call(lambda api: api.networks()))
    gc.collect()
    held = resident() / (1 << 20)
    descriptors = len(os.listdir("/proc/self/fd"))
    return Count(containers, networks, descriptors, threading.active_count(), len(tasks.live()), round(held, 2))
