"""The merge of a file that both the layer and somebody else changed: git's own, of what both began with.

A merge is a `ProjectChange` like any other: before is the file as it is in the project now, after has both. It is
always marked, so that nothing applies it unasked. Where both changed the same lines it stays a conflict, and names
them.
"""

from __future__ import annotations

import hashlib
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from runner.model.expression import expression
from runner.workspace import entry, git, originals
from runner.workspace.change import MERGED, ProjectChange, ProjectChanges, repository_of
from runner.workspace.entry import TreeEntry, UnreadableEntry

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_FILES = 200
"""Conflicts that are merged in one look; further ones stay as they are."""
SECONDS = 10.0
"""Time for all of them."""
MOST_PLACES = 6
"""Places of a file that a conflict names."""
PLACE = expression(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
MOST_CONFLICTS = 127
"""The highest exit code of `git merge-file` that is a number of conflicts."""


class _Sides(NamedTuple):
    base: bytes
    mine: bytes
    """What the project has now."""
    layer: bytes


def with_merges(
    found: ProjectChanges, folder: Path, top: int, content: Path, taken: Mapping[bytes, str]
) -> ProjectChanges:
    """Return the changes with those that conflict merged where that can be done. Blocks. Raises OSError.

    `folder` is the working copy's own, `top` the open project, `content` the folder with what the layer has. `taken`
    has the SHA-256 of what the layer had at a path when that was applied.
    """
    conflicts = [
        one
        for one in found.conflicts
        # Half of a repository would break it.
        if one.is_of_text and _is_about_content(one) and not repository_of(one.path)
    ][:MOST_FILES]
    if not conflicts:
        return found
    known = originals.texts(folder, [one.path for one in conflicts if one.path not in taken])
    by_path: dict[bytes, ProjectChange | None] = {}
    end = time.monotonic() + SECONDS
    with entry.folder_open(content) as layer, tempfile.TemporaryDirectory(prefix="merge-", dir=folder) as room:
        git.make_folder_of_git(Path(room) / "git")
        for one in conflicts:
            if time.monotonic() > end:
                break
            hash = taken.get(one.path)
            # It was applied: what both did since then began with that.
            began = known.get(one.path) if hash is None else originals.applied(folder, hash)
            if (sides := _sides(one, top, layer, began)) is not None:
                by_path[one.path] = _merged(one, sides, Path(room))
    changes = (by_path.get(one.path, one) for one in found.changes)
    return replace(found, changes=tuple(one for one in changes if one is not None))


def _is_about_content(one: ProjectChange) -> bool:
    assert one.before is not None and one.after is not None
    return (one.before.mode, one.before.attributes) == (one.after.mode, one.after.attributes)


def _sides(one: ProjectChange, top: int, layer: int, began: bytes | None) -> _Sides | None:
    """Return the three contents; None where one of them is not known, or no text."""
    assert one.before is not None and one.after is not None
    if began is None:
        return None
    try:
        sides = _Sides(
            began, originals.read_exactly(top, one.path, one.before), originals.read_exactly(layer, one.path, one.after)
        )
    except (OSError, UnreadableEntry):
        return None
    return None if b"\0" in b"".join(sides) else sides


def _merged(one: ProjectChange, sides: _Sides, room: Path) -> ProjectChange | None:
    """Return the change with what became of its conflict; None where the project has all of the layer's already."""
    assert one.before is not None and one.after is not None
    if sides.mine == sides.base:
        return replace(one, conflict="")
    for name, text in zip(_Sides._fields, sides, strict=True):
        (room / name).write_bytes(text)
    words = ["merge-file", "--stdout", "--quiet", "mine", "base", "layer"]
    code, text = git.run(room / "git", words, at=room)
    if 0 < code <= MOST_CONFLICTS:
        return replace(one, conflict=_with_places(one.conflict, room))
    if code != 0 or len(text) > sum(map(len, sides)):
        return one
    if text == sides.mine:
        return None
    return changed_text(one, text, merged=one.after.sha256)


def changed_text(one: ProjectChange, text: bytes, *, merged: str = "") -> ProjectChange:
    """Return a change with `text` as what is to stand there, with permissions and attributes as in the layer."""
    assert one.after is not None
    after = TreeEntry(
        one.after.kind, one.after.mode, len(text), hashlib.sha256(text).hexdigest(), attributes=one.after.attributes
    )
    mark = "; ".join(filter(None, (one.mark, MERGED))) if merged else one.mark
    return replace(one, after=after, conflict="", mark=mark, merged=merged or one.merged, text=text)


def _with_places(conflict: str, room: Path) -> str:
    """Return the reason of a conflict with the lines, of the file as it is in the project, that both changed."""
    mine, layer = _places(room, "mine"), _places(room, "layer")
    both = [new for old, new in mine if any(old[0] <= other[1] and other[0] <= old[1] for other, _ in layer)]
    if not both:
        return conflict
    named = [f"{first}" if last <= first + 1 else f"{first} to {last - 1}" for first, last in both[:MOST_PLACES]]
    more = " and more" if len(both) > MOST_PLACES else ""
    one = "line" if len(named) == 1 and " " not in named[0] else "lines"
    return f"{conflict.rstrip('.')}, and both changed {one} {', '.join(named)}{more}."


def _places(room: Path, name: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return where a version differs from what it began with: lines there, and its own, first and behind the last."""
    words = ["diff", "--no-index", "--no-color", "--no-ext-diff", "--no-textconv", "--unified=0", "base", name]
    code, said = git.run(room / "git", words, at=room)
    if code not in (0, 1):
        return []
    places = []
    for line in said.split(b"\n"):
        if found := PLACE.match(line):
            old, olds, new, news = (int(one) if one is not None else 1 for one in found.groups())
            # Without a line of its own a place stands behind the one that it names.
            old, new = old + (olds == 0), new + (news == 0)
            places.append(((old, old + olds), (new, new + news)))
    return places
