"""One control group of a run: its limits, what the kernel has counted in it, and its removal (cgroups(7))."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.sandbox.local import leftovers

if TYPE_CHECKING:
    from pathlib import Path

GROUPED = "memory limited by a control group"
PREFIX = "assent"
PERIOD = 100_000
"""Microseconds over which the share of the processor is reckoned, the kernel's own value."""
INTO_GROUP = 'while [ "$1" != -- ]; do echo 0 >"$1" || exit 125; shift; done; shift; exec "$@"'
"""Puts itself into control groups, then becomes the program: nothing of it ever runs outside of them."""
NOT_ENTERED = 125
"""Status where that is not possible."""
REMOVAL_SECONDS = 2.0
AGAIN_EVERY = 0.005


@dataclass(frozen=True, slots=True)
class GroupFiles:
    """The names of files and entries in one of the two versions of control groups."""

    limit: str
    peak: str
    kills: str
    """File with the entry `oom_kill`: how often the kernel ended a process for want of memory."""
    pages: tuple[str, str]
    """Entries of memory.stat that make up what is not a copy of something on disk."""
    door: str
    """File by which a process of one thread enters by itself. Those of version 1 are free of waiting: moving another
    process, or one with all its threads, waits until every processor has seen it, some ten milliseconds."""


V1 = GroupFiles("memory.limit_in_bytes", "memory.max_usage_in_bytes", "memory.oom_control", ("rss", "shmem"), "tasks")
V2 = GroupFiles("memory.max", "memory.peak", "memory.events", ("anon", "shmem"), "cgroup.procs")
COPIES = ("active_file", "inactive_file")
"""Entries of memory.stat: pages of files on disk."""


class ControlGroup:
    """The group of one run, a folder for each hierarchy that it needs, the one for memory first."""

    def __init__(self, version: GroupFiles, folders: tuple[Path, ...]) -> None:
        self._version = version
        self._folders = folders
        self._memory = folders[0]

    def limit(self, memory: int, processes: int | None) -> None:
        """Set the limits: bytes of memory, none swapped, and processes where they are counted. Raises OSError."""
        (self._memory / self._version.limit).write_text(str(memory))
        for name, value in (("memory.swap.max", 0), ("memory.memsw.limit_in_bytes", memory)):
            if (self._memory / name).exists():
                (self._memory / name).write_text(str(value))
        if processes is not None:
            (self._folders[-1] / "pids.max").write_text(str(processes))

    def limit_processor(self, cores: float) -> None:
        """Set the share of the processor, where the group has that controller. Raises OSError."""
        quota = max(1000, int(cores * PERIOD))
        for folder in self._folders:
            if (folder / "cpu.cfs_quota_us").exists():
                (folder / "cpu.cfs_period_us").write_text(str(PERIOD))
                (folder / "cpu.cfs_quota_us").write_text(str(quota))
            elif (folder / "cpu.max").exists():
                (folder / "cpu.max").write_text(f"{quota} {PERIOD}")

    @property
    def entry(self) -> tuple[str, ...]:
        """The words before those of a command with which it enters the group before it does anything else.

        What it starts is in there as well. Where it cannot enter it does not start, and ends with `NOT_ENTERED`.
        """
        return ("/bin/sh", "-c", INTO_GROUP, "assent", *(str(one / self._version.door) for one in self._folders), "--")

    def holds(self, pid: int) -> bool:
        """Return whether the process is in the group, in every hierarchy. Raises OSError."""
        return all(str(pid) in words(folder / "cgroup.procs") for folder in self._folders)

    def held(self) -> int | None:
        """Return the bytes that processes and files in memory take together; None when the group is gone."""
        found = _entries(self._memory / "memory.stat")
        return sum(found[name] for name in self._version.pages) if found.keys() >= set(self._version.pages) else None

    @property
    def peak(self) -> int:
        """Return the most bytes there were at once, but for copies of what is on disk; 0 where it is not counted."""
        found = words(self._memory / self._version.peak)
        copies = _entries(self._memory / "memory.stat")
        return max(0, int(found[0]) - sum(copies.get(name, 0) for name in COPIES)) if found else 0

    @property
    def kills(self) -> int:
        """Return how often the kernel has ended a process for want of memory."""
        return _entries(self._memory / self._version.kills).get("oom_kill", 0)

    def remove(self) -> None:
        """End what is in the group and remove it. What cannot be removed now is removed at the next start."""
        for folder in self._folders:
            remove(folder)


def folder_name(name: str) -> str:
    """Return the name of the group of the run `name`; ids of processes count only in the namespace that gave them."""
    return f"{PREFIX}-{_namespace()}-{name}"


def owned_by_nobody(folder: Path) -> str:
    """Return the name of the run whose group this is, where its console is gone; else ''."""
    prefix = f"{PREFIX}-{_namespace()}-"
    name = folder.name.removeprefix(prefix)
    return name if folder.name.startswith(f"{prefix}run-") and not leftovers.owner_lives(name) else ""


def remove(folder: Path) -> bool:
    """End what is in a group, remove its folder, and return whether it is gone."""
    deadline = time.monotonic() + REMOVAL_SECONDS
    while True:
        try:
            folder.rmdir()
        except FileNotFoundError:
            return True
        except OSError:
            if time.monotonic() > deadline:
                return False
            _kill(folder)
            time.sleep(AGAIN_EVERY)  # a process that was killed is in there until the kernel is done with it
        else:
            return True


def words(path: Path) -> list[str]:
    """Return the words of a file of a group; none where it cannot be read."""
    try:
        return path.read_text().split()
    except OSError:
        return []


def _kill(folder: Path) -> None:
    for pid in words(folder / "cgroup.procs"):
        if pid != "0":  # of another namespace
            with contextlib.suppress(OSError):
                os.kill(int(pid), signal.SIGKILL)


def _entries(path: Path) -> dict[str, int]:
    found = words(path)
    return {name: int(value) for name, value in zip(found[::2], found[1::2], strict=False)}


def _namespace() -> int:
    return os.stat("/proc/self/ns/pid").st_ino
