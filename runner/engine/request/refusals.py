"""Counts calls that never became requests; what is refused is reported at most once a minute (spec I5)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.model.events import CallsRefused

if TYPE_CHECKING:
    from collections.abc import Callable

BURST_SECONDS = 1.0
"""Time from a first refused call to its report, which counts those that came with it."""
AGAIN_SECONDS = 60.0
"""Least time between two reports on one agent: each is an entry in the history."""


@dataclass(slots=True)
class _Burst:
    """The refused calls of one agent since the last report."""

    timer: asyncio.TimerHandle | None = None
    count: int = 0
    reason: str = ""


class Refusals:
    """Counter of refused calls per agent: a first one is reported after `BURST_SECONDS`, further ones by the minute."""

    def __init__(self, report: Callable[[CallsRefused], None]) -> None:
        self._report = report
        self._bursts: dict[str, _Burst] = {}

    def count(self, agent: str, reason: str) -> None:
        """Count one refused call; `agent` is empty where the token was not known."""
        burst = self._bursts.setdefault(agent, _Burst())
        burst.count += 1
        burst.reason = reason
        if burst.timer is None:
            burst.timer = asyncio.get_running_loop().call_later(BURST_SECONDS, self._tell, agent)

    def _tell(self, agent: str) -> None:
        burst = self._bursts.pop(agent)
        if burst.count:
            again = asyncio.get_running_loop().call_later(AGAIN_SECONDS, self._tell, agent)
            self._bursts[agent] = _Burst(again)
            self._report(CallsRefused(agent, burst.count, burst.reason))

    def flush(self) -> None:
        """Report what is counted, at the end."""
        bursts, self._bursts = self._bursts, {}
        for agent, burst in bursts.items():
            if burst.timer is not None:
                burst.timer.cancel()
            if burst.count:
                self._report(CallsRefused(agent, burst.count, burst.reason))
