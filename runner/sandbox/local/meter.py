"""Readings of what a running child uses, and whether a limit is passed."""

from __future__ import annotations

import os
import time
from collections import deque
from typing import TYPE_CHECKING

from runner.model.result import Outcome, Usage
from runner.sandbox.local import tree, unseen
from runner.sandbox.local.occupied import Uncounted, occupied, removed_files
from runner.sandbox.room import most_files
from runner.sandbox.usage import DISK_FULL, Curve, filled, statistics

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.model.request import Limits
    from runner.sandbox.local.child import Child

WALK_SECONDS = 1.0
"""Between two walks over a workspace that is a plain folder."""
SHARED_EVERY = 3
"""Readings for one look at shared memory, which takes longer than the others."""
AVERAGED_SECONDS = 1.0
"""Over which the use of the processor is averaged."""
FEW_BYTES = 1 << 20
"""Files in memory that weigh so little do not count."""


class Meter:
    """Readings of one child. Used by one thread; `measured` is called in it."""

    def __init__(self, child: Child, limits: Limits, measured: Callable[[Usage], None]) -> None:
        self._child = child
        self._limits = limits
        self._measured = measured
        self._begun = time.monotonic()
        self._curve = Curve()
        self._cpu: deque[tuple[float, float]] = deque([(0.0, 0.0)])
        """Readings of the last second and the one before it: seconds since the start, seconds of processor time."""
        self._walked = 0.0
        self._disk: int | None = None
        self._files = 0
        self._more_files = 0
        self._uncounted = ""
        """Why the workspace cannot be counted, which ends the run; '' where it can."""
        self._was_hidden = False
        self._shared_memory = unseen.SharedMemory()
        self._looks = self._shared = self._shared_at = self._grouped = 0
        self._most_files = 0
        """Bytes that files in memory were seen to take at most."""
        self.peak_memory = 0
        """Bytes of all processes together, as far as readings saw it."""

    def read(self) -> tuple[Outcome, str] | None:
        """Take a reading; how the run has to end, and why in words, when a limit is passed."""
        pids = self._child.processes()
        if not pids:
            return None
        at = time.monotonic() - self._begun
        reading = tree.read(pids)
        memory = self._memory(pids, reading)
        self._look_at_disk(pids[0], at)
        usage = Usage(round(at, 3), self._cpu_percent(at, reading), memory, self._disk, reading.processes)
        self._measured(usage)
        self._curve.add(usage)
        return self._judged(memory, reading)

    @property
    def curve(self) -> tuple[Usage, ...]:
        """Return the readings of the whole run, thinned."""
        return self._curve.thinned

    @property
    def disk_is_full(self) -> bool:
        return self._disk is not None and self._disk >= (self._limits.disk_mb << 20) * DISK_FULL

    def _memory(self, pids: list[int], reading: tree.ProcessReading) -> int:
        memory = reading.memory
        if memory > self._limits.memory_mb << 20 and len(pids) > 1:
            # Forked processes share most of theirs: look closely before judging.
            memory = tree.proportional_memory(pids) or memory
        memory = max(memory + self._unseen(pids, memory), self._of_group(pids[0]))
        self.peak_memory = max(self.peak_memory, memory)
        return memory

    def _of_group(self, pid: int) -> int:
        """Return the bytes that the kernel has charged to the run, without its files: the fewer of the last two times.

        Files may come and go while they are counted, which looks like memory for one reading alone.
        """
        if (group := self._child.group) is None:
            return 0
        before, held, after = self._in_files(pid), group.held(), self._in_files(pid)
        if before is None or held is None or after is None:
            return 0
        self._most_files = max(self._most_files, before, after)
        last, self._grouped = self._grouped, max(0, held - max(before, after))
        return min(last, self._grouped)

    def _in_files(self, pid: int) -> int | None:
        """Return the bytes of the files of its own file systems in memory; None where they cannot be reached."""
        places = [place for place in (self._child.workspace, *self._child.others) if "{pid}" in place]
        found = [statistics(place, pid) for place in places]
        kept = 0 if self._child.workspace in places or _on_device(self._child.workspace) else self._limits.disk_mb << 20
        return kept + sum(map(filled, filter(None, found))) if all(found) else None

    def conclude(self) -> bool:
        """Take what the kernel has counted until the end; return whether it ended a process for want of memory."""
        if (group := self._child.group) is None:
            return False
        if self._grouped and self._most_files <= FEW_BYTES:  # the kernel's peak counts files as well
            self.peak_memory = max(self.peak_memory, min(group.peak, self._limits.memory_mb << 20))
        return group.kills > 0

    def _unseen(self, pids: list[int], memory: int) -> int:
        """Return the bytes that are not among the pages of any process; `memory` are those that are."""
        self._looks += 1
        if self._looks % SHARED_EVERY == 1:
            self._shared, self._shared_at = self._shared_memory.beside_pages(pids), memory
        # What has come to the pages since then may have been shared memory that was reserved.
        shared = max(0, self._shared - max(0, memory - self._shared_at))
        return shared + (unseen.in_sockets(pids[0]) if self._child.own_network else 0)

    def _look_at_disk(self, pid: int, at: float) -> None:
        path = self._child.workspace
        if not path:
            pass
        elif "{pid}" in path:
            if found := statistics(path, pid):
                self._disk, self._files = filled(found), _files(found)
        elif at - self._walked >= WALK_SECONDS or self._disk is None:
            self._walked = at
            self._look_at_folder(path)
        self._more_files = sum(_files(found) for place in self._child.others if (found := statistics(place, pid)))

    def _look_at_folder(self, path: str) -> None:
        """Count what a workspace on disk holds, with removed files that are still open."""
        try:
            found = occupied(path, most_files(self._limits))
        except Uncounted as why:
            self._uncounted = str(why)
            return
        except OSError:  # the console's own want of descriptors, for one: what was counted last stays
            return
        without_name = removed_files(self._child.processes(), path)
        if without_name.hidden and self._was_hidden:
            self._uncounted = "Holds removed files whose size cannot be counted (limit)"
        self._was_hidden = without_name.hidden
        self._disk, self._files = found.size + without_name.size, found.entries

    def _cpu_percent(self, at: float, reading: tree.ProcessReading) -> float:
        """Return what the last second used, on average: the ticks of the kernel are long beside a reading."""
        if reading.cpu_seconds < self._cpu[-1][1]:  # a process has left without being waited for
            self._cpu.clear()
        while len(self._cpu) > 1 and self._cpu[1][0] <= at - AVERAGED_SECONDS:
            self._cpu.popleft()
        self._cpu.append((at, reading.cpu_seconds))
        then, before = self._cpu[0]
        return round((reading.cpu_seconds - before) / (at - then) * 100, 1) if at > then else 0.0

    def _judged(self, memory: int, reading: tree.ProcessReading) -> tuple[Outcome, str] | None:
        limits = self._limits
        if memory > limits.memory_mb << 20 or (self._child.group is not None and self._child.group.kills):
            return Outcome.OUT_OF_MEMORY, ""
        if self._uncounted:
            return Outcome.OUT_OF_DISK, self._uncounted
        if self._disk is not None and self._disk > limits.disk_mb << 20:
            return Outcome.OUT_OF_DISK, ""
        if self._files + self._more_files > most_files(limits):
            return Outcome.OUT_OF_DISK, f"Made more than {most_files(limits):,} files (limit)"
        if reading.processes > limits.processes:
            return Outcome.FAILED, f"Stopped: more than {limits.processes} processes (limit)"
        return None


def _files(found: os.statvfs_result) -> int:
    return found.f_files - found.f_ffree


def _on_device(folder: str) -> bool:
    """Return whether a folder is on a disk, for sure: its files are not in memory then, or can leave it."""
    try:
        return os.major(os.stat(folder).st_dev) != 0
    except OSError:
        return False
