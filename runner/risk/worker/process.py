"""One process of `runner.risk.worker.worker`, as the engine holds it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, TypeVar

from runner.risk.worker.calls import HEADER, MOST_ANSWER, CallFailed, Garbage, Ready, pack, size, unpack
from runner.risk.worker.deadline import Deadline, processor_seconds
from runner.system.offload import SMALL
from runner.system.sources import at_start

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from runner.risk.worker.calls import Call

T = TypeVar("T")

START_SECONDS = 30.0
"""For a process to be ready. 0.2 s is usual; a machine under load is no reason to call code unreadable."""
COMMAND = (
    "import gc, sys; gc.disable(); sys.path[:] = sys.argv[4:]; from runner.risk.worker.worker import main; "
    "main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))"
)
"""The same code as this process has, wherever that was found; with `-I` and `-S` nothing else from its surroundings.

The worker turns the collection of garbage on again: while modules are loaded there is none.
"""


class Lost(Exception):
    """The process gave no answer: it took too long, has died, or said what is none."""


class WorkerProcess:
    """Starts on `start`; whoever started it calls `end`. Belongs to one loop."""

    def __init__(self, folder: Path, seconds: float, command: Sequence[str] = ()) -> None:
        """`seconds` is the deadline of a call (see `deadline`); `command` stands in for the worker in tests."""
        arguments = (str(folder), str(os.getpid()), str(seconds), *filter(None, sys.path))
        self._command = command or (sys.executable, "-I", "-S", "-c", COMMAND, *arguments)
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    @property
    def pid(self) -> int:
        """0 where it was not started."""
        return 0 if self._process is None else self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it can be asked: it was started and has not ended by itself."""
        return self._process is not None and self._reader is not None and not self._reader.at_eof()

    @property
    def processor_seconds(self) -> float | None:
        """The processor time that it has had; None where that cannot be found out."""
        return processor_seconds(self.pid) if self.pid else None

    async def start(self) -> Ready:
        """Start it and wait until it has loaded its rules. Raises Lost, also where it is of another version."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                self._process = self._started(theirs.fileno())
            self._reader, self._writer = await asyncio.open_connection(sock=ours)
        except OSError as error:
            ours.close()
            raise Lost(f"it could not be started: {error}") from error
        ready = _known(await self._answer(Ready, asyncio.timeout(START_SECONDS)))
        if ready.sources != at_start():
            raise Lost("the files of Assent were replaced")
        return ready

    def _started(self, descriptor: int) -> subprocess.Popen[bytes]:
        """Not on another thread: the kernel ends the process with the thread that started it."""
        return subprocess.Popen(
            self._command,
            stdin=descriptor,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
            cwd="/",
        )

    async def ask(self, call: Call, kind: type[T]) -> T | CallFailed:
        """Return the answer to `call`, or why there is none. Raises Lost; then this process is of no more use."""
        assert self._writer is not None
        # A megabyte takes milliseconds, in which the loop would stand still.
        message = pack(call) if size(call) <= SMALL else await asyncio.to_thread(pack, call)
        try:
            self._writer.write(message)
        except OSError as error:
            raise Lost(str(error)) from error
        return await self._answer(kind, Deadline(self.pid, self._seconds))

    async def end(self) -> None:
        """End it at once and wait until it is gone. A second time does nothing."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
        if self._writer is not None:
            self._writer.close()
            with contextlib.suppress(OSError):
                await self._writer.wait_closed()
        if process is not None:
            await asyncio.to_thread(process.wait)

    async def _answer(self, kind: type[T], until: asyncio.Timeout | Deadline) -> T | CallFailed:
        """Raises Lost."""
        assert self._reader is not None and self._writer is not None
        try:
            async with until:
                await self._writer.drain()
                (length,) = HEADER.unpack(await self._reader.readexactly(HEADER.size))
                if length > MOST_ANSWER:
                    raise Lost(f"an answer of {length} bytes")
                body = await self._reader.readexactly(length)
        except TimeoutError:
            raise Lost("no answer in time") from None
        except (asyncio.IncompleteReadError, OSError) as error:
            raise Lost(f"it has ended: {error}") from error
        try:
            return unpack(kind, body)
        except Garbage as error:
            raise Lost(f"what it said is no answer: {error}") from error


def _known(ready: Ready | CallFailed) -> Ready:
    """Raises Lost."""
    if isinstance(ready, CallFailed):
        raise Lost(ready.why)
    return ready
