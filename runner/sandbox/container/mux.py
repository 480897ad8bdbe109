"""The console's end of `inside/relay.py`: many connections of the code over one connection to the engine.

Everything that comes is hostile: the code may be what writes it. A frame that no relay sends ends the carrying.
"""

from __future__ import annotations

import asyncio
import contextlib
import struct
from collections import deque
from typing import TYPE_CHECKING

from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from runner.network.visit import Pipe

    Serve = Callable[[Pipe, str], Awaitable[None]]

HEAD = struct.Struct(">IcI")
COUNT = struct.Struct(">I")
WINDOW = 1 << 18
"""Bytes of one connection that may be under way from the code, and at first to it."""
WIDE_WINDOW = 1 << 20
"""Bytes of one connection that may be under way to the code, where the relay has room for them."""
PIECE = 1 << 16
MOST_STREAMS = 100
"""Connections at once; the relay lets others wait. With the window this bounds what a sandbox can make us hold."""
LONGEST_TARGET = 260
READY_STREAM = 0
SETTLING = 3
"""Turns of the loop for which frames wait for others that belong to them."""


class BadFrame(Exception):
    """What came is not what a relay sends."""


class CarriedPipe:
    """One connection of the code, for the gate (`runner.network.visit.Pipe`)."""

    def __init__(self, mux: Mux, number: int) -> None:
        self._mux = mux
        self._number = number
        self._parts: deque[bytes] = deque()
        self._held = 0
        """Bytes that came and that the relay was not yet given room for."""
        self._unreported = 0
        self._credit = WINDOW
        self._changed = asyncio.Event()
        self._ended = self._lost = self._finished = self._closed = False

    async def read(self) -> bytes:
        while not self._parts:
            if self._lost or self._closed:
                raise ConnectionResetError
            if self._ended:
                return b""
            await self._change()
        data = self._parts.popleft()
        self._unreported += len(data)
        if self._unreported >= WINDOW // 4:  # less never leaves the relay without credit, and every word costs
            # Counted before it is announced: what comes in answer must find room.
            self._held -= self._unreported
            taken, self._unreported = self._unreported, 0
            await self._mux.send(self._number, b"w", COUNT.pack(taken))
        return data

    async def write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            if self._lost or self._closed or self._finished:
                raise ConnectionResetError
            if self._credit <= 0:
                await self._change()
                continue
            piece = left[: min(PIECE, self._credit)]
            self._credit -= len(piece)
            left = left[len(piece) :]
            await self._mux.send(self._number, b"d", piece)

    async def finish(self) -> None:
        if not (self._finished or self._lost or self._closed):
            self._finished = True
            await self._mux.send(self._number, b"e")

    def close(self) -> None:
        self._closed = True
        self._parts.clear()
        self._changed.set()

    def take(self, kind: bytes, data: bytes) -> None:
        """Note what the relay's frame says. Raises BadFrame."""
        if kind == b"d":
            self._held += len(data)
            if self._held > WINDOW or self._ended or self._lost or not data:
                raise BadFrame
            if not self._closed:
                self._parts.append(bytes(data))
        elif kind == b"w":
            if len(data) != COUNT.size:
                raise BadFrame
            self._credit += COUNT.unpack(data)[0]
            if self._credit > WIDE_WINDOW:
                raise BadFrame
        elif kind == b"e":
            self._ended = True
        elif kind == b"c":
            self._lost = True
        else:
            raise BadFrame
        self._changed.set()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()


class Mux:
    """The streams of one relay. All of it on one loop."""

    def __init__(self, serve: Serve, write: Callable[[bytes], Awaitable[object]]) -> None:
        """`serve` is the gate's. `write` sends to the relay and returns once more may be sent; it raises OSError."""
        self._serve_at_gate = serve
        self._write = write
        self._pipes: dict[int, CarriedPipe] = {}
        self._serving: set[asyncio.Task[None]] = set()
        self._buffer = bytearray()
        self._unsent = bytearray()
        self._sending: asyncio.Task[None] | None = None
        self._newest = 0
        self._closed = False
        self.ready = asyncio.Event()
        """Set once the relay says that its doors are open."""

    def feed(self, data: bytes) -> None:
        """Take what the relay has written. Raises BadFrame."""
        self._buffer += data
        at = 0
        with memoryview(self._buffer) as view:
            while len(view) - at >= HEAD.size:
                number, kind, size = HEAD.unpack_from(view, at)
                if size > PIECE:
                    raise BadFrame
                end = at + HEAD.size + size
                if len(view) < end:
                    break
                self._take(number, kind, bytes(view[at + HEAD.size : end]))
                at = end
        del self._buffer[:at]

    def _take(self, number: int, kind: bytes, data: bytes) -> None:
        if kind == b"o":
            self._open(number, data)
        elif pipe := self._pipes.get(number):
            pipe.take(kind, data)
        elif not 0 < number <= self._newest or kind not in (b"d", b"e", b"w", b"c"):
            raise BadFrame
        # Else it is over here already, and the relay did not know that yet.

    def _open(self, number: int, data: bytes) -> None:
        if number == READY_STREAM:
            self.ready.set()
            return
        if number <= self._newest or len(self._pipes) >= MOST_STREAMS or len(data) > LONGEST_TARGET:
            raise BadFrame
        self._newest = number
        pipe = self._pipes[number] = CarriedPipe(self, number)
        task = spawn("relayed connection", self._serve(number, pipe, data.decode("utf-8", "replace")))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, number: int, pipe: CarriedPipe, target: str) -> None:
        try:
            await self._serve_at_gate(pipe, target)
        finally:
            pipe.close()
            with contextlib.suppress(OSError):  # the relay is gone, and with it everything of this stream
                await self.send(number, b"c")
            # Only now: what the relay may open is bounded by what is being served here.
            self._pipes.pop(number, None)

    async def listen(self, port: int) -> None:
        """Have the relay open one more listener. Raises OSError."""
        await self.send(READY_STREAM, b"l", COUNT.pack(port))

    async def send(self, number: int, kind: bytes, data: bytes | memoryview = b"") -> None:
        """Send a frame, together with those that follow at once. Waits while much is unsent. Raises OSError."""
        if self._closed:
            raise ConnectionResetError
        self._unsent += HEAD.pack(number, kind, len(data))
        self._unsent += data
        if self._sending is None or self._sending.done():
            self._sending = spawn("frames to a relay", self._send())
        while len(self._unsent) >= PIECE and not self._closed:
            await asyncio.wait({self._sending})
        if self._closed:
            raise ConnectionResetError

    async def _send(self) -> None:
        """Write what is unsent, and what comes meanwhile."""
        try:
            while self._unsent:
                for _ in range(SETTLING):  # an answer's last piece and its end wake the relay once
                    await asyncio.sleep(0)
                data, self._unsent = self._unsent, bytearray()
                await self._write(bytes(data))
        except OSError:
            self._closed = True

    async def close(self) -> None:
        """End all connections; `write` is not called any more."""
        self._closed = True
        ending = [*self._serving, *([self._sending] if self._sending is not None else [])]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
