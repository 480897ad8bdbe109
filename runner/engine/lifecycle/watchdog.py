"""Notices from a thread of its own that the engine's loop does not come round, and has runs ended if that lasts."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable

BEAT_SECONDS = 1.0
SILENT_SECONDS = 5.0
"""A loop that has not answered for so long is reported. Loading a large library on a busy machine takes up to 3 s."""
LASTING_SECONDS = 60.0
"""Then every run is ended: nobody watches over its limits any more, and no Stop of a person reaches it."""


class Watchdog:
    """A daemon thread that asks the loop for an answer, again and again.

    `report` is called on that thread: with the seconds of silence while it lasts, and with 0 when it is over.
    """

    def __init__(self, loop: AbstractEventLoop, report: Callable[[float], None], end_runs: Callable[[], None]) -> None:
        """`end_runs` must work without the loop."""
        self._loop = loop
        self._report = report
        self._end_runs = end_runs
        self._answered = threading.Event()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="assent-watchdog", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Watch no more."""
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        asked_at = looked_at = self._ask()
        reported = ended = False
        while not self._over.wait(BEAT_SECONDS):
            now = time.monotonic()
            late, looked_at = now - looked_at > 3 * BEAT_SECONDS + 1.0, now
            if self._answered.is_set():
                if reported:
                    self._report(0.0)
                reported = ended = False
                asked_at = self._ask()
            elif late:
                # This thread did not run either: the whole process was stopped, or the machine is starved.
                asked_at = max(asked_at, now - SILENT_SECONDS)
            elif (silent := now - asked_at) >= SILENT_SECONDS:
                reported = True
                self._report(silent)
                if silent >= LASTING_SECONDS and not ended:
                    ended = True
                    self._end_runs()

    def _ask(self) -> float:
        self._answered.clear()
        with contextlib.suppress(RuntimeError):  # the loop has ended; so will this
            self._loop.call_soon_threadsafe(self._answered.set)
        return time.monotonic()
