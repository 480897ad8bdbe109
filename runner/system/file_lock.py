"""Holds a file that several processes of this account change, so that none writes over what another wrote meanwhile."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from typing import TYPE_CHECKING

from runner.system.private_folder import make_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def is_held(file: Path) -> bool:
    """Return whether a process holds the lock on `file` at this moment. Raises OSError."""
    try:
        descriptor = os.open(_lock_of(file), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        # Shared, and only for this moment: whoever wants the lock waits a little longer than that.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


@contextlib.contextmanager
def held(file: Path, seconds: float) -> Iterator[None]:
    """Hold the lock on `file`, which is one beside it, with the ending `.lock`.

    Blocks for at most `seconds`. Raises OSError, also where another process holds it longer.
    """
    lock = _lock_of(file)
    make_folder(lock.parent)
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        end = time.monotonic() + seconds
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.005)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def shared(file: Path) -> Iterator[None]:
    """Keep others from holding the lock on `file`; several may do so at once. Raises OSError where one holds it."""
    lock = _lock_of(file)
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _lock_of(file: Path) -> Path:
    return file.with_name(f"{file.name}.lock")
