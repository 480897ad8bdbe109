"""Containers started ahead, each with its interpreter waiting: used once, replaced in the background (spec X6)."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from runner.sandbox.container.container import Container
    from runner.sandbox.container.shape import Shape

LIFETIME = 600.0
"""Seconds after which one that nobody wanted is replaced."""
PATIENCE = 2.0
"""Seconds a refill waits for runs to end, so that it does not slow them."""
AFTER_FAILURE = 30.0
"""Seconds before the next attempt when one could not be started."""


@dataclass(frozen=True, slots=True)
class Warmth:
    """The state of a pool."""

    wanted: int
    """How many are kept ready."""
    ready: int
    hits: int
    misses: int
    """Runs that found none waiting, of shapes that are kept or not."""
    oldest: float
    """Seconds that the oldest has been waiting."""


class Pool:
    """Keeps some containers of each wanted shape. All of it on one loop."""

    def __init__(
        self, opened: Callable[[Shape], Awaitable[Container]], left: Callable[[Container, bool], None]
    ) -> None:
        """`opened` makes a container whose interpreter is ready; `left` is called for each one that was removed."""
        self._opened = opened
        self._left = left
        self._waiting: dict[Shape, deque[tuple[float, Container]]] = {}
        self._size = 0
        self._hits = self._misses = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._short = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None

    def keep(self, shapes: Iterable[Shape], size: int) -> None:
        """Have `size` of each of `shapes` ready from now on."""
        before = self._waiting
        self._waiting = {shape: before.pop(shape, deque()) for shape in shapes} if size else {}
        for line in before.values():
            self._let_go(line, 0)
        for line in self._waiting.values():
            self._let_go(line, size)
        self._size = size
        if self._waiting and self._keeper is None:
            self._keeper = spawn("warm pool", self._keep())
        self._short.set()

    @property
    def warmth(self) -> Warmth:
        begun = [since for line in self._waiting.values() for since, container in line if container.alive]
        oldest = time.monotonic() - min(begun) if begun else 0.0
        return Warmth(self._size * len(self._waiting), len(begun), self._hits, self._misses, oldest)

    def take(self, shape: Shape) -> Container | None:
        """Return one that is ready, never to come back; None when there is none."""
        line = self._waiting.get(shape, deque())
        container = None
        while line and container is None:
            _, first = line.popleft()
            if first.alive:
                container = first
            else:
                spawn("remove a waiting container", self._remove(first))
        self._hits += container is not None
        self._misses += container is None
        self._short.set()
        return container

    def runs(self, count: int) -> None:
        """How many runs there are now: refills wait for a moment without any."""
        if count:
            self._quiet.clear()
        else:
            self._quiet.set()

    async def close(self) -> None:
        """Remove all that wait. What the engine does not remove at once is left to the next sweep."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
            self._keeper = None
        containers = [container for line in self._waiting.values() for _, container in line]
        self._waiting = {}
        await asyncio.gather(*(self._remove(container) for container in containers))

    async def _keep(self) -> None:
        """Fill up whenever some are missing, one at a time; replace what has waited too long."""
        while True:
            self._short.clear()
            try:
                await self._replace_old()
                while (shape := self._shortest()) is not None:
                    await self._moment()
                    await self._add(shape)
            except KnownError:
                await asyncio.sleep(AFTER_FAILURE)
            else:
                await _within(self._short.wait(), LIFETIME / 10)

    async def _moment(self) -> None:
        """Wait for one without runs, but not for ever."""
        await _within(self._quiet.wait(), PATIENCE)

    async def _add(self, shape: Shape) -> None:
        container = await self._opened(shape)
        line = self._waiting.get(shape)
        if line is not None and len(line) < self._size:
            line.append((time.monotonic(), container))
        else:
            await self._remove(container)

    def _shortest(self) -> Shape | None:
        """Return a shape of which some are missing, the one with the fewest first."""
        short = [(len(line), number, shape) for number, (shape, line) in enumerate(self._waiting.items())]
        short = [one for one in short if one[0] < self._size]
        return min(short)[2] if short else None

    def _let_go(self, line: deque[tuple[float, Container]], size: int) -> None:
        while len(line) > size:
            spawn("remove a waiting container", self._remove(line.popleft()[1]))

    async def _replace_old(self) -> None:
        for line in self._waiting.values():
            while line and (time.monotonic() - line[0][0] > LIFETIME or not line[0][1].alive):
                await self._remove(line.popleft()[1])

    async def _remove(self, container: Container) -> None:
        gone = False
        try:
            gone = await container.remove()
        finally:
            container.let_go()
            self._left(container, gone)


async def _within(event: Awaitable[object], seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event
    except TimeoutError:
        return
