"""Finds the programs that confine code, or are started without confinement, where only root can replace them.

An agent that may write files as this user could otherwise put a program of that name earlier in PATH.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from runner.model.errors import KnownError

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDERS = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin", "/opt/bin")
"""Looked into as well, whatever PATH says."""
OTHERS_WRITE = 0o022


def find(*names: str) -> str:
    """Return the path of the first program of these names that only root can replace; '' where there is none."""
    return next(every(*names), "")


def need(name: str) -> str:
    """Return the path of a program that only root can replace. Raises KnownError where there is none."""
    if not (found := find(name)):
        raise KnownError(f"{name} is not installed. {elsewhere(name)}".rstrip(), "Install it, then try again.")
    return found


def every(*names: str) -> Iterator[str]:
    """Yield the path of each program of these names that only root can replace, in the order in which they count."""
    folders = dict.fromkeys((*os.environ.get("PATH", "").split(os.pathsep), *FOLDERS))
    paths = (os.path.join(folder, name) for name in names for folder in folders if os.path.isabs(folder))
    return filter(is_taken, paths)


def is_taken(path: str) -> bool:
    """Return whether there is a program at `path` that only root can replace."""
    return _is_program(path) and not replaceable(path)


def elsewhere(name: str) -> str:
    """Return a sentence on a program of that name that `find` passed over; '' where there is none."""
    folders = os.environ.get("PATH", "").split(os.pathsep)
    for path in (os.path.join(folder, name) for folder in folders if os.path.isabs(folder)):
        if _is_program(path) and (place := replaceable(path)):
            return f"{path} is not taken, as others than root may change {place}."
    return ""


def replaceable(path: str) -> str:
    """Return the first file or folder on the way to `path` that others than root may change; '' where there is none.

    Both the path as it is written and the one it leads to count, each with every folder above it.
    """
    real = Path(os.path.realpath(path))
    for place in (*reversed(Path(path).parents), *reversed(real.parents), real):
        try:
            found = place.stat()
        except OSError:
            return str(place)
        if found.st_uid != 0 or found.st_mode & OTHERS_WRITE:
            return str(place)
    return ""


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)
