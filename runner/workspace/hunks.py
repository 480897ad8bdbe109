"""Some of the places in which a change and a file differ, to be applied without the others.

They are numbered from 1 in the order in which `difference.compared` shows them, one for each line that begins with @@.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.sandbox.file_names import shown
from runner.workspace import entry, originals, staging
from runner.workspace.difference import MOST_LINES
from runner.workspace.entry import TreeEntry, UnreadableEntry
from runner.workspace.lines import hunks_of, joined, split

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from runner.workspace.change import ProjectChange


def with_hunks(change: ProjectChange, project: Path, content: Path, numbers: Collection[int]) -> ProjectChange:
    """Return a change of the same file that has only these hunks; its permissions stay as they are in the project.

    `content` is the folder with new content, by path. Raises KnownError and OSError.
    """
    before, after = change.before, change.after
    if change.merged:
        raise KnownError(f"“{shown(change.path)}” was merged with your edit.", "Apply it whole.")
    if change.conflict or before is None or after is None or not change.is_of_text:
        raise KnownError(f"“{shown(change.path)}” is no change of a text of which a part can be applied.")
    try:
        with entry.folder_open(project) as top, entry.folder_open(content) as layer:
            old = originals.read_exactly(top, change.path, before)
            new = originals.read_exactly(layer, change.path, after) if change.text is None else change.text
    except (OSError, UnreadableEntry) as error:
        raise KnownError(f"“{shown(change.path)}” cannot be read as it was: {error}.", staging.AGAIN) from error
    text = _chosen(old, new, frozenset(numbers))
    wanted = TreeEntry(
        before.kind, before.mode, len(text), hashlib.sha256(text).hexdigest(), attributes=before.attributes
    )
    return replace(change, after=wanted, text=text)


def _chosen(old: bytes, new: bytes, numbers: frozenset[int]) -> bytes:
    """Return `old` with some of the hunks that make `new` of it. Raises KnownError."""
    try:
        lines, others = split(old.decode()), split(new.decode())
    except UnicodeDecodeError as error:
        raise KnownError("A part of what is no text cannot be applied.") from error
    if len(lines) + len(others) > MOST_LINES or joined(lines) != old.decode() or joined(others) != new.decode():
        raise KnownError("A part of this file cannot be applied.", "Apply it whole.")
    hunks = hunks_of(lines, others).hunks
    if not numbers or not numbers <= {*range(1, len(hunks) + 1)}:
        raise KnownError(f"Name some of its hunks by their numbers, 1 to {len(hunks)}.")
    for number in sorted(numbers, reverse=True):
        for one in reversed(hunks[number - 1]):
            if not one.same:
                lines[one.old : one.old_end] = others[one.new : one.new_end]
    return joined(lines).encode()
