"""What came back from another machine meets the folder that was sent: what is written, and what stays as it is."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from runner.model.file_changes import FileKind
from runner.sandbox.local import copying
from runner.sandbox.workspace_copy import CopiedEntry, WorkspaceCopy
from runner.workspace import entry, returning
from tests.workspace.trees import CASES, make

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def there_and_back(folder: Path, program: str, meanwhile: str = "", unsent: tuple[str, ...] = ()) -> dict[str, str]:
    """Run `program` over a copy of `folder` as another machine would, and take in what came back."""
    away = folder.with_name("away")
    shutil.copytree(folder, away, symlinks=True, ignore=lambda *_: unsent)
    before = copying.copy(str(away), folder.parent, ())
    subprocess.run(["sh", "-c", program], cwd=away, check=True, env={**os.environ, "PYTHONPATH": sys.path[0]})
    after = copying.copy(str(away), folder.parent, ())
    subprocess.run(["sh", "-c", meanwhile], cwd=folder, check=True)
    try:
        with entry.folder_open(folder) as top:
            stays = returning.take_in(top, before.entries, after)
    finally:
        before.close()
        after.close()
    return {os.fsdecode(path): why for path, why in stays}


def tree(folder: Path) -> dict[str, tuple[int, str]]:
    """Return what stands in a folder: kind and permissions, and content or target."""
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        text = os.readlink(path) if path.is_symlink() else path.read_text("latin-1") if path.is_file() else ""
        found[str(path.relative_to(folder))] = 0 if path.is_symlink() else mode, text
    return found


def files(folder: Path) -> Path:
    """A project of what can be sent: files with one name, folders and links."""
    make(folder)
    (folder / "f").unlink()
    (folder / "hard").unlink()
    return folder


@pytest.mark.parametrize("case", list(CASES))
def test_what_a_program_did_elsewhere_is_what_it_would_have_done_here(tmp_path: Path, case: str) -> None:
    here, plain = files(tmp_path / "here"), files(tmp_path / "plain")
    done = subprocess.run(["sh", "-c", CASES[case]], cwd=plain, check=False, capture_output=True)
    if done.returncode or any(stat.S_ISFIFO(one.lstat().st_mode) or one.is_socket() for one in plain.rglob("*")):
        pytest.skip("of files, folders and links alone")
    stays = there_and_back(here, CASES[case])
    found, wanted = tree(here), tree(plain)
    bits = stat.S_ISUID | stat.S_ISGID  # never come back
    assert found == {path: (mode & ~bits, text) for path, (mode, text) in wanted.items()}
    assert not stays
    assert not [name for name in os.listdir(here) if name.startswith(".assent-")]


@pytest.mark.parametrize(
    ("program", "meanwhile", "stays", "left"),
    [
        ("echo p >>a", "echo q >>a", {"a": returning.CHANGED}, "a\nq\n"),
        ("echo p >>a", "chmod 600 a", {"a": returning.CHANGED}, "a\n"),
        ("rm a", "echo q >>a", {"a": returning.CHANGED}, "a\nq\n"),
        ("echo p >>a", "rm a; ln -s /etc/hostname a", {"a": returning.CHANGED}, None),
        ("echo p >a; mv a d/a; echo p >a", "echo q >d/a", {"d/a": returning.NOT_SENT}, "p\n"),
        ("rm -r d; echo f >d", "echo q >d/q", {"d": returning.NOT_EMPTY}, "a\n"),
        ("echo q >d/9", "rm -r d", {"d/9": returning.CHANGED}, "a\n"),
        ("echo q >d/9", "mv d g; ln -s g d", {"d/9": returning.CHANGED}, "a\n"),
    ],
)
def test_what_somebody_changed_here_meanwhile_is_never_written_over(
    tmp_path: Path, program: str, meanwhile: str, stays: dict[str, str], left: str | None
) -> None:
    here = files(tmp_path / "here")
    assert there_and_back(here, program, meanwhile) == stays
    assert left is None or (here / "a").read_text() == left
    assert not (here / "d" / "9").exists() and not (here / "g" / "9").exists()


def test_nothing_is_mixed_with_what_was_not_sent(tmp_path: Path) -> None:
    """A repository made there would have put its objects among those of the one here."""
    here = files(tmp_path / "here")
    (here / ".git" / "objects").mkdir(parents=True)
    (here / "e" / "secret").write_text("not sent")
    program = "mkdir -p .git/objects/aa; echo x >.git/objects/aa/1; echo there >e/secret; echo n >new"
    stays = there_and_back(here, program, unsent=(".git", "secret"))
    assert stays == {".git": returning.NOT_SENT, "e/secret": returning.NOT_SENT}
    assert not os.listdir(here / ".git" / "objects")
    assert ((here / "e" / "secret").read_text(), (here / "new").read_text()) == ("not sent", "n\n")


def test_a_folder_that_was_removed_there_keeps_what_was_not_sent(tmp_path: Path) -> None:
    here = files(tmp_path / "here")
    (here / "d" / "secret").write_text("not sent")
    assert there_and_back(here, "rm -r d", unsent=("secret",)) == {"d": returning.NOT_EMPTY}
    assert os.listdir(here / "d") == ["secret"]


def test_nothing_is_written_through_a_link_that_was_planted_here(tmp_path: Path) -> None:
    here, outside = files(tmp_path / "here"), tmp_path / "outside"
    outside.mkdir()
    stays = there_and_back(here, "echo q >d/1; echo q >d/new; rm d/2", f"mv d g; ln -s {outside} d")
    assert stays == dict.fromkeys(("d/1", "d/new"), returning.CHANGED)
    assert not os.listdir(outside)


def test_a_mode_that_changes_who_runs_a_file_is_none(tmp_path: Path) -> None:
    here = files(tmp_path / "here")

    class After:
        entries = {b"x": CopiedEntry(FileKind.FILE, 0o6755, 0), b"y": CopiedEntry(FileKind.FOLDER, 0o7777, 0)}

        def pieces(self, _one: CopiedEntry) -> tuple[bytes, ...]:
            return (b"#!/bin/sh\n",)

    with entry.folder_open(here) as top:
        returning.take_in(top, {}, After())  # type: ignore[arg-type]
    assert [stat.S_IMODE((here / name).stat().st_mode) for name in "xy"] == [0o755, 0o1777]


def test_what_is_saved_while_it_is_written_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("edited", "kept"):
        (folder / name).write_text("before")
    pieces = WorkspaceCopy.pieces

    def slow(copy: WorkspaceCopy, one: CopiedEntry) -> Iterator[bytes]:
        for piece in pieces(copy, one):
            if b"edited" in piece:
                (folder / "edited").write_text("of the person")
            if b"new" in piece:
                (folder / "new").write_text("of the person")
            yield piece

    monkeypatch.setattr(WorkspaceCopy, "pieces", slow)
    stays = there_and_back(folder, "echo edited > edited; echo kept > kept; echo new > new")
    assert stays == {"edited": returning.CHANGED, "new": returning.NOT_SENT}
    assert (folder / "edited").read_text() == (folder / "new").read_text() == "of the person"
    assert sorted(os.listdir(folder)) == ["edited", "kept", "new"]


def test_a_file_that_grows_as_fast_as_it_is_read_holds_nothing_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "log").write_text("before")
    opened, made = os.open, []

    def growing(path: bytes, *arguments: int, **more: int) -> int:
        if path == b"log" and more:
            made.append(path)
            with (folder / "log").open("ab") as file:
                file.truncate((1 << 40) * len(made))
        return opened(path, *arguments, **more)

    monkeypatch.setattr(os, "open", growing)
    assert there_and_back(folder, "echo after > log") == {"log": returning.CHANGED}
    assert made == [b"log"]
