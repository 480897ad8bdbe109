"""Worker processes of the classifier that tests share: real ones, which one test after the other asks.

Starting one takes longer than most tests that need it. One that was ended in the middle of a call, has died, or was
to read rules of a person's own is not shared; neither is any that `tests/risk` makes.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import socket
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from runner.risk.worker import assessor, process
from runner.risk.worker.calls import CallFailed, Ready
from runner.risk.worker.process import COMMAND, START_SECONDS, Lost, WorkerProcess
from runner.system.sources import at_start

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.risk.worker.calls import Call

    T = TypeVar("T")

MOST = 2
"""Processes that wait for the next test; an assessor has as many."""
NO_RULES = "/nonexistent"


@dataclass(eq=False)
class _Worker:
    process: subprocess.Popen[bytes]
    line: socket.socket
    ready: Ready | None = None
    """What it said once it was up; None until somebody has waited for that."""

    def end(self) -> None:
        self.line.close()
        self.process.kill()
        self.process.wait()


_waiting: list[_Worker] = []
_wanted = False


def top_up() -> None:
    """Start what is missing, where tests have asked for any. Called between tests, on the main thread.

    The kernel ends a worker with the thread that started it, so that those of other threads cannot be shared.
    """
    for worker in [one for one in _waiting if one.process.poll() is not None]:
        _waiting.remove(worker)
        worker.end()
    while _wanted and len(_waiting) < MOST:
        ours, theirs = socket.socketpair()
        arguments = (NO_RULES, str(os.getpid()), str(assessor.DEADLINE), *filter(None, sys.path))
        with theirs:
            process = subprocess.Popen(
                (sys.executable, "-I", "-c", COMMAND, *arguments),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
                cwd="/",
            )
        _waiting.append(_Worker(process, ours))


@atexit.register
def _end_all() -> None:
    while _waiting:
        _waiting.pop().end()


class SharedWorker(WorkerProcess):
    """Takes a process that waits where there is one, and leaves it to the next test."""

    def __init__(self, folder: Path, seconds: float) -> None:
        super().__init__(folder, seconds)
        self._folder = folder
        self._shared: _Worker | None = None
        self._asked = 0

    async def start(self) -> Ready:
        global _wanted
        _wanted = True
        if not _waiting or list(self._folder.glob("*.yaml")):
            return await super().start()
        # The one that is up already, where one is.
        worker = next((one for one in _waiting if one.ready), _waiting[0])
        _waiting.remove(worker)
        self._shared, self._process = worker, worker.process
        self._reader, self._writer = await asyncio.open_connection(sock=worker.line.dup())
        if worker.ready is None:
            self._asked += 1
            said = await self._answer(Ready, asyncio.timeout(START_SECONDS))
            self._asked -= 1
            if isinstance(said, CallFailed):
                raise Lost(said.why)
            worker.ready = said
        if worker.ready.sources != at_start():
            raise Lost("the files of Assent were replaced")
        return worker.ready

    async def ask(self, call: Call, kind: type[T]) -> T | CallFailed:
        # Stays counted where no answer came: then nobody can ask it again.
        self._asked += 1
        answer = await super().ask(call, kind)
        self._asked -= 1
        return answer

    async def end(self) -> None:
        worker, self._shared = self._shared, None
        if worker is None or self._asked or not self.alive:
            await super().end()
            if worker is not None:
                worker.line.close()
            return
        self._process = None
        await super().end()
        _waiting.append(worker)


@contextlib.contextmanager
def shared() -> Iterator[None]:
    """Have every assessor take its processes from here."""
    top_up()
    before = process.WorkerProcess
    vars(assessor)["WorkerProcess"] = SharedWorker
    try:
        yield
    finally:
        vars(assessor)["WorkerProcess"] = before
