"""Opens files of ours that anything may stand in the place of: a pipe there must hold nobody."""

from __future__ import annotations

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 16 << 20
"""Largest file that is read where nothing else is said."""


def read_file(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return the content of a plain file, at most `most` bytes. Raises OSError, also for anything but a file."""
    with os.fdopen(open_file(path, os.O_RDONLY), "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", str(path))
    return data


def open_file(path: str | Path, flags: int, mode: int = 0o600) -> int:
    """Return a descriptor of a plain file. Raises OSError for a pipe, a folder or a device in its place."""
    # Not blocking, since a pipe without another end would wait for ever; plain files do not know the flag.
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY, mode)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "it is not a file", str(path))
