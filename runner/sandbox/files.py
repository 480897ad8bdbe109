"""Files of a workspace that is a folder of this machine: no link, whoever makes it and when, leads out of it.

Every step goes through a descriptor of the folder before it and follows no link (openat(2), O_NOFOLLOW), so there is
no moment at which a path could be turned into another one. Everything here blocks.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.sandbox.contract import EntryKind, FileSlice, FolderEntry, FolderListing
from runner.system.removal import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_ENTRIES = 1_000
"""Entries of one listing."""


def read(root: str, path: str, offset: int, most: int) -> FileSlice:
    """Return at most `most` bytes of the file `path` from `offset` on. Raises KnownError."""
    with _errors_explained(path), _parent(root, path) as (folder, name):
        # Without O_NONBLOCK a pipe would keep whoever opens it waiting.
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        with open(fd, "rb", buffering=0) as file:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode):
                raise KnownError(f"{path} is not an ordinary file.", "Only ordinary files can be read.")
            file.seek(offset)
            data = b""
            while len(data) < most and (more := file.read(most - len(data))):
                data += more
            return FileSlice(data, found.st_size)


def write(root: str, path: str, data: bytes, *, executable: bool, owner: int | None) -> None:
    """Put `data` in place of the file `path`, as a whole or not at all; folders are made. Raises KnownError.

    `owner` is the user and group it belongs to from then on; None leaves that alone.
    """
    with _errors_explained(path), _parent(root, path, made_for=(owner,)) as (folder, name):
        with contextlib.suppress(FileNotFoundError):
            there = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISREG(there.st_mode):
                raise KnownError(f"{path} is there and is not an ordinary file.", "Choose another name.")
        temporary = f".{secrets.token_hex(8)}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(temporary, flags, 0o600, dir_fd=folder)
        try:
            with open(fd, "wb", buffering=0) as file:
                view = memoryview(data)
                while view:
                    view = view[file.write(view) or 0 :]
                os.fchmod(fd, 0o755 if executable else 0o644)
                if owner is not None:
                    os.fchown(fd, owner, owner)
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise


def listing(root: str, path: str) -> FolderListing:
    """Return what is in the folder `path`, by name, folders as one entry each. Raises KnownError."""
    with _errors_explained(path), _folder(root, path) as folder:
        names = sorted(os.listdir(folder))
        entries = [_entry(folder, name) for name in names[:MOST_ENTRIES]]
        return FolderListing(tuple(entry for entry in entries if entry is not None), max(0, len(names) - MOST_ENTRIES))


def remove(root: str, name: str) -> None:
    """Take away one file in the workspace itself; nothing where it is not there."""
    with contextlib.suppress(OSError, KnownError), _folder(root, ".") as folder:
        os.unlink(name, dir_fd=folder)


def _entry(folder: int, name: str) -> FolderEntry | None:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return FolderEntry(os.fsencode(name).decode("utf-8", "backslashreplace"), _kind(found.st_mode), found.st_size)


def _kind(mode: int) -> EntryKind:
    if stat.S_ISREG(mode):
        return EntryKind.FILE
    if stat.S_ISDIR(mode):
        return EntryKind.FOLDER
    return EntryKind.LINK if stat.S_ISLNK(mode) else EntryKind.OTHER


@contextlib.contextmanager
def _parent(root: str, path: str, made_for: tuple[int | None, ...] = ()) -> Iterator[tuple[int, str]]:
    """The folder that `path` is in, open, and its last name. Folders that are missing are made for their owner."""
    above, _, name = path.rpartition("/")
    if name in ("", "."):
        raise KnownError(f"{path} is a folder.", "Name a file in it.")
    with _folder(root, above or ".", made_for) as folder:
        yield folder, name


@contextlib.contextmanager
def _folder(root: str, path: str, made_for: tuple[int | None, ...] = ()) -> Iterator[int]:
    current = os.open(root, FOLDER)
    try:
        for part in path.split("/"):
            if part != ".":
                below = _step(current, part, made_for)
                os.close(current)
                current = below
        yield current
    finally:
        os.close(current)


def _step(folder: int, name: str, made_for: tuple[int | None, ...]) -> int:
    if made_for:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o755, dir_fd=folder)
            if made_for[0] is not None:
                os.chown(name, made_for[0], made_for[0], dir_fd=folder, follow_symlinks=False)
    return os.open(name, FOLDER, dir_fd=folder)


@contextlib.contextmanager
def _errors_explained(path: str) -> Iterator[None]:
    """What the system refuses, in words."""
    try:
        yield
    except OSError as error:
        raise refusal(path, error.errno or 0) from error


def refusal(path: str, code: int) -> KnownError:
    """Return what to say of a file that the system refuses with the error `code` (errno)."""
    return KnownError(*_words(path, code))


def _words(path: str, code: int) -> tuple[str, str]:
    match code:
        case errno.ENOENT:
            return f"There is no file {path}.", "List the files for what there is."
        case errno.ELOOP:
            return f"{path} is or passes through a link.", "Links are not followed; name the file itself."
        case errno.ENOTDIR:
            return f"{path} passes through something that is no folder, or through a link.", "Name another place."
        case errno.EISDIR:
            return f"{path} is a folder.", "Name a file in it."
        case errno.EACCES | errno.EPERM:
            return f"{path} may not be opened: its permissions forbid it.", "Change them by running code."
        case errno.ENOSPC | errno.EDQUOT:
            return f"There is no room for {path}.", "Remove files, or create a new sandbox."
        case errno.ENXIO:  # a socket, or what opens as one
            return f"{path} is not an ordinary file.", "Only ordinary files can be used."
        case _:
            return f"{path} could not be used: {os.strerror(code)}.", "Choose another file."
