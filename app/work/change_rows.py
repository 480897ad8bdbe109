"""The rows of a list of changes, and which of them are ticked beforehand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from app.parts.text.visible_characters import visible
from app.work import words
from runner.model.translation import plural, tr, translated
from runner.workspace.change import WHOLE, How
from runner.workspace.entry import TreeKind, is_folder
from runner.workspace.groups import GroupKind, above, groups_of, is_new_folder
from runner.workspace.marks import PART

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from runner.workspace.change import GitCommits, ProjectChange, ProjectChanges
    from runner.workspace.groups import ChangeGroup

COUNTED = tr("many changes in one folder: they are counted here, and not ticked beforehand")
IN_MANY = tr("it lies in a folder that programs fill and nobody reads: it is not ticked beforehand")
OF_GIT = tr("what git keeps of the project: it is applied as a whole, and not ticked beforehand")
GONE = tr("All of it is deleted.")
PARTLY_GONE = tr("Something in it is deleted.")
RUNS_LATER = tr("runs later")
REPOSITORY = b".git"


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
        needed = {part for change in chosen if change.after is not None for part in above(change.path)}
        return (*(one for one in self.folders if one.path in needed), *chosen)


def table_of(found: ProjectChanges) -> ChangeTable:
    """Return the rows for what a working copy changes."""
    holding = {part for change in found.changes for part in above(change.path)}
    folders = tuple(one for one in found.changes if is_new_folder(one) and one.path in holding)
    implied = {one.path for one in folders}
    rows = []
    for group in groups_of(found):
        listed = tuple(one for one in group.changes if one.path not in implied)
        if listed:
            rows.append(_row(replace(group, changes=listed), found.commits))
    rows.sort(key=lambda row: row.key)
    rows += [
        ChangeRow(b"\xff" + path, words.name(path), "?", RowKind.LEFT_OUT, tag=tr("left out"), why=visible(why))
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


def _row(group: ChangeGroup, commits: GitCommits | None) -> ChangeRow:
    one = group.changes[0]
    kind = RowKind(group.kind.value)
    why = visible(one.conflict or one.mark)
    if group.is_repository:
        if one.conflict:
            return _folder_row(group, _tag(group), why)
        deleted = sum(each.how is How.DELETED for each in group.changes)
        parts = [GONE if deleted == len(group.changes) else PARTLY_GONE] if deleted else []
        if commits is not None and group.path == REPOSITORY:
            parts = [f"{commits.words} {WHOLE}", *parts]
        return _folder_row(group, _tag(group) or tr("commits") * bool(commits), visible(" ".join(parts)) or OF_GIT)
    if not group.is_single:
        return _folder_row(group, _tag(group), why or (COUNTED if kind is RowKind.MANY else ""))
    if kind is RowKind.MANY:
        why = IN_MANY
    name, sign = words.path(one), words.SIGNS[one.how]
    count = "" if kind in (RowKind.CONFLICT, RowKind.MERGED, RowKind.MARKED) else _kind(one)
    return ChangeRow(one.path, name, sign, kind, group.changes, _tag(group), why, count)


def _folder_row(group: ChangeGroup, tag: str, why: str) -> ChangeRow:
    hows = {one.how for one in group.changes}
    sign = words.SIGNS[hows.pop()] if len(hows) == 1 else "M"
    # A repository may be two rows: what conflicts, and what does not.
    key = group.path + b"/" * (group.kind is GroupKind.CONFLICT)
    return ChangeRow(
        key,
        f"{words.name(group.path)}/",
        sign,
        RowKind(group.kind.value),
        group.changes,
        tag,
        why,
        _files(group.changes),
    )


def _kind(one: ProjectChange) -> str:
    """Return what it is where it is no file."""
    there = one.after or one.before
    assert there is not None
    return "" if there.kind in (TreeKind.FILE, TreeKind.FOLDER) else translated(there.kind.value)


def _tag(group: ChangeGroup) -> str:
    """Return the word for what stands out."""
    one = group.changes[0]
    match group.kind:
        case GroupKind.CONFLICT:
            return tr("conflict")
        case GroupKind.MERGED:
            return tr("merged")
        case GroupKind.MARKED:
            if one.after is not None and one.after.kind is TreeKind.LINK:
                return tr("leads out")
            return tr("repository") if one.mark.startswith(PART) else RUNS_LATER
        case _:
            return ""


def _files(group: Iterable[ProjectChange]) -> str:
    number = sum(not is_folder(one.after or one.before) for one in group)
    return plural("{count} file", "{count} files", number) if number else "folders"
