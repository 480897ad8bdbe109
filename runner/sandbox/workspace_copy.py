"""A copy of a kept sandbox's files: what stands where, and the contents in a file that goes with the console.

What is copied was made by code that may be hostile: names are bytes, sizes and numbers are bounded, and nothing below a
link or outside of the workspace is ever taken.
"""

from __future__ import annotations

import hashlib
import shutil
import stat
import tempfile
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Self

from runner.model.errors import KnownError
from runner.model.file_changes import (
    MOST_NAMED,
    ChangedFile,
    ChangeKind,
    FileChanges,
    FileKind,
    FilePreview,
)
from runner.sandbox.file_names import is_inside, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

MOST_ENTRIES = 10_000
MOST_BYTES = 64 << 20
"""Of all files of one copy: it is made while a person reads, and on a slow machine that is a second."""
ENTRY_BYTES = 4_096
"""What one entry counts besides its content: rather more than its name and hash take in memory."""
LEAST_FREE = 256 << 20
"""Bytes that stay free on the disk: the history is written to the same one."""
LONGEST_PATH = 2_000
"""Bytes of a path: with the folder above it, it must not be longer than the system's PATH_MAX."""
LONGEST_TARGET = 4_095
DEEPEST = 40
"""Folders within each other."""
SECONDS = 10.0
"""For a copy to be made: the next call in the sandbox waits for it."""
MOST_PREVIEWED = 256_000
"""Bytes of a file that are shown."""
PERMISSIONS = stat.S_IRWXU | stat.S_IRWXG | stat.S_IRWXO | stat.S_ISVTX
"""What is kept of a mode: no file comes back that changes who runs it."""
CHUNK = 1 << 18


class NotCopied(KnownError):
    """A workspace that is not copied; the text says why, and continues with `so ...`."""


@dataclass(frozen=True, slots=True)
class CopiedEntry:
    """One file, folder or link."""

    kind: FileKind
    mode: int
    changed: int
    """Nanoseconds since the epoch."""
    size: int = 0
    sha256: str = ""
    offset: int = 0
    """Where its content begins."""
    target: bytes = b""

    @property
    def state(self) -> tuple[str, int, str, bytes]:
        """All that has to be equal for it to count as unchanged; the time does not."""
        mode = 0 if self.kind is FileKind.LINK else self.mode
        return self.kind.value, mode, self.sha256, self.target


class WorkspaceCopy:
    """What stood in a workspace. Its content may be read on any thread."""

    def __init__(
        self, entries: Mapping[bytes, CopiedEntry], file: BinaryIO, special: int, left: tuple[str, ...]
    ) -> None:
        """`left` are the folders at the top that were not looked into."""
        self.entries = entries
        self.special = special
        self.left = left
        self.size = sum(one.size for one in entries.values()) + ENTRY_BYTES * len(entries)
        """Bytes that it takes, on the disk and in memory."""
        self._file = file
        self._lock = threading.Lock()
        self._state = ""

    @property
    def state(self) -> str:
        """Digest of everything but times."""
        if not self._state:
            self._state = state_of(self.entries)
        return self._state

    def content(self, entry: CopiedEntry, at: int, most: int) -> bytes:
        """Return at most `most` bytes of a file from `at` on. Raises ValueError once the copy is closed."""
        with self._lock:
            self._file.seek(entry.offset + at)
            return self._file.read(max(0, min(most, entry.size - at)))

    def pieces(self, entry: CopiedEntry) -> Iterable[bytes]:
        """Yield the content of a file."""
        at = 0
        while at < entry.size:
            piece = self.content(entry, at, CHUNK)
            if not piece:
                raise OSError("the copy is incomplete")
            at += len(piece)
            yield piece

    def without(self, folders: Collection[str]) -> dict[bytes, CopiedEntry]:
        """Return the entries that are neither one of `folders`, at the top, nor below one."""
        names = {one.encode() for one in folders}
        return {path: one for path, one in self.entries.items() if path.partition(b"/")[0] not in names}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Drop the contents. Harmless when done before."""
        with self._lock:
            self._file.close()


class CopyEntries:
    """Takes in what stands in a workspace, in the order of a walk: a folder before what is in it."""

    def __init__(self) -> None:
        self.entries: dict[bytes, CopiedEntry] = {}
        self.special = 0
        self.size = 0

    def add(self, path: bytes, entry: CopiedEntry) -> None:
        """Take one entry. Raises NotCopied."""
        if path in self.entries or not is_inside(path):
            raise NotCopied(f"{_named(path)} is not named as a file in the workspace is")
        if entry.kind is FileKind.LINK and (not entry.target or b"\0" in entry.target):
            raise NotCopied(f"{_named(path)} leads where no link can")
        above = path.rpartition(b"/")[0]
        if above and (above not in self.entries or self.entries[above].kind is not FileKind.FOLDER):
            raise NotCopied(f"{_named(path)} is in no folder of the workspace")
        if path.count(b"/") >= DEEPEST:
            raise NotCopied(f"{_named(path)} is more than {DEEPEST} folders deep")
        if len(path) > LONGEST_PATH or len(entry.target) > LONGEST_TARGET:
            raise NotCopied(f"{_named(path)} has too long a name")
        if len(self.entries) >= MOST_ENTRIES:
            raise NotCopied(f"it holds more than {MOST_ENTRIES:,} files and folders")
        self.make_room(entry.size)
        self.entries[path] = entry
        self.size += entry.size

    def make_room(self, size: int) -> None:
        """Raise NotCopied where so many bytes more are too many."""
        if self.size + size > MOST_BYTES:
            raise NotCopied(f"its files are larger than {MOST_BYTES >> 20} MB")

    def leave(self) -> None:
        """Count what cannot be copied: a pipe, a socket, a device."""
        self.special += 1


def contents(folder: Path) -> BinaryIO:
    """Return a file for contents, which no folder names: nothing is left of it, however the console ends.

    Raises NotCopied where the disk has too little room, and OSError.
    """
    if shutil.disk_usage(folder).free < LEAST_FREE + MOST_BYTES:
        raise NotCopied("too little disk space is free")
    return tempfile.TemporaryFile(dir=folder)


def entry_of(mode: int, changed: int, *, size: int = 0, sha256: str = "", offset: int = 0) -> CopiedEntry:
    """Return a file, with only those permissions that may come back."""
    return CopiedEntry(FileKind.FILE, mode & PERMISSIONS, changed, size, sha256, offset)


def state_of(entries: Mapping[bytes, CopiedEntry]) -> str:
    """Return the digest of everything but times."""
    found = hashlib.sha256()
    for path in sorted(entries):
        found.update(repr((path, *entries[path].state)).encode())
    return found.hexdigest()


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs between two states, and the real names of what `changes` names."""

    changes: FileChanges
    paths: tuple[bytes, ...]


def difference(before: Mapping[bytes, CopiedEntry], after: Mapping[bytes, CopiedEntry]) -> Difference:
    """Return what differs. A folder is named only where nothing in it says as much."""
    found: list[ChangedFile] = []
    paths: list[bytes] = []
    counts = dict.fromkeys(ChangeKind, 0)
    filled = _filled(before), _filled(after)
    for path in sorted(before.keys() | after.keys()):
        change = _change(path, before.get(path), after.get(path), filled)
        if change is None:
            continue
        counts[change.kind] += 1
        if len(found) < MOST_NAMED:
            found.append(change)
            paths.append(path)
    numbers = counts[ChangeKind.ADDED], counts[ChangeKind.CHANGED], counts[ChangeKind.REMOVED]
    return Difference(FileChanges(tuple(found), *numbers), tuple(paths))


def previewed(before: WorkspaceCopy, after: WorkspaceCopy, path: bytes) -> FilePreview:
    """Return a file in two states. Raises KnownError where it cannot be read any more."""
    try:
        old, cut = _beginning(before, path)
        new, also_cut = _beginning(after, path)
    except (OSError, ValueError) as error:
        raise KnownError("The copy of this file is gone.", "Copies go with their sandbox.") from error
    return FilePreview(old, new, cut or also_cut)


def _beginning(copy: WorkspaceCopy, path: bytes) -> tuple[bytes | None, bool]:
    entry = copy.entries.get(path)
    if entry is None or entry.kind is FileKind.FOLDER:
        return None, False
    if entry.kind is FileKind.LINK:
        return b"link to " + entry.target, False
    return copy.content(entry, 0, MOST_PREVIEWED), entry.size > MOST_PREVIEWED


def _filled(entries: Iterable[bytes]) -> frozenset[bytes]:
    """Return the folders in which something stands: they come and go with it."""
    return frozenset(path.rpartition(b"/")[0] for path in entries)


def _change(
    path: bytes, old: CopiedEntry | None, new: CopiedEntry | None, filled: tuple[frozenset[bytes], frozenset[bytes]]
) -> ChangedFile | None:
    if old is None:
        assert new is not None
        return None if path in filled[1] else ChangedFile(shown(path), ChangeKind.ADDED, new.kind, None, _size(new))
    if new is None:
        return None if path in filled[0] else ChangedFile(shown(path), ChangeKind.REMOVED, old.kind, _size(old))
    if old.state == new.state:
        return None
    content = (old.kind, old.sha256, old.target) != (new.kind, new.sha256, new.target)
    return ChangedFile(shown(path), ChangeKind.CHANGED, new.kind, _size(old), _size(new), content)


def _size(entry: CopiedEntry) -> int | None:
    return entry.size if entry.kind is FileKind.FILE else None


def _named(path: bytes) -> str:
    return shown(path[:100])
