"""One build of images, or the fetching of gVisor: on a thread that may wait, stopped from the window's."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from runner.sandbox.images.build import Progress


class Building:
    """Used once. `steps` begins what is to be done, and gives its steps."""

    def __init__(self, steps: Callable[[], AsyncGenerator[Progress]]) -> None:
        self._steps = steps
        self._lock = threading.Lock()
        self._under_way: tuple[asyncio.AbstractEventLoop, asyncio.Task[bool]] | None = None
        self._stopped = False
        self.over = threading.Event()
        """Nothing of it runs any more."""

    def run(self, progress: Callable[[Progress], None]) -> bool:
        """Build; return False where it was stopped. Blocks. Raises KnownError."""
        try:
            return asyncio.run(self._run(progress))
        except asyncio.CancelledError:
            return False
        finally:
            self.over.set()

    def stop(self) -> None:
        """Stop the build, from any thread. Returns at once; what was begun is cleaned up first."""
        with self._lock:
            first, self._stopped = not self._stopped, True
            if first and self._under_way is not None:
                loop, task = self._under_way
                loop.call_soon_threadsafe(task.cancel)

    async def _run(self, progress: Callable[[Progress], None]) -> bool:
        task: asyncio.Task[bool] | None = asyncio.current_task()
        assert task is not None
        with self._lock:
            if self._stopped:
                return False
            self._under_way = asyncio.get_running_loop(), task
        try:
            async with contextlib.aclosing(self._steps()) as steps:
                async for step in steps:
                    progress(step)
        finally:
            with self._lock:
                self._under_way = None
        return True
