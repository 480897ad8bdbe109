"""Reads what gVisor's kernel, the sentry, takes for one container: its memory file, its own memory, its processes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from runner.sandbox.container.readings import ContainerReading
from runner.sandbox.local import tree
from runner.system.process_stat import read_proc

if TYPE_CHECKING:
    from runner.sandbox.local.group import ControlGroup

SENTRY = b"runsc-sandbox"
"""What the sentry calls itself."""
MEMORY = "/memfd:runsc-memory"
BLOCK = 512
"""Bytes in a block of `st_blocks`."""


def find(parent: int) -> int:
    """Return the sentry among the processes below `parent`, `runsc run`; 0 while there is none."""
    for pid in tree.descendants(parent):
        if read_proc(f"/proc/{pid}/cmdline").split(b"\0", 1)[0].endswith(SENTRY):
            return pid
    return 0


class SentryReadings:
    """Readings of one container by its sentry. May be used by several threads."""

    def __init__(self, pid: int, group: ControlGroup | None = None) -> None:
        """`group` is the control group of the container, where it has one."""
        self._pid = pid
        self._group = group
        self._memory = ""

    def read(self) -> ContainerReading | None:
        """Return a reading, of some hundred microseconds; None once the sentry is gone."""
        if (memory := self.memory()) is None:
            return None
        processes = tree.read([self._pid, *tree.descendants(self._pid)])
        killed = 0 if self._group is None else self._group.kills
        return ContainerReading(processes.cpu_seconds, memory, None, None, 0, killed)

    def memory(self) -> int | None:
        """Return the bytes in its memory file, which holds all of the code's, files included, and of its own.

        Takes some fifty microseconds. None once it is gone.
        """
        try:
            _, resident, shared = map(int, read_proc(f"/proc/{self._pid}/statm").split()[:3])
        except ValueError:
            return None
        own = max(0, resident - shared) * tree.PAGE
        # One that is just starting has no memory file yet.
        return self._in_file() + own if resident else None

    def _in_file(self) -> int:
        try:
            self._memory = self._memory or self._found()
            return os.stat(self._memory).st_blocks * BLOCK if self._memory else 0
        except OSError:
            self._memory = ""
            return 0

    def _found(self) -> str:
        folder = f"/proc/{self._pid}/fd"
        for name in os.listdir(folder):
            try:
                if os.readlink(f"{folder}/{name}").startswith(MEMORY):
                    return f"{folder}/{name}"
            except OSError:  # closed meanwhile
                continue
        return ""
