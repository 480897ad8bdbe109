"""Finds where the kernel lets this console make control groups, for the memory limits of its runs (cgroups(7)).

Version 2 needs a group that was delegated to the console, as `systemd-run --user --scope -p Delegate=yes` does. No
group there may hold processes and hand controllers down, so the console moves into a group below first. Version 1 has
no such rule; there the folder of the console's own group only has to be writable, as it is for root.
"""

from __future__ import annotations

import contextlib
import glob
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.model.request import Limits
from runner.sandbox.local import leftovers, tree
from runner.sandbox.local.group import V1, V2, ControlGroup, folder_name, owned_by_nobody, remove, words
from runner.sandbox.room import TEMPORARY_BYTES, most_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.sandbox.local.group import GroupFiles

OWN_GROUP = "systemd-run --user --scope -p Delegate=yes assent"
REMEDY = f"Start Assent in a group of its own: {OWN_GROUP}"
MOUNTS = Path("/proc/self/mountinfo")
OWN = Path("/proc/self/cgroup")
SYSTEMD = Path("/run/systemd/system")
"""There where systemd runs: then only what it marks as delegated may be divided."""
CONSOLE = "assent-console"
"""Group below its own into which the console moves."""
MOVES = 20
"""Attempts to move all its processes; one may start another meanwhile."""
CONTROLLERS = ("memory", "pids", "cpu")
BUBBLEWRAP = 2
"""Processes of its own that are in the group of a run: itself, and the first one inside."""
KERNEL_ROOM = 64 << 20
"""Bytes for what the kernel keeps for processes and sockets; files have room besides."""
FILE_ROOM = 1 << 10
"""Bytes that the kernel keeps for a file in memory, an empty one too."""


class ControlGroups:
    """The groups in which those of runs are made."""

    def __init__(
        self, version: GroupFiles, memory: Path, processes: Path | None, processor: Path | None = None
    ) -> None:
        """`processes` is the group of the pids controller, `processor` that of cpu; None: that is not bound here."""
        self._version = version
        self._memory = memory
        self._processes = processes
        self._processor = processor

    @property
    def bind_processor(self) -> bool:
        """Whether the share of the processor can be bound as well."""
        return self._processor is not None

    @classmethod
    def found(cls) -> ControlGroups:
        """Find them, and try one out. Raises KnownError. Blocks for some milliseconds."""
        try:
            groups = cls._second() or cls._first()
            if groups is None:
                raise KnownError("no memory controller can be reached", REMEDY)
            groups._try()
        except OSError as error:
            raise KnownError(str(error), REMEDY) from error
        return groups

    @classmethod
    def _second(cls) -> ControlGroups | None:
        """Return those of version 2; None where the memory controller is not there."""
        if (own := own_group("")) is None:
            return None
        parent = own.parent if own.name == CONSOLE else own
        if "memory" not in words(parent / "cgroup.controllers"):
            return None
        divide(parent)
        handed = words(parent / "cgroup.subtree_control")
        processes, processor = (parent if name in handed else None for name in ("pids", "cpu"))
        return cls(V2, parent, processes, processor)

    @classmethod
    def _first(cls) -> ControlGroups | None:
        if (memory := own_group("memory")) is None:
            return None
        if not _writable(memory):
            raise KnownError("the console's own group may not be divided by it", REMEDY)
        others = (own_group(name) for name in ("pids", "cpu"))
        processes, processor = (one if one is not None and _writable(one) else None for one in others)
        return cls(V1, memory, processes, processor)

    def new(self, name: str, limits: Limits) -> ControlGroup:
        """Create the group of the run `name` in bubblewrap. Raises OSError."""
        return self._made(name, most(limits), limits.processes + BUBBLEWRAP, None)

    def container(self, name: str, memory: int, processes: int) -> ControlGroup:
        """Create the group of the container `name`, whose processor is limited later on. Raises OSError."""
        return self._made(name, memory, processes, self._processor)

    def _made(self, name: str, memory: int, processes: int, processor: Path | None) -> ControlGroup:
        inside = folder_name(name)
        parents = [one for one in (self._memory, processor, self._processes) if one is not None]
        folders = {parent / inside: None for parent in parents}
        group = ControlGroup(self._version, tuple(folders))
        try:
            for folder in folders:
                folder.mkdir(mode=0o755)
            group.limit(memory, None if self._processes is None else processes)
        except OSError:
            group.remove()
            raise
        return group

    def _try(self) -> None:
        """Put a process into a group and look whether it is there. Raises OSError."""
        group = self.new(leftovers.new_name(), Limits())
        try:
            command = [*group.entry, "/bin/sh", "-c", "echo; read -r _"]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
                assert process.stdout is not None
                there = bool(process.stdout.read(1)) and group.holds(process.pid) and group.held() is not None
        finally:
            group.remove()
        if not there:
            raise OSError("a trial process was not held by its group")


def most(limits: Limits) -> int:
    """Return the bytes that the kernel grants a run: its memory, and all its files, which are in memory too."""
    temporary = 2 * min(limits.disk_mb << 20, TEMPORARY_BYTES)
    files = (limits.disk_mb << 20) + temporary + most_files(limits) * FILE_ROOM
    return (limits.memory_mb << 20) + files + KERNEL_ROOM


def own_group(controller: str) -> Path | None:
    """Return the folder of the group that this process is in for `controller`, '' for version 2; None without one."""
    for line in _lines(OWN):
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            for root, mounted in _mounts(controller):
                below = os.path.relpath(path, root)
                if not below.startswith("..") and (folder := Path(os.path.normpath(mounted / below))).is_dir():
                    return folder
    return None


def _mounts(controller: str) -> Iterator[tuple[str, Path]]:
    """Yield the group that is mounted, and where, for each hierarchy with `controller` (proc_pid_mountinfo(5))."""
    for line in _lines(MOUNTS):
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        if kind == ("cgroup" if controller else "cgroup2") and (not controller or controller in options.split(",")):
            root, place = before.split(" ")[3:5]
            yield root, Path(place.encode().decode("unicode_escape"))


def divide(parent: Path) -> None:
    """Make a group of version 2 hand its controllers down to the groups in it. Raises KnownError, OSError."""
    if not _delegated(parent):
        raise KnownError("the console's own group was not delegated to it", REMEDY)
    wanted = [name for name in CONTROLLERS if name in words(parent / "cgroup.controllers")]
    for _ in range(MOVES):
        if set(wanted) <= set(words(parent / "cgroup.subtree_control")):
            return
        # The topmost group of all, the one without a type, may hold processes as well.
        if (parent / "cgroup.type").exists():
            step_aside(parent)
        with contextlib.suppress(OSError):  # a process was started there meanwhile
            (parent / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in wanted))
    raise KnownError("the console's own group cannot hand the memory controller down", REMEDY)


def step_aside(parent: Path) -> None:
    """Move this process and those below it into a group in `parent`. Raises KnownError where others are in there."""
    inside = parent / CONSOLE
    inside.mkdir(mode=0o755, exist_ok=True)
    there = {int(pid) for pid in words(parent / "cgroup.procs")}
    if there - {os.getpid(), *tree.descendants(os.getpid())}:
        raise KnownError("other processes are in the console's own group", REMEDY)
    for pid in there:
        with contextlib.suppress(ProcessLookupError):
            (inside / "cgroup.procs").write_text(str(pid))


def sweep() -> set[str]:
    """Remove the groups of runs whose console is gone; return the names of those runs.

    A console that is started again may be in another group than before: the groups beside its own are looked into.
    """
    names: set[str] = set()
    for own in filter(None, map(own_group, ("", *CONTROLLERS))):
        for place in (own, own.parent, own.parent.parent):
            # Not Path.glob, which fails where a group of another program goes away meanwhile.
            found = [one for pattern in ("assent-*", "*/assent-*") for one in glob.glob(pattern, root_dir=place)]
            for folder in (place / one for one in found):
                if (name := owned_by_nobody(folder)) and remove(folder):
                    names.add(name)
    return names


def _delegated(folder: Path) -> bool:
    """Return whether `folder` was handed over to be divided; without systemd, whether it can be written to."""
    if not _writable(folder):
        return False
    if not SYSTEMD.exists():
        return True
    for name in ("user.delegate", "trusted.delegate"):
        with contextlib.suppress(OSError):
            if os.getxattr(folder, name) == b"1":
                return True
    return False


def _writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return []
