"""Undo path by path: what somebody changed since stays, everything else goes back, and what stays can follow later."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from runner.model.errors import KnownError
from runner.workspace import journal, undo
from runner.workspace.change import digest
from runner.workspace.working_copy import WAYS, WorkingCopy
from tests.workspace.test_working_copy import EVERY, KILLED, PROGRAM, ROOT
from tests.workspace.trees import look, make, work

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(params=list(WAYS))
def copy(request: pytest.FixtureRequest, tmp_path: Path) -> WorkingCopy:
    return WorkingCopy.make(tmp_path / "copies", make(tmp_path / "project"), ("bash",), way=str(request.param))


def kept(copy: WorkingCopy) -> dict[bytes, str]:
    return dict(copy.undo_plan().kept)


def applied(copy: WorkingCopy, program: str) -> None:
    work(copy, program)
    copy.apply(copy.changes().changes)


def files(project: Path) -> dict[str, bytes]:
    """Return what is in every file and link, and which folders there are."""
    found = {}
    for one in sorted(project.rglob("*")):
        name = str(one.relative_to(project))
        if one.is_symlink():
            found[name] = os.fsencode(os.readlink(one))
        elif not one.is_fifo():
            found[name] = b"" if one.is_dir() else one.read_bytes()
    return found


def test_what_was_changed_since_is_left_and_the_rest_goes_back(copy: WorkingCopy) -> None:
    applied(copy, "echo n >new; echo p >>d/1; rm b")
    (copy.project / "d/1").write_text("mine")
    assert kept(copy) == {b"d/1": undo.CHANGED}, "and that is known before anything is done"
    done = copy.undo()
    assert (copy.project / "d/1").read_text() == "mine"
    assert not (copy.project / "new").exists() and (copy.project / "b").exists()
    assert not done.passed_over
    assert copy.can_undo, "what was left can be taken back later"
    with pytest.raises(KnownError, match=r"Nothing can be taken back\. “d/1”: it was changed since"):
        copy.undo()
    assert (copy.project / "d/1").read_text() == "mine"


def test_what_was_left_goes_back_once_it_is_again_what_was_applied(copy: WorkingCopy) -> None:
    old = files(copy.project)
    applied(copy, "echo n >new; echo p >>a")
    os.rename(copy.project / "a", copy.project / "aside")
    assert kept(copy) == {b"a": undo.DELETED}
    copy.undo()
    os.rename(copy.project / "aside", copy.project / "a")
    assert kept(copy) == {}
    copy.undo()
    assert not copy.can_undo
    assert files(copy.project) == old


def test_a_folder_stays_with_what_somebody_put_into_it(copy: WorkingCopy) -> None:
    applied(copy, "mkdir -p x/y; echo z >x/y/z; echo w >x/w")
    (copy.project / "x/y/mine").write_text("mine")
    assert kept(copy) == {b"x": undo.HOLDS, b"x/y": undo.HOLDS}
    copy.undo()
    assert sorted(os.listdir(copy.project / "x")) == ["y"]
    assert os.listdir(copy.project / "x/y") == ["mine"]
    (copy.project / "x/y/mine").unlink()
    copy.undo()
    assert not (copy.project / "x").exists() and not copy.can_undo


def test_what_comes_back_into_a_folder_that_is_gone_is_left(copy: WorkingCopy) -> None:
    applied(copy, "rm d/1; echo n >new")
    shutil.rmtree(copy.project / "d")
    assert kept(copy)[b"d/1"] == undo.NO_FOLDER
    copy.undo()
    assert not (copy.project / "new").exists() and not (copy.project / "d").exists()


def test_a_name_that_was_used_again_is_left(copy: WorkingCopy) -> None:
    applied(copy, "rm b; echo n >new")
    (copy.project / "b").write_text("mine")
    assert kept(copy) == {b"b": undo.MADE}
    copy.undo()
    assert (copy.project / "b").read_text() == "mine"


def test_what_was_left_of_the_last_apply_does_not_block_the_one_before(copy: WorkingCopy) -> None:
    applied(copy, "echo 1 >first")
    applied(copy, "echo 2 >second; echo 3 >third")
    (copy.project / "second").write_text("mine")
    copy.undo()
    assert (copy.project / "first").exists() and not (copy.project / "third").exists()
    copy.undo()
    assert not (copy.project / "first").exists() and (copy.project / "second").read_text() == "mine"
    assert kept(copy) == {b"second": undo.CHANGED}


def test_exactly_what_was_seen_is_taken_back(copy: WorkingCopy) -> None:
    applied(copy, "echo n >new; echo p >>a")
    seen = digest(copy.undo_plan().changes)
    (copy.project / "a").write_text("mine")
    before = look(copy.project)
    with pytest.raises(KnownError, match="not what you looked at any more"):
        copy.undo(wanted=seen)
    assert look(copy.project) == before
    assert copy.undo(wanted=digest(copy.undo_plan().changes)).paths


def test_a_journal_of_an_earlier_version_is_finished(tmp_path: Path) -> None:
    begun = journal.Journal(tmp_path, ".assent-0", (), own=True, undoes="undo-1")
    begun.write(tmp_path)
    text = (tmp_path / journal.NAME).read_text().replace('"undoes": "undo-1", ', "")
    (tmp_path / journal.NAME).write_text(text)
    found = journal.Journal.read(tmp_path)
    assert found is not None and (found.own, found.undoes) == (True, "")


def test_killed_anywhere_in_an_undo_in_part_each_file_is_old_or_new(tmp_path: Path) -> None:
    outcomes = set()
    for most in range(1, 400, EVERY):
        copy = WorkingCopy.make(tmp_path / f"copies{most}", make(tmp_path / f"project{most}"), ("bash",), way="overlay")
        old = {**files(copy.project), "a": b"mine"}
        applied(copy, PROGRAM)
        (copy.project / "a").write_text("mine")
        new = files(copy.project)
        words = [sys.executable, "-c", KILLED, str(copy.folder), str(most), "undo"]
        code = subprocess.run(words, cwd=ROOT, check=False, stderr=subprocess.DEVNULL).returncode
        copy.changes()  # finishes what was begun
        now = files(copy.project)
        assert now in (new, old), f"a mix after a kill at {most}"
        outcomes.add(now == old)
        assert kept(copy) == {b"a": undo.CHANGED}, "what was left can still be taken back later"
        if code == 0:
            break
        assert code == -signal.SIGKILL
    else:
        pytest.fail("it never came to its end")
    assert outcomes == {False, True}
