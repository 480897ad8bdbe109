"""The time of one run at its gate, which stands still while the run is paused."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class RunClock:
    """Seconds that a run was not paused. Used on one loop; a new one is that of a run that is not paused."""

    def __init__(self) -> None:
        self._paused_at: float | None = None
        self._paused_for = 0.0
        self._going = asyncio.Event()
        self._going.set()
        self._deadlines: dict[asyncio.Timeout, float] = {}

    @property
    def paused(self) -> bool:
        return self._paused_at is not None

    def time(self) -> float:
        """Return the time of the loop without the pauses."""
        now = asyncio.get_running_loop().time() if self._paused_at is None else self._paused_at
        return now - self._paused_for

    def pause(self) -> None:
        """Stop; harmless when done before."""
        if self._paused_at is None:
            self._paused_at = asyncio.get_running_loop().time()
            self._going.clear()
            self._reschedule()

    def resume(self) -> None:
        """Continue; harmless when done before."""
        if self._paused_at is not None:
            self._paused_for += asyncio.get_running_loop().time() - self._paused_at
            self._paused_at = None
            self._going.set()
            self._reschedule()

    async def going(self) -> None:
        """Wait while it is paused."""
        await self._going.wait()

    @contextlib.asynccontextmanager
    async def timeout(self, seconds: float) -> AsyncIterator[None]:
        """As `asyncio.timeout`, in this time. Raises TimeoutError."""
        async with asyncio.timeout(None) as timeout:
            self._deadlines[timeout] = self.time() + seconds
            self._schedule(timeout)
            try:
                yield
            finally:
                del self._deadlines[timeout]

    def _reschedule(self) -> None:
        for timeout in self._deadlines:
            self._schedule(timeout)

    def _schedule(self, timeout: asyncio.Timeout) -> None:
        ends = None if self.paused else self._deadlines[timeout] + self._paused_for
        with contextlib.suppress(RuntimeError):  # it has just expired
            timeout.reschedule(ends)
