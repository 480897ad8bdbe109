"""Compares installed packages in a kept sandbox with what was installed; runs alone, before code that imports them.

Standard input is JSON: the folder, and the SHA-256 of each file by its place. Says on standard output, as JSON, the
first file that is another one, is missing, or was put there since and could be loaded; '' where all is well.
"""

import hashlib
import json
import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

STEP = 1 << 20
LIBRARY = b"\x7fELF"
"""How a shared library begins: the system's loader takes one of any name that stands where it looks first."""


def files(folder: str, above: str = "") -> "Iterator[tuple[str, int]]":
    """Yield the place and the kind of everything that is no folder."""
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda one: one.name):
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                yield from files(entry.path, above + entry.name + "/")
            else:
                yield above + entry.name, mode


def digest(path: str, whole: bool) -> "tuple[str, bytes]":
    """Return the SHA-256 of a file, where the `whole` of it is wanted, and how it begins."""
    found, first = hashlib.sha256(), b""
    with open(path, "rb") as file:
        while piece := file.read(STEP if whole else len(LIBRARY)):
            first = first or piece[: len(LIBRARY)]
            if not whole:
                break
            found.update(piece)
    return found.hexdigest(), first


def altered(folder: str, expected: "dict[str, str]") -> str:
    """Return the place of the first file that is not as it was installed. Raises OSError."""
    missing = set(expected)
    for place, mode in files(folder):
        listed = place in expected
        missing.discard(place)
        if not stat.S_ISREG(mode):
            return place
        sha256, first = digest(os.path.join(folder, place), listed)
        if (listed and sha256 != expected[place]) or (not listed and first == LIBRARY):
            return place
    return min(missing, default="")


orders = json.load(sys.stdin)
json.dump(altered(orders["folder"], orders["files"]), sys.stdout)
