"""E2B for what runs containers: each is a sandbox of a service, and its streams are carried by HTTP."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from runner.model.errors import KnownError
from runner.sandbox.container.engine import CALL_SECONDS
from runner.sandbox.container.failures import Denied, EngineGone
from runner.sandbox.container.frames import Frames
from runner.sandbox.container.starter import BASH
from runner.sandbox.container.threads import Threads
from runner.sandbox.programs import remote
from runner.sandbox.remote.calls import ENVIRONMENT, USER, RemoteCalls, RemoteReadings
from runner.sandbox.remote.failures import silent
from runner.sandbox.remote.processes import ProcessEnd, ProcessStreams
from runner.sandbox.remote.short import kill
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runner.sandbox.container.engine import Calls
    from runner.sandbox.container.readings import ReadingSource
    from runner.sandbox.remote.processes import SandboxAddress
    from runner.sandbox.remote.service import Service

T = TypeVar("T")
MOST_CALLS = 32
"""At once; each takes a thread."""
CREATE_SECONDS = 60.0
"""For any call: one of them makes a sandbox, which takes a second as a rule and may take many."""
FAR_SECONDS = 10.0
CLOSE_SECONDS = 1.5
"""For sandboxes to be ended when the console closes."""
ECHO = 'read -r line; printf %s "$line"'
UNBOUND = (
    "memory of several processes together: each is held to the limit, and all are looked at four times a second",
    "share of the processor: what the template has",
)


class E2BEngine:
    """Implements `runner.sandbox.container.engine.ContainerEngine`."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.calls = RemoteCalls(service)
        self._threads = Threads("E2B", MOST_CALLS)
        self.listeners: set[Callable[[], None]] = set()

    @property
    def starts(self) -> None:
        """None: it is for the service to say how many start at the same time."""
        return

    @property
    def unbound(self) -> tuple[str, ...]:
        return UNBOUND

    async def call(self, function: Callable[[Calls], T], seconds: float | None = CALL_SECONDS) -> T:
        # An ordinary call may be the one that makes a sandbox; the others have a longer way to go than to a socket.
        longest = (
            seconds if seconds is None else CREATE_SECONDS if seconds == CALL_SECONDS else max(seconds, FAR_SECONDS)
        )
        return await self._called(partial(function, self.calls), longest)

    async def asked(self, function: Callable[[RemoteCalls], T]) -> T:
        """Return what `function` does, called on a thread with what only this engine has. Raises as `call`."""
        return await self._called(partial(function, self.calls), CREATE_SECONDS)

    def submit(self, function: Callable[[Calls], object]) -> None:
        def work() -> None:
            with contextlib.suppress(Denied, KnownError):
                function(self.calls)

        self._threads.submit(work)

    async def attach(self, container: str, *, errors: bool = True) -> ProcessStreams:
        found = self.calls.found(container)
        found.streams = ProcessStreams(found.ended, self._abandon, errors=errors)
        return found.streams

    async def start_process(self, process: str) -> ProcessStreams:
        one = self.calls.execution(process)
        streams = ProcessStreams(one.ended, self._abandon)
        words = self.calls.entered(one.container, one.words)
        streams.start_now(one.container.address, words, ENVIRONMENT)
        return streams

    async def echoed(self, container: str, text: bytes) -> bytes:
        """Return what a program of ours in a sandbox says of `text`, which is its input. Raises OSError.

        Nothing comes back where the service takes no input.
        """
        streams = ProcessStreams(ProcessEnd(), self._abandon, errors=False)
        frames, said = Frames(), b""
        try:
            streams.start_now(self.calls.found(container).address, ["/bin/sh", "-c", ECHO], ENVIRONMENT)
            await streams.write(text + b"\n")
            while data := await streams.read():
                said += b"".join(piece for _, piece in frames.feed(data))
        finally:
            streams.close()
        return said

    def readings(self, pid: int, container: str) -> ReadingSource | None:
        """Return what a program of ours in the sandbox says of all others there; starts it where it is not running."""
        try:
            found = self.calls.found(container)
        except Denied:
            return None
        if found.readings is None or found.readings.streams.ended:
            streams = ProcessStreams(ProcessEnd(), self._abandon, errors=False)
            found.readings = RemoteReadings(streams)
            words = [*BASH, remote("readings.sh"), "readings", str(USER)]
            streams.start_now(found.address, words, ENVIRONMENT)
            spawn("readings of a sandbox", _take(streams, found.readings))
        return found.readings

    def begin(self, container: str) -> None:
        """Do nothing: every limit holds from the start."""

    async def reporting(self, runtimes: Mapping[str, Any]) -> str:
        """Return none: E2B does not report what code does."""
        return ""

    async def report_no_more(self) -> None:
        """Do nothing: there is no such runtime."""

    @property
    def unshown(self) -> str:
        return "it would be on another machine"

    @property
    def unreported(self) -> str:
        return "E2B does not report it"

    def feed(self, container: str) -> None:
        """None: there is no report of what code does."""

    async def reading(self, container: str) -> dict[str, Any]:
        """Return nothing: `readings` says it all."""
        return {}

    async def close(self) -> None:
        """End what is still there. A service that does not answer causes no wait: the next start removes it."""
        with contextlib.suppress(EngineGone):
            await self._threads.call(self.calls.close, CLOSE_SECONDS, silent(self.service.host), ())
        self._threads.close()

    def _abandon(self, address: SandboxAddress, pid: int) -> None:
        def work() -> None:
            with contextlib.suppress(Denied, KnownError):
                kill(address, pid)

        self._threads.submit(work)

    async def _called(self, function: Callable[[], T], seconds: float | None) -> T:
        return await self._threads.call(function, seconds, silent(self.service.host), self.listeners)


async def _take(streams: ProcessStreams, readings: RemoteReadings) -> None:
    frames = Frames()
    try:
        while data := await streams.read():
            for _, piece in frames.feed(data):
                readings.take(piece)
    finally:
        streams.close()
