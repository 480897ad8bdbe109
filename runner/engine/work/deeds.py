"""Applies, undoes and discards what a program at work has changed: by a person's word, and recorded before it is done.

The entry that says what will be written is durable before the first byte is. What has come of it is found from the
journal of the working copy, also by the next console where this one was killed in between.
"""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from runner.approval.deliberate import unproven
from runner.approval.modes import to_person
from runner.audit.history.work import open_deeds
from runner.engine.work.facts import MOST_PATHS, NOTHING_DONE, cut, facts_of, kept_facts, outcome_facts
from runner.model.errors import KnownError
from runner.model.work_entries import UNKNOWN, WorkDeed
from runner.sandbox.file_names import shown
from runner.system.tasks import spawn
from runner.workspace import apply
from runner.workspace.change import digest as digest_of
from runner.workspace.hunks import with_hunks
from runner.workspace.working_copy import named

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
    from typing import Any

    from runner.approval.circumstances import Circumstances
    from runner.approval.modes import Modes
    from runner.audit.history.work import OpenDeed
    from runner.model.record import Record
    from runner.system.places import Places
    from runner.workspace.apply import Applied
    from runner.workspace.change import ProjectChange
    from runner.workspace.progress import Report, WriteProgress
    from runner.workspace.undo import WayBack
    from runner.workspace.working_copy import WorkingCopy

    InPart = Mapping[bytes, Collection[int]]

T = TypeVar("T")
CHANGED = "The changes are not those that you looked at any more."
LOOK_AGAIN = "Look at them again."
GOES_ON = "Free disk space, then look at the changes again: the rest is done then."
CLOSING_SECONDS = 1.0
GONE = "The working copy was removed before anybody could look."
CANCELLED = "You cancelled it."
ENDED_BEFORE = "The console ended before anything was written."


class WorkDeeds:
    """Every method is called on the engine's loop."""

    def __init__(self, places: Places, record: Record, modes: Modes, circumstances: Circumstances) -> None:
        self._places = places
        self._record = record
        self._modes = modes
        self._circumstances = circumstances
        self._under_way: set[str] = set()
        """Numbers of the deeds that this console is doing."""
        self._progress: dict[str, WriteProgress] = {}
        """By the name of the working copy: how far what is done with it is."""
        self._cancelled: set[str] = set()
        self._left = False
        """Whether one was begun and could not be brought to its end."""
        self._tasks: set[asyncio.Task[Any]] = set()

    async def close(self) -> None:
        """Wait a moment for what is being done: it ends before anything is written, or its outcome is found later."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSING_SECONDS)

    async def apply(
        self, name: str, wanted: Sequence[ProjectChange], digest: str, in_part: InPart, *, proven: bool
    ) -> Applied:
        """Write exactly these changes into the project. Raises KnownError, LedgerFailed among them."""
        return await self._to_its_end(self._apply(name, wanted, digest, in_part, proven=proven))

    async def undo(self, name: str, wanted: str, *, proven: bool) -> Applied:
        """Take back what can be of what was applied last. Raises KnownError, LedgerFailed among them."""
        return await self._to_its_end(self._undo(name, wanted, proven=proven))

    async def discard(self, name: str) -> None:
        """Remove a working copy with its changes. Raises KnownError, LedgerFailed among them."""
        await self._to_its_end(self._discard(name))

    async def settle(self) -> None:
        """Record what came of deeds whose outcome is not recorded, also those of an earlier console.

        Raises KnownError where the ledger cannot be read.
        """
        self._left = False
        for one in await asyncio.to_thread(open_deeds, self._places.ledger):
            if one.number in self._under_way:
                continue
            outcome = await asyncio.to_thread(self._outcome, one)
            if outcome is None:
                self._left = True
                continue
            kind, more = outcome
            await self._record.keep_noting(kind, "", {"number": one.number, "name": one.name, "later": True, **more})

    async def settle_left(self) -> None:
        """Do the same where this console has left one. Raises KnownError."""
        if self._left:
            await self.settle()

    async def _to_its_end(self, deed: Coroutine[Any, Any, T]) -> T:
        """Await a deed that is completed although whoever asked for it is gone."""
        task = spawn("write into a project", deed)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)

    # ---- how far it is ----

    def progress(self, name: str) -> WriteProgress | None:
        """Return how far the deed in a working copy is; None where none is under way. For any thread."""
        return self._progress.get(name)

    def cancel(self, name: str) -> None:
        """End the deed in a working copy as long as nothing was written; from then on it is completed."""
        if name in self._progress:
            self._cancelled.add(name)

    def _reporting(self, name: str, closed: Callable[[], str]) -> Report:
        """Return what a deed reports to: it notes how far that is, and ends it where it may not go on."""

        def report(progress: WriteProgress) -> None:
            if not progress.sure:
                _require(CANCELLED if name in self._cancelled else closed())
            self._progress[name] = progress

        return report

    # ---- one deed ----

    async def _apply(
        self, name: str, wanted: Sequence[ProjectChange], digest: str, in_part: InPart, *, proven: bool
    ) -> Applied:
        generation = self._modes.generation
        closed = partial(self._closed, generation, proven=proven)
        _require(closed())
        copy, picked = await _on_thread(lambda: _exactly(named(self._places.work, name), wanted, digest, in_part))
        _require(closed())
        facts = await _on_thread(lambda: facts_of(copy, picked))
        body = {**facts, "digest": digest}
        if in_part:
            body["in_part"] = {cut(shown(path)): sorted(numbers) for path, numbers in [*in_part.items()][:MOST_PATHS]}

        def do(number: str) -> Applied:
            return copy.apply(picked, self._reporting(name, closed), number=number)

        return await self._done(WorkDeed.APPLY, copy, body, closed, do)

    async def _undo(self, name: str, wanted: str, *, proven: bool) -> Applied:
        generation = self._modes.generation
        closed = partial(self._closed, generation, proven=proven)
        _require(closed())

        def look() -> tuple[WorkingCopy, WayBack, dict[str, object]]:
            copy = named(self._places.work, name)
            plan = copy.undo_plan()
            if wanted and digest_of(plan.changes) != wanted:
                raise KnownError(CHANGED, LOOK_AGAIN)
            return copy, plan, {**facts_of(copy, plan.changes), **kept_facts(plan), "digest": digest_of(plan.changes)}

        copy, plan, body = await _on_thread(look)
        plan.require_some()

        def do(number: str) -> Applied:
            return copy.undo(self._reporting(name, closed), number=number, wanted=digest_of(plan.changes))

        return await self._done(WorkDeed.UNDO, copy, body, closed, do, kept_facts(plan))

    async def _discard(self, name: str) -> None:
        def closed() -> str:
            return self._circumstances.closing() or self._circumstances.unwritable()

        _require(closed())
        copy = await _on_thread(lambda: named(self._places.work, name))
        if await _on_thread(lambda: copy.is_in_use):
            raise KnownError(f"A program is still running in {name}.", "End it first.")
        await self._done(
            WorkDeed.DISCARD,
            copy,
            facts_of(copy, ()),
            closed,
            lambda _number: copy.discard(self._reporting(name, closed)),
        )

    async def _done(
        self,
        deed: WorkDeed,
        copy: WorkingCopy,
        body: dict[str, object],
        closed: Callable[[], str],
        do: Callable[[str], T],
        left: Mapping[str, object] | None = None,
    ) -> T:
        """Record what will be done, check once more, do it, and record what came of it. Raises KnownError.

        `left` is what the second entry says as well.
        """
        number = apply.new_number()
        self._under_way.add(number)
        try:
            _require(closed())
            await self._record.append(deed.wanted, "", {"number": number, "by": "person", **body})
            short = {"number": number, "name": copy.name, "project": str(copy.project)}
            try:
                _require(closed())
                done = await asyncio.to_thread(do, number)
            except (KnownError, OSError) as error:
                what = error.what if isinstance(error, KnownError) else f"{error.strerror or error}."
                if deed is not WorkDeed.DISCARD and await asyncio.to_thread(apply.is_begun, copy.folder):
                    self._left = True
                    raise KnownError(f"Not everything could be written: {what}", GOES_ON) from error
                await self._record.keep_noting(deed.not_done, "", {**short, "why": what})
                remedy = error.remedy if isinstance(error, KnownError) else ""
                raise KnownError(what, remedy or NOTHING_DONE) from error
            more = outcome_facts(done) if isinstance(done, apply.Applied) else {}
            await self._record.keep_noting(deed.done, "", {**short, **more, **(left or {})})
            return done
        finally:
            self._under_way.discard(number)
            self._progress.pop(copy.name, None)
            self._cancelled.discard(copy.name)

    def _closed(self, generation: int, *, proven: bool) -> str:
        """Return why nothing may be written into a project now: the same that ends an approval."""
        return (
            self._circumstances.closing()
            or to_person(self._modes.overruled(generation, by_trust=False))
            or self._circumstances.unwritable()
            or unproven(self._circumstances.settings(), None, proven=proven)
        )

    # ---- what came of it ----

    def _outcome(self, one: OpenDeed) -> tuple[str, dict[str, object]] | None:
        """Return kind and facts of the outcome; None where it is not known yet. Blocks."""
        try:
            copy = named(self._places.work, one.name)
        except KnownError:
            if (self._places.work / one.name).exists():
                return None
            return (one.deed.done, {}) if one.deed is WorkDeed.DISCARD else (UNKNOWN, {"why": GONE})
        try:
            if one.deed is WorkDeed.DISCARD:
                copy.discard()  # half of it may be gone
                return one.deed.done, {}
            with contextlib.suppress(KnownError):
                copy.changes()  # which finishes, or takes away, what a kill has left
            if apply.is_begun(copy.folder):
                return None
            done = apply.outcome(copy.folder, one.number)
        except (KnownError, OSError, ValueError, KeyError, TypeError):
            return None
        return (one.deed.not_done, {"why": ENDED_BEFORE}) if done is None else (one.deed.done, outcome_facts(done))


def _exactly(
    copy: WorkingCopy, wanted: Sequence[ProjectChange], digest: str, in_part: InPart
) -> tuple[WorkingCopy, tuple[ProjectChange, ...]]:
    """Return the changes at the paths of `wanted` as they are now, which the digest has to be of.

    Those `in_part` have only the places with these numbers. Raises KnownError and OSError.
    """
    if not wanted:
        raise KnownError("No change was chosen.", NOTHING_DONE)
    now = {one.path: one for one in copy.changes().changes}
    picked = tuple(
        with_hunks(now[one.path], copy.project, copy.content, in_part[one.path])
        if one.path in in_part
        else now[one.path]
        for one in wanted
        if one.path in now
    )
    if len({one.path for one in picked}) != len(wanted) or not digest == digest_of(wanted) == digest_of(picked):
        raise KnownError(CHANGED, LOOK_AGAIN)
    if any(one.conflict for one in picked):
        raise KnownError("Changes that conflict with the project cannot be applied.", LOOK_AGAIN)
    return copy, picked


async def _on_thread(work: Callable[[], T]) -> T:
    try:
        return await asyncio.to_thread(work)
    except (OSError, ValueError) as error:
        raise KnownError(f"It cannot be read: {error}.", LOOK_AGAIN) from error


def _require(why: str) -> None:
    if why:
        raise KnownError(why, NOTHING_DONE)
