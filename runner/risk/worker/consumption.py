"""The time that agents' calls took lately: whoever had long ones shares a single place with others like that."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LONG = 0.25
"""Seconds from which a call counts. Quick ones never do, however many an agent sends: its rate bounds them."""
COSTLY = 1.0
"""Seconds of long calls from which an agent is a costly one: one that cannot be read in time is enough."""
HALF_SECONDS = 120.0
"""Time in which what counts is halved. An agent whose code could not be read is costly for some three minutes."""
LEAST = 0.01
"""Seconds below which nothing is remembered of an agent."""


class Consumption:
    """The seconds that long calls of each agent have taken, the older the less."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._used: dict[str, tuple[float, float]] = {}
        """By agent: the seconds, and when that was computed."""

    def add(self, agent: str, seconds: float) -> None:
        """Count a call that took `seconds`."""
        if seconds >= LONG:
            self._used[agent] = (self._of(agent) + seconds, self._clock())

    def condemn(self, agent: str) -> None:
        """Have `agent` be a costly one, whatever its calls took until now."""
        self._used[agent] = (self._of(agent) + 2 * COSTLY, self._clock())

    def costly(self, agent: str) -> bool:
        """Return whether the calls of `agent` have taken long lately."""
        return self._of(agent) >= COSTLY

    def _of(self, agent: str) -> float:
        seconds, at = self._used.get(agent, (0.0, 0.0))
        left: float = seconds * 0.5 ** ((self._clock() - at) / HALF_SECONDS)
        if left < LEAST:
            self._used.pop(agent, None)
        return left
