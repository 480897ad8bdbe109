"""Which folder is the project of a program at work."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from runner.commands.view_arguments import project_of
from runner.system.places import Places

if TYPE_CHECKING:
    from pathlib import Path

OTHERS = 65533
"""An account that is nobody of this machine."""


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places.under(tmp_path / "assent")


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder two below one in which a repository is, and the current one."""
    (tmp_path / "top" / ".git").mkdir(parents=True)
    folder = tmp_path / "top" / "mine" / "src"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def test_the_repository_around_the_folder_is_the_project(inside: Path, places: Places) -> None:
    assert project_of(None, places) == inside.parent.parent


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes folders of other accounts")
def test_a_repository_of_another_account_is_none(inside: Path, places: Places) -> None:
    os.chown(inside.parent.parent / ".git", OTHERS, OTHERS)
    assert project_of(None, places) == inside


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes folders of other accounts")
def test_a_repository_is_one_for_an_administrator_who_goes_into_it(inside: Path, places: Places) -> None:
    for folder in (inside.parent.parent / ".git", inside):
        os.chown(folder, OTHERS, OTHERS)
    assert project_of(None, places) == inside.parent.parent
