"""The engine on a thread of its own, for callers that have a loop or a window to look after."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, TypeVar

from runner.engine.foundation.opening import SEE_FAULTS, fault_words
from runner.engine.lifecycle.watchdog import Watchdog
from runner.system.loop_thread import LoopThread

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from concurrent.futures import Future

    from runner.engine.engine import Engine

T = TypeVar("T")
SILENT = "The engine of Assent did not answer for too long, so nobody watched over this run."


class EngineThread:
    """A daemon thread that runs the engine's loop, and calls from other threads into it.

    `build` is called in that thread, so the window does not pay for the engine's imports.
    `failed` is called in that thread with each error that no caller awaits.
    """

    def __init__(
        self,
        build: Callable[[], Engine],
        failed: Callable[[BaseException, str], None] | None = None,
        silent: Callable[[float], None] = lambda _seconds: None,
    ) -> None:
        """`silent` is called on another thread with the seconds for which the loop has not come round; 0 at the end."""
        self._build = build
        self._silent = silent
        self._engine: Engine | None = None
        self._thread = LoopThread("assent-engine", self._live, failed)

    def start(self) -> None:
        self._thread.start()

    @property
    def engine(self) -> Engine:
        """The engine. Blocks until it is built."""
        self._thread.ready.wait()
        assert self._engine is not None
        return self._engine

    @property
    def started(self) -> bool:
        """Whether the engine is built and takes calls."""
        return self._thread.ready.is_set() and self._engine is not None and self._thread.alive

    @property
    def ended(self) -> bool:
        """Whether the engine has ended or could not be built: it will take no calls."""
        return self._thread.ready.is_set() and not self.started

    def call(self, work: Callable[[Engine], Coroutine[Any, Any, T]]) -> Future[T]:
        """Run `work(engine)` on the engine's loop. May be called on any thread."""
        self._thread.ready.wait()
        assert self._thread.loop is not None
        return asyncio.run_coroutine_threadsafe(work(self.engine), self._thread.loop)

    def post(self, work: Callable[[Engine], object]) -> None:
        """Call `work(engine)` on the engine's loop, without a result. May be called on any thread."""
        self._thread.ready.wait()
        if self._thread.loop is not None and self._engine is not None:
            # The loop may end at any time; then nothing is left to do.
            with contextlib.suppress(RuntimeError):
                self._thread.loop.call_soon_threadsafe(work, self._engine)

    def end_runs(self) -> None:
        """End every run without the loop, as it does not come round. May be called on any thread."""
        if self._engine is not None:
            self._engine.runs.end_without_loop(SILENT)

    def close(self, why: str, timeout: float = 2.0) -> bool:
        """Close the engine and end the thread; return False where that took longer than `timeout` seconds."""
        self._why = why
        return self._thread.stop(timeout)

    _why = "The console was closed."

    async def _live(self, stop: asyncio.Event) -> None:
        self._engine = self._build()
        watchdog = Watchdog(asyncio.get_running_loop(), self._silent, self.end_runs)
        watchdog.start()
        self._thread.ready.set()
        try:
            await self._stay(self._engine, stop)
        finally:
            watchdog.close()

    async def _stay(self, engine: Engine, stop: asyncio.Event) -> None:
        """Start the engine, and close it when `stop` is set."""
        try:
            await engine.start()
        except Exception as error:
            # The loop continues: a person must be able to stop, lock down and close the parts that did start.
            self._thread.report(error, "while starting")
            engine.trouble("start", f"Assent has not started completely: {fault_words(error)}", SEE_FAULTS)
        await stop.wait()
        await engine.close(self._why)
