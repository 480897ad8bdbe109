"""The thread of the gates: a loop of its own, so that neither the window nor the engine waits for bytes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from concurrent.futures import Future

T = TypeVar("T")
CLOSE_SECONDS = 2.0
log = logging.getLogger(__name__)


class NetworkLoop:
    """A daemon thread with an event loop. All methods may be called on any thread."""

    def __init__(self, failed: Callable[[BaseException, str], None] | None = None) -> None:
        """`failed` is called on the thread with each error that nobody awaits, and with where it happened."""
        self._failed = failed
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False

    def start(self) -> None:
        """Start the thread; once, however often it is called."""
        with self._lock:
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._main, name="assent-network", daemon=True)
                self._thread.start()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop. Blocks until it runs. Raises RuntimeError where it does not."""
        if self._thread is not None:
            self._ready.wait()
        if self._loop is None or self._closed:
            raise RuntimeError("the network's thread is not running")
        return self._loop

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run `work` on the loop. Raises RuntimeError where that is not running."""
        try:
            return asyncio.run_coroutine_threadsafe(work, self.loop)
        except RuntimeError:
            work.close()
            raise

    def close(self, timeout: float = CLOSE_SECONDS) -> bool:
        """Cancel what runs and end the thread; return False where that took longer than `timeout` seconds."""
        with self._lock:
            self._closed = True
            thread = self._thread
        if thread is None:
            return True
        self._ready.wait(timeout)
        if self._loop is not None and self._stop is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._stop.set)
        thread.join(timeout)
        return not thread.is_alive()

    def _main(self) -> None:
        try:
            # At its end this cancels every task that is left and waits for it.
            asyncio.run(self._live())
        except BaseException as error:
            self._report(error, "the network's thread ended")
        finally:
            self._ready.set()

    async def _live(self) -> None:
        self._stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._unhandled)
        self._loop = loop
        self._ready.set()
        await self._stop.wait()

    def _unhandled(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception") or RuntimeError(str(context.get("message")))
        self._report(error, str(context.get("message", "")))

    def _report(self, error: BaseException, where: str) -> None:
        log.error("%s", where, exc_info=error)
        if self._failed is not None:
            self._failed(error, where)
