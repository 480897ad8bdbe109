"""What is done in containers with nothing but the engine's raw API: the floors of the benches of containers."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.sandbox.container import starter
from runner.sandbox.container.cell import Cell
from runner.sandbox.container.shape import NAMES, Shape, config

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.model.request import Isolation, Language, Limits
    from runner.sandbox.container.client import Client
    from runner.sandbox.container.sandbox import ContainerSandbox
    from runner.sandbox.contract import Job


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds since the code was sent."""

    first: float
    """Until the first output."""
    ended: float
    """Until the container's first process has ended, by its own machine's account; 0 when nobody looked."""
    gone: float
    """Until the container has ended and is removed."""


async def shape(sandbox: ContainerSandbox, language: Language, limits: Limits) -> Shape:
    """Of the containers in which `sandbox` runs code in `language`."""
    kind: Isolation = sandbox.isolation
    image = (await sandbox.check()).images[language]
    return Shape(kind, NAMES[kind], image, language, limits).container


async def cold(client: Client, like: Shape, command: list[str], name: str, told: Callable[[bytes], object]) -> None:
    """Create, attach, start, wait, remove: a container `like` this whose command is the code itself."""
    made = {**config(like, name), "Cmd": command}
    container = (await client.ask("POST", "/containers/create", made, name=name))["Id"]
    plug = await client.plug_in(f"/containers/{container}/attach", stream="1", stdin="1", stdout="1", stderr="1")
    await client.ask("POST", f"/containers/{container}/start")
    while data := await plug.read():
        told(data)
    await client.ask("POST", f"/containers/{container}/wait")
    await plug.close()
    await client.ask("DELETE", f"/containers/{container}", force="1", v="1")


async def warm(client: Client, like: Shape, job: Job) -> Times:
    """Send code to an interpreter that waits."""
    cell = Cell(client, like)
    await cell.open()
    await cell.ready()
    first = ended = 0.0

    def note() -> None:
        nonlocal ended
        ended = time.perf_counter() - begun
        loop.remove_reader(process)

    loop, process = asyncio.get_running_loop(), os.pidfd_open(await cell.pid())
    loop.add_reader(process, note)
    begun = time.perf_counter()
    await cell.send(starter.orders(job))
    try:
        while True:
            if await cell.read() and not first:
                first = time.perf_counter() - begun
    except EOFError:
        await client.ask("POST", f"/containers/{cell.id}/wait")
    await cell.remove()
    os.close(process)
    return Times(first * 1e3, ended * 1e3, (time.perf_counter() - begun) * 1e3)
