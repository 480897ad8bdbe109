"""The three streams of a program as pipes, read as frames in the form of a container engine's."""

from __future__ import annotations

import asyncio
import contextlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.sandbox.container.frames import STREAMS
from runner.sandbox.output import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

CHUNK = 1 << 18
KINDS = {stream: number for number, stream in STREAMS.items()}


@dataclass(slots=True)
class Ends:
    """The program's ends of its pipes, until it has been started."""

    stdin: int
    stdout: int
    stderr: int

    def close(self) -> None:
        for end in {self.stdin, self.stdout, self.stderr} - {-1}:
            os.close(end)
        self.stdin = self.stdout = self.stderr = -1


def piped(*, errors: bool = True) -> tuple[Ends, PipeStreams]:
    """Return both ends of the streams of a program to be started; without `errors` those go nowhere. On a loop."""
    made: list[int] = []
    try:
        for _ in range(2 + errors):
            made += os.pipe2(os.O_CLOEXEC)
        nowhere = -1 if errors else os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        for end in made:
            os.close(end)
        raise
    ends = Ends(made[0], made[3], made[5] if errors else nowhere)
    readers = {made[2]: Stream.OUT} | ({made[4]: Stream.ERR} if errors else {})
    return ends, PipeStreams(made[1], readers)


class PipeStreams:
    """Our ends. Used by one task, on the loop on which they were made."""

    def __init__(self, stdin: int, readers: dict[int, Stream]) -> None:
        for end in (stdin, *readers):
            os.set_blocking(end, False)
        self._stdin = stdin
        self._readers = readers
        self._first = b""
        self._loop = asyncio.get_running_loop()
        self._waiters: set[asyncio.Future[None]] = set()
        self._closed = False

    async def read(self) -> bytes:
        """Return one frame of output, b'' at the end of both streams. Raises OSError."""
        if self._first:
            data, self._first = self._first, b""
            return data
        while self._readers and not self._closed:
            if data := self._taken():
                await asyncio.sleep(0)  # a stream that is always ready must let other tasks of the loop run
                return data
            if self._readers:
                await self._ready(self._loop.add_reader, self._loop.remove_reader, *self._readers)
        return b""

    async def write(self, data: bytes) -> None:
        """Write `data` to the program. Raises OSError."""
        left = memoryview(data)
        while left:
            if self._closed:
                raise BrokenPipeError
            try:
                left = left[os.write(self._stdin, left) :]
            except BlockingIOError:
                await self._ready(self._loop.add_writer, self._loop.remove_writer, self._stdin)

    @property
    def ended(self) -> bool:
        """Whether the program has closed both streams and nothing is left to read."""
        if not self._first and self._readers and not self._closed:
            self._first = self._taken()
        return not self._first and (self._closed or not self._readers)

    def close(self) -> None:
        """Close them; who waits to read finds their end, who waits to write an error."""
        if self._closed:
            return
        self._closed = True
        if not self._loop.is_closed():
            for reader in self._readers:
                self._loop.remove_reader(reader)
            self._loop.remove_writer(self._stdin)
            for waiter in self._waiters:
                if not waiter.done():
                    waiter.set_result(None)
        for end in (self._stdin, *self._readers):
            os.close(end)
        self._readers.clear()

    def _taken(self) -> bytes:
        """Return what is there of one of the streams, the one that was not read last first; b'' where nothing is."""
        for reader in list(self._readers):
            stream = self._readers.pop(reader)
            try:
                data = os.read(reader, CHUNK)
            except BlockingIOError:
                self._readers[reader] = stream
                continue
            except OSError:
                data = b""
            if not data:
                with contextlib.suppress(OSError):
                    os.close(reader)
                continue
            self._readers[reader] = stream
            return bytes((KINDS[stream], 0, 0, 0)) + len(data).to_bytes(4, "big") + data
        return b""

    async def _ready(self, add: Callable[..., object], remove: Callable[[int], object], *ends: int) -> None:
        waiter = self._loop.create_future()
        self._waiters.add(waiter)
        for end in ends:
            add(end, _wake, waiter)
        try:
            await waiter
        finally:
            self._waiters.discard(waiter)
            if not self._closed:
                for end in ends:
                    remove(end)


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
