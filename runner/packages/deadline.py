"""The time that the work on a plan has."""

from __future__ import annotations

import time

from runner.packages.failures import NoPlan


class PlanDeadline:
    """The end of the work on one plan: by time, or because it was cancelled."""

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds
        self._why = ""

    def cancel(self, why: str) -> None:
        """May be called on any thread."""
        self._why = why

    def check(self) -> bool:
        """Return True. Raises NoPlan where nothing is left."""
        return self.left > 0

    @property
    def left(self) -> float:
        """Seconds that are left. Raises NoPlan where there are none."""
        if self._why:
            raise NoPlan(self._why, "Nothing was installed.")
        left = self._ends - time.monotonic()
        if left <= 0:
            raise NoPlan("The registry did not answer in time.", "Try again, or name fewer packages.")
        return left
