"""The moment before a layer was made: what a repair of permissions, a clock and a start of the machine do to it."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from runner.workspace import moment
from runner.workspace.reading import CHANGED_MEANWHILE
from runner.workspace.working_copy import WorkingCopy
from tests.workspace.trees import make, work

if TYPE_CHECKING:
    from pathlib import Path

HOUR = 3600 * 1_000_000_000


@pytest.fixture
def copy(tmp_path: Path) -> WorkingCopy:
    """One in which the program and a person have changed the same file."""
    copy = WorkingCopy.make(tmp_path / "copies", make(tmp_path / "project"), ("bash",))
    work(copy, "echo program >>a")
    (copy.project / "a").write_text("person\n")
    return copy


def conflict(copy: WorkingCopy) -> str:
    return next(one.conflict for one in copy.changes().changes if one.path == b"a")


def noted(copy: WorkingCopy) -> tuple[int, int, str]:
    at, ahead, boot = (copy.folder / moment.NAME).read_text().split()
    return int(at), int(ahead), boot


def note(copy: WorkingCopy, *said: object) -> None:
    (copy.folder / moment.NAME).write_text(" ".join(map(str, said)))


def test_repairing_the_permissions_of_our_files_does_not_move_it(copy: WorkingCopy) -> None:
    """`chown -R` of a home folder, or its return from a backup, sets the time of every file in it."""
    begun = copy.folder / moment.NAME
    os.chown(begun, os.geteuid(), os.getegid())
    begun.chmod(0o600)
    assert begun.stat().st_ctime_ns >= (copy.project / "a").stat().st_ctime_ns
    assert conflict(copy) == CHANGED_MEANWHILE


def test_a_clock_that_was_set_back_hides_no_change(copy: WorkingCopy) -> None:
    """The layer was made when it showed an hour more than it shows now."""
    at, ahead, boot = noted(copy)
    note(copy, at + HOUR, ahead + HOUR, boot)
    assert conflict(copy) == CHANGED_MEANWHILE


def test_a_clock_that_was_set_forward_makes_no_conflict(tmp_path: Path) -> None:
    copy = WorkingCopy.make(tmp_path / "copies", make(tmp_path / "project"), ("bash",))
    work(copy, "echo program >>a")
    at, ahead, boot = noted(copy)
    note(copy, at, ahead - HOUR, boot)
    assert conflict(copy) == ""


def test_after_a_new_start_with_an_earlier_time_everything_conflicts(copy: WorkingCopy) -> None:
    at, ahead, _ = noted(copy)
    note(copy, at, ahead, "another")
    assert conflict(copy) == CHANGED_MEANWHILE
    note(copy, time.time_ns() + HOUR, ahead, "another")
    assert conflict(copy) == CHANGED_MEANWHILE


def test_one_of_an_earlier_version_is_its_files_time(copy: WorkingCopy) -> None:
    begun = copy.folder / moment.NAME
    begun.write_text("")
    assert moment.since(copy.folder) == begun.stat().st_ctime_ns
