"""What is done in containers with nothing but the engine's raw API: the floors of the benches of containers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.sandbox.container import starter
from runner.sandbox.container.frames import MARK, Words
from runner.sandbox.container.shape import NAMES, Shape, config
from tests.bench import raw_api

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.model.request import Isolation, Language, Limits
    from runner.sandbox.container.sandbox import ContainerSandbox
    from runner.sandbox.contract import Job


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds since the code was sent."""

    first: float
    """Until the first output."""
    gone: float
    """Until the container has ended and is removed."""


async def shape(sandbox: ContainerSandbox, language: Language, limits: Limits) -> Shape:
    """Of the containers in which `sandbox` runs code in `language`."""
    kind: Isolation = sandbox.isolation
    image = (await sandbox.check()).images[language]
    return Shape(kind, NAMES[kind], image, language, limits).container


async def cold(url: str, like: Shape, command: list[str], name: str, told: Callable[[bytes], object]) -> None:
    """Create, attach, start, wait, remove: a container `like` this whose command is the code itself."""
    made = {**config(like, name), "Cmd": command}
    container = (await raw_api.ask(url, "POST", "/containers/create", made, name=name))["Id"]
    stream = await raw_api.attach(url, container)
    await raw_api.ask(url, "POST", f"/containers/{container}/start")
    while data := await stream.read():
        told(data)
    await raw_api.ask(url, "POST", f"/containers/{container}/wait")
    await stream.close()
    await raw_api.ask(url, "DELETE", f"/containers/{container}", force="1", v="1")


async def warm(url: str, like: Shape, job: Job) -> Times:
    """Send code that says hello to an interpreter that waits."""
    words = Words.new()
    made = config(like, "assent-bench-warm")
    container = (await raw_api.ask(url, "POST", "/containers/create", made, name="assent-bench-warm"))["Id"]
    stream = await raw_api.attach(url, container)
    await raw_api.ask(url, "POST", f"/containers/{container}/start")
    await stream.write(starter.introduction(words, keeper=False))
    said = b""
    while MARK + words.interpreter.encode() + b":R" not in said:
        said += await stream.read()
    first = 0.0
    begun = time.perf_counter()
    await stream.write(starter.orders(job))
    while data := await stream.read():
        if b"hello" in data and not first:
            first = time.perf_counter() - begun
    await raw_api.ask(url, "POST", f"/containers/{container}/wait")
    await stream.close()
    await raw_api.ask(url, "DELETE", f"/containers/{container}", force="1", v="1")
    return Times(first * 1e3, (time.perf_counter() - begun) * 1e3)
