"""What came back from another machine meets the folder that was sent: what is written, and what stays as it is."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.model.file_changes import FileKind
from runner.sandbox.local import copying
from runner.sandbox.workspace_copy import CopiedEntry, WorkspaceCopy
from runner.workspace import entry, returning
from tests.workspace.trees import CASES, make

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]


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
            stays = returning.take_in(record_of(folder), top, before.entries, after)
    finally:
        before.close()
        after.close()
    return {os.fsdecode(path): why for path, why in stays}


def record_of(folder: Path) -> Path:
    """The folder of a working copy, where what comes back is laid down."""
    record = folder.with_name("record")
    record.mkdir(exist_ok=True)
    return record


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
    assert not os.listdir(record_of(here))


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
        returning.take_in(record_of(here), top, {}, After())  # type: ignore[arg-type]
    assert [stat.S_IMODE((here / name).stat().st_mode) for name in "xy"] == [0o755, 0o1777]


def test_what_is_saved_while_it_is_written_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("edited", "kept"):
        (folder / name).write_text("before")
    standing = returning._standing

    def slow(top: int, name: bytes) -> object:
        """Compare, which takes a while in which a person saves."""
        found = standing(top, name)
        if name in (b"edited", b"new"):
            (folder / os.fsdecode(name)).write_text("of the person")
        return found

    monkeypatch.setattr(returning, "_standing", slow)
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


THERE = """
chmod 755 e; rm -r d; echo file >d; rm a; mkdir -p a/b; echo n >a/b/n; ln -s n a/b/l; echo q >>c; rm b
mkdir closed; echo n >closed/n; chmod 500 closed; mkdir -p e/f/g; chmod 711 e
"""
KILLS = """
import os, shutil, signal, sys
from pathlib import Path
from runner.sandbox.local import copying
from runner.workspace import entry, returning
from tests.workspace.test_returning import tree

STEPS = ("rename", "unlink", "rmdir", "mkdir", "symlink", "fchmod", "utime", "open")
place = Path(sys.argv[1])
before, after = (copying.copy(str(place / name), place, ()) for name in ("here", "away"))
old, new = tree(place / "here"), tree(place / "away")


def killed_before(number):
    left = [number]
    for name in STEPS:
        def step(*given, really=getattr(os, name), **more):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            return really(*given, **more)
        setattr(os, name, step)


def attempt(work, number):
    if not (child := os.fork()):
        killed_before(number)
        work()
        os._exit(0)
    return os.waitpid(child, 0)[1]


def fresh(number):
    here, record = place / f"here{number}", place / f"record{number}"
    shutil.copytree(place / "here", here, symlinks=True)
    record.mkdir()
    return here, record


def take_in(here, record):
    with entry.folder_open(here) as top:
        returning.take_in(record, top, before.entries, after)


def finish(here, record):
    with entry.folder_open(here) as top:
        returning.finish(record, top)


begun, whole, number = 0, 0, 1
while True:
    here, record = fresh(number)
    over = attempt(lambda: take_in(here, record), number) == 0
    laid_down = (record / returning.CAME_BACK).exists()
    # Whoever finishes it may be killed as well, anywhere.
    again = 1
    while laid_down and attempt(lambda: finish(here, record), again):
        again += 7
    finish(here, record)
    found = tree(here)
    assert found in (old, new), (number, {one for one in found.items() ^ new.items()})
    assert (found == new) or not laid_down, number
    begun += found == old
    whole += found == new
    take_in(here, record)
    assert tree(here) == new and not os.listdir(record), number
    if over:
        break
    number += 1
print(begun, whole)
"""


def test_killed_before_any_of_its_steps_it_is_all_or_nothing(tmp_path: Path) -> None:
    here = files(tmp_path / "here")
    shutil.copytree(here, tmp_path / "away", symlinks=True)
    subprocess.run(["sh", "-ec", THERE], cwd=tmp_path / "away", check=True)
    words = [sys.executable, "-c", KILLS, str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    nothing, whole = map(int, done.stdout.split())
    assert nothing > 5 and whole > 5, "both were seen"


def test_a_full_disk_leaves_the_copy_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = files(tmp_path / "here")
    before = tree(here)

    def full(_copy: WorkspaceCopy, _one: CopiedEntry) -> Iterator[bytes]:
        yield b"half"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(WorkspaceCopy, "pieces", full)
    with pytest.raises(OSError, match="No space left"):
        there_and_back(here, "echo n >new; echo q >>a; rm b")
    assert tree(here) == before
    assert not os.listdir(record_of(here))
