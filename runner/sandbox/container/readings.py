"""The resources that a container uses at one moment: from its control group, or from what an engine says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

GROUPS = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class ContainerReading:
    cpu_seconds: float
    memory: int
    """Bytes that a limit on memory counts and that are not given back at need."""
    files: int | None
    """Of these, bytes in file systems in memory: workspace, /tmp and /dev/shm."""
    processes: int | None
    refused: int = 0
    """How often a process was not started for the limit on them, since the container began."""
    killed: int = 0
    """How many were killed for want of memory."""


class ReadingSource(Protocol):
    def read(self) -> ContainerReading | None:
        """Return a reading; None once the container is gone."""
        ...


def group(pid: int, container: str) -> ReadingSource | None:
    """Return the control group of process `pid`, where it can be read and is this container's."""
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text("ascii").splitlines()
    except (OSError, ValueError):
        return None
    places = {name: path for _, names, path in (line.split(":", 2) for line in lines) for name in names.split(",")}
    for source in (_Unified, _Separate):
        if container in places.get(source.TELLING, "") and (found := source(places)).read() is not None:
            return found
    return None


class _Unified:
    """Control groups, version 2."""

    TELLING = ""

    def __init__(self, places: dict[str, str]) -> None:
        self._folder = GROUPS / places[""].lstrip("/")

    def read(self) -> ContainerReading | None:
        try:
            memory = _table(self._folder / "memory.stat")
            return ContainerReading(
                _table(self._folder / "cpu.stat")["usage_usec"] / 1e6,
                memory["anon"] + memory["shmem"] + memory.get("kernel", 0),
                memory["shmem"],
                int((self._folder / "pids.current").read_text()),
                _table(self._folder / "pids.events")["max"],
                _table(self._folder / "memory.events")["oom_kill"],
            )
        except (OSError, ValueError, KeyError):
            return None


class _Separate:
    """Control groups, version 1: a tree for each kind."""

    TELLING = "memory"

    def __init__(self, places: dict[str, str]) -> None:
        self._memory, self._cpu, self._pids = (
            GROUPS / kind / places.get(kind, "").lstrip("/") for kind in ("memory", "cpuacct", "pids")
        )

    def read(self) -> ContainerReading | None:
        try:
            memory = _table(self._memory / "memory.stat")
            return ContainerReading(
                int((self._cpu / "cpuacct.usage").read_text()) / 1e9,
                memory["total_rss"] + memory["total_shmem"],
                memory["total_shmem"],
                int((self._pids / "pids.current").read_text()),
                _table(self._pids / "pids.events")["max"],
                _table(self._memory / "memory.oom_control").get("oom_kill", 0),
            )
        except (OSError, ValueError, KeyError):
            return None


def _table(path: Path) -> dict[str, int]:
    return {name: int(value) for name, value in map(str.split, path.read_text("ascii").splitlines())}


def of_stats(stats: dict[str, dict[str, object]]) -> ContainerReading | None:
    """Return a reading from the engine's own statistics; None before the first and after the last."""
    try:
        memory = stats["memory_stats"]
        details = memory["stats"]
        assert isinstance(details, dict)
        files = details.get("total_shmem", details.get("shmem"))
        inactive = details.get("total_inactive_file", details.get("inactive_file", 0))
        usage, cpu, processes = memory["usage"], stats["cpu_stats"]["cpu_usage"], stats["pids_stats"].get("current")
        assert isinstance(usage, int)
        assert isinstance(cpu, dict)
        assert isinstance(processes, int | None)
        return ContainerReading(int(cpu["total_usage"]) / 1e9, max(0, usage - int(str(inactive))), files, processes)
    except (KeyError, TypeError):
        return None
