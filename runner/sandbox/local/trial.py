"""Looks from outside at a process behind bubblewrap: what protects the machine from it is seen, not believed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from runner.model.workspace import WORKSPACE
from runner.sandbox.local.group import GROUPED, PREFIX
from runner.sandbox.local.syscalls import FILTERED
from runner.sandbox.seccomp.own import PROFILE, WIDENED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runner.model.request import Limits

NETWORK = "no network (namespace)"
PROCESSES = "sees no processes but its own (namespace)"
OTHER_USER = "own user id, no privileges"
OTHER_NAMESPACE = "own user namespace, no privileges"
SYSTEM = "read-only system, no home folders"
IN_MEMORY = "private /workspace and /tmp in memory, limited in size"
FEW = "limited number of processes"
HOMES = ("/home", "/root")
MOST_PROCESSES = 4
"""Processes that a trial run may see: its own shell and bubblewrap's."""

FILTERS = "Seccomp_filters"
"""In what the kernel says of a process: how many filters of system calls are in force."""


class TrialLook:
    """A look at one process."""

    def __init__(self, pid: int, limits: Limits, temporary: int) -> None:
        """`temporary` is the most bytes that /tmp may hold."""
        self._process = Path("/proc", str(pid))
        self._root = self._process / "root"
        self._limits = limits
        self._temporary = temporary
        self._status = _status(self._process)

    def failed(self, wanted: tuple[str, ...]) -> str:
        """Return the first of the `wanted` protections that is not there; '' where all are. Raises OSError.

        What a profile protects is a filter besides that of Assent.
        """
        looks: Mapping[str, Callable[[], bool]] = {
            NETWORK: self._has_no_network,
            PROCESSES: self._sees_its_own,
            OTHER_USER: self._is_another_user,
            OTHER_NAMESPACE: self._is_in_a_namespace,
            SYSTEM: self._has_its_own_files,
            IN_MEMORY: self._has_little_room,
            FEW: self._has_few_processes,
            FILTERED: lambda: self._status.get("Seccomp", "0").strip() == "2",
            GROUPED: lambda: f"/{PREFIX}-" in (self._process / "cgroup").read_text(),
        }
        own = dict.fromkeys((one for one in wanted if one.startswith((PROFILE, WIDENED))), self._has_two_filters)
        return next((one for one in wanted if not (own.get(one) or looks[one])()), "")

    def _has_two_filters(self) -> bool:
        """Return whether two filters are in force that are not in force here, where the kernel counts them (5.9)."""
        ours = _status(Path("/proc/self")).get(FILTERS, "0")
        return self._status.get("Seccomp", "0").strip() == "2" and (
            FILTERS not in self._status or int(self._status[FILTERS]) - int(ours) >= 2
        )

    def _is_apart(self, *kinds: str) -> bool:
        """Return whether it is in namespaces of these kinds that are not ours."""
        return all((self._process / "ns" / kind).readlink() != Path("/proc/self/ns", kind).readlink() for kind in kinds)

    def _has_no_network(self) -> bool:
        _, _, *lines = (self._process / "net/dev").read_text().splitlines()
        return self._is_apart("net") and {line.split(":")[0].strip() for line in lines} <= {"lo"}

    def _sees_its_own(self) -> bool:
        seen = [name for name in os.listdir(self._root / "proc") if name.isdigit()]
        return self._is_apart("pid", "ipc") and len(seen) <= MOST_PROCESSES

    def _has_no_privileges(self) -> bool:
        sets = (int(self._status.get(name, "1"), 16) for name in ("CapEff", "CapPrm", "CapAmb"))
        return not any(sets) and self._status.get("NoNewPrivs", "0").strip() == "1"

    def _is_another_user(self) -> bool:
        return self._has_no_privileges() and str(os.geteuid()) not in self._status["Uid"].split()

    def _is_in_a_namespace(self) -> bool:
        return self._has_no_privileges() and self._is_apart("user")

    def _has_its_own_files(self) -> bool:
        for place in ("/", "/etc", *HOMES, str(Path.home())):
            inside = Path(f"{self._root}{place}")
            if inside.exists() and os.path.exists(place) and os.path.samefile(inside, place):
                return False
        read_only = (os.statvfs(f"{self._root}{place}").f_flag & os.ST_RDONLY for place in ("/", "/usr"))
        return self._is_apart("mnt") and all(read_only)

    def _has_little_room(self) -> bool:
        room = {WORKSPACE: self._limits.disk_mb << 20, "/tmp": self._temporary, "/dev/shm": self._temporary}
        found = {place: os.statvfs(f"{self._root}{place}") for place in room}
        return all(0 < found[place].f_blocks * found[place].f_frsize <= most for place, most in room.items())

    def _has_few_processes(self) -> bool:
        lines = (self._process / "limits").read_text().splitlines()
        bound = next(line.split()[2] for line in lines if line.startswith("Max processes"))
        return bound.isdigit() and int(bound) <= self._limits.processes + 1


def _status(process: Path) -> dict[str, str]:
    lines = (process / "status").read_text("utf-8", "replace").splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)
