"""Changes of files by a run in a kept sandbox, and what undoing it would bring back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

FILES_CHANGED, UNDONE, NOT_UNDONE = "files-changed", "undone", "not-undone"
"""Kinds of ledger entries: about a run; about the run that a person undid; about one where that failed."""
MOST_NAMED = 200
"""Changes that are named of one run; of the others the number is given."""


class ChangeKind(StrEnum):
    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


class FileKind(StrEnum):
    """What stands in a workspace and is copied."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file, empty folder or link that is not as it was."""

    path: str
    """As text in which nothing hides: what is no text or cannot be printed is written as an escape."""
    kind: ChangeKind
    what: FileKind = FileKind.FILE
    before: int | None = None
    """Bytes; None where there was none, and for what is no file."""
    after: int | None = None
    content: bool = True
    """Whether it has another content, and not other permissions alone."""


@dataclass(frozen=True, slots=True)
class FileChanges:
    """What differs between two states of a workspace."""

    changes: tuple[ChangedFile, ...] = ()
    """By path, at most `MOST_NAMED`."""
    added: int = 0
    changed: int = 0
    removed: int = 0
    """Numbers of all of them."""
    unknown: str = ""
    """Why none of this is known; empty where it is."""

    @property
    def left_out(self) -> int:
        """How many more there are than `changes` names."""
        return self.count - len(self.changes)

    @property
    def count(self) -> int:
        return self.added + self.changed + self.removed


@dataclass(frozen=True, slots=True)
class RunChanges:
    """What one run in a kept sandbox changed, and whether it can be undone."""

    sandbox: str
    number: int
    """Counted among the runs of its sandbox, from 1."""
    request_id: str
    title: str
    changes: FileChanges
    no_undo: str = ""
    """Why it cannot be undone; empty where it can."""


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """What undoing a run would do now: the files are put back to what they were before it."""

    run: RunChanges
    later: tuple[RunChanges, ...]
    """Runs that came after it, which are undone as well, oldest first."""
    changes: FileChanges
    """From the files as they are to those that come back."""
    state: str
    """Digest of the files as they are: the plan counts for no others."""
    stays: tuple[str, ...] = ()
    """Folders that stay as they are."""
    special: int = 0
    """Pipes, sockets and the like that were there, and do not come back."""


@dataclass(frozen=True, slots=True)
class FilePreview:
    """A file before and after a run, from its beginning."""

    before: bytes | None
    """None where there was no file."""
    after: bytes | None
    cut: bool = False
    """Whether there is more of either."""
