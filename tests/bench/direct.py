"""Runs in gVisor without a container engine, against gVisor in one, and against `runsc` by hand."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from runner.model.request import Isolation, Language
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.container.shape import config
from runner.sandbox.gvisor.bundle import specification
from runner.sandbox.gvisor.program import Runsc
from tests import container_engine as engine
from tests import direct_gvisor
from tests.bench import by_hand
from tests.bench.containers import COMMAND, LIMITS, MANY, ROUNDS, run_ours
from tests.bench.row import Row, attempt

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterator

KIND = Isolation.GVISOR_DIRECT
SETTLE_SECONDS = 0.4


@dataclass(frozen=True, slots=True)
class Round:
    """One of each, one right after the other. Milliseconds."""

    hand: float
    cold: float
    warm: float
    engine_cold: float
    engine_warm: float


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="assent-bench-") as folder:
        place = Path(folder)
        yield from attempt(f"{KIND} run", lambda: asyncio.run(_one_by_one(*_contained(), *_direct(place))))
        yield from attempt(f"{KIND} runs, {MANY} at once", lambda: asyncio.run(_at_once(_direct(place)[0])))


def _contained() -> tuple[ContainerSandbox, ContainerSandbox]:
    """Two sandboxes of the engine, made outside of a loop."""
    client = engine.client()
    return ContainerSandbox(Isolation.GVISOR, OWN_IMAGES, client), ContainerSandbox(
        Isolation.GVISOR, OWN_IMAGES, client
    )


def _direct(folder: Path) -> tuple[ContainerSandbox, ContainerSandbox]:
    """Two without one: images and program are looked for outside of a loop."""
    return direct_gvisor.sandbox(folder), direct_gvisor.sandbox(folder)


async def _one_by_one(
    contained: ContainerSandbox,
    warm_contained: ContainerSandbox,
    direct: ContainerSandbox,
    warm_direct: ContainerSandbox,
) -> list[Row]:
    pooled = warm_direct, warm_contained
    for each in pooled:
        await each.warm([Language.PYTHON], LIMITS, 1)
    await direct.check()
    await contained.check()
    rounds = []
    with ExitStack() as stack:
        hand = await _by_hand(direct, stack)
        for _ in range(ROUNDS):
            for each in pooled:
                while each.warmth is None or not each.warmth.ready:
                    await asyncio.sleep(0.01)
            warm, engine_warm = [await _timed(run_ours(each)) for each in pooled]
            for each in pooled:  # their refills are not to slow what is measured next
                while each.warmth is None or not each.warmth.ready:
                    await asyncio.sleep(0.01)
            cold, by_hand_cold, engine_cold = [
                await _timed_alone(run)
                for run in (partial(run_ours, direct), partial(hand, 0), partial(run_ours, contained))
            ]
            rounds.append(Round(by_hand_cold, cold, warm, engine_cold, engine_warm))
    for each in (*pooled, direct):
        await each.close()
    found = {name: median(getattr(one, name) for one in rounds[1:]) for name in Round.__slots__}
    return [
        Row(f"{KIND} run, cold, against gVisor in the engine (p50)", found["cold"], "ms", found["engine_cold"], 0.6),
        Row(f"{KIND} run, warm, against gVisor in the engine (p50)", found["warm"], "ms", found["engine_warm"], 0.4),
        Row(f"{KIND} run, cold, against runsc by hand (p50)", found["cold"], "ms", found["hand"]),
    ]


async def _at_once(direct: ContainerSandbox) -> list[Row]:
    """Return the row of many that begin at once, by hand and with ours; the better of two."""
    await direct.check()
    raw, mine = [], []
    with ExitStack() as stack:
        hand = await _by_hand(direct, stack)
        for _ in range(2):
            raw.append(await _timed(asyncio.gather(*(hand(number) for number in range(MANY)))))
            mine.append(await _timed(asyncio.gather(*(run_ours(direct) for _ in range(MANY)))))
    await direct.close()
    return [Row(f"{KIND} runs, {MANY} at once, cold", min(mine), "ms", min(raw), at_most=1.2)]


async def _timed(work: Awaitable[object]) -> float:
    begun = time.perf_counter()
    await work
    return (time.perf_counter() - begun) * 1e3


async def _timed_alone(run: Callable[[], Awaitable[object]]) -> float:
    """Time it once what was before it is over: an engine still clears away when it has said that it is done."""
    await asyncio.sleep(SETTLE_SECONDS)
    return await _timed(run())


async def _by_hand(direct: ContainerSandbox, stack: ExitStack) -> Callable[[int], Coroutine[Any, Any, None]]:
    """Return what runs the same by `runsc run`, given a number, with nothing around it."""
    shape = await by_hand.shape(direct, Language.PYTHON, LIMITS)
    program = Runsc.found(direct_gvisor.program())
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assent-bench-")))
    root = stack.enter_context(direct_gvisor.images().used(shape.image))
    made = {**config(shape, "bench"), "Cmd": COMMAND}
    (folder / "config.json").write_text(json.dumps(specification(made, root)))
    return partial(_hand, program, folder)


async def _hand(program: Runsc, folder: Path, number: int) -> None:
    words = [*program.words(folder / f"s{number}"), "run", f"--bundle={folder}", f"hand{number}"]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe, stderr=pipe)
    out, err = await process.communicate()
    assert out == b"hello\n", err
