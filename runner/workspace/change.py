"""A difference between a project and a layer over it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from runner.workspace.entry import TreeKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from runner.workspace.entry import TreeEntry

MERGED = "merged with your edit"
"""The mark of a merge, alone or behind another one."""
MOST_SUBJECTS = 3
"""Subjects of commits that are named."""
MOST_REFS = 5
"""Tags and branches that are named, of those with the same done to them."""
WHOLE = "Commits, tags and branches are applied with all of .git, or not at all."
MOST_BYTES = 1 << 20
"""Of a file whose lines are compared and merged."""


class How(StrEnum):
    ADDED = "added"
    CHANGED = "changed"
    DELETED = "deleted"
    TOUCHED = "touched"
    """Nothing but its time."""


@dataclass(frozen=True, slots=True)
class ProjectChange:
    """One path that is not the same in the project, as it is now, and in the layer."""

    path: bytes
    """Below the project, without a leading slash; empty for the project's own folder."""
    before: TreeEntry | None
    """In the project, without its hash unless the sizes are equal; None for nothing."""
    after: TreeEntry | None
    """In the layer."""
    conflict: str = ""
    """Why it cannot be applied: what somebody else did in the project meanwhile; '' where nobody did anything."""
    mark: str = ""
    """What makes it run by itself later on, or grave otherwise; '' for an ordinary one. Nothing with a mark is applied
    without a word of its own."""
    merged: str = ""
    """SHA-256 of the layer's content, where `after` has that and what somebody else did meanwhile; '' otherwise."""
    text: bytes | None = field(default=None, repr=False)
    """What `after` is to have, where that is neither in the layer nor in the project: a merge, or some hunks."""

    @property
    def how(self) -> How:
        if self.before is None:
            return How.ADDED
        if self.after is None:
            return How.DELETED
        return How.TOUCHED if self._same_but_time else How.CHANGED

    @property
    def is_of_text(self) -> bool:
        """Whether it is a file before and after, short enough for its lines to be compared and merged."""
        sides = (self.before, self.after)
        return all(one is not None and one.kind is TreeKind.FILE and one.size <= MOST_BYTES for one in sides)

    @property
    def _same_but_time(self) -> bool:
        one, other = self.before, self.after
        assert one is not None and other is not None
        # A file of another size may stand here without its hash.
        sizes = one.kind is not TreeKind.FILE or one.size == other.size
        return one.kind is other.kind is not TreeKind.FOLDER and sizes and _but_time(one) == _but_time(other)


class RefHow(StrEnum):
    DELETED = "deleted"
    MOVED = "moved"
    MADE = "made"


@dataclass(frozen=True, slots=True)
class GitRef:
    """A tag or a branch with which a program did something."""

    kind: str
    """In a word: tag, branch."""
    name: str
    """Text of the program."""
    how: RefHow


@dataclass(frozen=True, slots=True)
class GitCommits:
    """Commits that a program made, as the log of its repository says it, and the tags and branches that it moved."""

    branch: str
    """'' where none is checked out."""
    subjects: tuple[str, ...]
    """The first line of each, the oldest first: text of the program."""
    refs: tuple[GitRef, ...] = ()
    """Without the branch that is checked out, where commits were made on it."""

    @property
    def words(self) -> str:
        """Return how many there are, on which branch, with the first of their subjects, and what was moved."""
        return " ".join((*self._of_commits(), *self._of_refs()))

    def _of_commits(self) -> Iterator[str]:
        if number := len(self.subjects):
            named = ", ".join(f"“{one}”" for one in self.subjects[:MOST_SUBJECTS])
            more = f" and {number - MOST_SUBJECTS:,} more" if number > MOST_SUBJECTS else ""
            where = f" on branch {self.branch}" if self.branch else ""
            yield f"{number:,} {'commit' if number == 1 else 'commits'}{where}: {named}{more}."

    def _of_refs(self) -> Iterator[str]:
        for how in RefHow:
            if names := [f"{one.kind} {one.name}" for one in self.refs if one.how is how]:
                more = f" and {len(names) - MOST_REFS:,} more" if len(names) > MOST_REFS else ""
                yield f"{how.value.capitalize()}: {', '.join(names[:MOST_REFS])}{more}."


@dataclass(frozen=True, slots=True)
class ProjectChanges:
    """All that a layer changes, by path."""

    changes: tuple[ProjectChange, ...] = ()
    left_out: tuple[tuple[bytes, str], ...] = ()
    """Paths that cannot be applied, and why: sockets, devices, what this account may not read."""
    commits: GitCommits | None = None
    """What was done inside with commits, tags and branches, part of the changes below `.git`; None for nothing."""
    stamp: str = field(default="", compare=False)
    """What the layer and the project looked like, for a later look; '' where that was still moving."""

    @property
    def conflicts(self) -> tuple[ProjectChange, ...]:
        return tuple(one for one in self.changes if one.conflict)

    @property
    def marked(self) -> tuple[ProjectChange, ...]:
        return tuple(one for one in self.changes if one.mark)


def repository_of(path: bytes) -> bytes:
    """Return the folder of git's that a path is or lies in; nothing for none."""
    if b".git" not in path:
        return b""
    parts = path.split(b"/")
    return b"/".join(parts[: parts.index(b".git") + 1]) if b".git" in parts else b""


def digest(changes: Iterable[ProjectChange]) -> str:
    """Return the SHA-256 of exactly these changes: what would be written, and over what."""
    rows = [
        (one.path.hex(), _canonical(one.before) if one.before else None, _canonical(one.after) if one.after else None)
        for one in sorted(changes, key=lambda one: one.path)
    ]
    return hashlib.sha256(json.dumps(rows, separators=(",", ":")).encode()).hexdigest()


def _canonical(entry: TreeEntry) -> list[object]:
    attributes = [(name, value.hex()) for name, value in entry.attributes]
    return [*_but_time(entry)[:4], attributes, entry.modified, entry.inode, entry.names]


def _but_time(entry: TreeEntry) -> tuple[str, int, str, str, tuple[tuple[str, bytes], ...]]:
    return entry.kind.value, entry.mode, entry.sha256, entry.target.hex(), entry.attributes
