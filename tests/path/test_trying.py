"""A command is tried in a real repository: what it changes is listed, applied and taken back, by the real programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.components import require
from tests.workspace.trees import look

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[2]


def assent(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `assent` in a project."""
    command = [sys.executable, "-m", "app", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


def git(project: Path, *words: str) -> None:
    """Run git in a project."""
    who: Sequence[str] = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.com")
    subprocess.run(["git", *who, *words], cwd=project, check=True, capture_output=True)


def test_what_a_command_changes_is_listed_applied_and_taken_back(tmp_path: Path) -> None:
    require("bubblewrap")
    project = tmp_path / "my project"
    project.mkdir()
    (project / "Makefile").write_text("install:\n\trm -rf .git\n\techo x > new\n\techo more >> a.txt\n")
    (project / "a.txt").write_text("a\n")
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "first")
    before = look(project)

    tried = assent(project, "try", "--keep", "--", "make", "install")
    assert tried.returncode == 0, tried.stderr
    assert "rm -rf .git" in tried.stdout
    assert look(project) == before

    copies = json.loads(assent(project, "work", "list", "--json").stdout)
    assert [(one["project"], one["program"]) for one in copies] == [(str(project), ["make", "install"])]
    name = copies[0]["name"]
    said = json.loads(assent(project, "work", "changes", name, "--json").stdout)
    changes = {one["path"]: one for one in said["changes"]}
    assert changes["new"]["how"] == "added" and not changes["new"]["mark"]
    assert changes["a.txt"]["how"] == "changed"
    assert changes[".git/HEAD"]["how"] == "deleted" and "repository" in changes[".git/HEAD"]["mark"]

    assert assent(project, "work", "apply", name, "--digest", "0" * 64).returncode == 1
    assert look(project) == before
    applied = assent(project, "work", "apply", name, "--digest", said["digest"])
    assert applied.returncode == 1, "what is marked is left, and said"
    assert (project / "new").read_text() == "x\n"
    assert (project / "a.txt").read_text() == "a\nmore\n"
    git(project, "log", "-1")

    assert assent(project, "work", "undo", name).returncode == 0
    assert look(project) == before
    assert assent(project, "work", "discard", name, "--yes").returncode == 0
    assert json.loads(assent(project, "work", "list", "--json").stdout) == []
