"""Says which names in an archive may become files of a workspace."""

from __future__ import annotations

import unicodedata

from runner.packages.failures import Unusable

LONGEST_PATH = 400
"""Characters of a path in an archive; below the workspace it stays within what a system takes."""
LONGEST_PART = 255
"""Bytes of one name (NAME_MAX of Linux)."""
DEEPEST = 30
MOST_FILES = 30_000
"""Files of one package."""
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))


def parts_of(name: str) -> tuple[str, ...]:
    """Return the folders and the name of a path in an archive. Raises Unusable for one that leads anywhere else."""
    parts = tuple(name.split("/"))
    if name.startswith("/") or "\\" in name or not {"", ".", ".."}.isdisjoint(parts):
        raise Unusable(f"it holds a file that would be outside its folder: {name[:100]!a}")
    if len(name) > LONGEST_PATH or len(parts) > DEEPEST or any(len(part.encode()) > LONGEST_PART for part in parts):
        raise Unusable(f"it holds a file whose path is too long: {name[:100]!a}")
    if ":" in parts[0] or any(unicodedata.category(one) in _HIDDEN for one in name):
        raise Unusable(f"it holds a file whose name cannot be shown: {name[:100]!a}")
    return parts


class TakenPlaces:
    """The places that are taken already; no two files may share one, also not on a system that ignores case."""

    def __init__(self) -> None:
        self._files: dict[str, str] = {}
        self._folders: set[str] = set()

    def take(self, place: str) -> None:
        """Raises Unusable where the place, or a folder above it, is another file already."""
        folded = unicodedata.normalize("NFC", place).casefold()
        if folded in self._files or folded in self._folders:
            raise Unusable(f"it holds two files in one place: {place[:100]!a}")
        self._files[folded] = place
        while "/" in folded:
            folded = folded.rpartition("/")[0]
            if folded in self._files:
                raise Unusable(f"it holds a file and a folder in one place: {place[:100]!a}")
            self._folders.add(folded)
        if len(self._files) > MOST_FILES:
            raise Unusable(f"it holds more than {MOST_FILES:,} files")
