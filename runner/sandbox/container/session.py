"""A container that an agent keeps: runs and file tools are processes in it, one after the other (spec X5)."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.sandbox.container import copying
from runner.sandbox.container.container import SIGNAL_SECONDS, create, remove
from runner.sandbox.container.exec import end_all, exit_code, start
from runner.sandbox.container.failures import Denied, EngineGone
from runner.sandbox.container.frames import Frames
from runner.sandbox.container.run import not_started
from runner.sandbox.container.shape import config
from runner.sandbox.contract import EntryKind, FileSlice, FolderEntry, FolderListing
from runner.sandbox.files import MOST_ENTRIES, refusal
from runner.sandbox.local import leftovers
from runner.sandbox.local.session import gone, within
from runner.sandbox.output import Stream
from runner.sandbox.programs import script
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from runner.model.result import Usage
    from runner.sandbox.container.engine import ContainerEngine, Streams
    from runner.sandbox.container.exec import ExecContainer
    from runner.sandbox.container.run import ContainerRun, SettledRun
    from runner.sandbox.container.shape import Shape
    from runner.sandbox.contract import Job
    from runner.sandbox.workspace_copy import WorkspaceCopy

    Begin = Callable[[Job, Callable[[Usage], None], "ContainerSession"], Awaitable[ContainerRun | SettledRun]]

FILE_SECONDS = 30.0
"""For one file to be read or written."""
START_SECONDS = 60.0
LAST_WORDS_SECONDS = 0.5
"""For the output of a run to arrive whose container has ended under it."""
WORDS = {
    b"missing": errno.ENOENT,
    b"link": errno.ELOOP,
    b"folder-link": errno.ELOOP,
    b"no-folder": errno.ENOTDIR,
    b"folder": errno.EISDIR,
    b"denied": errno.EACCES,
    b"room": errno.ENOSPC,
    b"special": errno.ENXIO,
}
"""What `files.sh` says is wrong, as the system's own error."""
NUMBER = re.compile(rb"[0-9]{1,19}")
KINDS = {"f": EntryKind.FILE, "d": EntryKind.FOLDER, "l": EntryKind.LINK}


class ContainerSession:
    """One container whose first process waits for signals and for the console to go."""

    def __init__(self, client: ContainerEngine, shape: Shape, begin: Begin, protections: tuple[str, ...]) -> None:
        self.shape = shape
        self.protections = protections
        self.id = ""
        self.name = leftovers.new_name()
        self._client = client
        self._begin = begin
        self._attached: Streams | None = None
        self._run: ContainerRun | SettledRun | None = None
        self._container: ExecContainer | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._closed = self._ended = False
        self._cost: Callable[[], float] | None = None
        self.remains = False
        """Whether it is still there although it was closed: the engine did not take the call."""
        self.rented_seconds = 0.0
        """How long it lasted where that costs, once it is closed."""

    def costs(self, ended: Callable[[], float]) -> None:
        """Have `ended` called when it is removed: it returns the seconds that it lasted, which cost."""
        self._cost = ended

    @property
    def alive(self) -> bool:
        return not (self._closed or self._ended)

    def holds(self, container: ExecContainer) -> None:
        """From now on the run in `container` ends with this one: the engine does not always tell it so."""
        self._container = container

    async def open(self) -> None:
        """Make and start the container. Raises KnownError, leaving nothing."""
        make = config(self.shape, self.name)
        make["Cmd"] = ["bash", "--noprofile", "--norc", "-c", script("keeping.sh")]
        make["HostConfig"]["Init"] = False  # its first process passes on what init would not
        making = spawn("make a kept container", create(self._client, make, f"assent-{self.name}"))
        try:
            self.id = await asyncio.shield(making)
            # It ends with this connection: a console that is gone leaves no container waiting.
            self._attached = await self._client.attach(self.id, errors=False)
            await self._client.call(lambda api: api.start(self.id), START_SECONDS)
            async with asyncio.timeout(START_SECONDS):
                if not await self._attached.read():
                    raise KnownError("The container ended at once.", "Open Doctor.")
            self._watcher = spawn("kept container", self._watch(self._attached))
        except Denied as error:
            await self.close()
            raise not_started(error, self.shape.image) from error
        except BaseException:
            await asyncio.shield(self._undo(making))
            raise

    async def _undo(self, making: asyncio.Task[str]) -> None:
        """Remove a container that the engine may still create although the caller was cancelled."""
        await asyncio.wait({making}, timeout=SIGNAL_SECONDS)
        await self.close()

    async def start(self, job: Job, measured: Callable[[Usage], None]) -> ContainerRun | SettledRun:
        self._check()
        job = replace(job, limits=within(job.limits, self.shape.limits))
        self._run = await self._begin(job, measured, self)
        return self._run

    async def write(self, path: str, data: bytes, *, executable: bool) -> None:
        await self._do(path, ["write", path, str(len(data)), "755" if executable else "644"], data)

    async def read(self, path: str, offset: int, most: int) -> FileSlice:
        data, note = await self._do(path, ["read", path, str(offset), str(most)], most=most)
        return FileSlice(data, _number(path, note))

    async def files(self, path: str) -> FolderListing:
        data, note = await self._do(path, ["list", path, str(MOST_ENTRIES)])
        entries = tuple(_entry(path, record) for record in data.split(b"\0")[:-1])
        return FolderListing(entries, max(0, _number(path, note) - len(entries)))

    async def copy(self, folder: Path, left: tuple[str, ...]) -> WorkspaceCopy:
        self._check()
        return await copying.copy(self._client, self.id, folder, left)

    async def put_back(self, copy: WorkspaceCopy, folder: Path, left: tuple[str, ...]) -> None:
        self._check()
        await copying.put_back(self._client, self.id, folder, copy, left)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._run is not None:
            self._run.stop("The sandbox was destroyed.")
            await self._run.finished()
        if self._watcher is not None:
            self._watcher.cancel()
            await asyncio.gather(self._watcher, return_exceptions=True)
        if self._attached is not None:
            self._attached.close()
        self.remains = not await remove(self._client, self.id or f"assent-{self.name}")
        if self._cost is not None:
            self.rented_seconds = self._cost()

    async def _watch(self, attached: Streams) -> None:
        """Wait until the container has ended, for whatever reason."""
        with contextlib.suppress(OSError):
            while await attached.read():
                continue
        self._ended = True
        await asyncio.sleep(LAST_WORDS_SECONDS)
        if self._container is not None:
            self._container.let_go()

    def _check(self) -> None:
        """Raise KnownError where the sandbox was removed."""
        if not self.alive:
            raise gone()

    async def _do(self, path: str, words: list[str], given: bytes = b"", most: int = 1 << 22) -> tuple[bytes, bytes]:
        """Run `files.sh`; its output, and what it says besides. Raises KnownError."""
        self._check()
        try:
            async with asyncio.timeout(FILE_SECONDS):
                code, output, note = await self._executed(words, given, most)
        except TimeoutError as error:
            await end_all(self._client, self.id)
            raise KnownError(f"{path} could not be used within {FILE_SECONDS:.0f} s.", "Try again.") from error
        except EngineGone:
            raise
        except (Denied, OSError) as error:
            raise gone() from error
        if code:
            raise refusal(path, WORDS.get(note.strip(), errno.EIO))
        return output, note

    async def _executed(self, words: list[str], given: bytes, most: int) -> tuple[int, bytes, bytes]:
        started = await start(
            self._client, self.id, ["bash", "--noprofile", "--norc", "-c", script("files.sh"), "files", *words]
        )
        feeding = spawn("file content", _feed(started.attached, given))
        texts = {Stream.OUT: bytearray(), Stream.ERR: bytearray()}
        frames = Frames()
        try:
            while data := await started.attached.read():
                for stream, piece in frames.feed(data):
                    texts[stream] += piece[: max(0, most - len(texts[stream]))]
        finally:
            feeding.cancel()
            await asyncio.gather(feeding, return_exceptions=True)
            started.attached.close()
        code = await exit_code(self._client, started.id)
        return code, bytes(texts[Stream.OUT]), bytes(texts[Stream.ERR])


async def _feed(attached: Streams, data: bytes) -> None:
    if data:
        with contextlib.suppress(OSError):
            await attached.write(data)


def _entry(path: str, record: bytes) -> FolderEntry:
    """Return the entry of the folder `path` that `files.sh` names in `record`. Raises KnownError."""
    name, kind, size = [b"", b"", *record.rsplit(b"/", 2)][-3:]
    return FolderEntry(
        name.decode("utf-8", "backslashreplace"),
        KINDS.get(kind.decode("latin-1"), EntryKind.OTHER),
        _number(path, size),
    )


def _number(path: str, text: bytes) -> int:
    """Return the number that `files.sh` gives about `path`. Raises KnownError where it gives none."""
    if NUMBER.fullmatch(text.strip()) is None:
        raise refusal(path, errno.EIO)
    return int(text)
