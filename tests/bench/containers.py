"""Runs in containers, cold and warm, against the same done by hand on the engine's raw API."""

from __future__ import annotations

import asyncio
import statistics
import time
from typing import TYPE_CHECKING

from runner.available import OWN_IMAGES
from runner.request import Isolation, Language, Limits
from runner.sandbox.container import starter
from runner.sandbox.container.cell import Cell
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.container.shape import NAMES, Shape, config
from runner.sandbox.contract import Job
from tests import engine
from tests.bench.row import Row

if TYPE_CHECKING:
    from runner.sandbox.container.client import Client

ROUNDS = 10
CODE = "print('hello')\n"
LIMITS = Limits()
JOB = Job("bench", Language.PYTHON, CODE, LIMITS)


def rows() -> list[Row]:
    client = engine.client()
    return [row for kind in (Isolation.DOCKER, Isolation.GVISOR) for row in asyncio.run(_rows(kind, client))]


async def _rows(kind: Isolation, client: Client) -> list[Row]:
    sandbox = ContainerSandbox(kind, OWN_IMAGES, client)
    ready = await sandbox.check()
    shape = Shape(kind, NAMES[kind], ready.images[Language.PYTHON], Language.PYTHON, LIMITS).container
    floors, colds = await _cold(sandbox, client, shape)
    by_hand, exits, firsts = await _warm(sandbox, client, shape)
    await sandbox.close()
    floor, cold, hand, warm = map(statistics.median, (floors, colds, by_hand, exits))
    first = statistics.median(firsts)
    return [
        Row(f"{kind} run, cold (p50)", cold, "ms", floor, "1.15x of the raw API", cold <= 1.15 * floor),
        Row(f"{kind} run, warm, submit to exit (p50)", warm, "ms", hand, "1.25x of by hand", warm <= 1.25 * hand),
        Row(f"{kind} run, warm, first output (p50)", first, "ms", None, "15 ms", first <= 15),
        Row(f"{kind} run, cold over warm", cold / warm, "x", None, "at least 4x", cold >= 4 * warm),
    ]


async def _cold(sandbox: ContainerSandbox, client: Client, shape: Shape) -> tuple[list[float], list[float]]:
    """Milliseconds of each round, the two kinds in turn so that both meet the same machine."""
    raw, ours = [], []
    for number in range(ROUNDS):
        begun = time.perf_counter()
        await _raw(client, shape, f"assent-bench-{number}")
        raw.append((time.perf_counter() - begun) * 1e3)
        begun = time.perf_counter()
        result = await (await sandbox.start(JOB, lambda _usage: None)).finished()
        ours.append((time.perf_counter() - begun) * 1e3)
        assert result.stdout == "hello\n", result
    return raw[1:], ours[1:]


async def _raw(client: Client, shape: Shape, name: str) -> None:
    """Create, attach, start, wait, remove: a container of the same shape whose command is the code itself."""
    made = {**config(shape, name, "bench"), "Cmd": ["python3", "-I", "-B", "-X", "utf8", "-c", CODE]}
    container = (await client.ask("POST", "/containers/create", made, name=name))["Id"]
    plug = await client.plug_in(f"/containers/{container}/attach", stream="1", stdin="1", stdout="1", stderr="1")
    await client.ask("POST", f"/containers/{container}/start")
    told = b""
    while data := await plug.read():
        told += data
    await client.ask("POST", f"/containers/{container}/wait")
    await plug.close()
    await client.ask("DELETE", f"/containers/{container}", force="1", v="1")
    assert b"hello\n" in told


async def _warm(
    sandbox: ContainerSandbox, client: Client, shape: Shape
) -> tuple[list[float], list[float], list[float]]:
    """Milliseconds to the end of output by hand and with ours, and to our first output."""
    by_hand, exits, firsts = [], [], []
    await sandbox.warm([Language.PYTHON], LIMITS, 1)
    for _ in range(ROUNDS):
        while sandbox.warmth is None or not sandbox.warmth.ready:
            await asyncio.sleep(0.01)
        by_hand.append(await _sent_by_hand(client, shape))
        begun = time.perf_counter()
        run = await sandbox.start(JOB, lambda _usage: None)
        while not run.transcript.total:
            await asyncio.sleep(0)
        firsts.append((time.perf_counter() - begun) * 1e3)
        result = await run.finished()
        exits.append((time.perf_counter() - begun) * 1e3)
        assert result.stdout == "hello\n", result
    return by_hand[1:], exits[1:], firsts[1:]


async def _sent_by_hand(client: Client, shape: Shape) -> float:
    """Milliseconds from sending code to an interpreter that waits until its container is gone."""
    cell = Cell(client, shape)
    await cell.open()
    await cell.ready()
    begun = time.perf_counter()
    await cell.send(starter.orders(JOB))
    try:
        while True:
            await cell.read()
    except EOFError:
        await client.ask("POST", f"/containers/{cell.id}/wait")
    await cell.remove()
    return (time.perf_counter() - begun) * 1e3
