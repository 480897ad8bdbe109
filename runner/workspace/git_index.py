"""git's index, compared by what it lists: git writes it again also where it has only looked at the times of files.

`git status`, which every agent runs, refreshes them. That is no change of anybody's, and the index of the project must
keep its own times: those of the layer are of other files.
"""

from __future__ import annotations

import contextlib
import struct
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.workspace import entry, originals
from runner.workspace.entry import TreeKind, UnreadableEntry

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from runner.workspace.change import ProjectChange, ProjectChanges

INDEX = b".git/index"
MOST_BYTES = 8 << 20
"""A larger one is compared byte by byte only, as any other file: that is some 80,000 files."""
HEADER = struct.Struct(">4sLL")
STATED = 40
"""Bytes at the beginning of an entry that are about times and the like, but for the mode among them."""
MODE = 24
HASH = 20
DERIVED = frozenset({b"TREE", b"UNTR", b"FSMN", b"EOIE", b"IEOT"})
"""Extensions that say nothing of their own (gitformat-index(5)): git makes them again."""

Listed = list[tuple[bytes, bytes]]
"""Mode, blob and flags, with the name."""


def without_refreshed(
    found: ProjectChanges, project: int, layer: Path, kept: Path, written: Collection[bytes]
) -> ProjectChanges:
    """Return the changes without indexes that list what they did before. `project` is the open folder.

    `kept` is the folder of the working copy with the index as it was at the start, which counts where nothing was
    `written` at that path from here.
    """
    changes = tuple(one for one in found.changes if not _is_refreshed(one, project, layer, kept, written))
    return found if len(changes) == len(found.changes) else replace(found, changes=changes)


def _is_refreshed(change: ProjectChange, project: int, layer: Path, kept: Path, written: Collection[bytes]) -> bool:
    path, before, after = change.path, change.before, change.after
    if path != INDEX and not path.endswith(b"/" + INDEX):
        return False
    if before is None or after is None or before.mode != after.mode:
        return False
    if any(one.kind is not TreeKind.FILE or one.size > MOST_BYTES for one in (before, after)):
        return False
    with contextlib.suppress(OSError, UnreadableEntry):
        with entry.folder_open(layer) as top:
            new = listed(originals.read_exactly(top, path, after, MOST_BYTES))
        if new is None:
            return False
        if new == listed(originals.read_exactly(project, path, before, MOST_BYTES)):
            return True
        if path == INDEX and path not in written:
            start = kept / originals.GIT / originals.INDEX
            return start.stat().st_size <= MOST_BYTES and new == listed(start.read_bytes())
    return False


def listed(data: bytes) -> Listed | None:
    """Return what an index lists, without times; None for one of another form (split, sparse, version 4, damaged)."""
    with contextlib.suppress(struct.error, ValueError, IndexError):
        return [*_entries(data)]
    return None


def _entries(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the entries of an index of version 2 or 3. Raises struct.error, ValueError and IndexError."""
    sign, version, number = HEADER.unpack_from(data)
    if sign != b"DIRC" or version not in (2, 3):
        raise ValueError("another form")
    at, end = HEADER.size, len(data) - HASH
    for _ in range(number):
        (flags,) = struct.unpack_from(">H", data, at + STATED + HASH)
        name = at + STATED + HASH + (4 if flags & 0x4000 else 2)
        stop = data.index(b"\0", name, end)
        yield data[at + MODE : at + MODE + 4] + data[at + STATED : name], data[name:stop]
        at += (stop - at + 8) // 8 * 8  # padded with one to eight zeros
    while at + 8 <= end:
        (size,) = struct.unpack_from(">L", data, at + 4)
        if data[at : at + 4] not in DERIVED:
            yield data[at : at + 4], data[at + 8 : at + 8 + size]
        at += 8 + size
    if at != end:
        raise ValueError("damaged")
