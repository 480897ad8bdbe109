"""Changes in groups, as they are listed, and what of them is applied where nobody says otherwise.

The one place that decides it: the ticks of the window, the question on the terminal, `--apply`, `assent work apply` and
Apply as it goes all ask it.
"""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from runner.workspace.change import MERGED, How, repository_of
from runner.workspace.entry import is_folder
from runner.workspace.marks import COUNTED, PART, bulk, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from runner.workspace.change import ProjectChange, ProjectChanges

MOST_BULK = 5
"""Changes in a folder such as node_modules that are still listed one by one, and those of a deleted folder that are no
many."""


class GroupKind(StrEnum):
    ORDINARY = "ordinary"
    """Alone applied where nobody says otherwise."""
    MARKED = "marked"
    """It runs later by itself, or is grave otherwise."""
    MERGED = "merged"
    """What would be applied has also what somebody else did meanwhile."""
    MANY = "many"
    """In a folder whose changes are counted and not read: of packages, of what a build makes, a repository's own."""
    CONFLICT = "conflict"
    """It cannot be applied."""


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """What stands in one row."""

    path: bytes
    """Of the change, or of the folder that they are in."""
    kind: GroupKind
    changes: tuple[ProjectChange, ...]
    folder: bytes = b""
    """Of those in a folder that nobody reads, that folder: its name chooses them."""

    @property
    def is_single(self) -> bool:
        return len(self.changes) == 1

    @property
    def is_repository(self) -> bool:
        """Whether it is what git itself keeps of the project, which is applied as a whole or not at all."""
        return bool(repository_of(self.path)) and all(_is_of_repository(one) for one in self.changes)


def groups_of(found: ProjectChanges) -> tuple[ChangeGroup, ...]:
    """Return all changes in groups, by path; a new folder stands by itself, whatever is in it."""
    deleted = _deleted_folders(found.changes)
    in_deleted = {one.path for group in deleted.values() for one in group}
    gathered: dict[tuple[bytes, bool], list[ProjectChange]] = defaultdict(list)
    groups = [_deleted(path, group) for path, group in deleted.items()]
    for one in found.changes:
        if one.path in in_deleted:
            continue
        if _is_of_repository(one):
            gathered[repository_of(one.path), bool(one.conflict)].append(one)
        elif not one.conflict and (folder := os.fsencode(counted(one))):
            gathered[folder, False].append(one)
        else:
            groups.append(ChangeGroup(one.path, _kind(one), (one,)))
    for (folder, _), many in gathered.items():
        if len(many) > MOST_BULK or _is_of_repository(many[0]):
            groups.append(ChangeGroup(folder, _kind_of_many(many), tuple(many), folder))
        else:
            groups += (ChangeGroup(one.path, GroupKind.MANY, (one,), folder) for one in many)
    return tuple(sorted(groups, key=lambda group: group.path))


def chosen(
    found: ProjectChanges,
    *,
    marked: bool = False,
    merged: bool = False,
    many: bool = False,
    named: Sequence[bytes] = (),
) -> tuple[ProjectChange, ...]:
    """Return the changes to be applied, by path: those that are ticked beforehand, and with a word for it others.

    With `named` only what is at these paths or below. What is in such a folder is chosen by the name of that folder, or
    of something in it, as well. Of new folders those alone in which something is chosen, or that are empty.
    """
    kinds = {GroupKind.ORDINARY}
    kinds |= {GroupKind.MARKED} if marked else set()
    kinds |= {GroupKind.MANY} if many else set()
    wanted = []
    for group in groups_of(found):
        by_name = group.kind is GroupKind.MANY and any(is_below(path, group.folder) for path in named)
        for one in group.changes:
            asked = not named or any(is_below(one.path, path) for path in named)
            meant = group.kind in kinds or by_name or (group.kind is GroupKind.MERGED and merged)
            if asked and meant and (merged or not one.merged):
                wanted.append(one)
    return _with_folders(found, wanted)


def _with_folders(found: ProjectChanges, wanted: Sequence[ProjectChange]) -> tuple[ProjectChange, ...]:
    """Return `wanted` without the new folders of which all that is in them stays, and with those that are needed."""
    holding = {part for one in found.changes for part in above(one.path)}
    needed = {part for one in wanted if one.after is not None and not is_new_folder(one) for part in above(one.path)}
    empty = {one.path for one in wanted if one.path not in holding}
    needed |= {part for path in empty for part in above(path)}
    there = {one.path for one in wanted}
    return tuple(
        one
        for one in found.changes
        if (one.path in needed if is_new_folder(one) and one.path in holding else one.path in there)
    )


def is_new_folder(one: ProjectChange) -> bool:
    """Whether it is nothing but a new folder, which comes with what is in it."""
    return one.before is None and is_folder(one.after) and one.mark in COUNTED and not one.conflict


def above(path: bytes) -> list[bytes]:
    """Return the folders in which a path lies, the outermost first."""
    parts = path.split(b"/")
    return [b"/".join(parts[:number]) for number in range(1, len(parts))]


def _kind(one: ProjectChange, usual: GroupKind = GroupKind.ORDINARY) -> GroupKind:
    if one.conflict:
        return GroupKind.CONFLICT
    if one.mark == MERGED:
        return GroupKind.MERGED
    if one.mark not in COUNTED:
        return GroupKind.MARKED
    return GroupKind.MANY if one.mark else usual


def _kind_of_many(many: Sequence[ProjectChange]) -> GroupKind:
    """Return the kind of what is counted: where something of a repository is deleted, that is grave."""
    if _is_of_repository(many[0]) and any(one.how is How.DELETED for one in many) and not many[0].conflict:
        return GroupKind.MARKED
    return _kind(many[0], GroupKind.MANY)


def _is_of_repository(one: ProjectChange) -> bool:
    """Whether it belongs to a repository, and is nothing that git obeys."""
    return bool(repository_of(one.path)) and one.mark in ("", PART)


def _deleted(path: bytes, group: list[ProjectChange]) -> ChangeGroup:
    if repository_of(path):
        kind = GroupKind.MARKED
    else:
        kind = _kind(group[0], GroupKind.MANY if len(group) > MOST_BULK else GroupKind.ORDINARY)
    return ChangeGroup(path, kind, tuple(group), path)


def _deleted_folders(listed: Iterable[ProjectChange]) -> dict[bytes, list[ProjectChange]]:
    """Return the topmost folders that are deleted with what was in them, where nothing of it stands out."""
    tops: dict[bytes, list[ProjectChange]] = {}
    listed = tuple(listed)
    deleted = {one.path for one in listed if one.how is How.DELETED and is_folder(one.before)}
    for one in listed:
        chain = [part for part in (*above(one.path), one.path) if part in deleted]
        if chain:
            tops.setdefault(min(chain, key=len), []).append(one)
    plain = {}
    for path, group in tops.items():
        marks = {(one.mark, one.conflict) for one in group}
        if len(group) > 1 and len(marks) == 1 and not group[0].conflict and not bulk(path):
            plain[path] = group
    return plain


def is_below(path: bytes, folder: bytes) -> bool:
    """Whether a path is, or lies in, a folder; all do in the project's own."""
    return path == folder or path.startswith(folder + b"/") or not folder
