"""Reads what a container uses: from its control group where the engine is on this machine, else from the engine."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from runner.model.request import Isolation
from runner.model.result import Usage
from runner.sandbox.container.failures import Denied, EngineGone
from runner.sandbox.container.shape import GVISOR_OWN_MB, RELAY_MB, own_processes
from runner.sandbox.usage import Curve
from runner.sandbox.watch import FIRST_READING

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.sandbox.container.client import EngineClient
    from runner.sandbox.container.container import Container

EVERY_SECONDS = 0.1
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


class ContainerGauge:
    """Readings of one container. `measured` is called on the loop."""

    def __init__(
        self, client: EngineClient, container: Container, measured: Callable[[Usage], None], *, relayed: bool = False
    ) -> None:
        """`relayed` runs have a relay beside the code, which is not the code's."""
        self._client = client
        self._container = container
        self._measured = measured
        self._most = container.shape.limits.memory_mb + GVISOR_OWN_MB + relayed * RELAY_MB << 20
        self._gvisor = container.shape.isolation is Isolation.GVISOR
        self._own = own_processes(container.shape) - 1 + relayed
        self._first: ContainerReading | None = None
        self._last: tuple[float, float] | None = None
        self._begun = time.monotonic()
        self.curve = Curve()
        self.peak_memory = 0
        self.disk = 0
        """Bytes in file systems, at the last reading that included them."""
        self.killed = False
        """Whether the kernel was seen to kill for want of memory. The engine misses it when it is busy."""
        self.processes_full = False
        """Whether the limit on processes was met. gVisor has its own, which cannot be seen from outside."""

    @property
    def too_much(self) -> bool:
        """Whether more memory was held than the limit. Under runc the kernel sees to that, exactly."""
        return self._gvisor and self.peak_memory > self._most

    async def follow(self, sent: asyncio.Event) -> None:
        """Take readings from when the code is `sent`, until cancelled or the container is gone."""
        with contextlib.suppress(EngineGone, Denied):
            # Asked while the interpreter starts: later the engine has the end of a short run to see to.
            if not (pid := await self._container.pid()):  # over already
                return
            await sent.wait()
            self._begun = time.monotonic()
            await asyncio.sleep(FIRST_READING)
            if self._client.endpoint.local and (source := group(pid, self._container.id)):
                await self._often(source)
            else:
                await asyncio.sleep(EVERY_SECONDS)  # its processes may be gone because it is about to end
                await self._from_engine()

    async def _often(self, source: ReadingSource) -> None:
        while (reading := source.read()) is not None:
            self._take(reading)
            await asyncio.sleep(EVERY_SECONDS)

    async def _from_engine(self) -> None:
        """One reading a second: the engine gives no more."""
        while True:
            if reading := _of_stats(await self._client.reading(self._container.id)):
                self._take(reading)
            await asyncio.sleep(EVERY_SECONDS)

    def _judge(self, reading: ContainerReading) -> None:
        """What happened since the first reading: the container may have had runs before."""
        first = self._first = self._first or reading
        self.killed = self.killed or reading.killed > first.killed
        self.processes_full = self.processes_full or (reading.refused > first.refused and not self._gvisor)

    def _take(self, reading: ContainerReading) -> None:
        self._judge(reading)
        if not reading.memory:  # its processes have gone, the group has not yet
            return
        at = time.monotonic() - self._begun
        share = None
        if self._last is not None and at > self._last[0]:
            share = round(max(0.0, reading.cpu_seconds - self._last[1]) / (at - self._last[0]) * 100, 1)
        self._last = at, reading.cpu_seconds
        # gVisor keeps everything in one memory file and its own threads in the group: nothing tells them apart.
        files = None if self._gvisor else reading.files
        processes = None if self._gvisor or reading.processes is None else max(1, reading.processes - self._own)
        self.peak_memory = max(self.peak_memory, reading.memory)
        self.disk = files if files is not None else self.disk
        usage = Usage(round(at, 3), share, reading.memory, files, processes)
        self.curve.add(usage)
        self._measured(usage)


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


def _of_stats(stats: dict[str, dict[str, object]]) -> ContainerReading | None:
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
