"""Programs at work and their working copies, for the window: `engine.work`.

The process on the terminal runs the program and writes down what it does; this reads that, and writes into projects
what a person decided. So a console may be opened later, twice, or never: no program ends with it.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, TypeVar

from runner.engine.work.following import WorkFollowing
from runner.model.errors import KnownError
from runner.model.events import WorkMoved
from runner.system.tasks import spawn
from runner.workspace import difference
from runner.workspace.entry import TreeKind, UnreadableEntry
from runner.workspace.working_copy import named

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.model.record import Record
    from runner.model.work import WorkSession
    from runner.system.places import Places
    from runner.workspace.change import ProjectChange, ProjectChanges
    from runner.workspace.difference import LineDifference
    from runner.workspace.working_copy import WorkingCopy

T = TypeVar("T")
LOOK_SECONDS = 0.5
MOST_CONTENT = 16 << 20
"""Bytes of a file that are given out to be looked at."""


class AtWork:
    """Every method but `sessions` is called on the engine's loop."""

    def __init__(self, places: Places, record: Record) -> None:
        self._places = places
        self._record = record
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
        return await self._of_copy(name, lambda copy: copy.changes())

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

    # ---- opening and closing ----

    def start(self) -> None:
        """Begin to follow the logs."""
        self._task = spawn("follow programs at work", self._follow())

    async def close(self) -> None:
        """Follow them no more."""
        self._over.set()
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
            return found.more

    async def _follow(self) -> None:
        while not self._over.is_set():
            more = await self.look()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), 0 if more else LOOK_SECONDS)

    async def _of_copy(self, name: str, work: Callable[[WorkingCopy], T]) -> T:
        """Return what `work` does with a working copy, on a thread. Raises KnownError."""
        try:
            return await asyncio.to_thread(lambda: work(named(self._places.work, name)))
        except (OSError, UnreadableEntry) as error:
            raise KnownError(f"It cannot be read: {error}.", "Look at the changes again.") from error
