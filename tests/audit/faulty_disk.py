"""A disk on which the n-th write or flush of SQLite fails: a VFS around the system's (sqlite.org/vfs.html)."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from contextlib import contextmanager
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

FULL, IOERR, IOERR_WRITE, IOERR_FSYNC = 13, 10, 10 | 3 << 8, 10 | 4 << 8
"""Result codes: SQLITE_FULL, SQLITE_IOERR, SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC."""
OPEN = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, POINTER(c_int))
WRITE = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
SYNC = CFUNCTYPE(c_int, c_void_p, c_int)
AFTER_OPEN, METHODS = 15, 18
"""Functions of a VFS after xOpen, and functions of an open file."""
WRITES, SYNCS = 2, 4
"""Where xWrite and xSync stand among the functions of a file."""

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""A folder in which a flush costs nothing, where there is one."""


class Vfs(Structure):
    """sqlite3_vfs, version 3."""

    _fields_ = [
        ("version", c_int),
        ("file_size", c_int),
        ("longest_path", c_int),
        ("next", c_void_p),
        ("name", c_char_p),
        ("data", c_void_p),
        ("open", OPEN),
        ("others", c_void_p * AFTER_OPEN),
    ]


class FileMethods(Structure):
    """sqlite3_io_methods, version 3."""

    _fields_ = [("version", c_int), ("functions", c_void_p * METHODS)]


@dataclass
class Faults:
    """Which writes and flushes fail: those numbered from `first` on, `many` of them, counted from 1."""

    first: int = 0
    many: int = 1
    torn: bool = False
    """Half of what is written reaches the disk; else nothing does."""
    done: int = 0
    """How many there were."""
    hit: list[str] = field(default_factory=list)
    """What failed."""

    def strikes(self, what: str) -> bool:
        """Count one, and say whether it fails."""
        self.done += 1
        if struck := 0 < self.first <= self.done < self.first + self.many:
            self.hit.append(what)
        return struck


@contextmanager
def faulty_disk(faults: Faults) -> Iterator[None]:
    """Have every ledger that is opened meanwhile stand on a disk with `faults`."""
    library = ctypes.CDLL(ctypes.util.find_library("sqlite3"))
    library.sqlite3_vfs_find.restype = POINTER(Vfs)
    real = library.sqlite3_vfs_find(None)
    kept: dict[int, Any] = {}

    def opened(_vfs: int, name: int, file: int, flags: int, out: Any) -> int:
        code = int(real.contents.open(ctypes.addressof(real.contents), name, file, flags, out))
        slot = ctypes.cast(file, POINTER(c_void_p))
        if code == 0 and slot.contents.value:
            slot.contents.value = _methods(slot.contents.value, faults, kept)
        return code

    vfs = Vfs.from_buffer_copy(real.contents)
    vfs.name, vfs.next, vfs.open = b"faulty", None, OPEN(opened)
    assert library.sqlite3_vfs_register(ctypes.byref(vfs), 1) == 0
    try:
        yield
    finally:
        library.sqlite3_vfs_unregister(ctypes.byref(vfs))
        library.sqlite3_vfs_register(real, 1)


def _methods(address: int, faults: Faults, kept: dict[int, Any]) -> int:
    """The address of the functions at `address` with other ones to write and to flush; `kept` keeps them alive."""
    if address not in kept:
        real = FileMethods.from_address(address)
        write, sync = WRITE(real.functions[WRITES]), SYNC(real.functions[SYNCS])

        def writes(file: int, data: int, size: int, offset: int) -> int:
            if not faults.strikes(f"write of {size} at {offset}"):
                return int(write(file, data, size, offset))
            if faults.torn:
                write(file, data, size // 2, offset)
            return IOERR_WRITE if faults.torn else FULL

        def syncs(file: int, flags: int) -> int:
            return IOERR_FSYNC if faults.strikes("flush") else int(sync(file, flags))

        other = FileMethods.from_buffer_copy(real)
        callbacks = WRITE(writes), SYNC(syncs)
        other.functions[WRITES] = ctypes.cast(callbacks[0], c_void_p).value
        other.functions[SYNCS] = ctypes.cast(callbacks[1], c_void_p).value
        kept[address] = other, callbacks
    return ctypes.addressof(kept[address][0])
