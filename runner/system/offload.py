"""Work on agents' input off the engine's event loop, one piece of each agent at a time."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from runner.model.errors import KnownError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
SMALL = 16 << 10
"""Bytes or characters on which work is done at once: the way to a thread and back would take longer."""
THREADS = 2
"""Two, so that one agent's largest message does not keep another's waiting."""


class Aside:
    """The threads for work whose length an agent determines. An agent occupies one of them at most."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, "aside")
        self._turns: dict[str, asyncio.Lock] = {}
        self._closed = False

    async def do(self, agent: str, size: int, work: Callable[[], T]) -> T:
        """Return what `work` on `size` bytes or characters returns.

        Where that is little it is called at once, else in a thread once earlier work of `agent` has ended. Raises
        KnownError after `close`.
        """
        if size <= SMALL:
            return work()
        async with self._turns.setdefault(agent, asyncio.Lock()):
            if self._closed:
                raise KnownError("The console is closing.", "Call again when Assent is running.")
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def close(self) -> None:
        """Start no more work; what was started ends by itself."""
        self._closed = True
        self._threads.shutdown(wait=False)
