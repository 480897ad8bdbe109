"""The curve of what a run uses, and what a file system holds as its processes see it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.model.result import Usage

CURVE = 600
"""Most readings in a result (`Result.curve`)."""
DISK_FULL = 0.98
"""Part of the limit from which a workspace counts as full: the last block that does not fit stays out."""


class Curve:
    """Readings of a run, in bounded memory: the longer it takes, the thinner."""

    def __init__(self) -> None:
        self._readings: list[Usage] = []

    def add(self, usage: Usage) -> None:
        self._readings.append(usage)
        if len(self._readings) >= 2 * CURVE:
            self._readings = _halved(self._readings)

    @property
    def thinned(self) -> tuple[Usage, ...]:
        return tuple(self._readings if len(self._readings) <= CURVE else _halved(self._readings))


def _halved(curve: list[Usage]) -> list[Usage]:
    """Of each two readings the one with more memory: peaks stay."""
    return [
        max(curve[index : index + 2], key=lambda usage: usage.memory_bytes or 0) for index in range(0, len(curve), 2)
    ]


def workspace_of(pid: int, path: str) -> int | None:
    """Return the bytes in the file system at `path` as process `pid` sees it; None where it may not be looked at."""
    found = statistics(f"/proc/{{pid}}/root{path}", pid)
    return None if found is None else filled(found)


def statistics(path: str, pid: int) -> os.statvfs_result | None:
    """Return the file system's statistics; None where it cannot be reached any more."""
    try:
        return os.statvfs(path.format(pid=pid))
    except OSError:
        return None


def filled(found: os.statvfs_result) -> int:
    return (found.f_blocks - found.f_bfree) * found.f_frsize
