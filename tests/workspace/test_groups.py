"""What is applied where nobody says otherwise: one answer, for the window, the terminal and Apply as it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.work.change_rows import RowKind, table_of, ticks_for
from runner.work.added import AddedFindings
from runner.work.as_it_goes import ApplyingAsItGoes
from runner.workspace.change import MERGED, ProjectChange, ProjectChanges
from runner.workspace.entry import TreeEntry, TreeKind
from runner.workspace.groups import GroupKind, chosen, groups_of
from runner.workspace.marks import MOVED, PART, as_one
from runner.workspace.working_copy import WorkingCopy
from tests.workspace.trees import work

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ONE = TreeEntry(TreeKind.FILE, 0o644, 3, "a" * 64)
FOLDER = TreeEntry(TreeKind.FOLDER, 0o755)


def at(*paths: str, **others: str) -> list[ProjectChange]:
    return [
        ProjectChange(path.strip("/").encode(), None, FOLDER if path.endswith("/") else ONE, **others) for path in paths
    ]


def gone(*paths: str, **others: str) -> list[ProjectChange]:
    return [ProjectChange(one.path, one.after, None, one.conflict, one.mark) for one in at(*paths, **others)]


PACKAGES = [f"node_modules/p{number}/x.js" for number in range(9)]
GIT = [".git/HEAD", ".git/index", ".git/objects/ab/c", ".git/refs/heads/main"]
CASES: dict[str, tuple[list[ProjectChange], set[str]]] = {
    "plain": (at("a", "d/", "d/b"), {"a", "d", "d/b"}),
    "an empty folder": (at("d/", "d/e/"), {"d", "d/e"}),
    "packages": (at("a", "node_modules/", *PACKAGES), {"a"}),
    "few of them": (at("a", "node_modules/", "node_modules/x.js"), {"a"}),
    "compiled, which runs in place of its source": (at("__pycache__/", "__pycache__/a.cpython-311.pyc"), set()),
    "a folder with only such a one in it": (at("d/", "d/target/", "d/target/a.o"), set()),
    "commits": (at("a", *GIT), {"a"}),
    "a repository in it": (at("a", "sub/.git/HEAD", "sub/.git/index", "sub/b"), {"a", "sub/b"}),
    "a new repository": (at("a", ".git/", *GIT), {"a"}),
    "marked": (at("a") + at("Makefile", mark="a build obeys it"), {"a"}),
    "a new folder with what is marked": (at("d/") + at("d/Makefile", mark="a build obeys it"), set()),
    "merged": (at("a") + at("b", mark=MERGED, merged="c" * 64), {"a"}),
    "in conflict": (at("a") + at("b", conflict="It was changed."), {"a"}),
    "a repository in conflict": (at("a") + at(*GIT, conflict=MOVED), {"a"}),
    "half a repository in conflict": (at("a", *GIT[:2]) + at(*GIT[2:], conflict="It was changed."), {"a"}),
    "a repository of which something is gone": (at("a") + gone(".git/refs/tags/v", mark=PART) + at(*GIT), {"a"}),
    "few files gone": (gone("d/", "d/a", "d/b"), {"d", "d/a", "d/b"}),
    "many files gone": (at("a") + gone("d/", *(f"d/{number}" for number in range(9))), {"a"}),
    "packages gone": (gone(*(f"node_modules/p{number}/" for number in range(9)), *PACKAGES), set()),
}


def wanted(paths: Sequence[ProjectChange]) -> set[str]:
    return {one.path.decode() for one in paths}


@pytest.mark.parametrize("case", CASES)
def test_window_and_terminal_begin_with_the_same(case: str) -> None:
    changes, usual = CASES[case]
    found = ProjectChanges(as_one(sorted(changes, key=lambda one: one.path)))
    assert wanted(chosen(found)) == usual
    table = table_of(found)
    keys = [row.key for row in table.rows]
    assert len(set(keys)) == len(keys), "each row has a key of its own"
    ticked = ticks_for(table, {}, frozenset(), frozenset())
    assert wanted(table.wanted([row for row in table.rows if row.key in ticked])) == usual
    assert table.number == len(found.changes)
    assert sum(len(group.changes) for group in groups_of(found)) == len(found.changes), "nothing is left unlisted"


@pytest.mark.parametrize("case", CASES)
def test_what_is_applied_as_it_goes_is_ticked_beforehand(case: str, tmp_path: Path) -> None:
    changes, usual = CASES[case]
    (tmp_path / "p").mkdir()
    copy = WorkingCopy.make(tmp_path / "copies", tmp_path / "p", ("true",))
    going = ApplyingAsItGoes(copy, lambda _text: AddedFindings(), lambda *_: None, lambda *_: None, lambda: "")
    found = ProjectChanges(as_one(sorted(changes, key=lambda one: one.path)))
    assert wanted(going._chosen(found)) <= usual


def test_what_has_a_word_of_its_own_is_chosen_by_that_word_alone() -> None:
    changes = at("a", "b", *PACKAGES, *GIT) + at("Makefile", mark="x") + at("m", mark=MERGED, merged="c" * 64)
    found = ProjectChanges(tuple(changes))
    plain = wanted(chosen(found))
    assert wanted(chosen(found, many=True)) - plain == {*PACKAGES, *GIT}
    assert wanted(chosen(found, marked=True)) - plain == {"Makefile"}
    assert wanted(chosen(found, merged=True)) - plain == {"m"}
    assert wanted(chosen(found, named=[b"a", b"Makefile"])) == {"a"}
    assert wanted(chosen(found, named=[b"node_modules/p1"])) == {"node_modules/p1/x.js"}
    assert wanted(chosen(found, named=[b".git"])) == {*GIT}


def test_a_repository_is_one_row_however_little_of_it_changed() -> None:
    (group,) = groups_of(ProjectChanges(tuple(at(".git/index"))))
    assert (group.path, group.kind, group.is_repository) == (b".git", GroupKind.MANY, True)
    (row,) = table_of(ProjectChanges(tuple(at(".git/index")))).rows
    assert (row.name, row.kind) == (".git/", RowKind.MANY) and "as a whole" in row.why


def test_a_hook_beside_commits_stands_by_itself(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    copy = WorkingCopy.make(tmp_path / "copies", tmp_path / "p", ("true",))
    work(copy, "git init -q; echo true >.git/hooks/pre-commit; echo x >x")
    rows = {row.name: row.kind for row in table_of(copy.changes()).rows}
    assert rows[".git/hooks/pre-commit"] is RowKind.MARKED and rows["x"] is RowKind.ORDINARY
