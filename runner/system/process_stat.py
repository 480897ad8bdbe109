"""Reads files below /proc, and the fields of /proc/PID/stat (proc_pid_stat(5))."""

from __future__ import annotations

STATE = 0
PARENT = 1
USER, SYSTEM = 11, 12
"""Processor time in ticks; followed by that of children that have ended."""
THREADS = 17
STARTED = 19
"""In ticks since the machine started."""
RESIDENT = 21
"""Pages in memory."""


def read_proc(path: str) -> bytes:
    """Return a file below /proc; empty where it cannot be read, as of a process that has ended."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.readall() or b""
    except OSError:
        return b""


def fields_of(pid: int | str) -> list[bytes]:
    """Return the fields behind the name, which may hold anything; none where there is no such process."""
    return read_proc(f"/proc/{pid}/stat").rpartition(b")")[2].split()
