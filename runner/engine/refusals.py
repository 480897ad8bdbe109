"""Counts calls that never became requests; a burst is reported once, not per call (spec I5)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from runner.model.events import CallsRefused

if TYPE_CHECKING:
    from collections.abc import Callable

BURST_SECONDS = 1.0


class Refusals:
    """Counter of refused calls per agent, which reports one summary `BURST_SECONDS` after a burst began."""

    def __init__(self, report: Callable[[CallsRefused], None]) -> None:
        self._report = report
        self._bursts: dict[str, tuple[int, str]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def count(self, agent: str, reason: str) -> None:
        """Count one refused call; `agent` is empty where the token was not known."""
        count, _ = self._bursts.get(agent, (0, ""))
        self._bursts[agent] = (count + 1, reason)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(BURST_SECONDS, self.flush)

    def flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        bursts, self._bursts = self._bursts, {}
        for agent, (count, reason) in bursts.items():
            self._report(CallsRefused(agent, count, reason))
