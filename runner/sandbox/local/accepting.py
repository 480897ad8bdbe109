"""Connections that are accepted and served on an event loop, at most so many at once."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from typing import TYPE_CHECKING, Any

from runner.system.tasks import spawn

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Coroutine

    Serve = Callable[[socket.socket], Coroutine[Any, Any, None]]

AGAIN_SECONDS = 0.1
"""Pause where no connection can be accepted: this process has no descriptor left, for example."""


class ServedConnections:
    """Those of some listeners, which share the room. What is async is called on the loop, from first to last."""

    def __init__(self, name: str, most: int) -> None:
        """`name` says whose they are, for its tasks; more than `most` wait until there is room."""
        self._name = name
        self._room = asyncio.Semaphore(most)
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, name: str, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task that ends with the rest."""
        task = spawn(f"{self._name}'s {name}", work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def accept(self, listener: socket.socket, serve: Serve) -> None:
        """Take the connections of a listener from now on; each is closed once `serve` has returned."""
        self.spawn("listener", self._accept(listener, serve))

    async def end(self) -> None:
        """End everything. The listeners may be closed afterwards: no loop looks at their descriptors any more."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _accept(self, listener: socket.socket, serve: Serve) -> None:
        while True:
            await self._room.acquire()
            try:
                connection = await _accepted(listener)
            except OSError:
                self._room.release()
                await asyncio.sleep(AGAIN_SECONDS)
                continue
            except asyncio.CancelledError:
                self._room.release()
                raise
            # Not in the task itself, which does nothing at all where it is cancelled before its first turn.
            task = self.spawn("connection", serve(connection))
            task.add_done_callback(functools.partial(self._served, connection))
            await asyncio.sleep(0)  # a listener that is always ready must let the others of the loop run

    def _served(self, connection: socket.socket, _task: asyncio.Task[None]) -> None:
        connection.close()
        self._room.release()


async def _accepted(listener: socket.socket) -> socket.socket:
    """Return the next connection. `loop.sock_accept` loses one that comes while its caller is cancelled."""
    while True:
        with contextlib.suppress(BlockingIOError, InterruptedError):
            return listener.accept()[0]
        await until_readable(listener)


async def until_readable(stream: socket.socket) -> None:
    """Wait until something can be read, or accepted."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(stream, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(stream)
