"""Reads what a container uses: from its control group where the engine is on this machine, else from the engine."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING

from runner.model.request import Isolation
from runner.model.result import Usage
from runner.model.workspace import WORKSPACE
from runner.sandbox.container.failures import Denied, EngineGone
from runner.sandbox.container.readings import of_stats
from runner.sandbox.container.shape import GVISOR_OWN_MB, RELAY_MB, own_processes, temporary_bytes
from runner.sandbox.local.watch import FIRST_READING
from runner.sandbox.usage import DISK_FULL, Curve, workspace_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.sandbox.container.container import Container
    from runner.sandbox.container.engine import ContainerEngine
    from runner.sandbox.container.readings import ContainerReading, ReadingSource

EVERY_SECONDS = 0.1


class ContainerGauge:
    """Readings of one container. `measured` is called on the loop."""

    def __init__(
        self, client: ContainerEngine, container: Container, measured: Callable[[Usage], None], *, relayed: bool = False
    ) -> None:
        """`relayed` runs have a relay beside the code, which is not the code's."""
        self._client = client
        self._bound = container.shape.project is not None
        """Whether the workspace is a folder of the disk, which nobody counts."""
        self._container = container
        self._measured = measured
        self._most = container.shape.limits.memory_mb + GVISOR_OWN_MB + relayed * RELAY_MB << 20
        self._gvisor = container.shape.isolation.is_gvisor
        self._watched = self._gvisor or container.shape.isolation is Isolation.E2B
        self._own = own_processes(container.shape) - 1 + relayed
        self._first: ContainerReading | None = None
        self._last: tuple[float, float] | None = None
        self._begun = time.monotonic()
        self.curve = Curve()
        self.peak_memory = 0
        limit, temporary = container.shape.limits.disk_mb << 20, temporary_bytes(container.shape.limits)
        self._full = limit * DISK_FULL, limit * DISK_FULL + 2 * temporary
        self._workspace = 0
        """Bytes in /workspace, at the last reading that separated them from those in /tmp and /dev/shm."""
        self._files = 0
        """Bytes in all three, at the last reading that included them."""
        self.code_ended = False
        """Whether the code is known to have ended: what hands out its files then is not the code's."""
        self.killed = False
        """Whether the kernel was seen to kill for want of memory. The engine misses it when it is busy."""
        self.processes_full = False
        """Whether the limit on processes was met. gVisor has its own, which cannot be seen from outside."""

    @property
    def disk_is_full(self) -> bool:
        """Whether the workspace is full, for sure: /tmp and /dev/shm have limits of their own beside it."""
        alone, together = self._full
        return self._workspace >= alone or self._files >= together

    @property
    def too_much(self) -> bool:
        """Whether more memory was held than the limit. Under runc the kernel sees to that, exactly."""
        return self._watched and self.peak_memory > self._most

    async def follow(self, sent: asyncio.Event) -> None:
        """Take readings from when the code is `sent`, until cancelled or the container is gone."""
        with contextlib.suppress(EngineGone, Denied):
            # Asked while the interpreter starts: later the engine has the end of a short run to see to.
            if not (pid := await self._container.pid()):  # over already
                return
            await sent.wait()
            self._begun = time.monotonic()
            await asyncio.sleep(FIRST_READING)
            if source := self._client.readings(pid, self._container.id):
                await self._often(source, pid)
            else:
                await asyncio.sleep(EVERY_SECONDS)  # its processes may be gone because it is about to end
                await self._from_engine()

    async def _often(self, source: ReadingSource, pid: int) -> None:
        while (reading := source.read()) is not None:
            # As root, or where the engine runs as this account; what the local sandbox measures is the same.
            self._take(reading, None if self._watched or self._bound else workspace_of(pid, WORKSPACE))
            await asyncio.sleep(EVERY_SECONDS)

    async def _from_engine(self) -> None:
        """One reading a second: the engine gives no more."""
        while True:
            if reading := of_stats(await self._client.reading(self._container.id)):
                self._take(reading)
            await asyncio.sleep(EVERY_SECONDS)

    def _judge(self, reading: ContainerReading) -> None:
        """What happened since the first reading: the container may have had runs before."""
        first = self._first = self._first or reading
        self.killed = self.killed or reading.killed > first.killed
        self.processes_full = self.processes_full or (reading.refused > first.refused and not self._gvisor)

    def _take(self, reading: ContainerReading, workspace: int | None = None) -> None:
        self._judge(reading)
        if self.code_ended or not reading.memory:  # its processes have gone, the group has not yet
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
        self._files = files if files is not None else self._files
        self._workspace = workspace if workspace is not None else self._workspace
        usage = Usage(round(at, 3), share, reading.memory, files if workspace is None else workspace, processes)
        self.curve.add(usage)
        self._measured(usage)
