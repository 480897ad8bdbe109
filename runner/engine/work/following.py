"""Follows the event logs of all working copies."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.model.expression import expression
from runner.model.work import WorkEnded, WorkSession, after
from runner.work import deed_log
from runner.work.log import NAME, WorkReading
from runner.workspace.apply import UNDO_LIST, undo_of
from runner.workspace.working_copy import ABOUT, WorkingCopy

if TYPE_CHECKING:
    from pathlib import Path

    from runner.model.work import WorkEvent

_OURS = expression(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
"""Names that `WorkingCopy.make` gives."""
Signature = tuple[int, int, int]
"""Inode, size and time of a file; zeros for none."""
NONE: Signature = (0, 0, 0)


@dataclass(frozen=True, slots=True)
class NewEvents:
    """What was read of one log at a time."""

    session: WorkSession
    """As it is after them."""
    events: tuple[tuple[int, WorkEvent], ...]
    """Each with the place in the log at which its line ends."""


@dataclass(frozen=True, slots=True)
class WorkLook:
    """What one look at all working copies has found."""

    sessions: tuple[WorkSession, ...]
    """All of them, the newest first."""
    moved: tuple[str, ...]
    """The names of those that are not as they were at the look before, or are gone."""
    news: tuple[NewEvents, ...]
    more: bool
    """Whether a log has more than is read at once."""
    deeds: bool
    """Whether something was done on a terminal."""


@dataclass(slots=True)
class _Followed:
    """One working copy between two looks."""

    folder: Path
    reading: WorkReading
    session: WorkSession
    copy: WorkingCopy | None = None
    about: Signature = NONE
    log: Signature = NONE
    undo: Signature = NONE
    news: list[tuple[int, WorkEvent]] = field(default_factory=list)


class WorkFollowing:
    """The working copies below `home`. Blocks; called by one thread at a time."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._followed: dict[str, _Followed] = {}
        self._sessions: tuple[WorkSession, ...] = ()
        self._deeds = NONE

    def look(self) -> WorkLook:
        """Look at all of them; only what has changed since the last look is read. Raises OSError."""
        before = {name: one.session for name, one in self._followed.items()}
        there = set()
        for folder in _folders(self._home):
            if (one := self._followed.get(folder.name)) is None:
                if _signature(folder / ABOUT) == NONE and _signature(folder / NAME) == NONE:
                    continue  # it is being made, or removed
                session = WorkSession(folder.name, "", (), 0.0)
                one = self._followed[folder.name] = _Followed(folder, WorkReading(folder), session)
            there.add(folder.name)
            _look_at(one)
        for name in self._followed.keys() - there:
            del self._followed[name]
        after_it = {name: one.session for name, one in self._followed.items()}
        moved = [name for name in before.keys() | after_it.keys() if before.get(name) != after_it.get(name)]
        if moved:
            self._sessions = tuple(sorted(after_it.values(), key=lambda one: (-one.started_at, one.name)))
        news = tuple(NewEvents(one.session, tuple(one.news)) for one in self._followed.values() if one.news)
        more = any(one.reading.more for one in self._followed.values())
        deeds = _signature(self._home / deed_log.FOLDER / NAME)
        before_it, self._deeds = self._deeds, deeds
        return WorkLook(self._sessions, tuple(sorted(moved)), news, more, deeds != before_it)


def _folders(home: Path) -> list[Path]:
    try:
        with os.scandir(home) as found:
            folders = [one.name for one in found if one.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return []
    return [home / name for name in folders if _OURS.fullmatch(name)]


def _look_at(one: _Followed) -> None:
    """Bring what is known of a working copy up to date."""
    one.news = []
    try:
        about = _signature(one.folder / ABOUT)
        if about != one.about or one.copy is None:
            one.copy = WorkingCopy.read(one.folder)
            one.session = _described(one.session, one.copy)
            one.about = about
        # Before the log: what has ended by now has written so by now, and is not said to have ended without a word.
        in_use = one.copy.is_in_use
        log = _signature(one.folder / NAME)
        if log != one.log or one.reading.more:
            one.news = one.reading.placed()
            for _, event in one.news:
                one.session = after(one.session, event)
            one.log = log
        undo = _signature(one.folder / UNDO_LIST)
        if undo != one.undo:
            back = undo_of(one.folder)
            last = "" if back is None or not back.done else back.done[-1]
            one.session = replace(one.session, can_undo=back is not None and not back.taken_back, last_write=last)
            one.session = replace(one.session, undone_in_part=back is not None and back.in_part)
            one.undo = undo
        # Of a long log the end may not be read yet.
        at_work = in_use or (one.session.at_work and one.reading.more)
        one.session = replace(one.session, at_work=at_work, readable="")
    except (OSError, ValueError, KeyError, TypeError, KnownError) as error:
        why = error.what if isinstance(error, KnownError) else f"It cannot be read: {error}."
        one.session = replace(one.session, readable=why, at_work=False, can_undo=False)
        # Whatever it was may be mended: everything but the log is read again.
        one.copy, one.undo = None, NONE


def _described(session: WorkSession, copy: WorkingCopy) -> WorkSession:
    """Return the session with what is known of its working copy; what the log has said counts."""
    session = replace(session, project=str(copy.project), sandbox=copy.sandbox)
    if copy.ended and session.ended is None:
        session = replace(session, ended=WorkEnded(copy.ended, copy.code))
    if session.started_at:
        return session
    return replace(session, program=copy.program, started_at=copy.made)


def _signature(path: Path) -> Signature:
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        found = os.stat(path, follow_symlinks=False)
        return found.st_ino, found.st_size, found.st_mtime_ns
    return NONE
