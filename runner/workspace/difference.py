"""A change in words and as lines that were added and removed."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from runner.workspace import entry
from runner.workspace.change import MOST_BYTES, How
from runner.workspace.entry import TreeKind, UnreadableEntry
from runner.workspace.lines import hunks_of, split, unified

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from runner.workspace.change import ProjectChange
    from runner.workspace.entry import TreeEntry

MOST_LINES = 20_000


class LineDifference(NamedTuple):
    """The lines of a file that differ."""

    lines: tuple[str, ...] = ()
    """In the unified format, without its heading and without line ends."""
    added: int = 0
    removed: int = 0
    instead: str = ""
    """Why there are no lines; '' where there are."""
    coarse: str = ""
    """What of them was not compared line by line, in words; '' where all was."""


def compared(change: ProjectChange, project: Path, content: Path) -> LineDifference:
    """Return the lines that a change adds and removes; `content` is the folder with new content, by path."""
    sides = (change.before, change.after)
    if any(one is not None and one.kind is not TreeKind.FILE for one in sides):
        return LineDifference(instead=_of_kinds(change.before, change.after))
    if change.how is How.TOUCHED:
        return LineDifference(instead="only its time is another one")
    if any(one is not None and one.size > MOST_BYTES for one in sides):
        return LineDifference(instead=f"{_size(change.before)} to {_size(change.after)}, too large to be compared")
    texts = [
        _text(project, change.path, change.before),
        _text(content, change.path, change.after) if change.text is None else _decoded(change.text),
    ]
    if any(one is None for one in texts):
        return LineDifference(instead=f"not text: {_size(change.before)} to {_size(change.after)}")
    old, new = (split(one or "") for one in texts)
    if len(old) + len(new) > MOST_LINES:
        return LineDifference(instead="too many lines to be compared")
    hunks = hunks_of(old, new)
    found = unified(old, new, hunks)
    added, removed = (sum(line.startswith(sign) for line in found) for sign in "+-")
    if not found and change.before is not None and change.after is not None:
        return LineDifference(instead=f"permissions {change.before.mode:04o} to {change.after.mode:04o}")
    return LineDifference(found, added, removed, coarse=hunks.said)


def total(changes: Iterable[ProjectChange]) -> str:
    """Return how many there are of each kind, in words."""
    counts = dict.fromkeys(How, 0)
    for one in changes:
        counts[one.how] += 1
    return ", ".join(f"{number} {how.value}" for how, number in counts.items() if number) or "nothing changed"


def _of_kinds(before: TreeEntry | None, after: TreeEntry | None) -> str:
    if before is not None and after is not None and before.kind is after.kind is TreeKind.FOLDER:
        return f"permissions {before.mode:04o} to {after.mode:04o}"
    words = [_kind(one) for one in (before, after) if one is not None]
    return " becomes ".join(words)


def _kind(one: TreeEntry) -> str:
    if one.kind is TreeKind.LINK:
        return f"link to “{one.target.decode('utf-8', 'backslashreplace')}”"
    return one.kind.value


def _size(one: TreeEntry | None) -> str:
    return "nothing" if one is None else f"{one.size:,} bytes"


def beginning(folder: Path, path: bytes, most: int) -> bytes:
    """Return the first `most` bytes of the file at `path` below a folder. Raises OSError and UnreadableEntry."""
    with (
        entry.folder_open(folder) as top,
        entry.parent(top, path) as (inner, name),
        entry.opened(inner, name, entry.READ_FLAGS) as descriptor,
    ):
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FileNotFoundError(errno.ENOENT, "it is no file", path)
        pieces = []
        while most > 0 and (piece := os.read(descriptor, min(most, entry.CHUNK))):
            pieces.append(piece)
            most -= len(piece)
    return b"".join(pieces)


def _text(folder: Path, path: bytes, one: TreeEntry | None) -> str | None:
    """Return the text of a file; '' for no file, None for what is no text or cannot be read."""
    if one is None:
        return ""
    try:
        return _decoded(beginning(folder, path, MOST_BYTES + 1))
    except (OSError, UnreadableEntry):
        return None


def _decoded(data: bytes) -> str | None:
    """Return the text that a file has; None for what is no text."""
    try:
        return None if b"\0" in data else data.decode()
    except UnicodeDecodeError:
        return None
