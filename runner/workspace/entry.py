"""One file, folder, link or pipe of a tree, read by descriptors: no link is ever followed.

The trees are written by programs that may be hostile. A path is bytes without a leading slash; it is walked component
by component below an open folder, so that a folder that was swapped for a link leads nowhere.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
BLOCK = 512
"""Bytes of a block as stat(2) counts."""
READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
CHUNK = 1 << 20
NO_SIZE = -1
"""The size of no file."""
OWN_ATTRIBUTE = "user.overlay."
"""Prefix of the extended attributes by which the kernel marks the entries of a layer (overlayfs, `userxattr`)."""


class TreeKind(StrEnum):
    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    PIPE = "pipe"


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """What stands at a path. Two are equal where everything is that Apply would write."""

    kind: TreeKind
    mode: int
    """Permission bits, of a link always 0."""
    size: int = 0
    """Bytes, of a file."""
    sha256: str = ""
    """Of a file whose content was read; '' otherwise."""
    target: bytes = b""
    """Of a link."""
    attributes: tuple[tuple[str, bytes], ...] = ()
    """Extended attributes below `user.`, sorted; those of the layer itself left out."""
    modified: int = 0
    """Nanoseconds since the epoch, of a file, link or pipe. A folder's follows from what is done in it."""
    inode: int = field(default=0, compare=False)
    changed: int = field(default=0, compare=False)
    """When anything of it last changed, nanoseconds since the epoch: no program can set this one."""
    folder_modified: int = field(default=0, compare=False)
    """The time of a folder, which Apply sets last."""
    names: int = field(default=1, compare=False)
    """Hard links to it, of a file."""


def is_folder(one: TreeEntry | None) -> bool:
    """Whether a folder stands there; not where nothing does."""
    return one is not None and one.kind is TreeKind.FOLDER


class SpecialEntry(Exception):
    """A socket or device: nothing that could be applied."""


class UnreadableEntry(Exception):
    """An entry that this account may not read, and the reason."""


def stat_of(folder: int, name: bytes) -> os.stat_result | None:
    """Return what stands at `name` in an open folder; None for nothing. Raises OSError."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def read(folder: int, name: bytes, found: os.stat_result, *, content: bool, marks: set[str] | None = None) -> TreeEntry:
    """Return the entry `name` of an open folder, with the hash of its content where that is wanted.

    `marks` gets the names of the layer's own attributes that a file has. Raises SpecialEntry, UnreadableEntry and
    OSError.
    """
    mode, inode, changed = found.st_mode, found.st_ino, found.st_ctime_ns
    if stat.S_ISLNK(mode):
        target = os.readlink(name, dir_fd=folder)
        return TreeEntry(TreeKind.LINK, 0, target=target, modified=found.st_mtime_ns, inode=inode, changed=changed)
    if stat.S_ISFIFO(mode):
        return TreeEntry(TreeKind.PIPE, stat.S_IMODE(mode), modified=found.st_mtime_ns, inode=inode, changed=changed)
    if stat.S_ISDIR(mode):
        with opened(folder, name, FOLDER_FLAGS) as descriptor:
            attributes = _attributes(descriptor)
        bits = stat.S_IMODE(mode)
        return TreeEntry(
            TreeKind.FOLDER,
            bits,
            attributes=attributes,
            folder_modified=found.st_mtime_ns,
            inode=inode,
            changed=changed,
        )
    if not stat.S_ISREG(mode):
        raise SpecialEntry
    try:
        return read_file(folder, name, mode=stat.S_IMODE(mode), size=None if content else NO_SIZE, marks=marks)
    except PermissionError as error:
        raise UnreadableEntry(error.strerror) from error


def read_file(
    folder: int,
    name: bytes,
    *,
    mode: int | None = None,
    size: int | None = None,
    marks: set[str] | None = None,
    sparse: bool = True,
) -> TreeEntry:
    """Return the file `name` of an open folder as `read` does, with `mode` as its permissions where they are given.

    Where `size` is given the content is read only of a file that has just as many bytes. All of it comes of one
    opening. Raises SpecialEntry for anything but a file, without `sparse` for one with holes as well, and OSError.
    """
    descriptor = os.open(name, READ_FLAGS, dir_fd=folder)
    try:
        now = os.fstat(descriptor)
        if not stat.S_ISREG(now.st_mode) or (not sparse and now.st_blocks * BLOCK < now.st_size):
            raise SpecialEntry
        return TreeEntry(
            TreeKind.FILE,
            stat.S_IMODE(now.st_mode) if mode is None else mode,
            now.st_size,
            hash_of(descriptor, now.st_size) if size is None or size == now.st_size else "",
            attributes=_attributes(descriptor, marks),
            modified=now.st_mtime_ns,
            inode=now.st_ino,
            changed=now.st_ctime_ns,
            names=now.st_nlink,
        )
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def opened(folder: int, name: bytes, flags: int) -> Iterator[int]:
    """Open `name` in an open folder, and close it again. Raises UnreadableEntry and OSError."""
    try:
        descriptor = os.open(name, flags, dir_fd=folder)
    except PermissionError as error:
        raise UnreadableEntry(error.strerror) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def readable(folder: int, name: bytes, found: os.stat_result | None = None) -> Iterator[None]:
    """Let a file or folder of this account's be read that a program closed to everybody, as long as needed.

    `found` is what `stat_of` says of it, where that is known. By descriptor, since the program may still be at work: a
    link that it puts there meanwhile is not followed.
    """
    found = stat_of(folder, name) if found is None else found
    need = 0o500 if found is not None and stat.S_ISDIR(found.st_mode) else 0o400
    plain = found is not None and (stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode))
    if found is None or not plain or found.st_mode & need == need or found.st_uid != os.geteuid():
        yield
        return
    descriptor = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        now = os.fstat(descriptor)
        if (now.st_dev, now.st_ino, now.st_mode) != (found.st_dev, found.st_ino, found.st_mode):
            yield
            return
        itself = f"/proc/self/fd/{descriptor}"
        os.chmod(itself, stat.S_IMODE(found.st_mode) | need)
        try:
            yield
        finally:
            os.chmod(itself, stat.S_IMODE(found.st_mode))
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def parent(root: int, path: bytes, *, make: bool = False) -> Iterator[tuple[int, bytes]]:
    """Open the folder that holds `path` below the open folder `root`; yield it and the last name. Raises OSError.

    NotADirectoryError where a component is a link or no folder. With `make` folders that are missing are made.
    """
    *above, name = path.split(b"/")
    descriptor = os.dup(root)
    try:
        for one in above:
            if one in (b"", b".", b".."):
                raise NotADirectoryError(20, "no plain path", path)
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(one, 0o700, dir_fd=descriptor)
            inner = os.open(one, FOLDER_FLAGS, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor, name
    finally:
        os.close(descriptor)


def at(root: int, path: bytes, *, content: bool = False) -> TreeEntry | None:
    """Return what stands at `path` below an open folder; None for nothing.

    Raises SpecialEntry, UnreadableEntry and OSError.
    """
    try:
        with parent(root, path) as (folder, name):
            found = stat_of(folder, name)
            return None if found is None else read(folder, name, found, content=content)
    except (FileNotFoundError, NotADirectoryError):
        return None


def folder_entry(folder: int) -> TreeEntry:
    """Return the permissions and times of an open folder. Raises OSError."""
    found = os.fstat(folder)
    return TreeEntry(
        TreeKind.FOLDER,
        stat.S_IMODE(found.st_mode),
        inode=found.st_ino,
        changed=found.st_ctime_ns,
        folder_modified=found.st_mtime_ns,
    )


def _attributes(descriptor: int, marks: set[str] | None = None) -> tuple[tuple[str, bytes], ...]:
    try:
        names = os.listxattr(descriptor)
    except OSError:
        return ()
    if not names:
        return ()
    wanted = []
    for name in names:
        if not name.startswith(OWN_ATTRIBUTE):
            if name.startswith("user."):
                wanted.append(name)
        elif marks is not None:
            marks.add(name)
    return tuple([(name, os.getxattr(descriptor, name)) for name in sorted(wanted)]) if wanted else ()


def hash_of(descriptor: int, size: int = CHUNK) -> str:
    """Return the SHA-256 of an open file from where it stands; `size` is about what it has, and saves room and a call.

    A file that has just that much, and nothing behind it, is read at once.
    """
    digest = hashlib.sha256()
    most = min(size + 1, CHUNK)
    while piece := os.read(descriptor, most):
        digest.update(piece)
        size -= len(piece)
        if size == 0 and len(piece) < most:
            break
    return digest.hexdigest()


@contextlib.contextmanager
def folder_open(folder: Path) -> Iterator[int]:
    """Open a folder, and close it again. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def folder_below(name: str, above: int) -> Iterator[int]:
    """Open a folder of an open folder, and close it again. Raises OSError."""
    descriptor = os.open(name, FOLDER_FLAGS, dir_fd=above)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
