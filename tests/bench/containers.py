"""Runs in containers, cold and warm, against the same done by hand on the engine's raw API."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

from runner.model.request import Isolation, Language, Limits
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.contract import Job
from tests import container_engine as engine
from tests.bench import by_hand
from tests.bench.by_hand import Times
from tests.bench.row import Row, attempt

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

    from runner.sandbox.container.shape import Shape
    from runner.sandbox.docker.client import EngineClient

ROUNDS = 12
MANY = 20
CODE = "print('hello')\n"
COMMAND = ["python3", "-I", "-B", "-X", "utf8", "-c", CODE]
LIMITS = Limits()
JOB = Job("bench", Language.PYTHON, CODE, LIMITS)


@dataclass(frozen=True, slots=True)
class Round:
    """One of each kind, one right after the other, so that all meet the same machine. Milliseconds."""

    raw: float
    cold: float
    hand: Times
    warm: Times


def rows() -> Iterator[Row]:
    client = engine.client()
    for kind in (Isolation.DOCKER, Isolation.GVISOR):
        yield from attempt(f"{kind} run", partial(_measure, _one_by_one, kind, client))
        yield from attempt(f"{kind} runs, {MANY} at once", partial(_measure, _at_once, kind, client))


def _measure(part: Callable[[Isolation, EngineClient], Coroutine[Any, Any, list[Row]]], *of: Any) -> list[Row]:
    return asyncio.run(part(*of))


async def _one_by_one(kind: Isolation, client: EngineClient) -> list[Row]:
    sandbox, pooled = (ContainerSandbox(kind, OWN_IMAGES, client) for _ in range(2))
    shape = await by_hand.shape(sandbox, Language.PYTHON, LIMITS)
    await pooled.warm([Language.PYTHON], LIMITS, 1)
    rounds = [await _round(sandbox, pooled, client, shape) for _ in range(ROUNDS)][1:]
    await pooled.close()
    await sandbox.close()
    return _compared(kind, rounds)


async def _at_once(kind: Isolation, client: EngineClient) -> list[Row]:
    sandbox = ContainerSandbox(kind, OWN_IMAGES, client)
    shape = await by_hand.shape(sandbox, Language.PYTHON, LIMITS)
    raw, ours = await _many(sandbox, client, shape)
    await sandbox.close()
    return [_row(f"{kind} runs, {MANY} at once, cold", ours, raw, 1.2)]


def _compared(kind: Isolation, rounds: list[Round]) -> list[Row]:
    raw, cold = median(each.raw for each in rounds), median(each.cold for each in rounds)
    hand, warm = median(each.hand.gone for each in rounds), median(each.warm.gone for each in rounds)
    first_hand, first = median(each.hand.first for each in rounds), median(each.warm.first for each in rounds)
    by_hand_gain = raw / hand
    return [
        _row(f"{kind} run, cold (p50)", cold, raw, 1.15),
        _row(f"{kind} run, warm, submit to exit and removed (p50)", warm, hand, 1.25),
        # Held against the whole run: the first byte by hand takes less than a millisecond, as long as this looks.
        Row(
            f"{kind} run, warm, first output (p50)",
            first,
            "ms",
            hand,
            at_most=0.25,
            note=f"by hand {first_hand:.2f} ms",
        ),
        # What a warm container saves is the engine's affair; ours is to lose little of it.
        Row(f"{kind} run, cold over warm", cold / warm, "x", by_hand_gain, at_least=0.85),
    ]


def _row(name: str, value: float, floor: float, most: float) -> Row:
    return Row(name, value, "ms", floor, at_most=most)


async def _round(sandbox: ContainerSandbox, pooled: ContainerSandbox, client: EngineClient, shape: Shape) -> Round:
    while pooled.warmth is None or not pooled.warmth.ready:
        await asyncio.sleep(0.01)
    begun = time.perf_counter()
    await _raw(client, shape, "assent-bench")
    between = time.perf_counter()
    await run_ours(sandbox)
    ended = time.perf_counter()
    hand = await by_hand.warm(client.endpoint.url, shape, JOB)
    return Round((between - begun) * 1e3, (ended - between) * 1e3, hand, await _watched(pooled))


async def run_ours(sandbox: ContainerSandbox) -> None:
    result = await (await sandbox.start(JOB, lambda _usage: None)).finished()
    assert result.stdout == "hello\n", result


async def _watched(sandbox: ContainerSandbox) -> Times:
    begun = time.perf_counter()
    run = await sandbox.start(JOB, lambda _usage: None)
    while not run.transcript.total:
        await asyncio.sleep(0.001)
    first = time.perf_counter() - begun
    await run.finished()
    return Times(first * 1e3, (time.perf_counter() - begun) * 1e3)


async def _raw(client: EngineClient, shape: Shape, name: str) -> None:
    told: list[bytes] = []
    await by_hand.cold(client.endpoint.url, shape, COMMAND, name, told.append)
    assert b"hello\n" in b"".join(told)


async def _many(sandbox: ContainerSandbox, client: EngineClient, shape: Shape) -> tuple[float, float]:
    """Milliseconds until all of many have ended that began at once, by hand and with ours; the better of two."""
    raw, ours = [], []
    for _ in range(2):
        begun = time.perf_counter()
        await asyncio.gather(*(_raw(client, shape, f"assent-bench-{number}") for number in range(MANY)))
        raw.append((time.perf_counter() - begun) * 1e3)
        begun = time.perf_counter()
        await asyncio.gather(*(run_ours(sandbox) for _ in range(MANY)))
        ours.append((time.perf_counter() - begun) * 1e3)
    return min(raw), min(ours)
