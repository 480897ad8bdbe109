"""The files of one kept sandbox as they are, and as they were before each of its latest runs."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.model.file_changes import FileChanges, RunChanges, UndoPlan
from runner.sandbox.workspace_copy import MOST_BYTES, NotCopied, difference, state_of

if TYPE_CHECKING:
    from pathlib import Path

    from runner.model.request import Request
    from runner.sandbox.contract import Session
    from runner.sandbox.workspace_copy import WorkspaceCopy

MOST_RUNS = 20
"""Latest runs whose changes are listed."""
MOST_OF_ONE = 2 * MOST_BYTES
"""Bytes of all copies of one sandbox; what runs leave alone counts in each copy."""
MOST_OF_ALL = 8 * MOST_BYTES
"""The same of all sandboxes."""
RUNNING = "Code runs in this sandbox. Wait for its end, or stop it."
MADE_ROOM = "Its copy had to make room for newer ones."
CHANGED = "The sandbox has changed since you looked."


@dataclass(slots=True)
class _Run:
    request_id: str
    number: int
    title: str
    before: WorkspaceCopy | None
    why: str
    """Why there is no copy of before; empty where there is one."""
    after: WorkspaceCopy | None = None
    changes: FileChanges | None = None
    """None while it runs."""
    paths: tuple[bytes, ...] = ()


class PastStates:
    """What is known of the files of one sandbox. Belongs to whoever holds the sandbox, except for `listed`."""

    def __init__(self, sandbox: str = "", folder: Path | None = None) -> None:
        """Contents of copies go to the disk of `folder`; without one nothing is copied."""
        self.sandbox = sandbox
        self.listed: tuple[RunChanges, ...] = ()
        """Finished runs whose changes are known, oldest first. May be read on any thread."""
        self.note = ""
        """A note for the agent; its next answer carries it."""
        self.stale: frozenset[str] = frozenset()
        """Requests that were asked before the files were put back: what was approved of them counts no more."""
        self._folder = folder
        self._runs: list[_Run] = []
        self._number = 0
        self._now: WorkspaceCopy | None = None
        self._why = ""
        self._held: list[WorkspaceCopy] = []
        """Copies whose contents take room."""
        self._closed = False

    @property
    def running(self) -> str:
        """The request whose run is not over; empty where there is none."""
        return self._runs[-1].request_id if self._runs and self._runs[-1].changes is None else ""

    @property
    def size(self) -> int:
        """Bytes of all copies."""
        return sum(one.size for one in self._copies())

    @property
    def state(self) -> str:
        """Digest of the files as they were copied last; empty where there is no copy."""
        return "" if self._now is None else self._now.state

    @property
    def copied(self) -> bool:
        """Whether what stands in the sandbox is copied, or cannot be and says why."""
        return self._now is not None or bool(self._why)

    def touched(self) -> None:
        """Note that the files are not as they were copied."""
        self._now, self._why = None, ""
        self._drop_unused()

    async def look(self, session: Session, left: tuple[str, ...]) -> None:
        """Copy the files as they are, where that has not been done. Never raises for what cannot be copied."""
        if self.copied or self._folder is None:
            return
        try:
            found = await session.copy(self._folder, left)
        except KnownError as error:
            self._why = error.what if isinstance(error, NotCopied) else f"it could not be copied: {error.what}"
            return
        await asyncio.to_thread(getattr, found, "state")  # worked out here, once
        if self._closed:
            found.close()
            return
        self._now = self._same(found)

    def begin(self, request: Request) -> None:
        """Note that a run begins, with the files as they were copied last."""
        self._number += 1
        why = "" if self._now is not None else self._sentence()
        self._runs.append(_Run(request.id, self._number, request.title, self._now, why))

    def never_ran(self) -> None:
        """Take back `begin`: the run did not start, or nobody knows how far it got."""
        if self.running:
            self._runs.pop()
            self._number -= 1
        self.touched()

    async def end(self, session: Session, left: tuple[str, ...], room: int) -> RunChanges | None:
        """Note what the run that has ended changed; None where none has. `room` is that for all copies, in bytes."""
        if not self.running:
            return None
        run = self._runs[-1]
        self.touched()
        await self.look(session, left)
        if self._closed:
            return None
        if run.before is None or self._now is None:
            why = run.why or self._sentence()
            run.changes = FileChanges(unknown=why)
        else:
            stays = together(run.before.left, self._now.left)
            before, after = run.before.without(stays), self._now.without(stays)
            found = await asyncio.to_thread(difference, before, after)
            if run not in self._runs:  # closed meanwhile
                return None
            run.after, run.changes, run.paths = self._now, found.changes, found.paths
        self.fit(room)
        return next(one for one in reversed(self.listed) if one.number == run.number)

    def fit(self, room: int) -> None:
        """Drop the oldest copies until they take no more than `room` bytes, and name no more runs than there may be."""
        del self._runs[:-MOST_RUNS]
        self._drop_unused()
        for run in self._runs:
            if self.size <= min(room, MOST_OF_ONE):
                break
            if run.before is not None:
                run.before, run.after, run.why = None, None, MADE_ROOM
            self._drop_unused()
        self._list()

    # ---- undoing ----

    def plan(self, request_id: str, left: tuple[str, ...]) -> UndoPlan:
        """Return what undoing that run would do to the files as they were copied last. Raises KnownError."""
        if self.running:
            raise KnownError(RUNNING)
        run = self._find(request_id)
        if run.before is None:
            raise KnownError(run.why, "It cannot be undone.")
        if self._now is None:
            raise KnownError(self._sentence(), "So nothing can be undone.")
        stays = together(run.before.left, self._now.left, left)
        found = difference(self._now.without(stays), run.before.without(stays))
        shown = {one.number: one for one in self.listed}
        later = tuple(shown[one.number] for one in self._runs if one.number > run.number)
        there = tuple(one for one in stays if one in self._now.left or one in left)
        return UndoPlan(shown[run.number], later, found.changes, self._now.state, there, run.before.special)

    def copy_before(self, request_id: str) -> WorkspaceCopy:
        """Return the copy of before a run. Raises KnownError where there is none."""
        run = self._find(request_id)
        if run.before is None:
            raise KnownError(run.why, "It cannot be undone.")
        return run.before

    def is_now(self, copy: WorkspaceCopy, stays: tuple[str, ...]) -> bool:
        """Return whether the files, as they were copied last, are those of `copy`."""
        return self._now is not None and state_of(self._now.without(stays)) == state_of(copy.without(stays))

    def went_back(self, request_id: str) -> None:
        """Forget a run that was undone, and those after it."""
        run = self._find(request_id)
        self._runs = self._runs[: self._runs.index(run)]
        self._drop_unused()
        self._list()

    def holds(self, path: str, data: bytes) -> bool:
        """Return whether a file with this content stood at `path` when the files were copied last."""
        found = None if self._now is None else self._now.entries.get(path.encode())
        return found is not None and found.sha256 == hashlib.sha256(data).hexdigest()

    def states(self, request_id: str, place: int) -> tuple[WorkspaceCopy, WorkspaceCopy, bytes]:
        """Return the copies of before and after a run, and the name of one of the files that it changed, by its place.

        Raises KnownError.
        """
        run = self._find(request_id)
        if run.before is None or run.after is None or not 0 <= place < len(run.paths):
            raise KnownError(run.why or "There is no copy of it any more.")
        return run.before, run.after, run.paths[place]

    def close(self) -> None:
        """Drop all copies."""
        self._closed = True
        self._runs, self._now, self.listed = [], None, ()
        self._drop_unused()

    # ---- parts ----

    def _find(self, request_id: str) -> _Run:
        for run in self._runs:
            if run.request_id == request_id and run.changes is not None:
                return run
        raise KnownError("This run was already undone, or is too old.", CHANGED)

    def _copies(self) -> list[WorkspaceCopy]:
        held = [self._now, *(one for run in self._runs for one in (run.before, run.after))]
        return list({id(one): one for one in held if one is not None}.values())

    def _same(self, found: WorkspaceCopy) -> WorkspaceCopy:
        """Return the latest copy instead where it is the same: what changes nothing takes no room."""
        for old in reversed(self._copies()):
            if old.state == found.state and old.left == found.left and old.special == found.special:
                found.close()
                return old
        self._held.append(found)
        return found

    def _drop_unused(self) -> None:
        """Close the copies that nothing needs any more."""
        used = self._copies()
        for one in self._held:
            if one not in used:
                one.close()
        self._held = used

    def _sentence(self) -> str:
        return f"There is no copy of the files: {self._why or 'the sandbox was in use'}."

    def _list(self) -> None:
        self.listed = tuple(
            RunChanges(self.sandbox, one.number, one.request_id, one.title, one.changes, one.why)
            for one in self._runs
            if one.changes is not None
        )


def together(*folders: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({one for each in folders for one in each}))
