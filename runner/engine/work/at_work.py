"""Programs at work and their working copies, for the window: `engine.work`.

The process on the terminal runs the program and writes down what it does; this reads that, and writes into projects
what a person decided. So a console may be opened later, twice, or never: no program ends with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import OrderedDict
from typing import TYPE_CHECKING, TypeVar

from runner.approval.modes import LOCKED, Mode, to_person
from runner.engine.work.deeds import WorkDeeds
from runner.engine.work.following import WorkFollowing
from runner.engine.work.orders import WorkOrders
from runner.engine.work.recording import WorkRecording
from runner.model.errors import KnownError
from runner.model.events import ModeChanged, WorkMoved
from runner.system.tasks import spawn
from runner.work import added, deed_log
from runner.work.added import AddedFindings
from runner.work.lockdown import LockdownSign
from runner.workspace import difference
from runner.workspace.entry import TreeKind, UnreadableEntry
from runner.workspace.hunks import with_hunks
from runner.workspace.working_copy import named

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

    from runner.approval.circumstances import Circumstances
    from runner.approval.modes import Modes
    from runner.model.events import Event
    from runner.model.record import Record
    from runner.model.work import WorkSession, WorkUsage
    from runner.system.places import Places
    from runner.work.added import Assess
    from runner.work.project_hosts import ProjectHost
    from runner.workspace.apply import Applied
    from runner.workspace.change import ProjectChange, ProjectChanges
    from runner.workspace.difference import LineDifference
    from runner.workspace.progress import WriteProgress
    from runner.workspace.undo import WayBack
    from runner.workspace.working_copy import WorkingCopy

log = logging.getLogger("assent.work")
T = TypeVar("T")
LOOK_SECONDS = 0.5
READER = "changes of"
"""Before the name of a working copy: who waits for a turn of the classifier's processes."""
MOST_FOUND = 2000
"""Changes whose findings are kept."""
MOST_CONTENT = 16 << 20
"""Bytes of a file that are given out to be looked at."""


class AtWork:
    """Every method but `sessions` is called on the engine's loop."""

    def __init__(
        self,
        places: Places,
        record: Record,
        modes: Modes,
        circumstances: Circumstances,
        look_up: Callable[[str, int], Awaitable[Sequence[str]]],
        assess: Assess,
    ) -> None:
        """`look_up` returns the addresses of a host and port; it raises OSError. `assess` reads code elsewhere."""
        self._places = places
        self._modes = modes
        self._record = record
        self._deeds = WorkDeeds(places, record, modes, circumstances)
        self._orders = WorkOrders(places, record, modes, circumstances, self._session, look_up)
        self._recording = WorkRecording(places, record, circumstances.unwritable)
        self._sign = LockdownSign(places)
        self._settled = 0
        """Number of the ledger in which every deed of an earlier console has its outcome."""
        self._following = WorkFollowing(places.work)
        self._sessions: tuple[WorkSession, ...] = ()
        self._looking = asyncio.Lock()
        self._assess = assess
        self._found: OrderedDict[tuple[str, ProjectChange], AddedFindings] = OrderedDict()
        """What was found in changes, the last asked for last."""
        self._over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    # ---- looking ----

    def sessions(self) -> tuple[WorkSession, ...]:
        """Return all working copies with the programs that worked over them, the newest first. For any thread."""
        return self._sessions

    def _session(self, name: str) -> WorkSession | None:
        return next((one for one in self._sessions if one.name == name), None)

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

    async def findings(self, name: str, change: ProjectChange) -> AddedFindings:
        """Return what the classifier finds in what a change adds, or why it was not read. Raises KnownError."""
        if (known := self._found.get((name, change))) is not None:
            self._found.move_to_end((name, change))
            return known
        found = await self._of_copy(name, lambda copy: added.text_of(change, copy.project, copy.content))
        if not isinstance(found, AddedFindings):
            found = await added.found_in(found, self._assess, f"{READER} {name}")
        if not found.skipped and change.text is None:
            self._found[name, change] = found
            while len(self._found) > MOST_FOUND:
                self._found.popitem(last=False)
        return found

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

    async def part(self, name: str, change: ProjectChange, numbers: Collection[int]) -> ProjectChange:
        """Return a change of a text that has only the places with these numbers, as `lines` shows them.

        Raises KnownError, also where the file is not what the change says any more.
        """
        return await self._of_copy(name, lambda copy: with_hunks(change, copy.project, copy.content, numbers))

    async def apply(
        self,
        name: str,
        wanted: Sequence[ProjectChange],
        digest: str,
        in_part: Mapping[bytes, Collection[int]] | None = None,
        *,
        proven: bool = False,
    ) -> Applied:
        """Write changes into the project: exactly `wanted`, which `digest` is of, and only as they are now.

        `in_part` has the numbers of those places, by path, of which alone a change of `wanted` is. Also while the
        program is at work. Recorded before the first byte is written. `proven`: whether the person's PIN came with it
        and was right. Raises KnownError, LedgerFailed among them; then nothing was changed, unless it says so.
        """
        try:
            return await self._deeds.apply(name, wanted, digest, in_part or {}, proven=proven)
        finally:
            await self.look()

    async def undo_plan(self, name: str) -> WayBack:
        """Return what can be taken back of what was applied last, and what cannot, and why. Raises KnownError."""
        return await self._of_copy(name, lambda copy: copy.undo_plan())

    async def undo(self, name: str, wanted: str = "", *, proven: bool = False) -> Applied:
        """Take back what can be of what was applied last; where `wanted` is given, exactly what that digest is of.

        Raises KnownError, LedgerFailed among them.
        """
        try:
            return await self._deeds.undo(name, wanted, proven=proven)
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

    def progress(self, name: str) -> WriteProgress | None:
        """Return how far Apply, Undo or Discard of a working copy is; None where none is under way. For any thread."""
        return self._deeds.progress(name)

    def cancel(self, name: str) -> None:
        """End Apply or Undo as long as nothing was written."""
        self._deeds.cancel(name)

    # ---- telling a program ----

    async def open_host(
        self, name: str, host: str, port: int, *, always: bool = False, private: str = "", proven: bool = False
    ) -> None:
        """Let a session reach a host, and with `always` later ones of its project too.

        Raises PrivateAddress for a host that leads to other addresses of the own network than `private`, those that the
        person was shown, KnownError where it may not, and LedgerFailed where that cannot be recorded first.
        """
        await self._orders.open_host(name, host, port, always=always, private=private, proven=proven)
        await self.look()

    async def hosts(self) -> tuple[ProjectHost, ...]:
        """Return the hosts that are open for all sessions of a project. Raises KnownError."""
        return await self._orders.hosts()

    async def forget_host(self, old: ProjectHost) -> None:
        """Let later sessions of its project not reach a host any more. Raises KnownError."""
        await self._orders.forget_host(old)

    async def answer(self, name: str, number: int, *, run: bool, why: str = "", proven: bool = False) -> None:
        """Let a held command run, or not. Raises KnownError, LedgerFailed among them: then it does not run."""
        await self._orders.answer(name, number, run=run, why=why, proven=proven)
        await self.look()

    async def as_it_goes(self, name: str, *, on: bool, proven: bool = False) -> None:
        """Have what a program changes applied by itself, or no longer. Raises KnownError, LedgerFailed among them."""
        await self._orders.as_it_goes(name, on=on, proven=proven)
        await self.look()

    async def carry(self, name: str, port: int) -> str:
        """Carry a port of the inside to this machine; return its address. Raises KnownError."""
        return await self._orders.carry(name, port)

    async def end(self, name: str, why: str) -> None:
        """End a program at work and all that it started. Raises KnownError."""
        await self._orders.end(name, why)

    async def usage(self, name: str) -> WorkUsage:
        """Return what a program at work uses now. Raises KnownError."""
        return await self._orders.usage(name)

    def hear(self, event: Event) -> None:
        """Let programs that start know whether this console is in lockdown."""
        if isinstance(event, ModeChanged):
            self._show_lockdown(up=event.mode == Mode.LOCKDOWN)

    def _show_lockdown(self, *, up: bool) -> None:
        try:
            self._sign.show(up=up)
        except OSError as error:
            log.warning("Programs that start cannot be told of the lockdown: %s", error)

    def end_all(self, why: str) -> None:
        """End every program at work, as soon as may be."""
        spawn("end programs at work", self._end_all(why))

    async def end_of(self, agent: str, why: str) -> None:
        """End the programs of an agent that was revoked, also where the list of agents cannot be written."""
        await self._end_all(why, agent)

    async def _end_all(self, why: str, agent: str = "") -> None:
        await self.look()  # those that began a moment ago, too
        at_work = [one.name for one in self._sessions if one.at_work and (not agent or one.agent == agent)]
        ended = await asyncio.gather(*(self.end(name, to_person(why)) for name in at_work), return_exceptions=True)
        for name, error in zip(at_work, ended, strict=True):
            if isinstance(error, KnownError):
                log.warning("%s could not be ended: %s", name, error)
            elif error is not None:
                raise error

    # ---- opening and closing ----

    def start(self) -> None:
        """Begin to follow the logs."""
        self._task = spawn("follow programs at work", self._follow())

    async def close(self) -> None:
        """Follow them no more."""
        self._over.set()
        self._show_lockdown(up=False)
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
            behind = [one.session.name for one in found.news]
            await self._recording.record(found.sessions, [*behind, deed_log.FOLDER] if found.deeds else behind)
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
            if self._modes.now.mode is Mode.LOCKDOWN:
                await self._end_all(LOCKED)
            more = await self.look()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), 0 if more else LOOK_SECONDS)

    async def _of_copy(self, name: str, work: Callable[[WorkingCopy], T]) -> T:
        """Return what `work` does with a working copy, on a thread. Raises KnownError."""
        try:
            return await asyncio.to_thread(lambda: work(named(self._places.work, name)))
        except (OSError, UnreadableEntry) as error:
            raise KnownError(f"It cannot be read: {error}.", "Look at the changes again.") from error
