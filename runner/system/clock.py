"""Clocks that neither a sleeping machine nor a clock set back holds up."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


LAST_TIME = 253_402_300_799.0
"""End of the year 9999, in seconds since the epoch: no later time can be shown."""


def since_boot() -> float:
    """Return seconds that only rise; sleep counts, where the system has such a clock.

    `time.monotonic` stands still while a laptop sleeps: an hour of trust given in the evening would count next morning.
    """
    return time.clock_gettime(_BOOT) if _BOOT is not None else time.monotonic()


_BOOT: int | None = getattr(time, "CLOCK_BOOTTIME", None)


class ForwardClock:
    """Seconds since the epoch that never fall: a clock that is set back is outrun by the time that passes.

    May be called on any thread.
    """

    def __init__(
        self, latest: float = 0.0, wall: Callable[[], float] = time.time, passing: Callable[[], float] = since_boot
    ) -> None:
        """`latest` is the latest time that was seen before; `passing` returns how much time has passed."""
        self._wall = wall
        self._passing = passing
        self._lock = threading.Lock()
        self._latest = latest
        self._at = passing()

    def __call__(self) -> float:
        with self._lock:
            at = self._passing()
            self._latest = max(self._wall(), self._latest + max(0.0, at - self._at))
            self._at = at
            return self._latest


class SleepGauge:
    """Measures how long the machine has slept between two looks."""

    def __init__(self, awake: Callable[[], float] = time.monotonic, passing: Callable[[], float] = since_boot) -> None:
        self._awake = awake
        self._passing = passing
        self._before = self._apart()

    def slept(self) -> float:
        """Return the seconds of sleep since the last call."""
        now = self._apart()
        slept, self._before = now - self._before, now
        return max(0.0, slept)

    def _apart(self) -> float:
        # In this order: what passes between the two calls must not look like sleep.
        passing = self._passing()
        return passing - self._awake()
