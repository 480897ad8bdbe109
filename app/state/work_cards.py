"""The window's knowledge of programs at work: every working copy, and its changes as far as they were read."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.link.page_tasks import PageTasks
from runner.approval.modes import Mode
from runner.model.errors import KnownError
from runner.model.events import EngineTroubled, GatewayOpened, ModeChanged, WorkMoved

if TYPE_CHECKING:
    from app.link.bridge import EngineLink
    from runner.model.events import Event
    from runner.model.work import HostSeen, WorkSession
    from runner.workspace.change import ProjectChanges

REST_SECONDS = 3.0
"""Between two readings of the changes of one working copy."""
SHARE = 5.0
"""Rest after a reading that took longer, in times that reading."""


def refused(session: WorkSession) -> tuple[HostSeen, ...]:
    """Return the hosts that a person may want to allow: refused, not what the client does without, not allowed since.

    Of one host and port the newest try counts.
    """
    opened = {(one.host, one.port) for one in session.opened}
    latest = {(one.contact.host, one.contact.port): one for one in session.contacts}
    return tuple(
        one for place, one in latest.items() if one.contact.allowed is False and not one.quiet and place not in opened
    )


class WorkCards(QObject):
    """The store behind the page of work, its count, and its notices. Changes are read one working copy at a time."""

    moved = Signal()
    """The working copies, or something of them, are others now."""
    changes_known = Signal(str)
    """The changes of a working copy were read, or could not be."""
    ended = Signal(object)
    """WorkSession: its program is no longer at work; its changes have been read, where they can be."""
    held = Signal(object, object)
    """WorkSession, CommandSeen: a command waits for an answer."""

    def __init__(self, bridge: EngineLink, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._tasks = PageTasks("work", self)
        self.sessions: tuple[WorkSession, ...] = ()
        """Those at work first, then the newest first."""
        self._changes: dict[str, ProjectChanges] = {}
        self._problems: dict[str, str] = {}
        self._stale: set[str] = set()
        self._wanted: list[str] = []
        self._reading = ""
        self._not_before: dict[str, float] = {}
        self._anew: set[str] = set()
        self._held: set[tuple[str, int]] = set()
        self._ending: set[str] = set()
        self._seen: set[tuple[str, str, int]] = set()
        self.locked = False
        """Whether it is Lockdown, in which nothing is written into projects."""
        self._watched = False
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.timeout.connect(self._read_next)

    # ---- reading ----

    def session(self, name: str) -> WorkSession | None:
        return next((one for one in self.sessions if one.name == name), None)

    def changes(self, name: str) -> ProjectChanges | None:
        """Return what a working copy changes, as it was read last; None where it was not."""
        return self._changes.get(name)

    def problem(self, name: str) -> str:
        """Return why the changes could not be read; '' where they could."""
        return self._problems.get(name, "")

    def at_work(self) -> tuple[WorkSession, ...]:
        return tuple(one for one in self.sessions if one.at_work)

    def count(self) -> int:
        """Return how much wants somebody: held commands, and refused hosts that nobody has seen."""
        return sum(len(one.held) + len(self._unseen(one)) for one in self.at_work())

    def count_held(self) -> int:
        """Return how many commands of programs at work wait for an answer."""
        return sum(len(one.held) for one in self.at_work())

    def first_held(self) -> str:
        """Return the name of the working copy whose held command waits longest; '' where none waits."""
        held = [(command.at, one.name) for one in self.at_work() for command in one.held]
        return min(held)[1] if held else ""

    def see(self, name: str) -> None:
        """Note that a person has the refused hosts of a program on screen."""
        session = self.session(name)
        if session is not None and (unseen := self._unseen(session)):
            self._seen |= {(name, one.contact.host, one.contact.port) for one in unseen}
            self.moved.emit()

    def _unseen(self, session: WorkSession) -> list[HostSeen]:
        places = ((session.name, one.contact.host, one.contact.port) for one in refused(session))
        return [one for one, place in zip(refused(session), places, strict=True) if place not in self._seen]

    # ---- what happens ----

    @Slot(object)
    def take(self, events: tuple[Event, ...]) -> None:
        """Take in a batch of events."""
        locked = next((e.mode == Mode.LOCKDOWN for e in reversed(events) if isinstance(e, ModeChanged)), self.locked)
        if locked != self.locked:
            self.locked = locked
            self.moved.emit()
        names = {name for event in events if isinstance(event, WorkMoved) for name in event.names}
        if names or any(isinstance(event, (GatewayOpened, EngineTroubled)) for event in events):
            self.refresh(names)

    def refresh(self, moved: set[str] | frozenset[str] = frozenset()) -> None:
        """Ask again which working copies there are; the changes of those that have `moved` are read again."""
        before = {one.name: one for one in self.sessions}
        found = self._bridge.work.sessions()
        self.sessions = tuple(sorted(found, key=lambda one: (not one.at_work, -one.started_at)))
        names = {one.name for one in self.sessions}
        for known in (self._changes, self._problems, self._not_before):
            for gone in known.keys() - names:
                del known[gone]
        self._stale = (self._stale | moved) & names
        for one in self.sessions:
            was = before.get(one.name)
            if was is not None and was.at_work and not one.at_work:
                self._ending.add(one.name)
                self.want(one.name)
        self._tell_held()
        self.moved.emit()
        if self._watched:
            self._want_all()

    def _tell_held(self) -> None:
        now = {(one.name, command.number): (one, command) for one in self.sessions for command in one.held}
        for place in now.keys() - self._held:
            self.held.emit(*now[place])
        self._held = set(now)

    # ---- changes ----

    def watch(self, watched: bool) -> None:
        """Read changes as they come, while a person looks; without, only those of programs that end."""
        self._watched = watched
        if watched:
            self._want_all()

    def want(self, name: str) -> None:
        """Read the changes of a working copy soon, before those of others."""
        if name in self._wanted:
            self._wanted.remove(name)
        self._wanted.insert(0, name)
        self._read_next()

    def want_now(self, name: str) -> None:
        """Read them as soon as nothing else is read, and show them also where they are the same."""
        self._not_before.pop(name, None)
        self._anew.add(name)
        self.want(name)

    def _want_all(self) -> None:
        known = self._changes.keys() | self._problems.keys()
        for one in self.sessions:
            if not one.readable and (one.name in self._stale or one.name not in known) and one.name not in self._wanted:
                self._wanted.append(one.name)
        self._read_next()

    @Slot()
    def _read_next(self) -> None:
        if self._reading:
            return
        now = time.monotonic()
        names = {one.name for one in self.sessions if not one.readable}
        self._wanted = [name for name in self._wanted if name in names]
        due = next((name for name in self._wanted if self._not_before.get(name, 0.0) <= now), None)
        if due is None:
            if self._wanted:
                soonest = min(self._not_before[name] for name in self._wanted)
                self._later.start(max(1, round((soonest - now) * 1000) + 1))
            return
        self._wanted.remove(due)
        self._stale.discard(due)
        self._reading = due
        self._tasks.start("changes", self._read(due))

    async def _read(self, name: str) -> None:
        began = time.monotonic()
        anew = name in self._anew
        self._anew.discard(name)
        try:
            found = await self._bridge.work.changes(name)
        except KnownError as error:
            self._problems[name] = str(error)
        else:
            self._problems.pop(name, None)
            if anew or found != self._changes.get(name):  # the very same object means that nothing is to be shown
                self._changes[name] = found
        finally:
            self._reading = ""
        session = self.session(name)
        now = time.monotonic()
        self._not_before[name] = now + max(REST_SECONDS, SHARE * (now - began))
        if session is not None:
            self.changes_known.emit(name)
            if name in self._ending and not session.at_work:
                self._ending.discard(name)
                self.ended.emit(session)
        self._read_next()
