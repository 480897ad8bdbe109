"""Reads what the kernel tells of one process in one line: /proc/PID/stat (proc_pid_stat(5))."""

from __future__ import annotations

USER, SYSTEM = 11, 12
"""Processor time in ticks; followed by that of children that have ended."""
THREADS = 17
STARTED = 19
"""In ticks since the machine started."""
RESIDENT = 21
"""Pages in memory."""


def fields_of(pid: int | str) -> list[bytes]:
    """Return the fields behind the name, which may hold anything; none where there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            line = file.read() or b""
    except OSError:
        return []
    return line.rpartition(b")")[2].split()
