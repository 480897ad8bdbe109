"""The rows of a list of changes, and which of them are ticked beforehand."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from app.parts.amounts import counted
from app.parts.expose import visible
from app.work import words
from runner.workspace.change import WHOLE, How
from runner.workspace.entry import TreeKind
from runner.workspace.marks import COUNTED as COUNTED_MARKS
from runner.workspace.marks import counted as counted_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from runner.workspace.change import GitCommits, ProjectChange, ProjectChanges

MERGED = "merged with your edit"
"""The mark of a change that is nothing but that."""
COUNTED = "many changes in one folder: they are counted here, and not ticked beforehand"
REPOSITORY = b".git"
MOST_BULK = 5
"""Changes in a folder such as node_modules that are still listed one by one."""


class RowKind(StrEnum):
    ORDINARY = "ordinary"
    MARKED = "marked"
    """Something of it runs later by itself, or is grave otherwise."""
    MERGED = "merged"
    """What would be applied has also what somebody else did meanwhile."""
    MANY = "many"
    """A folder whose changes are counted and not listed."""
    CONFLICT = "conflict"
    LEFT_OUT = "left out"
    """What cannot be applied at all."""


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """What one row stands for."""

    key: bytes
    """Tells it from other rows, also of the next list."""
    name: str
    sign: str
    kind: RowKind
    changes: tuple[ProjectChange, ...] = ()
    tag: str = ""
    """A word beside the name."""
    why: str = ""
    """What the word means here."""
    count: str = ""
    """How much it is, where that is not lines."""

    @property
    def can_tick(self) -> bool:
        return self.kind not in (RowKind.CONFLICT, RowKind.LEFT_OUT)

    @property
    def is_single(self) -> bool:
        return len(self.changes) == 1

    @property
    def has_parts(self) -> bool:
        """Whether parts of it may be applied without the others."""
        if self.kind not in (RowKind.ORDINARY, RowKind.MARKED) or not self.is_single:
            return False
        return self.changes[0].is_of_text and not self.changes[0].merged

    @property
    def spoken(self) -> str:
        how = words.SIGN_WORDS[self.changes[0].how] if self.is_single else ""
        return ", ".join(part for part in (self.name, how, self.tag, self.why, self.count) if part)


@dataclass(frozen=True, slots=True)
class ChangeTable:
    """All rows of one list, by path, and what has to be applied with them."""

    rows: tuple[ChangeRow, ...] = ()
    folders: tuple[ProjectChange, ...] = ()
    """New folders, which have no row: each is applied with the first of what is in it."""

    @property
    def number(self) -> int:
        """How many changes there are: each path counts, also a folder, as everywhere else."""
        return len(self.folders) + sum(len(row.changes) for row in self.rows)

    def wanted(self, ticked: Iterable[ChangeRow]) -> tuple[ProjectChange, ...]:
        """Return the changes of the ticked rows, with the new folders that they need."""
        chosen = [change for row in ticked for change in row.changes]
        needed = {part for change in chosen if change.after is not None for part in _above(change.path)}
        return (*(one for one in self.folders if one.path in needed), *chosen)


def table_of(found: ProjectChanges) -> ChangeTable:
    """Return the rows for what a working copy changes."""
    holding = {part for change in found.changes for part in _above(change.path)}
    folders = tuple(one for one in found.changes if _is_new_folder(one) and one.path in holding)
    implied = {one.path for one in folders}
    listed = [one for one in found.changes if one.path not in implied]
    grouped = _deleted_folders(listed)
    many: dict[str, list[ProjectChange]] = defaultdict(list)
    single: list[ProjectChange] = []
    in_group = {one.path for group in grouped.values() for one in group}
    for one in listed:
        if one.path in in_group:
            continue
        folder = "" if one.conflict else counted_in(one) or _repository(one.path, found)
        if folder:
            many[folder].append(one)
        else:
            single.append(one)
    rows = [_deleted_row(path, group) for path, group in grouped.items()]
    for folder, group in many.items():
        if found.commits is not None and os.fsencode(folder) == REPOSITORY:
            rows.append(_commits_row(folder, group, found.commits))
        elif len(group) > MOST_BULK:
            rows.append(_many_row(folder, group))
        else:
            single += group
    rows += map(_row, single)
    rows.sort(key=lambda row: row.key)
    rows += [
        ChangeRow(b"\xff" + path, words.name(path), "?", RowKind.LEFT_OUT, tag="left out", why=visible(why))
        for path, why in found.left_out
    ]
    return ChangeTable(tuple(rows), folders)


def ticks_for(
    table: ChangeTable, before: Mapping[bytes, ChangeRow], ticked: frozenset[bytes], unticked: frozenset[bytes]
) -> frozenset[bytes]:
    """Return the keys that are ticked in a new list.

    `before` has the rows of the last list by key; `ticked` and `unticked` are those that a person has set in it. A row
    that is the same as before stays as it was set. One that the person left out stays out, whatever it has become;
    one that they ticked and that is another now is as it would be beforehand.
    """
    return frozenset(
        row.key
        for row in table.rows
        if row.can_tick
        and row.key not in unticked
        and ((row.key in ticked and before.get(row.key) == row) or row.kind is RowKind.ORDINARY)
    )


def _row(one: ProjectChange) -> ChangeRow:
    name, sign = words.path(one), words.SIGNS[one.how]
    if one.conflict:
        return ChangeRow(one.path, name, sign, RowKind.CONFLICT, (one,), "conflict", visible(one.conflict))
    if one.mark == MERGED:
        return ChangeRow(one.path, name, sign, RowKind.MERGED, (one,), "merged", visible(one.mark))
    if one.mark:
        return ChangeRow(one.path, name, sign, RowKind.MARKED, (one,), _tag(one), visible(one.mark))
    count = _kind(one)
    return ChangeRow(one.path, name, sign, RowKind.ORDINARY, (one,), count=count)


def _kind(one: ProjectChange) -> str:
    """Return what it is where it is no file."""
    there = one.after or one.before
    assert there is not None
    return "" if there.kind in (TreeKind.FILE, TreeKind.FOLDER) else there.kind.value


def _tag(one: ProjectChange) -> str:
    """Return the word for a mark."""
    if one.after is not None and one.after.kind is TreeKind.LINK:
        return "leads out"
    return "repository" if one.mark.startswith("it is part of") else "runs later"


def _many_row(folder: str, group: list[ProjectChange]) -> ChangeRow:
    hows = {one.how for one in group}
    sign = words.SIGNS[hows.pop()] if len(hows) == 1 else "M"
    name = f"{words.name(os.fsencode(folder))}/"
    return ChangeRow(os.fsencode(folder), name, sign, RowKind.MANY, tuple(group), "", COUNTED, _files(group))


def _commits_row(folder: str, group: list[ProjectChange], commits: GitCommits) -> ChangeRow:
    row = _many_row(folder, group)
    return replace(row, tag="commits", why=visible(f"{commits.words} {WHOLE}"))


def _repository(path: bytes, found: ProjectChanges) -> str:
    """Return the folder of the repository's own, where commits are among the changes: half of them would break it."""
    return os.fsdecode(REPOSITORY) if found.commits is not None and path == REPOSITORY else ""


def _deleted_folders(listed: list[ProjectChange]) -> dict[bytes, list[ProjectChange]]:
    """Return the topmost folders that are deleted with what was in them, where nothing of it stands out."""
    tops: dict[bytes, list[ProjectChange]] = {}
    deleted = {one.path for one in listed if one.how is How.DELETED and _is_folder(one.before)}
    for one in listed:
        chain = [part for part in (*_above(one.path), one.path) if part in deleted]
        if chain:
            tops.setdefault(min(chain, key=len), []).append(one)
    plain = {}
    for path, group in tops.items():
        marks = {(one.mark, one.conflict) for one in group}
        if len(group) > 1 and len(marks) == 1 and not group[0].conflict:
            plain[path] = group
    return plain


def _deleted_row(path: bytes, group: list[ProjectChange]) -> ChangeRow:
    mark = group[0].mark
    kind = RowKind.MARKED if mark else RowKind.MANY if len(group) > MOST_BULK else RowKind.ORDINARY
    tag = _tag(group[0]) if mark else ""
    why = visible(mark) or (COUNTED if kind is RowKind.MANY else "")
    return ChangeRow(path, f"{words.name(path)}/", "D", kind, tuple(group), tag, why, _files(group))


def _files(group: Iterable[ProjectChange]) -> str:
    number = sum(not _is_folder(one.after or one.before) for one in group)
    return counted(number, "file") if number else "folders"


def _is_new_folder(one: ProjectChange) -> bool:
    return one.before is None and _is_folder(one.after) and one.mark in COUNTED_MARKS and not one.conflict


def _is_folder(entry: object) -> bool:
    return getattr(entry, "kind", None) is TreeKind.FOLDER


def _above(path: bytes) -> list[bytes]:
    """Return the folders in which a path lies, the outermost first."""
    parts = path.split(b"/")
    return [b"/".join(parts[:number]) for number in range(1, len(parts))]
