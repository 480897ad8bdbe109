"""One run inside a container that is kept: to the run it looks like a container of its own."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.model.language_support import LANGUAGES
from runner.model.workspace import WORKSPACE
from runner.sandbox.container.container import SIGNAL_SECONDS, Container
from runner.sandbox.container.failures import Denied, EngineGone
from runner.sandbox.container.frames import Frames
from runner.sandbox.container.starter import BASH, command, handing_out
from runner.sandbox.output import Stream
from runner.sandbox.programs import script
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.sandbox.container.engine import ContainerEngine, Streams
    from runner.sandbox.container.shape import Shape
    from runner.sandbox.contract import Bounds

KILLED = 128 + 9
LOST = 128
"""Of a process whose gVisor has died under it , measured: what waits for it in the engine fails."""
SETTLE_SECONDS = 2.0
"""For an engine to find out that a container has ended."""
LOOK_SECONDS = 0.005
"""Between two looks at whether a process has ended: the engine has no call that waits for it."""
SIGNALS = {"SIGTERM": "SIGUSR1", "SIGKILL": "SIGUSR2"}
"""To the first process, which passes them on to all others."""
BEGUN = re.compile(rb"(?:([0-9]{1,12})[.,]([0-9]{6}))?\n")
"""What `once.sh` says first."""
CLOCK_STEP = 20_000
"""Microseconds by which the times of files may lag behind the clock."""


@dataclass(frozen=True, slots=True)
class ExecProcess:
    """A process started in a container, and the connection to its three streams."""

    id: str
    attached: Streams


async def start(client: ContainerEngine, container: str, words: list[str]) -> ExecProcess:
    """Raises EngineGone and Denied."""
    made = await client.call(lambda api: api.exec_create(container, words, stdin=True, workdir=WORKSPACE))
    id = str(made["Id"])
    return ExecProcess(id, await client.start_process(id))


async def exit_code(client: ContainerEngine, id: str) -> int:
    """Wait until it, or the container around it, has ended. Raises EngineGone and Denied."""
    while (found := await client.call(lambda api: api.exec_inspect(id)))["Running"] or found["ExitCode"] is None:
        # An engine may go on saying that a process runs whose container has ended.
        if not (await state(client, str(found["ContainerID"])))["Running"]:
            return KILLED
        await asyncio.sleep(LOOK_SECONDS)
    return int(found["ExitCode"])


async def end_all(client: ContainerEngine, container: str) -> None:
    """End all in a container but its first process; awaited, so that what runs in it next is not ended with them."""

    async def ended() -> None:
        with contextlib.suppress(Denied, EngineGone):
            await client.call(lambda api: api.kill(container, SIGNALS["SIGKILL"]), SIGNAL_SECONDS)

    await asyncio.shield(spawn("end what is left", ended()))


async def state(client: ContainerEngine, container: str) -> dict[str, Any]:
    """Return the engine's state of a container. Raises EngineGone and Denied."""
    found: dict[str, Any] = (await client.call(lambda api: api.inspect_container(container)))["State"]
    return found


class ExecContainer(Container):
    """The processes of one run in the container `container`; when they end, nothing of them is left in it."""

    def __init__(self, client: ContainerEngine, shape: Shape, container: str) -> None:
        super().__init__(client, shape)
        self.id = container
        self._exec = ""
        self._since = "0"

    async def open(self) -> None:
        """Start the interpreter. Raises EngineGone and Denied."""
        words = command(self.shape.language, self.shape.limits, f"{WORKSPACE}/.{self.name}")
        once = [*BASH, script("once.sh"), "once", f"{WORKSPACE}/{self._main}", *words]
        started = await start(self._client, self.id, once)
        self._exec, self._attached = started.id, started.attached
        await self._introduce(keeper=False)

    @property
    def _main(self) -> str:
        """Name of the program in the workspace."""
        return f".{self.name}.{LANGUAGES[self.shape.language].suffix}"

    async def ready(self) -> list[tuple[Stream, bytes]]:
        """As that of a container; takes out when the run began, which comes before anything of the code."""
        early = await super().ready()
        said = b"".join(piece for stream, piece in early if stream is Stream.ERR)
        if found := BEGUN.match(said):
            self._since = _earlier(found)
            said = said[found.end() :]
        return [one for one in early if one[0] is not Stream.ERR] + ([(Stream.ERR, said)] if said else [])

    async def hand_out(self, bounds: Bounds, take: Callable[[bytes], None]) -> None:
        """Give `take` what the ended run has created or changed, as a keeper hands it out; ends all that still runs.

        A process of its own, started when none of the code is left, so nothing can speak in its place.
        Raises EngineGone, Denied and OSError.
        """
        started = await start(self._client, self.id, handing_out(self._main, bounds, self._since))
        frames = Frames()
        try:
            while data := await started.attached.read():
                for stream, piece in frames.feed(data):
                    if stream is Stream.OUT:
                        take(piece)
        except BaseException:
            await end_all(self._client, self.id)
            raise
        finally:
            started.attached.close()

    async def signal(self, name: str) -> None:
        await super().signal(SIGNALS[name])

    def kill_now(self, name: str = "SIGKILL") -> None:
        super().kill_now(SIGNALS[name])

    async def status(self) -> tuple[int, bool]:
        """As that of a container; that memory ran out once in it is held against later runs that are killed."""
        try:
            code = await exit_code(self._client, self._exec)
        except Denied:
            code = LOST
        if code == 0:
            return code, False
        found = await self._settled(code)
        return (code, code == KILLED and found["OOMKilled"]) if found["Running"] else (KILLED, found["OOMKilled"])

    async def _settled(self, code: int) -> dict[str, Any]:
        """Return the state of the container, once that is settled.

        Where gVisor dies, the engine reports the end of the process before that of the container.
        """
        end = time.monotonic() + (SETTLE_SECONDS if code == LOST else 0.0)
        while (found := await state(self._client, self.id))["Running"] and time.monotonic() < end:
            await asyncio.sleep(LOOK_SECONDS)
        return found

    async def remove(self, seconds: float = 0.0) -> bool:
        """Close the connection: the container stays, the processes of the run have ended."""
        if self._attached is not None:
            self._attached.close()
        return True


def _earlier(said: re.Match[bytes]) -> str:
    """Return the time that `once.sh` said, less what the times of files may lag; 0 where it knows none."""
    if said[1] is None:
        return "0"
    seconds, micros = divmod(max(0, int(said[1] + said[2]) - CLOCK_STEP), 1_000_000)
    return f"{seconds}.{micros:06d}"
