"""The test that the files which read agents' code are still those with which this process began.

An update replaces them while the console is open. Its worker processes would then be of another version than it is.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import TYPE_CHECKING

from runner.system.shipped import resources

if TYPE_CHECKING:
    from pathlib import Path

PARTS = ("runner/model", "runner/risk", "runner/system", "resources/rules")
"""What a worker process loads of Assent; a test holds this against what it imports."""
SUFFIXES = (".py", ".yaml", ".json", ".txt")


def digest(top: Path | None = None) -> str:
    """Return a hash of names and contents of the files below `top`, by default of this installation.

    Raises OSError where one cannot be read, as may be in the middle of an update.
    """
    top = top or resources().parent
    found = hashlib.sha256()
    for part in PARTS:
        for file in sorted((top / part).rglob("*")):
            if file.suffix in SUFFIXES:
                data = file.read_bytes()
                found.update(f"{file.relative_to(top)}\0{len(data)}\0".encode())
                found.update(data)
    return found.hexdigest()


@cache
def at_start() -> str:
    """Return `digest()` as it was at the first call, which belongs to the start of the process.

    '' where an update was under way then: no worker is of that version.
    """
    try:
        return digest()
    except OSError:
        return ""


def replaced() -> bool:
    """Return whether the files are others than at the start; also while they cannot be read."""
    try:
        return digest() != at_start()
    except OSError:
        return True
