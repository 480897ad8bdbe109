"""Writes collected files where a person wants them: under harmless names, and never over another file unasked."""

from __future__ import annotations

import itertools
import os
import re
from typing import TYPE_CHECKING

from runner.model.shown import hides

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from runner.model.result import CapturedFile

LONGEST = 100
"""Characters of a name."""
_FORBIDDEN = re.compile(r'[/\\:*?"<>|$`&;\s]+')
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def name(path: str) -> str:
    """Return a harmless name for the file at `path`: no hidden characters, no folders, nothing a shell expands."""
    last = path.rpartition("/")[2]
    seen = "".join("_" if hides(one) else one for one in last)
    plain = _FORBIDDEN.sub("_", seen).strip("._-~ ") or "file"
    stem, dot, end = plain.rpartition(".")
    if not dot or len(end) > 10:
        return plain[:LONGEST]
    return f"{stem[: LONGEST - len(end) - 1]}.{end}"


def write(path: Path, data: bytes) -> None:
    """Put `data` in place of the file at `path`, which a person has chosen. Raises OSError."""
    path.write_bytes(data)


def write_all(folder: Path, files: Iterable[CapturedFile], read: Callable[[CapturedFile], bytes]) -> int:
    """Save all files in `folder` under free names; return how many. Raises OSError, KnownError for one that is gone."""
    count = 0
    for file in files:
        data = read(file)
        with os.fdopen(_fresh(folder, name(file.path)), "wb") as target:
            target.write(data)
        count += 1
    return count


def _fresh(folder: Path, wanted: str) -> int:
    """Return a new file in `folder`: never one that is there. Raises OSError."""
    stem, dot, end = wanted.rpartition(".")
    stem, end = (stem, dot + end) if dot else (wanted, "")
    for number in itertools.count(2):
        try:
            return os.open(folder / wanted, NEW, 0o600)
        except FileExistsError:
            wanted = f"{stem} ({number}){end}"
    raise AssertionError
