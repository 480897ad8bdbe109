"""gVisor without a container engine, for what runs containers: each is a `runsc run` that this console started."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from runner.model.errors import KnownError
from runner.sandbox.container.engine import CALL_SECONDS
from runner.sandbox.container.failures import Denied
from runner.sandbox.container.start_queue import StartQueue
from runner.sandbox.container.threads import Threads
from runner.sandbox.gvisor.calls import HANGS, DirectCalls
from runner.sandbox.gvisor.streams import piped
from runner.sandbox.images.folder_store import FolderStore
from runner.sandbox.local.control_groups import ControlGroups
from runner.sandbox.local.group import GROUPED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from runner.sandbox.container.engine import Calls
    from runner.sandbox.container.readings import ReadingSource
    from runner.sandbox.gvisor.feed import Feed
    from runner.sandbox.gvisor.streams import PipeStreams

T = TypeVar("T")
MOST_CALLS = 48
"""At once; each takes a thread, and most of them a program that ends within fifty milliseconds."""
SHARE = "share of the processor limited by a control group"
WATCHED = "a run that holds more memory than its limit is found within 20 ms and ended"


class DirectEngine:
    """Implements `runner.sandbox.container.engine.ContainerEngine`."""

    def __init__(self, images: FolderStore | None = None, program: str = "", root: Path | None = None) -> None:
        """`images` are unpacked into folders; `program` is the path of runsc, '' to find it."""
        self.images = images or FolderStore()
        self._calls = DirectCalls(self.images, program, root)
        self._threads = Threads("gVisor", MOST_CALLS)
        self.listeners: set[Callable[[], None]] = set()
        self.starts = StartQueue()

    @property
    def unbound(self) -> tuple[str, ...]:
        groups = self._calls.groups
        if isinstance(groups, ControlGroups):
            return () if groups.bind_processor else (f"{SHARE}: its controller cannot be reached",)
        return f"{GROUPED}: {groups.what.rstrip('.')}; {WATCHED}", f"{SHARE}: {groups.what.rstrip('.')}"

    async def call(self, function: Callable[[Calls], T], seconds: float | None = CALL_SECONDS) -> T:
        return await self._called(partial(function, self._calls), seconds)

    def submit(self, function: Callable[[Calls], object]) -> None:
        def work() -> None:
            with contextlib.suppress(Denied, KnownError):
                function(self._calls)

        self._threads.submit(work)

    async def attach(self, container: str, *, errors: bool = True) -> PipeStreams:
        ends, streams = piped(errors=errors)
        try:
            await self._called(lambda: self._calls.attached(container, ends))
        except BaseException:
            ends.close()
            streams.close()
            raise
        return streams

    async def start_process(self, process: str) -> PipeStreams:
        ends, streams = piped()
        try:
            await self._called(lambda: self._calls.exec_start(process, ends))
        except BaseException:
            streams.close()
            raise
        return streams

    def readings(self, pid: int, container: str) -> ReadingSource | None:
        try:
            found: ReadingSource | None = self._calls.readings(container)
        except Denied:
            return None
        return found

    def begin(self, container: str) -> None:
        try:
            self._calls.begin(container)
        except Denied as error:
            raise OSError(str(error)) from error

    async def reporting(self, runtimes: Mapping[str, Any]) -> str:
        """Return none: every container reports."""
        return ""

    async def report_no_more(self) -> None:
        """Do nothing: there is no such runtime."""

    @property
    def unreported(self) -> str:
        return ""

    @property
    def unshown(self) -> str:
        return "it maps no files of this account"

    def feed(self, container: str) -> Feed | None:
        try:
            return self._calls.feed(container)
        except Denied:
            return None

    async def reading(self, container: str) -> dict[str, Any]:
        """Return nothing: there is no engine to ask, and `readings` says it all."""
        return {}

    async def close(self) -> None:
        await asyncio.to_thread(self._calls.close)
        self._threads.close()

    async def _called(self, function: Callable[[], T], seconds: float | None = CALL_SECONDS) -> T:
        return await self._threads.call(function, seconds, HANGS, self.listeners)
