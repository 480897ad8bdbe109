"""Notices that the machine has slept, and notes the time, so that neither keeps a permission alive."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from runner.system.clock import SleepGauge
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

LOOK_SECONDS = 2.0
NOTE_SECONDS = 60.0
SLEPT_SECONDS = 1.0
"""Shortest sleep that counts; the two clocks are not read at the very same moment."""


class Timekeeping:
    """Looks every few seconds. Every method is called on the engine's loop."""

    def __init__(
        self,
        awoke: Callable[[], None],
        note_time: Callable[[], Coroutine[None, None, None]],
        gauge: SleepGauge | None = None,
    ) -> None:
        """`awoke` is called after a sleep; `note_time` writes down how late it is."""
        self._awoke = awoke
        self._note_time = note_time
        self._gauge = gauge or SleepGauge()
        self._timer: asyncio.TimerHandle | None = None
        self._looks = 0

    def start(self) -> None:
        self._tick()

    async def close(self) -> None:
        """Look no more, and note the time once more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            await self._note_time()

    def look(self) -> None:
        """Call `awoke` where the machine has slept since the last look."""
        if self._gauge.slept() >= SLEPT_SECONDS:
            self._awoke()

    def _tick(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._tick)
        self.look()
        self._looks += 1
        if self._looks % round(NOTE_SECONDS / LOOK_SECONDS) == 0:
            spawn("note the time", self._note_time())
