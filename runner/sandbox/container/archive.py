"""Reads the archive of a workspace that a container hands out, and writes one for it. What is read is untrusted.

The format is that of GNU tar: blocks of 512 bytes, a head before each content, long names in entries of their own. All
else is refused: the archive is written by the `tar` of our own image, which uses nothing more.
"""

from __future__ import annotations

import hashlib
import tarfile
from typing import TYPE_CHECKING, BinaryIO

from runner.model.file_changes import FileKind
from runner.sandbox.workspace_copy import (
    CHUNK,
    LONGEST_TARGET,
    MOST_BYTES,
    MOST_ENTRIES,
    PERMISSIONS,
    CopiedEntry,
    CopyEntries,
    NotCopied,
    WorkspaceCopy,
    entry_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

BLOCK = 512
MAGIC = b"ustar  \0"
LONG_NAME, LONG_TARGET = b"L", b"K"
FILES, LINK, FOLDER = (b"0", b"\0"), b"2", b"5"
SPECIAL = (b"3", b"4", b"6")
"""Devices and pipes; of sockets tar writes nothing."""
LONGEST_ARCHIVE = MOST_BYTES + MOST_ENTRIES * 4 * BLOCK
"""Bytes of an archive whose files are within bounds: a head, a long name, and what fills the last block."""
DAMAGED = "what the sandbox handed out is no archive of it"
NANO = 1_000_000_000
LATEST = 1 << 33
"""Seconds since the epoch from which a time is none."""


def read(file: BinaryIO, left: tuple[str, ...]) -> WorkspaceCopy:
    """Return the copy that is in an archive, whose contents stay in `file`. Blocks. Raises NotCopied and OSError."""
    file.seek(0)
    found = CopyEntries()
    _Archive(file, found).read()
    return WorkspaceCopy(found.entries, file, found.special, left)


def write(file: BinaryIO, copy: WorkspaceCopy, entries: Mapping[bytes, CopiedEntry]) -> int:
    """Write those of the copy's entries as an archive, and return its size. Blocks. Raises OSError and ValueError."""
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT, encoding="utf-8") as archive:
        for path, entry in entries.items():
            info = tarfile.TarInfo(_text(path))
            info.mode, info.mtime = entry.mode, entry.changed // NANO
            match entry.kind:
                case FileKind.FOLDER:
                    info.type = tarfile.DIRTYPE
                    archive.addfile(info)
                case FileKind.LINK:
                    info.type, info.linkname = tarfile.SYMTYPE, _text(entry.target)
                    archive.addfile(info)
                case FileKind.FILE:
                    info.size = entry.size
                    archive.addfile(info, _Content(copy, entry))
    return file.tell()


class _Content:
    """The content of one file, as `tarfile` reads it."""

    def __init__(self, copy: WorkspaceCopy, entry: CopiedEntry) -> None:
        self._copy = copy
        self._entry = entry
        self._at = 0

    def read(self, size: int = -1) -> bytes:
        piece = self._copy.content(self._entry, self._at, self._entry.size if size < 0 else size)
        self._at += len(piece)
        return piece


class _Archive:
    """One pass over an archive."""

    def __init__(self, file: BinaryIO, found: CopyEntries) -> None:
        self._file = file
        self._found = found
        self._name = self._target = b""
        """Those of the next entry, where an entry before it had them."""

    def read(self) -> None:
        """Take every entry. Raises NotCopied and OSError."""
        while any(head := self._exactly(BLOCK)):
            self._take(head)

    def _take(self, head: bytes) -> None:
        if head[257:265] != MAGIC or _number(head[148:156]) != sum(head[:148]) + 8 * 32 + sum(head[156:]):
            raise NotCopied(DAMAGED)
        kind, size = head[156:157], _number(head[124:136])
        if kind in (LONG_NAME, LONG_TARGET):
            if size > LONGEST_TARGET + 1:
                raise NotCopied("a name in it is too long")
            text = self._exactly(_padded(size))[:size].removesuffix(b"\0")
            if kind == LONG_NAME:
                self._name = text
            else:
                self._target = text
            return
        path = (self._name or head[:100].partition(b"\0")[0]).removeprefix(b"./").removesuffix(b"/")
        target = self._target or head[157:257].partition(b"\0")[0]
        self._name = self._target = b""
        mode, changed = _number(head[100:108]), _time(head[136:148])
        if kind in FILES:
            self._take_file(path, mode, changed, size)
        elif size:
            raise NotCopied(DAMAGED)
        elif kind == FOLDER:
            if path not in (b"", b"."):  # the workspace itself
                self._found.add(path, CopiedEntry(FileKind.FOLDER, mode & PERMISSIONS, changed))
        elif kind == LINK:
            self._found.add(path, CopiedEntry(FileKind.LINK, 0, changed, target=target))
        elif kind in SPECIAL:
            self._found.leave()
        else:
            raise NotCopied(DAMAGED)

    def _take_file(self, path: bytes, mode: int, changed: int, size: int) -> None:
        self._found.make_room(size)
        offset, digest, left = self._file.tell(), hashlib.sha256(), size
        while left:
            piece = self._exactly(min(left, CHUNK))
            digest.update(piece)
            left -= len(piece)
        self._exactly(_padded(size) - size)
        self._found.add(path, entry_of(mode, changed, size=size, sha256=digest.hexdigest(), offset=offset))

    def _exactly(self, size: int) -> bytes:
        data = self._file.read(size)
        if len(data) != size:
            raise NotCopied(DAMAGED)
        return data


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def _padded(size: int) -> int:
    return -(-size // BLOCK) * BLOCK


def _number(field: bytes) -> int:
    """Return an octal number. Raises NotCopied for anything else, as the larger ones that GNU tar writes otherwise."""
    digits = field.strip(b" \0") or b"0"
    if not digits.isdigit() or b"8" in digits or b"9" in digits:
        raise NotCopied(DAMAGED)
    return int(digits, 8)


def _time(field: bytes) -> int:
    """Return a time in nanoseconds; 0 for one that does not fit, which code can give its files."""
    try:
        seconds = _number(field)
    except NotCopied:
        return 0
    return seconds * NANO if seconds < LATEST else 0
