"""A moment that a sleeping machine does not put off."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING

from runner.system.clock import since_boot

if TYPE_CHECKING:
    from collections.abc import Callable


class Expiry:
    """Calls a function once when a moment has come. Every method is called on the loop that it is called on."""

    def __init__(self, expire: Callable[[], object], clock: Callable[[], float] = since_boot) -> None:
        """`clock` is `since_boot`, in seconds."""
        self._expire = expire
        self._clock = clock
        self._timer: asyncio.TimerHandle | None = None
        self.at = math.inf
        """The moment, on the clock; infinite until it is set."""

    def set(self, at: float) -> None:
        """Expire at `at`, and not at the moment that was set before."""
        self.at = at
        self.cancel()
        self._timer = asyncio.get_running_loop().call_later(self.left, self._fire)

    def cancel(self) -> None:
        """Expire never, unless it is set again; `at` stays."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def awoke(self) -> None:
        """Look at the clock again after the machine has slept; the loop's timers stood still meanwhile."""
        if self._timer is not None:
            self.set(self.at)

    @property
    def left(self) -> float:
        """Seconds until then, never less than 0."""
        return max(0.0, self.at - self._clock())

    @property
    def over(self) -> bool:
        """Whether the moment has come, even where the timer is late."""
        return self._clock() >= self.at

    def _fire(self) -> None:
        self._timer = None
        self._expire()
