"""A daemon thread with an event loop of its own, which others stop and hand work to."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

log = logging.getLogger(__name__)


class LoopThread:
    """Runs one coroutine until `stop` is called. Starts once; what it has to say of faults goes to `failed`."""

    def __init__(
        self,
        name: str,
        live: Callable[[asyncio.Event], Coroutine[Any, Any, None]],
        failed: Callable[[BaseException, str], None] | None = None,
    ) -> None:
        """`live(stop)` sets `ready` and returns soon after `stop` is set.

        `failed` is called on the thread with each error that nobody awaits, and with where it happened.
        """
        self._live = live
        self._failed = failed
        self.ready = threading.Event()
        """Set once `live` says so, and in any case when the thread ends."""
        self.loop: asyncio.AbstractEventLoop | None = None
        """The loop, from shortly before `live` begins; it stays when the thread has ended."""
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._main, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def stop(self, timeout: float) -> bool:
        """Ask the coroutine to end, and wait; return False where that took longer than `timeout` seconds."""
        if not self._thread.is_alive():
            return True
        self.ready.wait(timeout)
        if self.loop is not None and self._stop is not None:
            with contextlib.suppress(RuntimeError):  # it has ended meanwhile
                self.loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def report(self, error: BaseException, where: str) -> None:
        """Note an error that nobody awaits."""
        log.error("%s", where, exc_info=error)
        if self._failed is not None:
            self._failed(error, where)

    def _main(self) -> None:
        try:
            # At its end this cancels every task that is left and waits for it.
            asyncio.run(self._run())
        except BaseException as error:
            self.report(error, f"the thread {self._thread.name} ended")
        finally:
            self.ready.set()

    async def _run(self) -> None:
        self._stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._unhandled)
        self.loop = loop
        await self._live(self._stop)

    def _unhandled(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception") or RuntimeError(str(context.get("message")))
        self.report(error, str(context.get("message", "")))
