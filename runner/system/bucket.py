"""A token bucket, by which what comes in a minute is bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Bucket:
    """A token bucket: `burst` at once, refilled at `rate` a second."""

    __slots__ = ("_burst", "_clock", "_filled_at", "_level", "_rate")

    def __init__(self, rate: float, burst: float, clock: Callable[[], float]) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._level = burst
        self._filled_at = clock()

    def take(self, tokens: float = 1.0) -> float:
        """Take tokens, at most `burst`, and return 0; else return the seconds until they are available."""
        now = self._clock()
        self._level = min(self._burst, self._level + (now - self._filled_at) * self._rate)
        self._filled_at = now
        if self._level < tokens:
            return (tokens - self._level) / self._rate
        self._level -= tokens
        return 0.0

    def reserve(self, longest: float) -> float:
        """Take a token that may not be there yet; return the seconds until it is.

        None is taken where that is later than in `longest` seconds.
        """
        wait = self.take()
        if 0.0 < wait <= longest:
            self._level -= 1.0
        return wait

    def give_back(self) -> None:
        """Take a token for not taken."""
        self._level = min(self._burst, self._level + 1.0)
