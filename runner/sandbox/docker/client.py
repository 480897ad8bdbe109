"""The engine as awaitable calls: the official SDK, whose calls block, on threads of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import urlsplit

from runner.sandbox.container.engine import CALL_SECONDS
from runner.sandbox.container.failures import EngineGone, gone, hanging
from runner.sandbox.container.readings import group
from runner.sandbox.container.threads import Threads
from runner.sandbox.docker.attached import AttachedStream
from runner.sandbox.docker.endpoint import Endpoint, find
from runner.sandbox.gvisor.engine_feeds import EngineFeeds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runner.sandbox.container.engine import ContainerEngine
    from runner.sandbox.container.readings import ReadingSource
    from runner.sandbox.docker.sdk import Api, Attachment, Call
    from runner.sandbox.gvisor.feed import KernelFeed

T = TypeVar("T")
MOST_CALLS = 48
"""At once; each takes a thread. No call waits for something that a run decides."""
MOST_READINGS = 4
"""At once: an engine takes a second for one, and no other call is to wait for that."""
FAR = "the engine is on another machine"
JOIN_SECONDS = 0.3
"""For threads to end at the close, whose calls have been broken off."""


class EngineClient:
    """One engine. Not bound to a loop, but an attached stream is to that on which it was opened."""

    def __init__(self, endpoint: Endpoint, feeds: EngineFeeds | None = None) -> None:
        """`feeds` are those of containers whose runtime reports to this account; by default in the standard folder."""
        self.endpoint = endpoint
        self._feeds = feeds or EngineFeeds()
        self._threads = Threads("container engine", MOST_CALLS)
        self._readers = Threads("container readings", MOST_READINGS)
        self._apis: list[Api] = []
        """Those that no thread uses now: the SDK's client is made for one thread at a time."""
        self._version = ""
        self._loaded = False
        self._calls: set[_Pending[Any]] = set()
        self.listeners: set[Callable[[], None]] = set()
        """Called for each call that fails with EngineGone, on the loop of whoever awaits it."""

    async def call(self, function: Callable[[Api], T], seconds: float | None = CALL_SECONDS) -> T:
        """Return what `function` does, called with the SDK's client on a thread.

        Raises EngineGone, also where it takes more than `seconds`, Denied and KnownError.
        A caller who is cancelled breaks the call off; the engine may carry it out all the same.
        """
        return await self._called(self._threads, function, seconds)

    def submit(self, function: Callable[[Api], object]) -> None:
        """Have `function` called on a thread, without a loop; nothing comes of it. May be called on any thread."""
        self._threads.submit(partial(self._serve, _Pending(function), CALL_SECONDS))

    async def attach(self, container: str, *, errors: bool = True) -> AttachedStream:
        """Return the three streams of a container, or without that of `errors`. Raises as `call`."""
        params = {"stream": 1, "stdin": 1, "stdout": 1} | ({"stderr": 1} if errors else {})
        return await self._attached(lambda api: api.attach_socket(container, params))

    async def start_process(self, process: str) -> AttachedStream:
        """Start what was made with `exec_create`; its three streams. Raises as `call`."""
        return await self._attached(lambda api: api.exec_start(process, socket=True))

    @property
    def starts(self) -> None:
        """None: it is for the engine to say how many start at the same time, on whatever machine."""
        return

    @property
    def unbound(self) -> tuple[str, ...]:
        """Return none: the engine holds containers to every limit."""
        return ()

    def readings(self, pid: int, container: str) -> ReadingSource | None:
        """Return the control group of a container where the engine is on this machine; else None."""
        return group(pid, container) if self.endpoint.local else None

    def begin(self, container: str) -> None:
        """Do nothing: an engine holds a container to all its limits from its start."""

    async def reporting(self, runtimes: Mapping[str, Any]) -> str:
        """Return which runtime of an engine on this machine reports to here; one is taken until `close`."""
        return await asyncio.to_thread(self._feeds.take, runtimes) if self.endpoint.local else ""

    async def report_no_more(self) -> None:
        await asyncio.to_thread(self._feeds.give_back)

    @property
    def unreported(self) -> str:
        return self._feeds.why if self.endpoint.local else FAR

    @property
    def unshown(self) -> str:
        return "" if self.endpoint.local else "it is on another machine"

    def feed(self, container: str) -> KernelFeed | None:
        return self._feeds.feed(container)

    async def reading(self, container: str) -> dict[str, Any]:
        """Return what a container uses, as the engine says once a second. Raises as `call`."""
        answer: dict[str, Any] = await self._called(
            self._readers, lambda api: api.stats(container, stream=False, one_shot=True), CALL_SECONDS
        )
        return answer

    async def close(self) -> None:
        """Break off what is under way and let the threads end; one that is stuck ends with the process."""
        for pending in list(self._calls):
            pending.break_off()
        await asyncio.to_thread(self._feeds.close)
        self._threads.close()
        self._readers.close()
        end = time.monotonic() + JOIN_SECONDS
        while self._threads.alive + self._readers.alive and time.monotonic() < end:
            await asyncio.sleep(0.002)

    async def _attached(self, function: Callable[[Api], Any]) -> AttachedStream:
        found: Attachment = await self._called(self._threads, function, CALL_SECONDS)
        # Through ssh the end of a connection is waited for.
        blocks = self.endpoint.url.startswith("ssh://")
        close = partial(self._threads.submit, found.close) if blocks else found.close
        return AttachedStream(found.connection, found.first, close)

    async def _called(self, threads: Threads, function: Callable[[Api], T], seconds: float | None) -> T:
        if not self._loaded:  # outside the time limit: it is not the engine that takes long
            loading: concurrent.futures.Future[None] = concurrent.futures.Future()
            threads.submit(partial(_load, loading, self.endpoint))
            try:
                await asyncio.wrap_future(loading)
            except EngineGone:
                for listener in self.listeners:
                    listener()
                raise
            self._loaded = True
        pending = _Pending(function)
        self._calls.add(pending)
        threads.submit(partial(self._serve, pending, seconds or CALL_SECONDS))
        answer = asyncio.wrap_future(pending.result)
        try:
            await asyncio.wait({answer}, timeout=seconds)
            # Asked of the thread, not of the loop: one that stood still has not heard of an answer that came in time.
            if not pending.result.done():
                raise hanging()
            return await answer
        except BaseException as error:
            if isinstance(error, EngineGone):
                for listener in self.listeners:
                    listener()
            if not answer.cancel() and not answer.cancelled():
                answer.exception()  # read, as nobody awaits it any more
            pending.abandon()
            raise
        finally:
            self._calls.discard(pending)

    def _idle_api(self) -> Api | None:
        try:
            return self._apis.pop()
        except IndexError:  # another thread was faster
            return None

    def _serve(self, pending: _Pending[Any], seconds: float) -> None:
        """On a thread: do what is wanted and hand over what comes of it."""
        from runner.sandbox.docker import sdk

        call = sdk.Call()
        if not pending.begin(call):
            return
        try:
            api = self._idle_api()
            if api is None or api.api_version != self._version:
                api = sdk.connected(self.endpoint, self._version, call, seconds)
                self._version = api.api_version
            result = api.done(pending.function, call, seconds)
            self._apis.append(api)
        except BaseException as error:
            failure = sdk.translated(error, self.endpoint.url)
            if isinstance(failure, EngineGone):
                self._version = ""  # another may be there when it is back
            pending.result.set_exception(failure)
            del failure
        else:
            pending.result.set_result(result)
        finally:
            call.connected(None)
            del pending  # or a failure would hold itself


def finder(context: str = "") -> Callable[[ContainerEngine | None], EngineClient]:
    """Return what finds the engine that Docker's own tools would use, or that of a named Docker `context`.

    It is given the one that it found before, and returns that again while the engine is where it was. It raises
    KnownError where the address of one cannot be found out.
    """

    def found(before: ContainerEngine | None) -> EngineClient:
        endpoint = find(context=context)
        return before if isinstance(before, EngineClient) and before.endpoint == endpoint else EngineClient(endpoint)

    return found


class _Pending(Generic[T]):
    """A call between the one who awaits it and the thread that does it."""

    def __init__(self, function: Callable[[Api], T]) -> None:
        self.function = function
        self.result: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._lock = threading.Lock()
        self._call: Call | None = None
        self._broken = False

    def begin(self, call: Call) -> bool:
        """Take `call` as what is done for it; False when nobody awaits it any more."""
        if not self.result.set_running_or_notify_cancel():
            return False
        with self._lock:
            self._call = call
            if self._broken:
                call.break_off()
        return True

    def break_off(self) -> None:
        """Have it fail at once, or as soon as it begins."""
        with self._lock:
            self._broken = True
            if self._call is not None:
                self._call.break_off()

    def abandon(self) -> None:
        """Break it off; a connection that it has opened all the same is closed."""
        self.break_off()
        self.result.add_done_callback(_dispose)


def _load(done: concurrent.futures.Future[None], endpoint: Endpoint) -> None:
    """On a thread: import the SDK, which takes a quarter of a second and 9 MB. Not where its engine's socket is not."""
    if done.set_running_or_notify_cancel():
        try:
            if endpoint.local:
                os.stat(urlsplit(endpoint.url).path)
        except OSError as error:
            done.set_exception(gone(error, endpoint.url))
            return
        try:
            import runner.sandbox.docker.sdk  # noqa: F401
        except BaseException as error:
            done.set_exception(error)
        else:
            done.set_result(None)


def _dispose(result: concurrent.futures.Future[Any]) -> None:
    if not result.cancelled() and result.exception() is None and hasattr(found := result.result(), "close"):
        found.close()
