"""Return of files from another machine, written into the folder that was sent: by descriptors, after comparing hashes.

What came back was made by code that may be hostile, and handed out by a service that may lie. Its names, sizes and
numbers were bounded when it was read (`runner/sandbox/workspace_copy.py`): nothing in it is outside of the folder or
behind a link of its own. Here it meets what stands in the folder now. Only what is as it was sent is replaced.

It is laid down beside the folder first. From the moment that this is whole all of it is written, if need be by whoever
looks at the working copy next: each step can be done twice.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.model.file_changes import FileKind
from runner.sandbox.workspace_copy import PERMISSIONS, CopiedEntry
from runner.system.durable import flush_folder
from runner.system.removal import remove_tree
from runner.workspace import entry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from runner.sandbox.workspace_copy import WorkspaceCopy

NOT_SENT = "was not sent, so what came back for it stays out"
CHANGED = "changed here meanwhile, so what came back for it stays out"
NOT_EMPTY = "was removed there, and holds here what was not sent"
WRITE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
CAME_BACK, NEW, LIST = "came-back", "came-back.new", "list.json"
"""Below the folder of a working copy: what has come back whole, what may be half of it, and the list in both."""
OPEN_FOLDER = 0o700
"""What the owner needs of a folder to write in it."""

Stays = list[tuple[bytes, str]]


def take_in(
    record: Path, top: int, before: Mapping[bytes, CopiedEntry], after: WorkspaceCopy
) -> tuple[tuple[bytes, str], ...]:
    """Write what differs between `before`, which was sent, and `after` into the open folder `top`. Blocks.

    All of it or nothing: it is laid down in the folder `record` first, with a list, and whoever is killed from then on
    leaves the rest to the next `finish`. Nobody else may do either meanwhile. Return what was left as it is, and why.
    Raises OSError and ValueError; where the disk is full, nothing was written.
    """
    staged = record / NEW
    if os.path.lexists(staged):
        remove_tree(staged)
    staged.mkdir(mode=0o700)
    try:
        _stage(staged, before, after)
        os.rename(staged, record / CAME_BACK)
    except BaseException:
        with contextlib.suppress(OSError):
            remove_tree(staged)
        raise
    flush_folder(record)
    return finish(record, top)


def finish(record: Path, top: int) -> tuple[tuple[bytes, str], ...]:
    """Write what is laid down in `record` into the open folder `top`; nothing where nothing is. As `take_in`."""
    place = record / CAME_BACK
    try:
        steps = _read_list(place)
    except FileNotFoundError:
        return ()
    stays: Stays = []
    with entry.folder_open(place) as staged:
        _remove_gone(top, steps, stays)
        skipped: set[bytes] = set()
        for step in steps:
            if step.new is None:
                continue
            if step.path.rpartition(b"/")[0] in skipped:
                skipped.add(step.path)
            elif why := _replaced(top, staged, step, step.new):
                skipped.add(step.path)
                stays.append((step.path, why))
        # Last, and from below: a folder may be closed.
        for step in reversed(steps):
            if step.new is not None and step.new.kind is FileKind.FOLDER and step.path not in skipped:
                with contextlib.suppress(FileNotFoundError), entry.parent(top, step.path) as (folder, name):
                    _set_mode(folder, name, step.new.mode)
        _sync(staged)
    os.rename(place, record / NEW)
    remove_tree(record / NEW)
    return tuple(stays)


@dataclass(frozen=True, slots=True)
class _Step:
    """One path at which what came back differs from what was sent."""

    path: bytes
    name: bytes
    """Of what is laid down for it, until it is in its place; nothing for what is gone, and for a folder that stays."""
    old: CopiedEntry | None
    new: CopiedEntry | None


def _stage(staged: Path, before: Mapping[bytes, CopiedEntry], after: WorkspaceCopy) -> None:
    """Lay down all that is new, each under its number, and the list, durable. Raises OSError and ValueError."""
    gone = [path for path in before if path not in after.entries]
    changed = [
        path for path, new in after.entries.items() if (old := before.get(path)) is None or old.state != new.state
    ]
    listed = []
    with entry.folder_open(staged) as folder:
        for number, path in enumerate([*gone, *changed]):
            name = str(number).encode()
            old, new = before.get(path), after.entries.get(path)
            if new is not None:
                _lay_down(folder, name, old, new, after)
            listed.append([path.hex(), name.decode(), _as_json(old), _as_json(new)])
        descriptor = os.open(LIST, WRITE_FLAGS, 0o600, dir_fd=folder)
        with open(descriptor, "w", encoding="ascii") as file:
            json.dump(listed, file)
        _sync(folder)


def _lay_down(folder: int, name: bytes, old: CopiedEntry | None, new: CopiedEntry, after: WorkspaceCopy) -> None:
    if new.kind is FileKind.FOLDER:
        if old is None or old.kind is not FileKind.FOLDER:
            os.mkdir(name, OPEN_FOLDER, dir_fd=folder)
        return
    if new.kind is FileKind.LINK:
        os.symlink(new.target, name, dir_fd=folder)
    else:
        with open(os.open(name, WRITE_FLAGS, 0o600, dir_fd=folder), "wb") as file:
            for piece in after.pieces(new):
                file.write(piece)
            file.flush()
            os.fchmod(file.fileno(), new.mode & PERMISSIONS)
    os.utime(name, ns=(new.changed, new.changed), dir_fd=folder, follow_symlinks=False)


def _as_json(one: CopiedEntry | None) -> list[object] | None:
    return None if one is None else [one.kind.value, one.mode, one.sha256, one.target.hex()]


def _read_list(place: Path) -> list[_Step]:
    """Raises FileNotFoundError where nothing is laid down, OSError and ValueError."""

    def read(said: list[Any] | None) -> CopiedEntry | None:
        if said is None:
            return None
        kind, mode, sha256, target = said
        return CopiedEntry(FileKind(kind), mode, 0, sha256=sha256, target=bytes.fromhex(target))

    listed = json.loads((place / LIST).read_text("ascii"))
    return [_Step(bytes.fromhex(path), name.encode(), read(old), read(new)) for path, name, old, new in listed]


def _remove_gone(top: int, steps: Sequence[_Step], stays: Stays) -> None:
    """Remove what was sent and did not come back, and what another kind came back for; from below."""
    for step in sorted(steps, key=lambda one: one.path, reverse=True):
        path, old, new = step.path, step.old, step.new
        if old is None or (new is not None and (new.kind is FileKind.FOLDER) is (old.kind is FileKind.FOLDER)):
            continue
        # Where something else is to stand there, what stays is said when that is its turn.
        told = stays if new is None else []
        with contextlib.suppress(FileNotFoundError, NotADirectoryError), entry.parent(top, path) as (folder, name):
            if old.kind is FileKind.FOLDER:
                try:
                    os.rmdir(name, dir_fd=folder)
                except FileNotFoundError:
                    continue
                except OSError:
                    told.append((path, NOT_EMPTY))
            elif (now := _standing(folder, name)) is not None:
                if now.state == old.state and now.is_still(folder, name):
                    os.unlink(name, dir_fd=folder)
                else:
                    told.append((path, CHANGED))


def _replaced(top: int, staged: int, step: _Step, new: CopiedEntry) -> str:
    """Put what is new in the place of what was there; return why that was not done."""
    old = step.old
    try:
        with entry.parent(top, step.path) as (folder, name):
            now = _standing(folder, name)
            if new.kind is FileKind.FOLDER and old is not None and old.kind is FileKind.FOLDER:
                # Whoever was killed in the middle may have opened it, or closed it.
                modes = {old.mode, new.mode, new.mode | OPEN_FOLDER}
                if now is None or now.state[0] != FileKind.FOLDER or now.state[1] not in modes:
                    return CHANGED
                _set_mode(folder, name, new.mode | OPEN_FOLDER)
                return ""
            if entry.stat_of(staged, step.name) is None:
                return ""  # done before somebody was killed
            if now is not None and old is None:
                return NOT_SENT
            if now is not None and old is not None and now.state != old.state:
                return CHANGED
            gone = old is not None and (old.kind is FileKind.FOLDER) is not (new.kind is FileKind.FOLDER)
            if gone and now is not None:
                return NOT_EMPTY
            if now is None and old is not None and not gone:
                return CHANGED
            # Comparing took a while, in which whoever is at work may have saved the file.
            if now is None and entry.stat_of(folder, name) is not None:
                return NOT_SENT
            if now is not None and not now.is_still(folder, name):
                return CHANGED
            os.rename(step.name, name, src_dir_fd=staged, dst_dir_fd=folder)
            return ""
    except (FileNotFoundError, NotADirectoryError):
        return CHANGED


def _sync(folder: int) -> None:
    """Make everything on the file system of an open folder durable."""
    ctypes.CDLL(None, use_errno=True).syncfs(folder)


def _set_mode(folder: int, name: bytes, mode: int) -> None:
    with entry.opened(folder, name, entry.FOLDER_FLAGS) as opened:
        os.fchmod(opened, mode & PERMISSIONS)


@dataclass(frozen=True, slots=True)
class _Standing:
    """What stands in a place of a folder."""

    state: tuple[str, int, str, bytes]
    """As `CopiedEntry.state` says it."""
    stamp: tuple[int, ...]
    """What changes with every change of it, as it was before its content was read."""

    def is_still(self, folder: int, name: bytes) -> bool:
        found = entry.stat_of(folder, name)
        return found is not None and _stamp(found) == self.stamp


def _stamp(found: os.stat_result) -> tuple[int, ...]:
    return found.st_dev, found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _standing(folder: int, name: bytes) -> _Standing | None:
    """Return what stands there; None for nothing."""
    found = entry.stat_of(folder, name)
    return None if found is None else _Standing(_state(folder, name, found), _stamp(found))


def _state(folder: int, name: bytes, found: os.stat_result) -> tuple[str, int, str, bytes]:
    if stat.S_ISLNK(found.st_mode):
        return CopiedEntry(FileKind.LINK, 0, 0, target=os.readlink(name, dir_fd=folder)).state
    mode = found.st_mode & PERMISSIONS
    if stat.S_ISDIR(found.st_mode):
        return CopiedEntry(FileKind.FOLDER, mode, 0).state
    if not stat.S_ISREG(found.st_mode):
        return "special", mode, "", b""
    digest, left = hashlib.sha256(), found.st_size
    with open(os.open(name, entry.READ_FLAGS, dir_fd=folder), "rb", buffering=0) as file:
        # No further than it was long: a program may write to it faster than it is read.
        while left > 0 and (piece := file.read(min(left, entry.CHUNK))):
            left -= len(piece)
            digest.update(piece)
    return CopiedEntry(FileKind.FILE, mode, 0, sha256=digest.hexdigest()).state
