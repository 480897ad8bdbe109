"""The thread of the gates: a loop of its own, so that neither the window nor the engine waits for bytes."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from runner.system.loop_thread import LoopThread

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from concurrent.futures import Future

T = TypeVar("T")
CLOSE_SECONDS = 2.0


class NetworkLoop:
    """A daemon thread with an event loop. All methods may be called on any thread."""

    def __init__(self, failed: Callable[[BaseException, str], None] | None = None) -> None:
        """`failed` is called on the thread with each error that nobody awaits, and with where it happened."""
        self._thread = LoopThread("assent-network", self._live, failed)
        self._lock = threading.Lock()
        self._started = False
        self._closed = False

    def start(self) -> None:
        """Start the thread; once, however often it is called."""
        with self._lock:
            if not self._started and not self._closed:
                self._started = True
                self._thread.start()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop. Blocks until it runs. Raises RuntimeError where it does not."""
        if self._started:
            self._thread.ready.wait()
        if self._thread.loop is None or self._closed:
            raise RuntimeError("the network's thread is not running")
        return self._thread.loop

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
        return self._thread.stop(timeout)

    async def _live(self, stop: asyncio.Event) -> None:
        self._thread.ready.set()
        await stop.wait()
