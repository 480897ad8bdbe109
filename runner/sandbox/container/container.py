"""One container with its interpreter waiting: made, attached to, started, and removed in the end."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from runner.sandbox import report
from runner.sandbox.container.engine import CALL_SECONDS
from runner.sandbox.container.failures import Denied, EngineGone
from runner.sandbox.container.frames import Frames, Marks, Words
from runner.sandbox.container.shape import config
from runner.sandbox.container.starter import introduction
from runner.sandbox.local import leftovers
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.sandbox.container.engine import ContainerEngine, Streams
    from runner.sandbox.container.shape import Shape
    from runner.sandbox.output import Stream

LAST_GRACE = 30.0
"""Seconds from SIGKILL until the engine counts as lost. gVisor takes ten to end a fork bomb."""
SIGNAL_SECONDS = 4.0
"""For the engine to pass a signal on: a person who stops a run waits for it."""
LIVES_SECONDS = 2.0
"""For the engine to say that it is there."""
READY_SECONDS = 60.0
"""For a container to start on a busy machine."""


class Container:
    """Used for one run and removed. Belongs to one task at a time."""

    def __init__(self, client: ContainerEngine, shape: Shape) -> None:
        self.shape = shape
        self.name = leftovers.new_name()
        self.id = ""
        self._client = client
        self._words = Words.new()
        self._frames = Frames()
        self._marks = Marks(self._words, report.LIMIT)
        self._attached: Streams | None = None
        self._pid = 0
        self._has_started: Callable[[], None] = _nothing
        """Lets the next container start. Called when this one's interpreter waits, or when it is given up."""

    @property
    def version(self) -> str:
        """The interpreter's; '' until it is ready."""
        return self._marks.version or ""

    @property
    def report(self) -> report.Report:
        """What the starter inside has handed out."""
        return report.parse(self._marks.report, self._marks.largest)

    @property
    def _title(self) -> str:
        return f"assent-{self.name}"

    @property
    def alive(self) -> bool:
        """Whether its streams are still connected."""
        return self._attached is not None and not self._attached.ended

    async def open(self) -> None:
        """Make and start the container. Raises EngineGone and Denied, leaving nothing."""
        if self._client.starts is not None:
            self._has_started = await self._client.starts.turn()
        make = config(self.shape, self.name)
        making = spawn("make a container", create(self._client, make, self._title))
        try:
            self.id = await asyncio.shield(making)
            # Attached before the start, or the output of a fast program would be lost.
            self._attached = await self._client.attach(self.id)
            await self._client.call(lambda api: api.start(self.id), READY_SECONDS)
            await self._introduce(keeper=self.shape.bounds is not None)
        except BaseException:
            await asyncio.shield(self._undo(making))
            raise

    async def _introduce(self, *, keeper: bool) -> None:
        # One that has ended at once says why when it is read from.
        assert self._attached is not None
        with contextlib.suppress(OSError):
            await self._attached.write(introduction(self._words, keeper=keeper))

    async def _undo(self, making: asyncio.Task[str]) -> None:
        """Remove a container that the engine may still create although the caller was cancelled."""
        await asyncio.wait({making}, timeout=SIGNAL_SECONDS)
        await self.remove(SIGNAL_SECONDS)

    async def ready(self) -> list[tuple[Stream, bytes]]:
        """Wait until the interpreter is; what was written until then. Raises EngineGone, EOFError, OSError."""
        early: list[tuple[Stream, bytes]] = []
        try:
            async with asyncio.timeout(READY_SECONDS):
                while self._marks.version is None:
                    early += await self.read()
        finally:
            self._has_started()
        return early

    def begin(self) -> None:
        """Have every limit hold from now on; the code is sent next. Raises OSError: then it must not be sent."""
        self._client.begin(self.id)

    async def send(self, orders: bytes, largest: int) -> None:
        """Give the interpreter its orders, for a report of at most `largest` bytes. Raises OSError."""
        assert self._attached is not None
        self._marks.largest = largest
        await self._attached.write(orders)

    async def read(self) -> list[tuple[Stream, bytes]]:
        """Return some output. Raises EOFError at its end and OSError."""
        assert self._attached is not None
        if not (data := await self._attached.read()):
            raise EOFError
        return [
            (stream, shown)
            for stream, piece in self._frames.feed(data)
            if (shown := self._marks.feed(piece) if stream is stream.ERR else piece)
        ]

    @property
    def left_status(self) -> int | None:
        """How the interpreter ended, once the files it has left are being handed out."""
        return self._marks.status

    def give_files_to(self, take: Callable[[bytes], None]) -> None:
        """Hand what comes of files to `take`."""
        self._marks.take_rest = take

    def rest(self) -> bytes:
        """Return the very last bytes of the error stream."""
        return self._marks.rest()

    async def signal(self, name: str) -> None:
        """Send a signal to the container's first process. Raises EngineGone; harmless when it has ended."""
        # For SIGKILL the engine answers only when the container has ended.
        last = name == "SIGKILL"
        with contextlib.suppress(Denied):
            try:
                seconds = LAST_GRACE if last else SIGNAL_SECONDS
                await self._client.call(lambda api: api.kill(self.id, name), seconds)
            except EngineGone:
                if last:
                    raise
                # It may be the container alone that is stuck, as gVisor is with every process in use.
                await self._client.call(lambda api: api.version(), LIVES_SECONDS)

    def kill_now(self, name: str = "SIGKILL") -> None:
        """Have it killed on a thread, without the loop. May be called on any thread."""
        self._client.submit(lambda api: api.kill(self.id, name))

    async def pause(self, still: bool) -> None:
        """Halt every process, or let them continue. Raises EngineGone; harmless when it is so already."""
        with contextlib.suppress(Denied):
            await self._client.call(lambda api: api.pause(self.id) if still else api.unpause(self.id))

    async def status(self) -> tuple[int, bool]:
        """Return how it ended, after its output has: status, whether for want of memory. Raises EngineGone, Denied."""
        code = int((await self._client.call(lambda api: api.wait(self.id)))["StatusCode"])
        if code == 0:
            return code, False
        state = (await self._client.call(lambda api: api.inspect_container(self.id)))["State"]
        return code, bool(state["OOMKilled"])

    async def pid(self) -> int:
        """Return the first process, as the engine's machine counts; 0 when it is over. Raises EngineGone and Denied."""
        if not self._pid:
            found = await self._client.call(lambda api: api.inspect_container(self.id))
            self._pid = int(found["State"]["Pid"])
        return self._pid

    def let_go(self) -> None:
        """Close the connection without a word, where there is no time for more."""
        self._has_started()
        if self._attached is not None:
            self._attached.close()

    async def remove(self, seconds: float = CALL_SECONDS) -> bool:
        """Remove the container and its files; return False where the engine did not take the call within `seconds`."""
        self.let_go()
        return await remove(self._client, self.id or self._title, seconds)


def _nothing() -> None:
    pass


async def create(client: ContainerEngine, make: dict[str, Any], name: str) -> str:
    """Make a container and return its id. Raises EngineGone and Denied."""
    made = await client.call(lambda api: api.create_container_from_config(make, name))
    return str(made["Id"])


async def remove(client: ContainerEngine, container: str, seconds: float = CALL_SECONDS) -> bool:
    """Remove a container by id or name in any state; return False where the engine did not take the call."""
    try:
        await client.call(lambda api: api.remove_container(container, v=True, force=True), seconds)
    except Denied as error:
        return error.status == 404
    except EngineGone:
        return False
    return True
