"""Tags and branches that a program made, moved or deleted: files below `.git/refs`, and lines of `.git/packed-refs`.

They are read as text, and git is not run.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from runner.workspace import originals
from runner.workspace.change import GitRef, RefHow
from runner.workspace.entry import UnreadableEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runner.workspace.change import ProjectChange

TAG, BRANCH = "tag", "branch"
KINDS = {b"refs/tags/": TAG, b"refs/heads/": BRANCH}
GIT, PACKED = b".git/", b".git/packed-refs"
MOST_BYTES = 16 << 20
"""Of packed-refs."""
LONGEST = 120
"""Characters of a name, and about as many bytes of what it leads to."""
UNREAD = b"?"


def moved(changes: Sequence[ProjectChange], project: int, layer: int) -> tuple[GitRef, ...]:
    """Return what is not where it was. Both folders are open. Raises UnreadableEntry and OSError.

    Nothing where the repository itself is gone: that is said otherwise.
    """
    changed = {one.path: one for one in changes if one.path.startswith(GIT)}
    if any(one.path == GIT[:-1] and one.after is None for one in changes):
        return ()
    loose = {path.removeprefix(GIT): one for path, one in changed.items() if _kind(path.removeprefix(GIT))}
    packed = changed.get(PACKED)
    if not loose and packed is None:
        return ()
    old = _packed(project)
    new = old if packed is None else _packed(layer) if packed.after is not None else {}
    found = []
    for ref in sorted({*loose, *(one for one in old.keys() | new.keys() if old.get(one) != new.get(one))}):
        before = _loose(project, ref) or old.get(ref, b"")
        one = loose.get(ref)
        there = _loose(project, ref) if one is None else _loose(layer, ref) if one.after is not None else b""
        after = there or new.get(ref, b"")
        if before != after:
            how = RefHow.MADE if not before else RefHow.MOVED if after else RefHow.DELETED
            # refs/tags/1.0: the name is behind the second of them.
            found.append(GitRef(_kind(ref), os.fsdecode(ref.split(b"/", 2)[2])[:LONGEST], how))
    return tuple(found)


def _kind(ref: bytes) -> str:
    return next((kind for prefix, kind in KINDS.items() if ref.startswith(prefix)), "")


def _loose(top: int, ref: bytes) -> bytes:
    """Return what the file of a ref says; nothing where there is none, and UNREAD for a link and what is closed."""
    try:
        return originals.read_beginning(top, GIT + ref, LONGEST).strip()
    except (FileNotFoundError, IsADirectoryError):
        return b""
    except (OSError, UnreadableEntry):
        return UNREAD


def _packed(top: int) -> dict[bytes, bytes]:
    """Return the refs in packed-refs. Raises UnreadableEntry and OSError."""
    try:
        text = originals.read_beginning(top, PACKED, MOST_BYTES)
    except FileNotFoundError:
        return {}
    return dict(_lines(text))


def _lines(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    for line in text.splitlines():
        value, _, ref = line.partition(b" ")
        # A line with ^ says what the tag above leads to, one with # how the file is sorted.
        if not line.startswith((b"#", b"^")) and _kind(ref):
            yield ref, value
