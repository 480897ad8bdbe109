"""A project with a repository: what a look of git's leaves is no change, and commits are named."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from runner.workspace import apply, git_index, undo
from runner.workspace.marks import PART
from runner.workspace.working_copy import WAYS, WorkingCopy
from tests.workspace.trees import look, work

if TYPE_CHECKING:
    from pathlib import Path

GIT = "git -c user.name=a -c user.email=a@example.com -c commit.gpgsign=false"
LOOKS = "touch f1; git status >/dev/null"
"""git reads f1 once more, and writes the new time into the index."""


def commit(subject: str) -> str:
    return f"echo x >>f1; {GIT} commit -aqm '{subject}'"


@pytest.fixture(params=list(WAYS))
def copy(request: pytest.FixtureRequest, tmp_path: Path) -> WorkingCopy:
    project = tmp_path / "project"
    project.mkdir()
    person(project, f"git init -q -b trunk; echo 1 >f1; echo 2 >f2; git add .; {GIT} commit -qm one")
    return WorkingCopy.make(tmp_path / "copies", project, ("bash",), way=str(request.param))


def person(project: Path, command: str) -> None:
    subprocess.run(["bash", "-ec", command], cwd=project, check=True)


def paths(copy: WorkingCopy) -> dict[bytes, str]:
    return {one.path: one.conflict for one in copy.changes().changes}


@pytest.mark.parametrize("meanwhile", ["true", "git add f2", "echo y >>f2; git add f2", LOOKS])
def test_an_index_that_git_only_refreshed_is_no_change_and_no_conflict(copy: WorkingCopy, meanwhile: str) -> None:
    work(copy, LOOKS)
    person(copy.project, meanwhile)
    assert b".git/index" not in paths(copy)


def test_an_index_in_which_something_was_added_is_a_change(copy: WorkingCopy) -> None:
    work(copy, "echo n >>f2; git add f2")
    assert paths(copy)[b".git/index"] == ""
    person(copy.project, "echo y >>f1; git add f1")
    assert paths(copy)[b".git/index"] != ""


def test_what_was_taken_out_of_the_index_again_after_apply_is_a_change(copy: WorkingCopy) -> None:
    """The index as it was at the start is no measure any more, once another one was written from here."""
    work(copy, "echo n >>f2; git add f2")
    copy.apply(copy.changes().changes)
    work(copy, "git reset -q; git status >/dev/null")
    assert b".git/index" in paths(copy)


@pytest.mark.parametrize(
    "data", [b"", b"DIRC", b"DIRC\0\0\0\4\0\0\0\0" + b"x" * 20, b"DIRC\0\0\0\2\xff\xff\xff\xff" * 9]
)
def test_an_index_of_another_form_is_compared_by_its_bytes(data: bytes) -> None:
    assert git_index.listed(data) is None


def test_commits_are_named_with_their_branch(copy: WorkingCopy) -> None:
    work(copy, f"{commit('Add a parser')}; {commit('Fix it')}; echo z >>f1; {GIT} commit -q --amend -am 'Fix it well'")
    made = copy.changes().commits
    assert made is not None
    assert made.words == "2 commits on branch trunk: “Add a parser”, “Fix it well”."
    copy.apply(copy.changes().changes)
    assert copy.changes().commits is None
    work(copy, f"git checkout -qb side; {commit('More')}")
    assert copy.changes().commits.words == "1 commit on branch side: “More”."  # type: ignore[union-attr]


def test_nothing_is_said_of_commits_where_none_was_made(copy: WorkingCopy) -> None:
    work(copy, "git checkout -q --detach; echo x >>f1; git add f1")
    assert copy.changes().commits is None


REFS = {
    "nothing": ("true", "git tag v1 -f HEAD; git branch -f keep HEAD", ""),
    "moved": ("true", "git tag -f v1 HEAD; git tag -f v2 HEAD~1", "Moved: tag v2."),
    "moved where they were packed": ("git pack-refs --all", "git tag -f v2 HEAD~1", "Moved: tag v2."),
    "packed": ("true", "git pack-refs --all", ""),
    "deleted": ("true", "git tag -d v2", "Deleted: tag v2."),
    "deleted where they were packed": ("git pack-refs --all", "git tag -d v2; git branch -D keep", ""),
    "made": ("true", "git tag a/b; git tag -a -m x c", "Made: tag a/b, tag c."),
    "moved back": ("true", "git reset -q --hard HEAD~1", "Moved: branch trunk."),
    "with a commit": ("true", f"{commit('More')}; git tag -f v1", "1 commit on branch trunk: “More”. Moved: tag v1."),
    "hidden by a link": (
        "true",
        "git tag -f v1 HEAD~1; ln -s /etc/passwd .git/refs/tags/x",
        "Moved: tag v1. Made: tag x.",
    ),
    "all gone": ("true", "rm -rf .git", ""),
    "many": (
        "true",
        "for i in $(seq 7); do git tag t$i; done",
        "Made: tag t1, tag t2, tag t3, tag t4, tag t5 and 2 more.",
    ),
}


@pytest.mark.parametrize("case", REFS)
def test_tags_and_branches_that_were_moved_are_named(copy: WorkingCopy, case: str) -> None:
    before, command, said = REFS[case]
    git = f"export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; {command}"
    person(copy.project, f"{commit('two')}; git tag v1; git tag v2; git branch keep; {before}")
    copy = WorkingCopy.make(copy.folder.parent, copy.project, ("bash",), way=copy.way)
    work(copy, git)
    found = copy.changes().commits
    words = "" if found is None else found.words
    assert words == (said or ("Deleted: branch keep, tag v2." if "packed" in case and "deleted" in case else ""))


ADDS = "echo n >>f2; echo new >f3; git add ."
USES = {
    "looked at": (ADDS, "touch f1; git status >/dev/null"),
    "committed on top": (commit("theirs"), f"echo m >mine; git add mine; {GIT} commit -qm mine"),
    "committed what was added": (ADDS, f"{GIT} commit -qm mine"),
    "branched": (commit("theirs"), "git branch keep"),
    "looked at after a commit": (commit("theirs"), "touch f2; git status >/dev/null"),
}


@pytest.mark.parametrize("case", USES)
def test_undo_never_takes_objects_from_a_repository_that_was_used_since(copy: WorkingCopy, case: str) -> None:
    theirs, mine = USES[case]
    work(copy, theirs)
    copy.apply(copy.changes().changes)
    person(copy.project, mine)
    before = {one: one.stat().st_mtime_ns for one in (copy.project / ".git").rglob("*")}
    kept = dict(copy.undo_plan().kept)
    assert all(path in kept for path in paths_of(copy) if path.startswith(b".git/"))
    assert undo.REPOSITORY in kept.values()
    copy.undo()
    assert {one: one.stat().st_mtime_ns for one in (copy.project / ".git").rglob("*")} == before
    assert not (copy.project / "f3").exists(), "files of the project go back all the same"
    person(
        copy.project, f"git fsck --strict 2>&1 | grep -v dangling | (! grep .); {GIT} commit -aqm after --allow-empty"
    )


@pytest.mark.parametrize("theirs", [commit("theirs"), ADDS, "git branch -D side; git branch new", "rm -rf .git"])
def test_undo_takes_back_a_repository_that_nobody_used_since(tmp_path: Path, theirs: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    person(project, f"git init -q -b trunk; echo 1 >f1; echo 2 >f2; git add .; {GIT} commit -qm one; git branch side")
    copy = WorkingCopy.make(tmp_path / "copies", project, ("bash",), way="overlay")
    before = look(project)
    work(copy, theirs)
    copy.apply(copy.changes().changes)
    assert look(project) != before
    copy.undo()
    assert look(project) == before


def paths_of(copy: WorkingCopy) -> list[bytes]:
    """Return what was applied last."""
    found = apply.undo_of(copy.folder)
    assert found is not None
    return [one.path for one in found.changes]


UNFINISHED = f"""
{GIT} commit -q --allow-empty -m two
GIT_SEQUENCE_EDITOR='sed -i 1ibreak' {GIT} rebase -q -i HEAD~1
echo 'exec touch /tmp/pwned' >>.git/rebase-merge/git-rebase-todo
"""


@pytest.mark.parametrize(
    ("theirs", "marked"),
    [
        (UNFINISHED, b".git/rebase-merge/git-rebase-todo"),
        (f"{commit('two')}; git replace HEAD HEAD~1", b".git/refs/replace/"),
        ("mkdir -p .git/objects/info; echo /elsewhere >.git/objects/info/alternates", b".git/objects/info/alternates"),
        ("echo '* -diff' >.git/info/attributes", b".git/info/attributes"),
    ],
)
def test_what_git_goes_on_with_or_shows_otherwise_needs_a_word(copy: WorkingCopy, theirs: str, marked: bytes) -> None:
    work(copy, theirs)
    found = {one.path: one.mark for one in copy.changes().changes}
    assert any(mark for path, mark in found.items() if path.startswith(marked)), found


def test_what_commits_write_needs_a_word(copy: WorkingCopy) -> None:
    """What is in a commit need not be what is in the files, which alone are shown."""
    work(copy, f"{commit('two')}; git branch side; git tag t1")
    found = copy.changes().changes
    assert [one.path for one in found if not one.mark] == [b"f1"] and len(found) > 6


FORGED = """
import hashlib, struct, subprocess, zlib
blob = bytes.fromhex(subprocess.check_output(["git", "rev-parse", "HEAD:f1"], text=True))
evil = zlib.compress(b"evil")
data = b"PACK" + struct.pack(">LL", 2, 1) + bytes([3 << 4 | 4]) + evil
ends = hashlib.sha1(data).digest()
fan = b"".join(struct.pack(">L", number >= blob[0]) for number in range(256))
index = b"\\xfftOc" + struct.pack(">L", 2) + fan + blob
index += struct.pack(">LL", zlib.crc32(bytes([3 << 4 | 4]) + evil), 12) + ends
name = ".git/objects/pack/pack-" + ends.hex()
open(name + ".pack", "wb").write(data + ends)
open(name + ".idx", "wb").write(index + hashlib.sha1(index).digest())
"""


def test_a_pack_that_has_other_content_for_a_blob_needs_a_word(copy: WorkingCopy) -> None:
    """git compares no name with what it reads: `git checkout f1` would write what nobody has seen."""
    person(copy.project, "git gc -q; touch -d yesterday .git/objects/pack/*  # of two packs git reads the newer one")
    later = WorkingCopy.make(copy.folder.parent, copy.project, ("bash",), way=copy.way)
    work(later, f"python3 -c '{FORGED}'; rm f1; git checkout -q f1; grep evil f1; echo 1 >f1")
    found = {one.path: one.mark for one in later.changes().changes if one.path.endswith((b".pack", b".idx"))}
    assert len(found) == 2 and {*found.values()} == {PART}


def test_no_part_of_a_repository_that_moved_meanwhile_is_merged(copy: WorkingCopy) -> None:
    """HEAD alone would name a branch whose commits stay in the working copy."""
    work(copy, f"git checkout -qb side; {commit('theirs')}")
    copy.keep_originals(copy.changes())
    person(copy.project, f"echo m >mine; git add mine; {GIT} commit -qm mine")
    found = {one.path: one.conflict for one in copy.changes().changes if one.path.startswith(b".git/")}
    assert b".git/HEAD" in found and all(found.values()), found
