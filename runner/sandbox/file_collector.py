"""Takes in the files that a run created, each under the name of its content, and says what was left out."""

from __future__ import annotations

import hashlib
import os
from enum import StrEnum
from typing import TYPE_CHECKING

from runner.model.bundle import PACKAGE_FOLDERS
from runner.model.result import CapturedFile
from runner.sandbox.file_names import is_inside, shown

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from runner.sandbox.contract import Collect

NAMED = 3
"""Most files named for each reason to leave them out; of the others the number is given."""
LONGEST = 200
"""Characters of a name where it is only mentioned."""
CACHES = b".cache/"
"""The folder for what programs can make again (XDG Base Directory): the home folder of code is its workspace."""
CLOCK_LAG = 0.1
"""Seconds by which the times of files may lag behind the clock: the system notes them in coarse steps."""
LONGEST_RUN = 86_400.0 * 30
"""Seconds after the start from which a time is none of this run."""
LONGEST_PATH = 4096
"""Bytes of a path that is taken: as many as a path of the system may have."""


class LeftOut(StrEnum):
    """Why something is left out. Words in braces are bounds."""

    LARGE = "larger than {largest}"
    MANY = "more than {files} files"
    FULL = "more than {whole} altogether"
    LINK = "links"
    HARD_LINK = "also in another place (hard links)"
    SPECIAL = "not ordinary files"
    CLOSED = "not to be read"
    PACKAGES = PACKAGE_FOLDERS
    CACHE = "{count} in caches of programs"
    DEEP = "in folders too deep"
    NAME = "not named as a file in the workspace is"
    CHANGED = "changed while they were read"
    REST = "not looked at"


class FileCollector:
    """Files in the order they come. Names and contents are those of code that may be hostile."""

    def __init__(self, collect: Collect) -> None:
        self._folder: Path = collect.folder
        self._bounds = collect.bounds
        self._left = collect.bounds.all_bytes
        self._files: list[CapturedFile] = []
        self._taken: set[bytes] = set()
        self._left_out: dict[LeftOut, list[str]] = {}
        self._failure = ""
        self.began: float | None = None
        """When the run started, by the clock of the sandbox, in seconds since the epoch; None where nobody knows."""

    @property
    def files(self) -> tuple[CapturedFile, ...]:
        """In order; what programs keep for themselves comes last."""
        return tuple(sorted(self._files, key=lambda file: order(os.fsencode(file.path))))

    def refuses(self, path: bytes, size: int) -> bool:
        """Return whether a file of that name and so many bytes has no place here; noted when it has none."""
        if path in self._taken or not is_inside(path):
            self.leave(path, LeftOut.NAME)
        elif path.startswith(CACHES):
            # Named by their program: their own names say nothing to anybody.
            self.leave(b"/".join(path.split(b"/")[:2]), LeftOut.CACHE)
        elif len(path) > LONGEST_PATH:
            self.leave(path, LeftOut.DEEP)
        elif size > self._bounds.file_bytes:
            self.leave(path, LeftOut.LARGE, size)
        elif len(self._files) >= self._bounds.files:
            self.leave(path, LeftOut.MANY)
        elif size > self._left:
            self.leave(path, LeftOut.FULL)
        else:
            return False
        return True

    def put(self, path: bytes, pieces: Iterable[bytes], changed: float | None = None) -> None:
        """Take a file in; what turns out larger than it may be is noted and not kept. Raises OSError.

        `changed` is when it was changed last, by the clock of the sandbox, in seconds since the epoch.
        """
        draft = self._folder / ".draft"
        digest, size = hashlib.sha256(), 0
        try:
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                for piece in pieces:
                    size += len(piece)
                    if self.refuses(path, size):
                        return
                    digest.update(piece)
                    file.write(piece)
            name = digest.hexdigest()
            draft.rename(self._folder / name)
        finally:
            draft.unlink(missing_ok=True)
        self._left -= size
        self._taken.add(path)
        self._files.append(CapturedFile(shown(path), size, name, self._since_start(changed)))

    def _since_start(self, changed: float | None) -> float | None:
        if changed is None or self.began is None or not -CLOCK_LAG <= changed - self.began <= LONGEST_RUN:
            return None
        return round(max(0.0, changed - self.began), 3)

    def leave(self, path: bytes, why: LeftOut, size: int = 0) -> None:
        """Note that something was there and is not taken."""
        name = shown(path) or ("others" if why is LeftOut.REST else "''")
        name = name if len(name) <= LONGEST else f"{name[:LONGEST]}..."
        self._left_out.setdefault(why, []).append(f"{name} ({amount(size)})" if size else name)

    def fail(self, error: OSError) -> None:
        """Note that files could not be stored any more."""
        self._failure = f"the rest, as files could not be stored: {error.strerror}"

    @property
    def left_out(self) -> str:
        """In words; '' for nothing."""
        parts = [self._described(why, names) for why, names in self._left_out.items()]
        return "; ".join([*parts, self._failure] if self._failure else parts)

    def _described(self, why: LeftOut, names: list[str]) -> str:
        count = f"{len(names):,} file{'s' if len(names) > 1 else ''}"
        if why is LeftOut.CACHE:
            names = list(dict.fromkeys(names))
        named = ", ".join(names[:NAMED])
        more = len(names) - NAMED
        bounds = self._bounds
        largest, whole = amount(bounds.file_bytes), amount(bounds.all_bytes)
        words = why.value.format(largest=largest, files=bounds.files, whole=whole, count=count)
        return f"{words}: {named}" + (f" and {more:,} more" if more > 0 else "")


def order(path: bytes) -> tuple[bool, bytes]:
    return path.startswith(b".") or b"/." in path, path


def amount(size: int) -> str:
    for unit, step in (("GB", 30), ("MB", 20), ("KB", 10)):
        if size >= 1 << step:
            return f"{size / (1 << step):.3g} {unit}"
    return f"{size} bytes"
