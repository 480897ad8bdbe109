"""Deadline for a worker, extended while the machine is overloaded."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from runner.risk.worker.calls import PATIENCE
from runner.system.process_stat import SYSTEM, USER, fields_of

if TYPE_CHECKING:
    from types import TracebackType

SHARE = 0.5
"""Of the deadline: with less processor time than that, the worker has not had its chance."""


def processor_seconds(pid: int) -> float | None:
    """Return the processor time that a process has had; None where that cannot be found out."""
    fields = fields_of(pid)
    return (int(fields[USER]) + int(fields[SYSTEM])) / os.sysconf("SC_CLK_TCK") if fields else None


class Deadline:
    """Raise TimeoutError in what stands inside after `seconds` of which the process had its share.

    On a starved machine, or while the process is stopped, that is later; at PATIENCE times `seconds` in any case.
    """

    def __init__(self, pid: int, seconds: float) -> None:
        self._pid = pid
        self._seconds = seconds
        self._timeout = asyncio.timeout(seconds * PATIENCE)

    async def __aenter__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._before = processor_seconds(self._pid)
        await self._timeout.__aenter__()
        self._timer = self._loop.call_later(self._seconds, self._look)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._timer.cancel()
        await self._timeout.__aexit__(kind, error, traceback)

    def _look(self) -> None:
        """End the waiting, unless the process was hardly let run."""
        if self._timeout.expired():
            # At PATIENCE times the time; the task has not run since, on a busy loop, to end this timer.
            return
        now = processor_seconds(self._pid)
        if self._before is None or now is None or now - self._before >= self._seconds * SHARE:
            self._timeout.reschedule(self._loop.time())
        else:
            self._timer = self._loop.call_later(self._seconds * SHARE, self._look)
