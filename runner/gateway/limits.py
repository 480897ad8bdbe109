"""Rate limits of one agent: calls per minute, requests at once, HTTP messages per second (spec I5)."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from runner.model.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HTTP_PER_SECOND = 50.0
HTTP_BURST = 200.0
"""HTTP messages at once. A call takes one to four of them; this cheaper limit stops floods first."""
HTTP_PER_CALL = 8.0
"""Factor by which the HTTP limit rises with a high configured call rate."""


class Terms(Protocol):
    """The settings with the limits for agents; `runner.settings.loading.Settings` has them."""

    @property
    def rate_per_minute(self) -> int: ...
    @property
    def burst(self) -> int: ...
    @property
    def max_pending(self) -> int: ...


class Bucket:
    """A token bucket: `burst` at once, refilled at `rate` a second."""

    __slots__ = ("_burst", "_clock", "_filled_at", "_level", "_rate")

    def __init__(self, rate: float, burst: float, clock: Callable[[], float]) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._level = burst
        self._filled_at = clock()

    def take(self) -> float:
        """Take a token and return 0, else return the seconds until one is available."""
        now = self._clock()
        self._level = min(self._burst, self._level + (now - self._filled_at) * self._rate)
        self._filled_at = now
        if self._level < 1:
            return (1 - self._level) / self._rate
        self._level -= 1
        return 0.0


class CallLimits:
    """One set of buckets per agent. `clock` is `time.monotonic`, in seconds."""

    def __init__(
        self, terms: Terms, waiting: Callable[[str], int], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._terms = terms
        self._waiting = waiting
        self._clock = clock
        self._calls: dict[str, Bucket] = {}
        self._messages: dict[str, Bucket] = {}
        self._entering: Counter[str] = Counter()

    def message(self, agent: str) -> float:
        """Count an HTTP message of `agent`; return 0 where it may pass, else the seconds until the next may."""
        bucket = self._messages.get(agent)
        if bucket is None:
            calls = self._terms.rate_per_minute / 60
            rate = max(HTTP_PER_SECOND, HTTP_PER_CALL * calls)
            burst = max(HTTP_BURST, HTTP_PER_CALL * self._terms.burst)
            bucket = self._messages[agent] = Bucket(rate, burst, self._clock)
        return bucket.take()

    @contextmanager
    def entering(self, agent: str) -> Iterator[None]:
        """Reserve a place while a call becomes a request. Raises Refused above the rate or the number at once."""
        waiting = self._waiting(agent) + self._entering[agent]
        if waiting >= self._terms.max_pending:
            raise Refused(
                f"{waiting} of your requests are waiting or running already; at most {self._terms.max_pending} may.",
                "Wait for one to end (code_result), then call again.",
            )
        if seconds := self._call(agent):
            raise Refused(
                f"Too many calls: at most {self._terms.rate_per_minute} a minute are taken.",
                f"Call again in {max(1, round(seconds))} s.",
            )
        self._entering[agent] += 1
        try:
            yield
        finally:
            self._entering[agent] -= 1

    def _call(self, agent: str) -> float:
        bucket = self._calls.get(agent)
        if bucket is None:
            bucket = self._calls[agent] = Bucket(self._terms.rate_per_minute / 60, self._terms.burst, self._clock)
        return bucket.take()
