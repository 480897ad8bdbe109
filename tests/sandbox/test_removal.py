"""Removal of folders that code has made hard to remove."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from runner.model.errors import KnownError
from runner.sandbox.local import leftovers
from runner.system.removal import remove

if TYPE_CHECKING:
    from pathlib import Path

DEEP = 3_000
"""More than Python goes down by recursion, and longer than any path may be."""
GONE = "run-999999999-1-abc"
"""A run of a console that cannot be alive: no process has such an id."""


def nested(folder: Path, depth: int = DEEP, name: str = "d") -> None:
    """Make folders within each other below `folder`, with a file in the last one."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("f", os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=here))
    os.close(here)


def test_folders_within_each_other(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    nested(folder)
    nested(folder, 30, "x" * 250)
    assert remove(folder) == ""
    assert not folder.exists()


def test_closed_folders_and_links(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("stays")
    folder = tmp_path / "run"
    (folder / "a" / "b" / "c").mkdir(parents=True)
    (folder / "a" / "link").symlink_to(kept)
    (folder / "a" / "b" / "file").write_text("goes")
    os.mkfifo(folder / "a" / "pipe")
    for closed in (folder / "a" / "b" / "c", folder / "a" / "b", folder / "a", folder):
        closed.chmod(0)
    assert remove(folder) == ""
    assert not folder.exists()
    assert (kept / "file").read_text() == "stays"


def test_a_link_in_place_of_the_folder_is_removed_itself(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "run").symlink_to("kept")
    assert remove(tmp_path / "run") == ""
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_what_cannot_be_removed_is_named_and_the_rest_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / "run" / name / "deeper").mkdir(parents=True)
    real = os.rmdir

    def refuses(name: str, *, dir_fd: int) -> None:
        if name == "b":
            raise PermissionError(1, "Operation not permitted")
        real(name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "rmdir", refuses)
    assert remove(tmp_path / "run") == "operation not permitted"
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["b"]


def test_nothing_is_removed_where_nothing_is(tmp_path: Path) -> None:
    assert remove(tmp_path / "run") == ""


def test_a_sweep_removes_all_it_can_and_then_says_what_stayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (GONE, f"{GONE}d", f"{GONE}e"):
        (tmp_path / name / "workspace").mkdir(parents=True)
    nested(tmp_path / f"{GONE}d" / "workspace", 1_200)
    monkeypatch.setattr(leftovers, "remove", lambda folder: "busy" if folder.name == GONE else remove(folder))
    with pytest.raises(KnownError, match=r"could not be removed: .*abc \(busy\)\."):
        leftovers.sweep(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [GONE]
