"""Where an installed Assent lies, and by which name it is started."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from runner.system import installed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installed folder, as tree.sh makes it, in which the module believes to lie."""
    tree = tmp_path / "lib" / "assent"
    (tree / "app/runner/system").mkdir(parents=True)
    (tree / installed.VERSION_FILE).write_text("1.0\n")
    (tree / "start.py").touch()
    (tree / "assent").write_text("#!/bin/sh\n")
    (tree / "assent").chmod(0o755)
    monkeypatch.setattr(installed, "__file__", str(tree / "app/runner/system/installed.py"))
    installed.folder.cache_clear()
    yield tree
    installed.folder.cache_clear()


def test_a_checkout_is_not_installed() -> None:
    assert installed.folder() is None
    assert (installed.modules(), installed.interpreter(), installed.command()) == (None, "", "")


def test_an_installed_one_knows_its_parts(tree: Path) -> None:
    assert installed.folder() == tree
    assert installed.modules() == tree / "app"
    assert installed.interpreter() == str(tree / "python/bin/python3")


def test_the_link_on_the_path_is_the_command(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert installed.command() == str(tree / "assent")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/assent").symlink_to(tree / "assent")
    assert installed.command() == str(tmp_path / "bin/assent")


def test_another_assent_on_the_path_is_not(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    shutil.copy(tree / "assent", tmp_path / "bin/assent")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert installed.command() == str(tree / "assent")


def test_that_its_files_are_gone_or_others_is_noticed(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tree / "app/runner/system/installed.py"
    own.touch()
    monkeypatch.setattr(installed, "_AT_START", installed._version())
    assert not installed.replaced()
    (tree / installed.VERSION_FILE).write_text("1.1\n")
    assert installed.replaced()
    (tree / installed.VERSION_FILE).write_text("1.0\n")
    assert not installed.replaced()
    own.unlink()
    assert installed.replaced()
