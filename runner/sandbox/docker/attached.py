"""The attached streams of a container: a connection that the SDK opened, read and written on the loop."""

from __future__ import annotations

import asyncio
import ssl
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

CHUNK = 1 << 18
TLS_SECONDS = 0.005
"""Until a write that TLS makes wait for something to read is tried again."""


class AttachedStream:
    """A connection that carries a container's input and output. Used by one task, on one loop.

    Plain connections and those through TLS alike: the loop's own calls take no socket that has been through a
    TLS handshake already, so this reads and writes it when the loop finds it ready.
    """

    def __init__(self, connection: socket.socket, first: bytes, close: Callable[[], None]) -> None:
        """`first` was read already; `close` closes the connection, without blocking."""
        connection.setblocking(False)
        self._socket = connection
        self._file = connection.fileno()
        self._first = first
        self._close = close
        self._loop = asyncio.get_running_loop()
        self._waiters: set[asyncio.Future[None]] = set()
        self._ended = False
        self._closed = False

    async def read(self) -> bytes:
        """Return some bytes, b'' at the end. Raises OSError."""
        if self._first:
            data, self._first = self._first, b""
            return data
        while not (self._closed or self._ended):
            try:
                data = self._socket.recv(CHUNK)
            except (BlockingIOError, ssl.SSLWantReadError):
                await self._ready(self._loop.add_reader, self._loop.remove_reader)
                continue
            self._ended = not data
            await asyncio.sleep(0)  # a stream that is always ready must let other tasks of the loop run
            return data
        return b""

    async def write(self, data: bytes) -> None:
        """Send `data`. Raises OSError."""
        left = memoryview(data)
        while left:
            if self._closed:
                raise ConnectionResetError
            try:
                left = left[self._socket.send(left) :]
            except (BlockingIOError, ssl.SSLWantWriteError):
                await self._ready(self._loop.add_writer, self._loop.remove_writer)
            except ssl.SSLWantReadError:
                await asyncio.sleep(TLS_SECONDS)

    @property
    def ended(self) -> bool:
        """Whether the peer has closed it and nothing is left to read."""
        if not (self._first or self._ended or self._closed):
            try:
                self._first = self._socket.recv(CHUNK)
                self._ended = not self._first
            except (BlockingIOError, ssl.SSLWantReadError):
                return False
            except OSError:
                self._ended = True
        return not self._first and (self._ended or self._closed)

    def close(self) -> None:
        """Close the connection; who waits to read finds its end, who waits to write an error."""
        if self._closed:
            return
        self._closed = True
        if not self._loop.is_closed():
            self._loop.remove_reader(self._file)
            self._loop.remove_writer(self._file)
            for waiter in self._waiters:
                if not waiter.done():
                    waiter.set_result(None)
        self._close()

    async def _ready(self, add: Callable[..., object], remove: Callable[[int], object]) -> None:
        waiter = self._loop.create_future()
        self._waiters.add(waiter)
        add(self._file, _wake, waiter)
        try:
            await waiter
        finally:
            self._waiters.discard(waiter)
            if not self._closed:
                remove(self._file)


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
