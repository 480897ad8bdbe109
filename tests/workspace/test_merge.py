"""Files that both the layer and a person changed: merged of what both began with, where that is certain, else not."""

from __future__ import annotations

import os
import shutil
import subprocess
import zlib
from typing import TYPE_CHECKING

import pytest

from runner.model.errors import KnownError
from runner.workspace import copied, reading
from runner.workspace.change import MERGED, How, digest
from runner.workspace.difference import compared
from runner.workspace.working_copy import WAYS, WorkingCopy
from tests.workspace.trees import look, make, work

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from runner.workspace.change import ProjectChange

LINES = "".join(f"{number}\n" for number in range(1, 31))
PROGRAM = "sed -i s/^25$/program/ text"
PERSON = "sed -i s/^5$/person/ text"
BOTH = LINES.replace("\n25\n", "\nprogram\n").replace("\n5\n", "\nperson\n")


@pytest.fixture(params=list(WAYS))
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with one text; git is made to read it again a second later, as it does at the next command."""
    project = make(tmp_path / "project")
    (project / "text").write_text(LINES)
    os.utime(project / "text", (1, 1))
    git(project, "init", "-q")
    git(project, "add", ".")
    return project


@pytest.fixture
def copy(tmp_path: Path, project: Path, way: str) -> WorkingCopy:
    return WorkingCopy.make(tmp_path / "copies", project, ("bash",), way=way)


def git(project: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=project, check=True)


def saves(project: Path, command: str) -> None:
    """Do as a person who changes the project itself."""
    subprocess.run(["bash", "-ec", command], cwd=project, check=True)


def text_of(copy: WorkingCopy) -> ProjectChange:
    (found,) = (one for one in copy.changes().changes if one.path == b"text")
    return found


def has_text(copy: WorkingCopy) -> bool:
    return any(one.path == b"text" for one in copy.changes().changes)


def test_what_git_knows_is_what_both_began_with(copy: WorkingCopy) -> None:
    work(copy, PROGRAM)
    saves(copy.project, PERSON)
    found = text_of(copy)
    assert (found.how, found.conflict, found.text) == (How.CHANGED, "", BOTH.encode())
    assert found.mark == MERGED, "it would be applied unasked"
    assert [line for line in compared(found, copy.project, copy.content).lines if line[0] in "+-"] == [
        "-25",
        "+program",
    ]


def test_a_merge_is_applied_and_taken_back_and_offered_again(copy: WorkingCopy) -> None:
    work(copy, f"{PROGRAM}; echo n >new")
    saves(copy.project, PERSON)
    before = look(copy.project)
    found = copy.changes()
    assert copy.apply(found.changes).paths == 2
    assert (copy.project / "text").read_text() == BOTH
    assert not copy.changes().changes, "what was merged still counts as a change, or as a conflict"
    copy.undo()
    assert look(copy.project) == before
    assert digest(copy.changes().changes) == digest(found.changes)
    copy.apply(copy.changes().changes)
    assert (copy.project / "text").read_text() == BOTH


def test_a_merge_keeps_permissions_and_gets_the_time_of_its_applying(copy: WorkingCopy) -> None:
    saves(copy.project, "chmod 640 text; git update-index text")
    later = WorkingCopy.make(copy.folder.parent, copy.project, ("bash",), way=copy.way)
    work(later, f"{PROGRAM}; touch -d 2001-02-03 text")
    saves(copy.project, f"{PERSON}; touch -d 2002-02-03 text")
    later.apply([text_of(later)])
    found = (copy.project / "text").stat()
    assert found.st_mode & 0o777 == 0o640
    assert found.st_mtime > later.made, "a build would take it for one that it has seen"


def test_the_digest_is_of_the_merged_content(copy: WorkingCopy) -> None:
    work(copy, PROGRAM)
    saves(copy.project, PERSON)
    first = digest([text_of(copy)])
    assert first == digest([text_of(copy)])
    saves(copy.project, "echo 31 >>text")
    assert digest([text_of(copy)]) != first


def test_a_save_between_the_merge_and_apply_stops_it_and_is_merged_at_the_next_look(copy: WorkingCopy) -> None:
    work(copy, f"{PROGRAM}; echo n >new")
    saves(copy.project, PERSON)
    seen = copy.changes()
    saves(copy.project, "echo more >>text")
    before = look(copy.project)
    with pytest.raises(KnownError, match="changed in the project meanwhile"):
        copy.apply(seen.changes)
    assert look(copy.project) == before
    copy.apply([text_of(copy)])
    assert (copy.project / "text").read_text() == f"{BOTH}more\n"


@pytest.mark.parametrize(
    ("program", "person", "lines"),
    [
        ("sed -i s/^7$/x/ text", "sed -i s/^7$/y/ text", "line 7."),
        ("sed -i '7s/$/x/; 20,22d' text", "sed -i '7,8s/$/y/; 21s/$/y/' text", "lines 7 to 8, 21."),
        ("sed -i 20,22d text", "sed -i '20i p' text; sed -i '1i first' text", "line 21."),
        ("seq 99 120 >text", "seq 60 80 >text", "lines 1 to 21."),
    ],
)
def test_what_cannot_be_merged_stays_a_conflict_that_names_the_lines(
    copy: WorkingCopy, program: str, person: str, lines: str
) -> None:
    work(copy, program)
    saves(copy.project, person)
    found = text_of(copy)
    assert found.conflict == f"{reading.CHANGED_MEANWHILE.rstrip('.')}, and both changed {lines}"
    assert found.text is None and not found.merged
    with pytest.raises(KnownError, match="conflict"):
        copy.apply([found])


def _filtered(project: Path) -> None:
    """The blob has other bytes than the file, as many."""
    git(project, "config", "filter.f.clean", "tr 0-9 a-j")
    (project / ".gitattributes").write_text("text filter=f\n")
    (project / "text").touch()
    os.utime(project / "text", (2, 2))
    git(project, "add", ".")


def _filtered_here(project: Path) -> None:
    git(project, "config", "filter.f.clean", "tr 0-9 a-j")
    (project / ".git/info/attributes").write_text("text filter=f\n")
    os.utime(project / "text", (2, 2))
    git(project, "add", ".")


def _line_ends(project: Path) -> None:
    git(project, "config", "core.autocrlf", "true")
    (project / "text").write_text(LINES.replace("\n", "\r\n"))
    os.utime(project / "text", (2, 2))
    git(project, "add", ".")


def _not_added(project: Path) -> None:
    (project / "text").write_text(f"{LINES}mine\n")


def _not_looked_at(project: Path) -> None:
    git(project, "update-index", "--assume-unchanged", "text")
    (project / "text").write_text(f"{LINES}mine\n")


def _forged(project: Path) -> None:
    blob = subprocess.run(["git", "rev-parse", ":text"], cwd=project, check=True, stdout=subprocess.PIPE, text=True)
    name = blob.stdout.strip()
    file = project / ".git/objects" / name[:2] / name[2:]
    file.chmod(0o600)
    file.write_bytes(zlib.compress(b"blob %d\0" % len(LINES) + LINES.replace("7", "8").encode()))


def _no_repository(project: Path) -> None:
    shutil.rmtree(project / ".git")


@pytest.mark.parametrize(
    "state", [_filtered, _filtered_here, _line_ends, _not_added, _not_looked_at, _forged, _no_repository]
)
def test_nothing_is_merged_where_it_is_not_certain_what_both_began_with(
    tmp_path: Path, project: Path, state: Callable[[Path], None]
) -> None:
    state(project)
    copy = WorkingCopy.make(tmp_path / "copies", project, ("bash",))
    work(copy, PROGRAM)
    saves(project, PERSON)
    found = text_of(copy)
    assert (found.conflict, found.text) == (reading.CHANGED_MEANWHILE, None)


def test_what_a_look_has_kept_is_merged_without_a_repository(copy: WorkingCopy) -> None:
    shutil.rmtree(copy.project / ".git")
    work(copy, PROGRAM)
    copy.keep_originals(copy.changes())
    saves(copy.project, PERSON)
    assert text_of(copy).text == BOTH.encode()


def test_nothing_is_kept_that_a_person_changed_before_the_look(copy: WorkingCopy) -> None:
    shutil.rmtree(copy.project / ".git")
    work(copy, PROGRAM)
    saves(copy.project, PERSON)
    copy.keep_originals(copy.changes())
    assert text_of(copy).conflict == reading.CHANGED_MEANWHILE


@pytest.mark.parametrize("kept", ["originals", "git/differing"])
def test_what_was_not_kept_to_its_end_is_not_merged_with(copy: WorkingCopy, kept: str) -> None:
    if kept == "originals":
        shutil.rmtree(copy.project / ".git")
        work(copy, PROGRAM)
        copy.keep_originals(copy.changes())
        shutil.rmtree(copy.folder / "git")
    work(copy, PROGRAM)
    file = next((copy.folder / kept).iterdir()) if kept == "originals" else copy.folder / kept
    file.write_bytes(file.read_bytes()[:-1])
    saves(copy.project, PERSON)
    assert text_of(copy).conflict == reading.CHANGED_MEANWHILE


def test_a_repository_of_several_folders_is_read_as_well(tmp_path: Path, project: Path, way: str) -> None:
    git(project, "-c", "user.name=n", "-c", "user.email=e@example.com", "commit", "-qm", "one")
    git(project, "worktree", "add", "-q", str(tmp_path / "other"))
    copy = WorkingCopy.make(tmp_path / "copies", tmp_path / "other", ("bash",), way=way)
    work(copy, PROGRAM)
    saves(copy.project, PERSON)
    assert text_of(copy).text == BOTH.encode()


def test_nothing_that_the_repository_names_is_run(tmp_path: Path, project: Path) -> None:
    ran = tmp_path / "ran"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    script.chmod(0o755)
    (project / ".gitattributes").write_text("* filter=f diff=f merge=f\n")
    for name in ("filter.f.clean", "filter.f.smudge", "diff.f.textconv", "diff.external", "merge.f.driver"):
        git(project, "config", name, str(script))
    git(project, "config", "core.fsmonitor", str(script))
    git(project, "config", "core.hooksPath", str(tmp_path))
    (tmp_path / "post-index-change").symlink_to(script)
    ran.unlink(missing_ok=True)
    (project / "text").touch()
    copy = WorkingCopy.make(tmp_path / "copies", project, ("bash",))
    work(copy, PROGRAM)
    copy.keep_originals(copy.changes())
    saves(project, PERSON)
    assert text_of(copy).text == BOTH.encode()
    work(copy, "sed -i s/^5$/program/ text")
    assert "line 5" in text_of(copy).conflict
    assert not ran.exists()


@pytest.mark.parametrize("person", ["touch text", f"{PERSON}; sed -i s/^person$/5/ text", "cp text x; mv x text"])
def test_a_file_that_has_the_same_content_again_is_no_conflict(copy: WorkingCopy, person: str) -> None:
    work(copy, PROGRAM)
    saves(copy.project, person)
    found = text_of(copy)
    assert (found.conflict, found.mark, found.text) == ("", "", None)
    copy.apply([found])
    assert (copy.project / "text").read_text() == LINES.replace("\n25\n", "\nprogram\n")


def test_nothing_is_left_of_what_both_changed_alike(copy: WorkingCopy) -> None:
    work(copy, PROGRAM)
    saves(copy.project, f"{PROGRAM}; {PERSON}")
    assert not has_text(copy)


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize("person", [PERSON, "sed -i /program/d text"])
def test_what_a_person_does_with_what_was_applied_is_not_taken_back(
    copy: WorkingCopy, person: str, *, committed: bool
) -> None:
    if not committed:
        shutil.rmtree(copy.project / ".git")
    work(copy, f"{PROGRAM}; echo n >new")
    copy.apply([text_of(copy)])
    copy.apply(copy.changes().changes)
    saves(copy.project, person)
    assert not has_text(copy), "what was applied would be applied again"
    mine = (copy.project / "text").read_text()
    work(copy, "sed -i s/^10$/again/ text")
    assert text_of(copy).text == mine.replace("\n10\n", "\nagain\n").encode()


def test_what_was_applied_and_is_written_again_is_no_conflict_of_its_own(copy: WorkingCopy) -> None:
    work(copy, f"{PROGRAM}; echo n >new")
    copy.apply([text_of(copy)])
    copy.apply(copy.changes().changes)
    work(copy, "echo more >>text")
    found = text_of(copy)
    assert (found.conflict, found.merged) == ("", "")


def test_only_files_with_the_same_permissions_are_merged(copy: WorkingCopy) -> None:
    work(copy, f"{PROGRAM}; chmod 755 text")
    saves(copy.project, PERSON)
    assert text_of(copy).conflict == reading.CHANGED_MEANWHILE


def test_a_merge_of_what_is_marked_keeps_its_mark(tmp_path: Path, project: Path) -> None:
    saves(project, "cp -p text Makefile; git add .")
    copy = WorkingCopy.make(tmp_path / "copies", project, ("bash",))
    work(copy, "sed -i s/^25$/program/ Makefile")
    saves(project, "sed -i s/^5$/person/ Makefile")
    (found,) = copy.changes().changes
    assert found.merged and found.mark.startswith("a build") and found.mark.endswith(MERGED)


def test_a_save_while_the_copy_is_made_is_a_change_meanwhile(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(project / ".git")
    really = copied.prepare

    def saved(folder: Path, project: Path) -> None:
        really(folder, project)
        saves(project, PERSON)

    with monkeypatch.context() as patched:
        patched.setattr(copied, "prepare", saved)
        copy = WorkingCopy.make(tmp_path / "copies", project, ("bash",), way="copy")
    work(copy, PROGRAM)
    assert text_of(copy).conflict == reading.CHANGED_MEANWHILE
