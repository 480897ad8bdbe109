"""Undo of what was applied last: what it can take back path by path, and what it leaves as changed since.

What is left can be taken back later, once it is again what was applied. Where nothing of the last Apply can be, and
there is one before it, that one is looked at: what somebody does with one file is to block no other. A repository is
the exception: commits of a person may need objects that came with an Apply, so its folder goes as a whole or stays.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.sandbox.file_names import shown
from runner.workspace import apply, entry
from runner.workspace.change import repository_of
from runner.workspace.entry import SpecialEntry, UnreadableEntry, is_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from runner.workspace.change import ProjectChange
    from runner.workspace.entry import TreeEntry

CHANGED = "it was changed since"
DELETED = "it was deleted since"
MADE = "there is something there again"
UNREADABLE = "it cannot be read"
HOLDS = "something is in it that was not applied with it"
NO_FOLDER = "its folder is not there any more"
REPOSITORY = "git has used its repository since, which may need it now"
OBJECTS = b"objects"
"""Folder of a repository whose files change nothing by themselves."""


@dataclass(frozen=True, slots=True)
class WayBack:
    """What Undo would write, and what it would leave."""

    changes: tuple[ProjectChange, ...]
    content: Path
    """The folder with the files that come back, by path."""
    kept: tuple[tuple[bytes, str], ...] = ()
    """Paths that stay as they are, and why."""

    def require_some(self) -> None:
        """Raise KnownError where nothing can be taken back because of what somebody did since."""
        if self.kept and not self.changes:
            path, why = self.kept[0]
            more = f" And {len(self.kept) - 1:,} more." if len(self.kept) > 1 else ""
            raise KnownError(f"Nothing can be taken back. “{shown(path)}”: {why}.{more}", "Your folder stays as it is.")


def planned(top: int, record: Path) -> WayBack | None:
    """Return what can be taken back in the open project `top`; None where nothing was applied. Raises OSError."""
    back = apply.undo_of(record)
    if back is None or back.taken_back:
        return None
    kept: dict[bytes, str] = {}
    for changes, content in back.all(record):
        why = _why_kept(top, changes)
        kept = {**why, **kept}
        possible = tuple(one for one in changes if one.path not in why)
        if any(map(_matters, possible)) or (possible and not why):
            return WayBack(possible, content, tuple(sorted(kept.items())))
    return WayBack((), back.content, tuple(sorted(kept.items())))


def _why_kept(top: int, changes: Sequence[ProjectChange]) -> dict[bytes, str]:
    """Return by path why a change cannot be taken back."""
    why = {one.path: reason for one in changes if one.path and (reason := _changed(top, one))}
    by_path = {one.path: one for one in changes}
    # A folder goes only with all that is in it, so from the inside out; what comes back needs its folder.
    for one in sorted(changes, key=lambda one: one.path, reverse=True):
        if one.path and one.path not in why and is_folder(one.before) and not is_folder(one.after):
            inside = (one.path + b"/" + name for name in _names(top, one.path))
            if not all(path in by_path and by_path[path].after is None and path not in why for path in inside):
                why[one.path] = HOLDS
    for one in sorted(changes, key=lambda one: one.path):
        above = one.path.rpartition(b"/")[0]
        if above and one.after is not None and one.path not in why:
            comes = by_path.get(above) if above not in why else None
            if not is_folder(comes.after if comes is not None else _now(top, above)):
                why[one.path] = NO_FOLDER
    for place, of_git in _repositories(changes).items():
        if any(one.path in why for one in of_git) or _is_used(top, place, of_git):
            why = {**{one.path: REPOSITORY for one in of_git}, **why}
    return why


def _repositories(changes: Sequence[ProjectChange]) -> dict[bytes, list[ProjectChange]]:
    """Return the changes in folders of repositories, by the folder."""
    found: dict[bytes, list[ProjectChange]] = {}
    for one in changes:
        if place := repository_of(one.path):
            found.setdefault(place, []).append(one)
    return found


def _is_used(top: int, place: bytes, applied: Sequence[ProjectChange]) -> bool:
    """Whether something else in a repository's folder is newer than all that was applied there, or cannot be read."""
    if _now(top, place) is None:
        return False
    own = {one.path for one in applied}
    # A folder is as new as the last thing that anybody put into it.
    files = [one.path for one in applied if one.before is not None and not is_folder(one.before)]
    try:
        latest = max(_moment(top, path) for path in files or {one.path.rpartition(b"/")[0] for one in applied})
        return any(_moment(top, path) > latest for path in _others(top, place) if path not in own)
    except OSError:
        return True


def _others(top: int, place: bytes) -> Iterator[bytes]:
    """Yield the files of a repository's folder without its objects."""
    waiting = [place]
    while waiting:
        folder = waiting.pop()
        for name in _names(top, folder):
            path = folder + b"/" + name
            if not is_folder(_now(top, path)):
                yield path
            elif path != place + b"/" + OBJECTS:
                waiting.append(path)


def _moment(top: int, path: bytes) -> int:
    """Return when a file was last written or replaced, in nanoseconds. Raises OSError."""
    with entry.parent(top, path) as (folder, last):
        return os.stat(last, dir_fd=folder, follow_symlinks=False).st_ctime_ns


def _changed(top: int, change: ProjectChange) -> str:
    """Return what somebody did at the path of a change since it was applied; '' for nothing."""
    try:
        now = entry.at(top, change.path)
    except (SpecialEntry, UnreadableEntry, OSError):
        return UNREADABLE
    if apply.is_same(now, change.before):
        return ""
    return DELETED if now is None else MADE if change.before is None else CHANGED


def _now(top: int, path: bytes) -> TreeEntry | None:
    try:
        return entry.at(top, path)
    except (SpecialEntry, UnreadableEntry, OSError):
        return None


def _names(top: int, path: bytes) -> list[bytes]:
    """Return what is in a folder; one name that no file has, where it cannot be read."""
    try:
        with entry.parent(top, path) as (folder, last):
            inner = os.open(last, entry.FOLDER_FLAGS, dir_fd=folder)
            try:
                return [os.fsencode(name) for name in os.listdir(inner)]
            finally:
                os.close(inner)
    except OSError:
        return [b""]


def _matters(change: ProjectChange) -> bool:
    """Whether more than the time of a folder would be put back."""
    before, after = change.before, change.after
    if before is None or after is None or not (is_folder(before) and is_folder(after)):
        return True
    return (before.mode, before.attributes) != (after.mode, after.attributes)
