"""Reads what a tree of processes uses, straight from /proc (proc(5)): some 50 microseconds a process."""

from __future__ import annotations

import os
from dataclasses import dataclass

from runner.system.process_stat import RESIDENT, STATE, THREADS, USER, fields_of, read_proc

PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")
ENDED = (b"Z", b"X")
"""States of a thread that has ended."""


@dataclass(frozen=True, slots=True)
class ProcessReading:
    """What the processes use together at one moment."""

    memory: int
    """Resident bytes; pages that several processes share count for each of them."""
    cpu_seconds: float
    """Used so far, with that of children that have ended."""
    processes: int
    threads: int


def descendants(pid: int) -> list[int]:
    """Return all processes below `pid`, parents first. What comes or goes meanwhile may be missed.

    A process whose first thread has ended is named by another one: under its own number nothing can be read of it.
    """
    found: list[int] = []
    queue = [pid]
    while queue:
        children = _children(queue.pop())
        found += map(alive, children)
        queue += children
    return found


def read(pids: list[int]) -> ProcessReading:
    memory = threads = count = ticks = 0
    for pid in pids:
        if not (fields := fields_of(pid)):
            continue
        ticks += sum(map(int, fields[USER : USER + 4]))
        threads += int(fields[THREADS])
        memory += int(fields[RESIDENT]) * PAGE
        count += 1
    return ProcessReading(memory, ticks / TICKS, count, threads)


def proportional_memory(pids: list[int]) -> int:
    """Return the bytes with shared pages counted once among those who share them. Slow: milliseconds a process."""
    total = 0
    for pid in pids:
        for line in read_proc(f"/proc/{pid}/smaps_rollup").splitlines():
            if line.startswith(b"Pss:"):
                total += int(line.split()[1]) * 1024
    return total


def own_threads() -> int:
    """Threads of this user on the whole machine: what RLIMIT_NPROC counts outside a namespace."""
    me = os.getuid()
    total = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid == me and (fields := fields_of(entry.name)):
                    total += int(fields[THREADS])
            except OSError:
                continue
    return total


def alive(pid: int) -> int:
    """Return `pid`, or another thread of that process where the first one has ended and others have not."""
    if (fields := fields_of(pid)) and fields[STATE] in ENDED:
        for thread in _threads(pid):
            if (fields := fields_of(f"{pid}/task/{thread}")) and fields[STATE] not in ENDED:
                return int(thread)
    return pid


def _children(pid: int) -> list[int]:
    return [
        int(child) for thread in _threads(pid) for child in read_proc(f"/proc/{pid}/task/{thread}/children").split()
    ]


def _threads(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
