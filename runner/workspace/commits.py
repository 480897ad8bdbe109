"""Commits, tags and branches of a program: what the repository's own log and its refs have in addition.

It is read as text, and git is not run. A program can write into it what it likes: it is said to be the log's word.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.workspace import entry, originals, refs
from runner.workspace.change import GitCommits
from runner.workspace.entry import TreeKind, UnreadableEntry

if TYPE_CHECKING:
    from pathlib import Path

    from runner.workspace.change import ProjectChange, ProjectChanges

GIT = b".git/"
LOG, HEAD = b".git/logs/HEAD", b".git/HEAD"
BRANCH = b"ref: refs/heads/"
LONGEST = 120
"""Characters of a subject."""
MADE = expression(r"(?:commit(?: \([a-z]++\))?|cherry-pick|rebase \((?:pick|squash|fixup|reword|edit)\)): (.*)")
"""What git writes into the log for a commit, with the subject."""
AMENDED = "commit (amend): "


def with_commits(found: ProjectChanges, project: int, layer: Path) -> ProjectChanges:
    """Return the changes with the commits that are among them. `project` is the open folder."""
    if not any(one.path.startswith(GIT) for one in found.changes):
        return found
    with contextlib.suppress(OSError, UnreadableEntry), entry.folder_open(layer) as top:
        head = _head(top) or _head(project)
        subjects = tuple(_made(found, project, top))
        moved = refs.moved(found.changes, project, top)
        # Where commits were made on it, it moved with them.
        others = tuple(one for one in moved if not (subjects and (one.kind, one.name) == (refs.BRANCH, head)))
        if subjects or others:
            return replace(found, commits=GitCommits(head, subjects, others))
    return found


def _made(found: ProjectChanges, project: int, top: int) -> list[str]:
    """Return the subjects of the commits that were made. Raises UnreadableEntry and OSError."""
    log = next((one for one in found.changes if one.path == LOG), None)
    if log is None or log.after is None or log.after.kind is not TreeKind.FILE:
        return []
    new = originals.read_exactly(top, LOG, log.after).splitlines()
    return _subjects(new[len(_old(log, project)) :])


def _old(log: ProjectChange, project: int) -> list[bytes]:
    if log.before is None or log.before.kind is not TreeKind.FILE:
        return []
    return originals.read_exactly(project, LOG, log.before).splitlines()


def _subjects(lines: list[bytes]) -> list[str]:
    subjects: list[str] = []
    for line in lines:
        message = line.rpartition(b"\t")[2].decode("utf-8", "replace")
        if (made := MADE.fullmatch(message)) is None:
            continue
        if message.startswith(AMENDED) and subjects:
            subjects.pop()
        subjects.append(made[1][:LONGEST])
    return subjects


def _head(top: int) -> str:
    """Return the branch that is checked out; '' for none, and where that is not known."""
    with contextlib.suppress(OSError, UnreadableEntry):
        with entry.parent(top, HEAD) as (folder, name):
            descriptor = os.open(name, entry.READ_FLAGS, dir_fd=folder)
        with open(descriptor, "rb") as source:
            said = source.read(1 << 12).strip()
        if said.startswith(BRANCH):
            return said.removeprefix(BRANCH).decode("utf-8", "replace")
    return ""
