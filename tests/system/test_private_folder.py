"""Folders that are made are their owner's alone, with every folder above them that was missing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from runner.system.places import Places
from runner.system.private_folder import make_folder

ROOT = Path(__file__).resolve().parents[2]
MADE = re.compile(r"mkdir\([^)]*parents=True")
FAILED = "from runner.library.direct import execute; assert execute('1 / 0').exit_code"


def open_to_others(folder: Path) -> list[str]:
    folders = [path for path in folder.rglob("*") if path.is_dir()]
    assert folders
    return [str(path) for path in folders if path.stat().st_mode & 0o077]


def test_every_folder_that_was_missing_is_private_and_those_there_stay(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir(mode=0o755)
    umask = os.umask(0o022)
    try:
        make_folder(there / "a/b/c")
        make_folder(there / "a/b/c")
        Places.under(there / "home/assent").make()
    finally:
        os.umask(umask)
    assert open_to_others(there) == []
    assert there.stat().st_mode & 0o777 == 0o755
    (there / "file").touch()
    with pytest.raises(OSError, match="file"):
        make_folder(there / "file/in")
    with pytest.raises(FileExistsError):
        make_folder(there / "file")


def test_no_source_makes_folders_above_in_another_way() -> None:
    sources = [path for part in ("runner", "app") for path in (ROOT / part).rglob("*.py")]
    found = [str(path.relative_to(ROOT)) for path in sources if MADE.search(path.read_text("utf-8"))]
    assert found == ["app/demo/show.py"], "pictures for the README"


def test_the_library_leaves_no_folder_of_a_fresh_account_open_to_others(tmp_path: Path) -> None:
    """Doctor would find fault with it."""
    home = tmp_path / "fresh"
    home.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "SANDBOX_TYPE": "local", "PYTHONPATH": str(ROOT)}
    environment["ASSENT_WEAKEST_ISOLATION_HIGH"] = "process"
    umask = os.umask(0o022)
    try:
        subprocess.run([sys.executable, "-c", FAILED], env=environment, check=True, capture_output=True)
    finally:
        os.umask(umask)
    assert open_to_others(home) == []
