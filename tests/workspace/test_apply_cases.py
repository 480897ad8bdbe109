"""What programs do to a project, applied and undone: all that a person could see of the tree is compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.workspace.working_copy import WAYS, WorkingCopy
from tests.workspace.trees import CASES, look, looked_at, make, work

if TYPE_CHECKING:
    from pathlib import Path

LINKS_LOST = ("file renamed", "renamed over a file", "exchanged")
"""Cases in which a copy has a further name for an old file; an overlay has none."""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES)
def test_what_is_applied_is_what_the_program_saw_and_undo_brings_back_the_rest(
    tmp_path: Path, case: str, way: str
) -> None:
    project = make(tmp_path / "project")
    before = look(project)
    copy = WorkingCopy.make(tmp_path / "copies", project, ("bash",), way=way)
    work(copy, CASES[case])
    assert look(project) == before, "the project changed before anything was applied"
    seen = looked_at(copy)
    found = copy.changes()
    assert not found.conflicts
    assert (seen == before) == (not found.changes)
    done = copy.apply(found.changes)
    assert not done.passed_over
    assert done.paths == len(found.changes)
    if way == "copy" and case in LINKS_LOST:
        seen = {path: thing._replace(names=()) for path, thing in seen.items()}
        assert {path: thing._replace(names=()) for path, thing in look(project).items()} == seen
    else:
        assert look(project) == seen
    assert not copy.changes().changes, "what was applied still counts as changed"
    copy.undo()
    assert look(project) == before
    again = copy.changes()
    assert again.changes == found.changes, "the same can be applied once more"
