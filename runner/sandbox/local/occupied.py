"""Counts the room that a folder on disk takes up, while code that may hide some of it runs in there."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.model.workspace import WORKSPACE
from runner.system.process_stat import read_proc
from runner.system.removal import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator

DEEPEST = 100
"""Most folders within each other. Each that is open takes a descriptor of the console's."""
MOST_DESCRIPTORS = 20_000
"""Most open files of all processes that are looked at: the time for it is the console's."""
REPLACED = (errno.ENOTDIR, errno.ELOOP)
BLOCK = 512
"""Bytes in a block of `st_blocks`."""


class Uncounted(Exception):
    """A folder holds what cannot be counted; the text says what."""


@dataclass(frozen=True, slots=True)
class Occupied:
    """What a folder holds."""

    size: int
    """Bytes on disk."""
    entries: int
    """Files, folders and links."""


@dataclass(frozen=True, slots=True)
class RemovedFiles:
    """Files that processes have open and that no folder names any more."""

    size: int
    """Bytes on disk."""
    hidden: bool
    """Whether there are some whose size cannot be seen: mapped and closed, or sent through a socket."""


def occupied(folder: str, most: int) -> Occupied:
    """Return what is below `folder`; what stands after the first `most` entries does not count.

    Raises Uncounted for folders that are closed, replaced, or too deep to be looked into, and OSError where this
    machine keeps it from being counted.
    """
    total = seen = 0
    linked: set[int] = set()
    try:
        for found in _entries(folder):
            seen += 1
            if found.st_nlink == 1 or stat.S_ISDIR(found.st_mode) or found.st_ino not in linked:
                total += found.st_blocks * BLOCK
            if found.st_nlink > 1:
                linked.add(found.st_ino)
            if seen > most:
                break
    except PermissionError:
        raise Uncounted("Closed a folder, so that its size cannot be counted (limit)") from None
    except OSError as error:
        if error.errno in REPLACED:
            raise Uncounted("Replaced its workspace, so that its size cannot be counted (limit)") from None
        raise
    return Occupied(total, seen)


def _entries(folder: str) -> Iterator[os.stat_result]:
    """Yield all entries, going down by descriptors: a path could be too long, or become another one."""
    try:
        above = [_Open(os.open(folder, FOLDER))]
    except FileNotFoundError:
        return
    try:
        while above:
            if (name := above[-1].next()) is None:
                above.pop().close()
                continue
            with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                found = os.stat(name, dir_fd=above[-1].fd, follow_symlinks=False)
                yield found
                if stat.S_ISDIR(found.st_mode):
                    above.append(_below(name, above))
    finally:
        for one in above:
            one.close()


def _below(name: str, above: list[_Open]) -> _Open:
    if len(above) > DEEPEST:
        raise Uncounted(f"Made more than {DEEPEST} folders within each other (limit)")
    try:
        return _Open(os.open(name, FOLDER, dir_fd=above[-1].fd))
    except OSError as error:
        if error.errno in REPLACED:
            raise FileNotFoundError(name) from None  # something else stands there by now
        raise


class _Open:
    """An open folder, and its names that are still to come."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        try:
            self._names = iter(os.listdir(fd))
        except OSError:
            os.close(fd)
            raise

    def next(self) -> str | None:
        return next(self._names, None)

    def close(self) -> None:
        os.close(self.fd)


def removed_files(pids: list[int], folder: str) -> RemovedFiles:
    """Return the files on the disk of `folder` that these processes hold and that have no name."""
    try:
        device = os.stat(folder).st_dev
    except OSError:
        return RemovedFiles(0, False)
    sizes: dict[int, int] = {}
    sent = looked = 0
    for pid in pids:
        for fd in _listed(f"/proc/{pid}/fd"):
            looked += 1
            try:
                found = os.stat(f"/proc/{pid}/fd/{fd}")
            except OSError:
                continue
            if stat.S_ISSOCK(found.st_mode):
                sent += _sent_through(pid, fd)
            elif found.st_nlink == 0 and found.st_dev == device and stat.S_ISREG(found.st_mode):
                sizes[found.st_ino] = found.st_blocks * BLOCK
        if looked > MOST_DESCRIPTORS:
            return RemovedFiles(sum(sizes.values()), True)
    mapped = any(not _mapped(pid) <= sizes.keys() for pid in pids)
    return RemovedFiles(sum(sizes.values()), bool(sent) or mapped)


def _mapped(pid: int) -> set[int]:
    """Return the numbers of the removed files of a kept workspace that a process has mapped."""
    below = f"{WORKSPACE}/".encode()
    return {
        int(line.split(None, 5)[4])
        for line in read_proc(f"/proc/{pid}/maps").splitlines()
        if line.endswith(b" (deleted)") and below in line
    }


def _sent_through(pid: int, fd: str) -> int:
    """Return how many open files wait in a socket to be received."""
    _, _, rest = read_proc(f"/proc/{pid}/fdinfo/{fd}").partition(b"scm_fds:")
    return int(rest.split()[0]) if rest else 0


def _listed(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []
