"""Limits of one agent: calls and bytes per minute, requests and messages at once, messages per second (spec I5)."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from runner.identity.allowance import Allowance
from runner.model.errors import Refused
from runner.system.bucket import Bucket

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BODY_PER_CODE = 4
"""JSON escapes make code longer, fourfold at most in practice (six-character escapes of two-byte characters: three)."""
BODY_BESIDES_CODE = 1 << 20
HTTP_PER_SECOND = 50.0
HTTP_BURST = 200.0
"""HTTP messages at once. A call takes one to four of them; this cheaper limit stops floods first."""
HTTP_PER_CALL = 8.0
"""Factor by which the HTTP limit rises with a high configured call rate."""
MOST_AT_ONCE = 150
"""Messages of one agent that are answered at once: held calls, fetches that wait, and open streams."""
AT_ONCE_PER_REQUEST = 3
"""Factor by which that rises with a high number of requests that may wait."""
BURST_MINUTES = 2
"""How much of what is taken in a minute may come at once, in minutes."""
LONGEST_TURN = 10.0
"""Seconds for which a call above the burst waits for its turn; this many seconds' worth of calls wait at most."""
MEGABYTE = 1 << 20
SESSIONS_PER_SECOND = 1.0
SESSION_BURST = 30.0
"""Sessions of the handshake era: each costs some 10 ms of the engine's loop. A client opens one at its start."""


def largest_message(max_code_kb: int) -> int:
    """Return the bytes of the largest message that is taken."""
    return BODY_PER_CODE * max_code_kb * 1024 + BODY_BESIDES_CODE


class Terms(Protocol):
    """The settings with the limits for agents; `runner.settings.loading.Settings` has them."""

    @property
    def rate_per_minute(self) -> int: ...
    @property
    def burst(self) -> int: ...
    @property
    def max_pending(self) -> int: ...
    @property
    def mb_per_minute(self) -> int: ...
    @property
    def max_code_kb(self) -> int: ...


class CallLimits:
    """One set of buckets per agent. `clock` is `time.monotonic`, in seconds."""

    def __init__(
        self,
        terms: Terms,
        waiting: Callable[[str], int],
        allowance: Callable[[str], Allowance] = lambda _agent: Allowance(),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`allowance(agent)` returns the limits of its own that an agent has at present."""
        self._terms = terms
        self._waiting = waiting
        self._allowance = allowance
        self._clock = clock
        self._calls: dict[str, tuple[int, int, Bucket]] = {}
        """With the calls in a minute and at once for which each was made."""
        self._messages: dict[str, Bucket] = {}
        self._bytes: dict[str, Bucket] = {}
        self._sessions: dict[str, Bucket] = {}
        self._entering: Counter[str] = Counter()
        self._answered: Counter[str] = Counter()
        self.largest_message = largest_message(terms.max_code_kb)
        """Bytes of the largest message that is taken."""

    def message(self, agent: str) -> float:
        """Count an HTTP message of `agent`; return 0 where it may pass, else the seconds until the next may."""
        bucket = self._messages.get(agent)
        if bucket is None:
            calls = self._terms.rate_per_minute / 60
            rate = max(HTTP_PER_SECOND, HTTP_PER_CALL * calls)
            burst = max(HTTP_BURST, HTTP_PER_CALL * self._terms.burst)
            bucket = self._messages[agent] = Bucket(rate, burst, self._clock)
        return bucket.take()

    def received(self, agent: str, count: int) -> float:
        """Count bytes of a message of `agent`; return 0 where they may pass, else the seconds until they may."""
        bucket = self._bytes.get(agent)
        if bucket is None:
            a_minute = self._terms.mb_per_minute * MEGABYTE
            burst = max(BURST_MINUTES * a_minute, self.largest_message)
            bucket = self._bytes[agent] = Bucket(a_minute / 60, burst, self._clock)
        return bucket.take(count)

    def session(self, agent: str) -> float:
        """Count a message that opens a session; return 0 where it may pass, else the seconds until it may."""
        bucket = self._sessions.get(agent)
        if bucket is None:
            # Some clients open a session for each call.
            rate = max(SESSIONS_PER_SECOND, self._terms.rate_per_minute / 60)
            bucket = self._sessions[agent] = Bucket(rate, max(SESSION_BURST, self._terms.burst), self._clock)
        return bucket.take()

    def begin(self, agent: str) -> bool:
        """Count a message that is answered from now on, until `end`; return False above the number at once."""
        most = max(MOST_AT_ONCE, AT_ONCE_PER_REQUEST * self._terms.max_pending)
        if self._answered[agent] >= most:
            return False
        self._answered[agent] += 1
        return True

    def end(self, agent: str) -> None:
        self._answered[agent] -= 1

    @contextmanager
    def entering(self, agent: str) -> Iterator[None]:
        """Reserve a place while a call becomes a request. Raises Refused above the number at once."""
        waiting = self._waiting(agent) + self._entering[agent]
        most = min(self._allowance(agent).max_pending or self._terms.max_pending, self._terms.max_pending)
        if waiting >= most:
            raise Refused(
                f"{waiting} of your requests are waiting or running already; at most {most} may.",
                "Wait for one to end (code_result), then call again.",
            )
        self._entering[agent] += 1
        try:
            yield
        finally:
            self._entering[agent] -= 1

    def turn(self, agent: str, longest: float) -> float:
        """Count a call and return the seconds until its turn, at most `longest`. Raises Refused above the rate."""
        rate, burst, bucket = self._bucket(agent)
        longest = min(longest, LONGEST_TURN)
        if (seconds := bucket.reserve(longest)) <= longest:
            return seconds
        raise Refused(
            f"Too many calls: {burst} are taken at once, and then {rate} a minute; the next ones wait for their turn, "
            f"at most {LONGEST_TURN:.0f} s.",
            f"Call again in {max(1, round(seconds))} s.",
        )

    def forgo(self, agent: str) -> None:
        """Count a call no more whose caller left before its turn."""
        self._bucket(agent)[2].give_back()

    def _bucket(self, agent: str) -> tuple[int, int, Bucket]:
        """Return the calls in a minute and at once that `agent` may make at present, and what counts them."""
        rate = min(self._allowance(agent).rate_per_minute or self._terms.rate_per_minute, self._terms.rate_per_minute)
        burst = self._terms.burst if rate == self._terms.rate_per_minute else min(self._terms.burst, rate)
        known = self._calls.get(agent)
        if known is None or known[0] != rate:
            known = self._calls[agent] = rate, burst, Bucket(rate / 60, burst, self._clock)
        return known
