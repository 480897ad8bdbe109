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


@contextlib.contextmanager
def held(file: Path, seconds: float) -> Iterator[None]:
    """Hold the lock on `file`, which is one beside it, with the ending `.lock`.

    Blocks for at most `seconds`. Raises OSError, also where another process holds it longer.
    """
    lock = file.with_name(f"{file.name}.lock")
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
