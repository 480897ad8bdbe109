"""Copies the workspace of a kept sandbox that is a folder of this machine, and puts a copy back in its place.

Nothing of the sandbox runs meanwhile. Everything blocks, goes through descriptors, and follows no link.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
import time
from typing import TYPE_CHECKING, BinaryIO

from runner.model.errors import KnownError
from runner.model.file_changes import FileKind
from runner.sandbox.file_names import shown
from runner.sandbox.local.collect import CHUNK, FILE
from runner.sandbox.workspace_copy import (
    DEEPEST,
    MOST_ENTRIES,
    PERMISSIONS,
    SECONDS,
    CopiedEntry,
    CopyEntries,
    NotCopied,
    WorkspaceCopy,
    contents,
    entry_of,
)
from runner.system.removal import FOLDER, remove

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from pathlib import Path

UNCHANGED = "Nothing was changed."


def copy(
    workspace: str, folder: Path, left: tuple[str, ...], stopped: Callable[[], bool] = lambda: False
) -> WorkspaceCopy:
    """Return a copy of `workspace` without the folders `left` at its top; contents go to the disk of `folder`.

    Raises NotCopied, also for what the system refuses, and once `stopped` returns True.
    """
    file = None
    try:
        file = contents(folder)
        walk = _Walk(file, left, stopped)
        with _open(workspace) as top:
            walk.look(top, b"", 0)
        file.flush()
        return WorkspaceCopy(walk.found.entries, file, walk.found.special, left)
    except BaseException as error:
        if file is not None:
            file.close()
        if isinstance(error, OSError):
            raise NotCopied(f"it could not be copied: {(error.strerror or str(error)).lower()}") from error
        raise


class _Walk:
    """One walk over a workspace."""

    def __init__(self, file: BinaryIO, left: Collection[str], stopped: Callable[[], bool]) -> None:
        self._stopped = stopped
        self.found = CopyEntries()
        self._file = file
        self._left = left
        self._deadline = time.monotonic() + SECONDS
        self._device = -1

    def look(self, folder: int, above: bytes, depth: int) -> None:
        """Take all that is in an open folder. Raises NotCopied and OSError."""
        if depth > DEEPEST:
            raise NotCopied(f"its folders are more than {DEEPEST} deep")
        if depth == 0:
            self._device = os.fstat(folder).st_dev
        names = []
        with os.scandir(folder) as entries:
            for entry in entries:
                names.append(entry.name)
                if len(names) > MOST_ENTRIES:
                    raise NotCopied(f"it holds more than {MOST_ENTRIES:,} files and folders")
        for name in sorted(names, key=os.fsencode):
            if depth or name not in self._left:
                self._take(folder, name, above + os.fsencode(name), depth)

    def _take(self, folder: int, name: str, path: bytes, depth: int) -> None:
        if time.monotonic() > self._deadline:
            raise NotCopied(f"copying it took more than {SECONDS:.0f} s")
        if self._stopped():
            raise NotCopied("the sandbox is gone")
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode):
            target = os.fsencode(os.readlink(name, dir_fd=folder))
            self.found.add(path, CopiedEntry(FileKind.LINK, 0, found.st_mtime_ns, target=target))
        elif found.st_dev != self._device:
            self.found.leave()
        elif stat.S_ISDIR(found.st_mode):
            self.found.add(path, CopiedEntry(FileKind.FOLDER, found.st_mode & PERMISSIONS, found.st_mtime_ns))
            with _readable(path), _open(name, folder) as below:
                self.look(below, path + b"/", depth + 1)
        elif stat.S_ISREG(found.st_mode):
            self.found.make_room(found.st_size)
            with _readable(path):
                self._take_file(os.open(name, FILE, dir_fd=folder), path)
        else:
            self.found.leave()

    def _take_file(self, fd: int, path: bytes) -> None:
        with open(fd, "rb", buffering=0) as source:
            found = os.fstat(fd)
            offset, digest, size = self._file.tell(), hashlib.sha256(), 0
            while size <= found.st_size and (piece := source.read(CHUNK)):
                size += len(piece)
                digest.update(piece)
                self._file.write(piece)
            if size != found.st_size or not stat.S_ISREG(found.st_mode):
                raise NotCopied(f"{shown(path[:100])} changed while it was copied")
        one = entry_of(found.st_mode, found.st_mtime_ns, size=size, sha256=digest.hexdigest(), offset=offset)
        self.found.add(path, one)


def put_back(workspace: Path, copy: WorkspaceCopy, left: Collection[str], owner: int | None) -> None:
    """Put what is in `copy` in place of all that is in `workspace` but the folders `left`, as a whole or not at all.

    It is made beside it first. `owner` is the user and group that all of it belongs to; None leaves that alone.
    Raises KnownError: then nothing was changed.
    """
    new = workspace.parent / f"new-{secrets.token_hex(6)}"
    old = workspace.parent / f"old-{secrets.token_hex(6)}"
    try:
        new.mkdir(mode=0o700)
        _fill(new, copy, copy.without(left), owner)
        _own(os.fsencode(new), owner)
        new.chmod(0o755)
        _exchange(workspace, new, old, left)
    except (OSError, ValueError) as error:
        remove(new)
        why = (error.strerror or str(error)).lower() if isinstance(error, OSError) else "its copy is gone"
        raise KnownError(f"The files could not be put back: {why}.", UNCHANGED) from error
    # What cannot be removed goes with the sandbox.
    remove(old)


def _exchange(workspace: Path, new: Path, old: Path, left: Collection[str]) -> None:
    """Put `new` in the place of `workspace`, with those of the folders `left` that are there. Raises OSError."""
    moved = []
    try:
        for name in left:
            if (workspace / name).is_dir() and not (workspace / name).is_symlink():
                (workspace / name).rename(new / name)
                moved.append(name)
        workspace.rename(old)
    except OSError:
        for name in moved:
            (new / name).rename(workspace / name)
        raise
    try:
        new.rename(workspace)
    except OSError:
        old.rename(workspace)
        for name in moved:
            (new / name).rename(workspace / name)
        raise


def _fill(root: Path, copy: WorkspaceCopy, entries: Mapping[bytes, CopiedEntry], owner: int | None) -> None:
    """Make all that stands in `entries` in a folder that nobody else can reach. Raises OSError."""
    folders = []
    for path, entry in entries.items():
        place = os.path.join(os.fsencode(root), path)
        if entry.kind is FileKind.FOLDER:
            os.mkdir(place, 0o700)
            folders.append((place, entry))
        elif entry.kind is FileKind.LINK:
            os.symlink(entry.target, place)
            _own(place, owner)
            os.utime(place, ns=(entry.changed, entry.changed), follow_symlinks=False)
        else:
            _write(place, copy, entry, owner)
    # Last, and from below: a folder may be closed, and is changed by what comes into it.
    for place, entry in reversed(folders):
        _own(place, owner)
        os.chmod(place, entry.mode)
        os.utime(place, ns=(entry.changed, entry.changed))


def _write(place: bytes, copy: WorkspaceCopy, entry: CopiedEntry, owner: int | None) -> None:
    with open(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600), "wb") as file:
        for piece in copy.pieces(entry):
            file.write(piece)
        file.flush()
        _own(place, owner)
        os.fchmod(file.fileno(), entry.mode)
    os.utime(place, ns=(entry.changed, entry.changed))


def _own(place: bytes, owner: int | None) -> None:
    if owner is not None:
        os.chown(place, owner, owner, follow_symlinks=False)


@contextlib.contextmanager
def _readable(path: bytes) -> Iterator[None]:
    """Say which file could not be read."""
    try:
        yield
    except PermissionError as error:
        raise NotCopied(f"{shown(path[:100])} may not be read") from error


@contextlib.contextmanager
def _open(name: str, above: int | None = None) -> Iterator[int]:
    fd = os.open(name, FOLDER, dir_fd=above)
    try:
        yield fd
    finally:
        os.close(fd)
