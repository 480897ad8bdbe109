"""New content, copied into a hidden folder of the project before anything of the project changes."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.sandbox.file_names import shown
from runner.workspace import entry
from runner.workspace.entry import TreeKind
from runner.workspace.journal import ApplyStep
from runner.workspace.progress import WriteProgress

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from runner.workspace.change import ProjectChange
    from runner.workspace.entry import TreeEntry
    from runner.workspace.progress import Report

AGAIN = "Look at it again; nothing was written."


class Copying:
    """Counts what is copied, and reports it."""

    def __init__(self, changes: Sequence[ProjectChange], report: Report) -> None:
        self._report = report
        self._now = WriteProgress(0, len(changes), 0, sum(one.after.size for one in changes if one.after is not None))

    def bytes(self, number: int) -> None:
        """So many bytes more were copied. What `report` raises ends the copying."""
        self._now = replace(self._now, size=self._now.size + number)
        self._report(self._now)

    def path(self) -> None:
        """One path more is there."""
        self._now = replace(self._now, done=self._now.done + 1)
        self._report(self._now)


def staged(
    top: int, stage: str, changes: Sequence[ProjectChange], content: Path, report: Report, *, own: bool
) -> list[ApplyStep]:
    """Copy what is new into the hidden folder; return the steps in their order. Raises KnownError and OSError.

    `own` says that `content` is what Assent took away before: the same files come back, with their other names.
    """
    steps = []
    copying = Copying(changes, report)
    first: dict[tuple[int, TreeEntry], str] = {}
    with entry.folder_below(stage, top) as inner, entry.folder_open(content) as source:
        for number, change in enumerate(sorted(changes, key=lambda one: one.path)):
            name, after = str(number), change.after
            if own and after is not None and after.kind is TreeKind.FILE and _linked(inner, name, source, change.path):
                pass
            elif after is not None and after.kind is not TreeKind.FOLDER:
                # A program that is at work may have shown another content under each name.
                same = name if after.names == 1 else first.setdefault((after.inode, after), name)
                if same != name:
                    os.link(same, name, src_dir_fd=inner, dst_dir_fd=inner)
                else:
                    _put(inner, name, source, change, after, copying)
            made = entry.stat_of(inner, name.encode())
            inode = 0 if made is None else made.st_ino
            steps.append(
                ApplyStep(change.path, name, inode, change.before, after, change.merged, change.text is not None)
            )
            copying.path()
    # What goes, goes from the inside out; what comes, comes from the outside in.
    gone = [one for one in steps if one.after is None]
    return [*reversed(gone), *(one for one in steps if one.after is not None)]


def _linked(staged: int, name: str, source: int, path: bytes) -> bool:
    """Give a kept file a name in the hidden folder; False where it lies on another file system. Raises OSError."""
    with entry.parent(source, path) as (folder, last):
        try:
            os.link(last, name, src_dir_fd=folder, dst_dir_fd=staged, follow_symlinks=False)
        except OSError as error:
            if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP):
                raise
            return False
    return True


def _put(staged: int, name: str, source: int, change: ProjectChange, after: TreeEntry, copying: Copying) -> None:
    """Make what is to stand at a path under a number of the hidden folder. Raises KnownError and OSError."""
    if after.kind is TreeKind.LINK:
        os.symlink(after.target, name, dir_fd=staged)
    elif after.kind is TreeKind.PIPE:
        os.mkfifo(name, after.mode, dir_fd=staged)
        os.chmod(name, after.mode, dir_fd=staged)
    else:
        _written(staged, name, source, change, after, copying)
        return
    times = (after.modified, after.modified)
    os.utime(name, ns=times, dir_fd=staged, follow_symlinks=False)


def _written(staged: int, name: str, source: int, change: ProjectChange, after: TreeEntry, copying: Copying) -> None:
    target = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=staged)
    try:
        if change.text is None:
            _copied(target, source, change.path, after, copying)
        else:
            write(target, change.text)
        os.lseek(target, 0, os.SEEK_SET)
        if after.sha256 and entry.hash_of(target) != after.sha256:
            raise KnownError(f"“{shown(change.path)}” was changed while it was copied.", AGAIN)
        for key, value in after.attributes:
            with contextlib.suppress(OSError):
                os.setxattr(target, key, value)
        os.fchmod(target, after.mode)
        if change.text is None:
            os.utime(target, ns=(after.modified, after.modified))
    finally:
        os.close(target)


def _copied(target: int, source: int, path: bytes, after: TreeEntry, copying: Copying) -> None:
    with (
        entry.parent(source, path) as (folder, last),
        entry.readable(folder, last),
        entry.opened(folder, last, entry.READ_FLAGS) as content,
    ):
        if not stat.S_ISREG(os.fstat(content).st_mode):
            raise KnownError(f"“{shown(path)}” is no longer a file.", AGAIN)
        copy(content, target, after.size, copying.bytes)


def copy(source: int, target: int, size: int, copied: Callable[[int], None] = lambda _bytes: None) -> None:
    """Copy a file with its holes; `copied` is called with the number of bytes after each piece."""
    at = 0
    while at < size:
        try:
            begin = os.lseek(source, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            break  # nothing but a hole to the end
        end = min(size, os.lseek(source, begin, os.SEEK_HOLE))
        os.lseek(source, begin, os.SEEK_SET)
        os.lseek(target, begin, os.SEEK_SET)
        left = end - begin
        while left > 0 and (piece := os.read(source, min(left, entry.CHUNK))):
            write(target, piece)
            left -= len(piece)
            copied(len(piece))
        at = max(end, at + 1)
    os.ftruncate(target, size)


def write(target: int, content: bytes) -> None:
    """Write all of `content`. Raises OSError."""
    view = memoryview(content)
    while view:
        view = view[os.write(target, view) :]
