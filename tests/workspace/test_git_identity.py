"""The person's name and address for git, as a contained program gets them."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from runner.workspace import git_identity

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def test_what_git_knows_in_the_project_counts_before_what_it_knows_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert git_identity.variables(project) == {}
    (tmp_path / ".gitconfig").write_text("[user]\n\tname = Ada Lovelace\n\temail = ada@example.com\n")
    assert git_identity.variables(project) == {
        "GIT_AUTHOR_NAME": "Ada Lovelace",
        "GIT_AUTHOR_EMAIL": "ada@example.com",
        "GIT_COMMITTER_NAME": "Ada Lovelace",
        "GIT_COMMITTER_EMAIL": "ada@example.com",
    }
    git(project, "init", "-q")
    git(project, "config", "user.email", "ada@work.example")
    found = git_identity.variables(project)
    assert (found["GIT_AUTHOR_NAME"], found["GIT_COMMITTER_EMAIL"]) == ("Ada Lovelace", "ada@work.example")


def test_where_git_does_not_answer_nothing_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_identity.trusted, "find", lambda *_names: "")
    assert git_identity.variables(tmp_path) == {}
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setattr(git_identity.trusted, "find", lambda *_names: str(slow))
    monkeypatch.setattr(git_identity, "SECONDS", 0.1)
    assert git_identity.variables(tmp_path) == {}
