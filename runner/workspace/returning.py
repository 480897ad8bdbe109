"""Return of files from another machine, written into the folder that was sent: by descriptors, after comparing hashes.

What came back was made by code that may be hostile, and handed out by a service that may lie. Its names, sizes and
numbers were bounded when it was read (`runner/sandbox/workspace_copy.py`): nothing in it is outside of the folder or
behind a link of its own. Here it meets what stands in the folder now. Only what is as it was sent is replaced.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.model.file_changes import FileKind
from runner.sandbox.workspace_copy import PERMISSIONS, CopiedEntry
from runner.workspace import entry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.sandbox.workspace_copy import WorkspaceCopy

NOT_SENT = "was not sent, so what came back for it stays out"
CHANGED = "changed here meanwhile, so what came back for it stays out"
NOT_EMPTY = "was removed there, and holds here what was not sent"
WRITE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
OPEN_FOLDER = 0o700
"""What the owner needs of a folder to write in it."""

Stays = list[tuple[bytes, str]]


def take_in(top: int, before: Mapping[bytes, CopiedEntry], after: WorkspaceCopy) -> tuple[tuple[bytes, str], ...]:
    """Write what differs between `before`, which was sent, and `after` into the open folder `top`. Blocks.

    Return what was left as it is, and why. Raises OSError and ValueError.
    """
    stays: Stays = []
    _remove_gone(top, before, after.entries, stays)
    skipped: set[bytes] = set()
    folders = []
    for path, new in after.entries.items():
        old = before.get(path)
        if path.rpartition(b"/")[0] in skipped:
            skipped.add(path)
        elif old is None or old.state != new.state:
            if why := _replaced(top, path, old, new, after):
                skipped.add(path)
                stays.append((path, why))
            elif new.kind is FileKind.FOLDER:
                folders.append((path, new.mode))
    # Last, and from below: a folder may be closed.
    for path, mode in reversed(folders):
        with contextlib.suppress(FileNotFoundError), entry.parent(top, path) as (folder, name):
            _set_mode(folder, name, mode)
    return tuple(stays)


def _remove_gone(
    top: int, before: Mapping[bytes, CopiedEntry], after: Mapping[bytes, CopiedEntry], stays: Stays
) -> None:
    """Remove what was sent and did not come back, and what another kind came back for; from below."""
    for path, old in sorted(before.items(), reverse=True):
        new = after.get(path)
        if new is not None and (new.kind is FileKind.FOLDER) is (old.kind is FileKind.FOLDER):
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


def _replaced(top: int, path: bytes, old: CopiedEntry | None, new: CopiedEntry, after: WorkspaceCopy) -> str:
    """Put `new` in the place of `old`; return why that was not done."""
    try:
        with entry.parent(top, path) as (folder, name):
            now = _standing(folder, name)
            if now is not None and old is None:
                return NOT_SENT
            if now is not None and old is not None and now.state != old.state:
                return CHANGED
            gone = old is not None and (old.kind is FileKind.FOLDER) is not (new.kind is FileKind.FOLDER)
            if gone and now is not None:
                return NOT_EMPTY
            if now is None and old is not None and not gone:
                return CHANGED
            return _put(folder, name, new, after, now)
    except (FileNotFoundError, NotADirectoryError):
        return CHANGED


def _put(folder: int, name: bytes, new: CopiedEntry, after: WorkspaceCopy, now: _Standing | None) -> str:
    """Put `new` in the place of what stands there now; return why that was not done."""
    if new.kind is FileKind.FOLDER:
        if now is not None:
            _set_mode(folder, name, new.mode | OPEN_FOLDER)
        else:
            os.mkdir(name, OPEN_FOLDER, dir_fd=folder)
        return ""
    beside = b".assent-" + secrets.token_hex(8).encode()
    try:
        if new.kind is FileKind.LINK:
            os.symlink(new.target, beside, dir_fd=folder)
        else:
            with open(os.open(beside, WRITE_FLAGS, 0o600, dir_fd=folder), "wb") as file:
                for piece in after.pieces(new):
                    file.write(piece)
                file.flush()
                os.fchmod(file.fileno(), new.mode & PERMISSIONS)
        os.utime(beside, ns=(new.changed, new.changed), dir_fd=folder, follow_symlinks=False)
        # Comparing and writing took a while, in which whoever is at work may have saved the file.
        if now is None and entry.stat_of(folder, name) is not None:
            why = NOT_SENT
        elif now is not None and not now.is_still(folder, name):
            why = CHANGED
        else:
            os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
            return ""
        os.unlink(beside, dir_fd=folder)
        return why
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside, dir_fd=folder)
        raise


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
