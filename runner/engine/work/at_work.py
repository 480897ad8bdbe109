"""Programs at work and their working copies, for the window: `engine.work`.

The process on the terminal runs the program and writes down what it does; this reads that, and writes into projects
what a person decided. So a console may be opened later, twice, or never: no program ends with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, TypeVar

from runner.engine.work.deeds import WorkDeeds
from runner.engine.work.following import WorkFollowing
from runner.engine.work.recording import WorkRecording
from runner.model.errors import KnownError
from runner.model.events import WorkMoved
from runner.system.tasks import spawn
from runner.workspace import difference
from runner.workspace.entry import TreeKind, UnreadableEntry
from runner.workspace.working_copy import named

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from runner.approval.circumstances import Circumstances
    from runner.approval.modes import Modes
    from runner.model.record import Record
    from runner.model.work import WorkSession
    from runner.system.places import Places
    from runner.workspace.apply import Applied
    from runner.workspace.change import ProjectChange, ProjectChanges
    from runner.workspace.difference import LineDifference
    from runner.workspace.working_copy import WorkingCopy

log = logging.getLogger("assent.work")
T = TypeVar("T")
LOOK_SECONDS = 0.5
MOST_CONTENT = 16 << 20
"""Bytes of a file that are given out to be looked at."""


class AtWork:
    """Every method but `sessions` is called on the engine's loop."""

    def __init__(self, places: Places, record: Record, modes: Modes, circumstances: Circumstances) -> None:
        self._places = places
        self._record = record
        self._deeds = WorkDeeds(places, record, modes, circumstances)
        self._recording = WorkRecording(places, record, circumstances.unwritable)
        self._settled = 0
        """Number of the ledger in which every deed of an earlier console has its outcome."""
        self._following = WorkFollowing(places.work)
        self._sessions: tuple[WorkSession, ...] = ()
        self._looking = asyncio.Lock()
        self._over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    # ---- looking ----

    def sessions(self) -> tuple[WorkSession, ...]:
        """Return all working copies with the programs that worked over them, the newest first. For any thread."""
        return self._sessions

    async def changes(self, name: str) -> ProjectChanges:
        """Return what a working copy changes in its project now, also while its program is at work.

        Then it may be half of what the program is about to do. Raises KnownError.
        """
        found = await self._of_copy(name, lambda copy: copy.changes())
        await self._deeds.settle_left()  # looking has finished what was begun
        return found

    async def lines(self, name: str, change: ProjectChange) -> LineDifference:
        """Return the lines that a change adds and removes. Raises KnownError."""
        return await self._of_copy(name, lambda copy: difference.compared(change, copy.project, copy.content))

    async def content(self, name: str, change: ProjectChange, *, new: bool) -> bytes:
        """Return the beginning of a changed file, of the project as it is or with `new` of the working copy.

        Nothing where that side has no file. Raises KnownError.
        """
        side = change.after if new else change.before
        if side is None or side.kind is not TreeKind.FILE:
            return b""

        def read(copy: WorkingCopy) -> bytes:
            return difference.beginning(copy.content if new else copy.project, change.path, MOST_CONTENT)

        return await self._of_copy(name, read)

    # ---- deciding ----

    async def apply(self, name: str, wanted: Sequence[ProjectChange], digest: str, *, proven: bool = False) -> Applied:
        """Write changes into the project: exactly `wanted`, which `digest` is of, and only as they are now.

        Also while the program is at work. Recorded before the first byte is written. `proven`: whether the person's PIN
        came with it and was right. Raises KnownError, LedgerFailed among them; then nothing was changed, unless it says
        so.
        """
        try:
            return await self._deeds.apply(name, wanted, digest, proven=proven)
        finally:
            await self.look()

    async def undo(self, name: str, *, proven: bool = False) -> Applied:
        """Take back what was applied last. Raises KnownError, LedgerFailed among them."""
        try:
            return await self._deeds.undo(name, proven=proven)
        finally:
            await self.look()

    async def discard(self, name: str) -> None:
        """Remove a working copy whose program has ended, with its changes. Raises KnownError, LedgerFailed among them.

        Allowed in lockdown as well: nothing can run from what is gone.
        """
        try:
            await self._deeds.discard(name)
        finally:
            await self.look()

    # ---- opening and closing ----

    def start(self) -> None:
        """Begin to follow the logs."""
        self._task = spawn("follow programs at work", self._follow())

    async def close(self) -> None:
        """Follow them no more."""
        self._over.set()
        await self._deeds.close()
        if self._task is not None:
            await self._task

    async def look(self) -> bool:
        """Look at all working copies now; return whether there is more to be read at once."""
        async with self._looking:
            try:
                found = await asyncio.to_thread(self._following.look)
            except OSError as error:
                self._record.trouble("work", f"The working copies cannot be read: {error}.", "Look at the folder.")
                return False
            self._record.clear("work")
            self._sessions = found.sessions
            if found.moved:
                self._record.publish(WorkMoved(found.moved))
            await self._recording.record(found.sessions, [one.session.name for one in found.news])
            return found.more

    async def _settle(self) -> None:
        """Record what an earlier console has left, once for each ledger that is opened."""
        if (ledger := self._record.ledger) == self._settled:
            return
        try:
            await self._deeds.settle()
        except KnownError as error:
            log.warning("%s", error)
        self._settled = ledger

    async def _follow(self) -> None:
        while not self._over.is_set():
            await self._settle()
            more = await self.look()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), 0 if more else LOOK_SECONDS)

    async def _of_copy(self, name: str, work: Callable[[WorkingCopy], T]) -> T:
        """Return what `work` does with a working copy, on a thread. Raises KnownError."""
        try:
            return await asyncio.to_thread(lambda: work(named(self._places.work, name)))
        except (OSError, UnreadableEntry) as error:
            raise KnownError(f"It cannot be read: {error}.", "Look at the changes again.") from error
