"""The share of each agent in a service that costs: sandboxes at once, minutes a day. In a file, over restarts."""

from __future__ import annotations

import datetime
import json
import threading
import time
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.system.durable import replace_file
from runner.system.private_folder import make_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOBODY = "this account"
"""Whose is what no agent has asked for."""


class Quota:
    """May be used on any thread. What runs counts by the second, whether it has ended or not."""

    def __init__(
        self,
        file: Path | None = None,
        most_at_once: int = 1000,
        minutes_a_day: int = 1_000_000,
        clock: Callable[[], float] = time.monotonic,
        today: Callable[[], str] = lambda: datetime.date.today().isoformat(),
    ) -> None:
        """Nothing is kept without a `file`. Days begin at midnight here."""
        self._file = file
        self._most = most_at_once
        self._seconds = minutes_a_day * 60
        self._clock = clock
        self._today = today
        self._lock = threading.Lock()
        self._open: dict[int, tuple[str, float]] = {}
        self._newest = 0
        self._unwritten: dict[str, float] | None = None
        """What could not be written, as on a full disk: it counts until the console ends."""

    def begin(self, agent: str) -> int:
        """Count one more sandbox of `agent` and return its number. Raises KnownError where that is too much."""
        agent = agent or NOBODY
        with self._lock:
            own = [since for who, since in self._open.values() if who == agent]
            if len(own) >= self._most:
                raise KnownError(
                    f"{agent} has {len(own)} sandboxes at E2B, as many as it may have at once.",
                    "Wait for one to end, or raise e2b.sandboxes_per_agent in the settings. Nothing was started.",
                )
            self._within(agent)
            self._newest += 1
            self._open[self._newest] = agent, self._clock()
            return self._newest

    def check(self, agent: str) -> None:
        """Raise KnownError where `agent` has used its minutes, those of sandboxes that still run among them."""
        with self._lock:
            self._within(agent or NOBODY)

    def _within(self, agent: str) -> None:
        now = self._clock()
        used = self._read().get(agent, 0.0) + sum(now - since for who, since in self._open.values() if who == agent)
        if used >= self._seconds:
            raise KnownError(
                f"{agent} has used its {self._seconds // 60} minutes at E2B today.",
                "Ask again tomorrow, or raise e2b.minutes_a_day in the settings. Nothing was started.",
            )

    def end(self, number: int) -> float:
        """Note the end of a sandbox and return how many seconds it lasted. Harmless twice."""
        with self._lock:
            if number not in self._open:
                return 0.0
            agent, since = self._open.pop(number)
            lasted = self._clock() - since
            used = self._read()
            used[agent] = used.get(agent, 0.0) + lasted
            if self._file is not None:
                try:
                    make_folder(self._file.parent)
                    replace_file(self._file, json.dumps({"day": self._today(), "seconds": used}))
                except OSError:
                    self._unwritten = used
            else:
                self._unwritten = used
            return lasted

    def _read(self) -> dict[str, float]:
        """Return the seconds used today, by agent; none where the file is damaged, as its loss costs little."""
        found: dict[str, float] = {}
        if self._file is not None:
            try:
                data = json.loads(self._file.read_text("utf-8"))
                if data["day"] == self._today():
                    found = {str(name): float(seconds) for name, seconds in data["seconds"].items()}
            except (OSError, ValueError, KeyError, TypeError, AttributeError):
                found = {}
        for name, seconds in (self._unwritten or {}).items():
            found[name] = max(found.get(name, 0.0), seconds)
        return found
