"""Working copies and what goes wrong with them: depth, long paths, two sessions, things that are gone."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.model.errors import KnownError
from runner.workspace import apply, journal, reading, working_copy
from runner.workspace.reading import CHANGED_MEANWHILE
from runner.workspace.working_copy import REMOVED, WAYS, WorkingCopy, all_below
from tests.workspace.trees import look, make, work

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.workspace.change import ProjectChanges

DEEP = f"""{sys.executable} -c '
import os
for _ in range(3000):
    os.mkdir("q")
    os.chdir("q")
'"""
LONG = f"""{sys.executable} -c '
import os
for _ in range(25):
    try:
        os.mkdir("n" * 200)
    except FileExistsError:
        pass
    os.chdir("n" * 200)
open("file", "a").write("more\\n")
'"""
"""A file at a path that no call of the kernel takes as a whole (4,096 bytes)."""


@pytest.fixture(params=list(WAYS))
def copy(request: pytest.FixtureRequest, tmp_path: Path) -> WorkingCopy:
    return made(tmp_path, str(request.param))


def made(place: Path, way: str = "overlay") -> WorkingCopy:
    project = place / "project"
    return WorkingCopy.make(place / "copies", project if project.exists() else make(project), ("bash",), way=way)


# ---- what a program leaves ----


def test_folders_without_end_are_measured_listed_and_removed(copy: WorkingCopy) -> None:
    before = look(copy.project)
    work(copy, DEEP)
    (copy.folder / "tmp" / "closed").mkdir()
    subprocess.run(DEEP, shell=True, check=True, cwd=copy.folder / "tmp" / "closed")
    (copy.folder / "tmp" / "closed").chmod(0)
    assert copy.size > 3000
    assert copy.changes().left_out
    copy.discard()
    assert not [name for name in os.listdir(copy.folder.parent) if "project" in name]
    assert look(copy.project) == before


def test_paths_that_no_call_takes_as_a_whole_are_applied_and_taken_back(copy: WorkingCopy) -> None:
    """Half of it was done and could never be finished, and no other working copy of the project could be looked at."""
    for _times in (1, 2):
        work(copy, LONG)
        copy.apply(copy.changes().changes)
        assert not copy.changes().changes
    copy.undo()
    work(copy, LONG)
    assert [len(one.path) for one in copy.changes().changes] == [25 * 201 + 4]


def test_holes_without_end_are_left_out_and_named(copy: WorkingCopy, monkeypatch: pytest.MonkeyPatch) -> None:
    """One call of the kernel makes a file of terabytes, which takes hours to read."""
    monkeypatch.setattr(reading, "MOST_HOLES", 3 << 20)
    work(copy, "truncate -s 2M huge1; truncate -s 2M huge2; echo n >new; head -c 4000000 /dev/zero >zeros")
    found = copy.changes()
    (left,) = [path for path, _ in found.left_out]
    assert sorted([left, *(one.path for one in found.changes)]) == [b"huge1", b"huge2", b"new", b"zeros"]
    assert left.startswith(b"huge")


# ---- two sessions, and two persons ----


@pytest.mark.parametrize("first", [0, 1])
def test_two_sessions_over_a_project_never_write_over_each_other(tmp_path: Path, first: int) -> None:
    both = [made(tmp_path), made(tmp_path)]
    for number, copy in enumerate(both):
        work(copy, f"echo {number} >>a; echo {number} >own{number}")
    one, other = both[first], both[1 - first]
    one.apply(one.changes().changes)
    found = {change.path: change.conflict for change in other.changes().changes}
    assert found == {b"a": CHANGED_MEANWHILE, b"own%d" % (1 - first): ""}
    other.apply([change for change in other.changes().changes if not change.conflict])
    assert (one.project / "a").read_text() == f"a\n{first}\n"
    other.undo()
    one.undo()
    assert (one.project / "a").read_text() == "a\n"
    assert sorted(os.listdir(one.project)) == sorted(os.listdir(make(tmp_path / "as it was")))


def test_reading_one_copy_for_long_keeps_nobody_from_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of thousands of files take minutes, in which nothing could be applied, undone or discarded."""
    one, other = made(tmp_path), made(tmp_path)
    work(other, "echo n >own")
    wanted = other.changes().changes
    really = WorkingCopy._changes

    def meanwhile(copy: WorkingCopy, top: int) -> ProjectChanges:
        other.apply(wanted)
        with pytest.raises(KnownError, match=f"changes of {copy.name}"):
            one.undo_plan()
        monkeypatch.setattr(WorkingCopy, "_changes", really)
        return really(copy, top)

    monkeypatch.setattr(working_copy, "APPLY_SECONDS", 0.0)
    monkeypatch.setattr(WorkingCopy, "_changes", meanwhile)
    one.changes()
    assert (one.project / "own").exists()
    other.discard()
    assert not [name for name in os.listdir(one.folder.parent) if other.name in name]


@pytest.mark.parametrize(("place", "kept"), [("commondir", "git/index"), ("info/attributes", "git/info/attributes")])
def test_what_a_repository_has_in_place_of_a_file_is_not_read(tmp_path: Path, place: str, kept: str) -> None:
    """A pipe kept `assent try` waiting for ever, and a device took all memory."""
    project = make(tmp_path / "project")
    subprocess.run(
        ["bash", "-ec", "git init -q; git add .; rm -rf .git/info; mkdir .git/info"], cwd=project, check=True
    )
    assert (made(tmp_path).folder / "git/index").exists()
    (project / ".git" / place).symlink_to(os.devnull)
    assert not (made(tmp_path).folder / kept).exists()


def test_two_names_of_one_file_get_what_was_shown_of_each(copy: WorkingCopy) -> None:
    """A program at work can change a file between the looks at its two names."""
    work(copy, "echo shown >n1; ln n1 n2")
    one, two = [change for change in copy.changes().changes if change.path in (b"n1", b"n2")]
    assert one.after is not None and two.after is not None and two.after.names == 2
    other = replace(two.after, sha256=hashlib.sha256(b"other\n").hexdigest())
    with pytest.raises(KnownError, match=r"n2.* was changed"):
        copy.apply([one, replace(two, after=other)])
    assert not (copy.project / "n1").exists()


def at_once(*calls: Callable[[], object]) -> list[str]:
    """Make the calls at once; return what was refused."""
    refused: list[str] = []
    start = threading.Barrier(len(calls))

    def run(call: Callable[[], object]) -> None:
        start.wait()
        try:
            call()
        except KnownError as error:
            refused.append(error.what)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return refused


def test_the_same_changes_applied_twice_at_once_are_applied_once(copy: WorkingCopy) -> None:
    work(copy, "for n in $(seq 100); do echo $n >new$n; done")
    wanted = copy.changes().changes
    refused = at_once(lambda: copy.apply(wanted), lambda: copy.apply(wanted))
    assert len(refused) == 1
    assert not copy.changes().changes
    assert len(at_once(copy.undo, copy.undo)) == 1
    assert len(copy.changes().changes) == len(wanted)


def test_one_that_is_discarded_meanwhile_is_said_to_be(copy: WorkingCopy) -> None:
    work(copy, "echo n >new")
    wanted = copy.changes().changes
    WorkingCopy.read(copy.folder).discard()
    for call in (copy.changes, copy.undo, copy.discard_applied, lambda: copy.apply(wanted)):
        with pytest.raises(KnownError, match="discarded meanwhile"):
            call()
    assert not (copy.project / "new").exists()
    assert not copy.folder.exists()


# ---- what is gone ----


KILLED = """
import os, signal, sys
from pathlib import Path
from runner.workspace import apply
from runner.workspace.working_copy import WorkingCopy
copy = WorkingCopy.read(Path(sys.argv[1]))
changes = copy.changes().changes
apply._rename = lambda *given: os.kill(os.getpid(), signal.SIGKILL)
copy.apply(changes)
"""


def killed_in_the_middle(copy: WorkingCopy) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(copy.folder)], cwd=Path(__file__).parents[2], check=False)
    assert apply.is_begun(copy.folder)


def test_a_project_that_is_gone_while_something_was_begun_is_no_hindrance(copy: WorkingCopy) -> None:
    work(copy, "echo n >>a")
    killed_in_the_middle(copy)
    shutil.move(copy.project, copy.project.with_name("elsewhere"))
    with pytest.raises(KnownError, match="cannot be opened"):
        copy.changes()
    make(copy.project)
    with pytest.raises(KnownError, match="another folder"):
        copy.changes()
    assert apply.is_begun(copy.folder), "what was begun in one folder was ended in another"
    shutil.rmtree(copy.project)
    shutil.move(copy.project.with_name("elsewhere"), copy.project)
    assert not copy.changes().changes
    assert (copy.project / "a").read_text() == "a\nn\n"


def test_one_whose_project_is_gone_is_discarded(copy: WorkingCopy) -> None:
    work(copy, "echo n >>a")
    killed_in_the_middle(copy)
    shutil.rmtree(copy.project)
    copy.discard()
    assert all_below(copy.folder.parent) == []


def test_a_broken_neighbor_is_no_hindrance(tmp_path: Path) -> None:
    copy, neighbor = made(tmp_path), made(tmp_path)
    work(copy, "echo n >new")
    (neighbor.folder / journal.NAME).write_text("{}")
    (neighbor.folder / "about.json").write_text("{")
    copy.apply(copy.changes().changes)
    assert (copy.project / "new").exists()


def test_what_a_killed_discard_has_left_is_not_listed_and_removed_by_the_next(tmp_path: Path) -> None:
    """A part of a layer would show other changes than the whole: a folder that was replaced would look emptied."""
    copy = made(tmp_path)
    left = copy.folder.with_name(f"{REMOVED}{copy.name}")
    copy.folder.rename(left)
    assert all_below(left.parent) == []
    made(tmp_path).discard()
    assert not left.exists()


def test_a_folder_that_somebody_removed_by_hand_is_not_listed(tmp_path: Path) -> None:
    copy, other = made(tmp_path), made(tmp_path)
    shutil.rmtree(copy.folder / "up")
    shutil.rmtree(other.folder)
    assert [one.name for one in all_below(copy.folder.parent)] == [copy.name]
    with pytest.raises(OSError, match="No such file"):
        copy.changes()
    copy.discard()
    assert all_below(copy.folder.parent) == []
