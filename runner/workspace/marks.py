"""What of a project runs later by itself, or is grave otherwise: never applied without a word of its own."""

from __future__ import annotations

import functools
import itertools
import os
import stat
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.outline_data import words
from runner.risk.rules.knowledge import bundled
from runner.risk.rules.starting import started_by
from runner.workspace.entry import TreeKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.workspace.change import ProjectChange
    from runner.workspace.entry import TreeEntry

OBEYED = frozenset({"steering", "obeyed", "startup", "hook", "environment-file"})
"""Kinds of files of the classifier's own table that run by themselves, or that other programs obey."""
BUILDS = frozenset(
    [
        "package.json",
        "makefile",
        "gnumakefile",
        "justfile",
        "rakefile",
        "build.rs",
        "setup.py",
        "setup.cfg",
        "pyproject.toml",
        "conftest.py",
        "noxfile.py",
        "tox.ini",
        "cmakelists.txt",
        "meson.build",
        "build.gradle",
        "build.gradle.kts",
        "settings.gradle",
        "settings.gradle.kts",
        "pom.xml",
        ".npmrc",
        ".yarnrc",
        ".yarnrc.yml",
        ".pnpmfile.cjs",
        "dockerfile",
        "containerfile",
        "docker-compose.yml",
        "docker-compose.yaml",
        "compose.yml",
        "compose.yaml",
        ".pre-commit-config.yaml",
        "lefthook.yml",
        ".gitlab-ci.yml",
        "jenkinsfile",
        "azure-pipelines.yml",
        ".travis.yml",
        ".drone.yml",
        ".gitmodules",
        ".gitattributes",
        ".editorconfig",
        "agents.md",
        "claude.md",
        "gemini.md",
    ]
)
"""Names of files that a build, a test, a server, git, an editor or an agent obeys."""
CONFIGURATION = expression(r"^(?:gulpfile|gruntfile|(?:webpack|vite|vitest|jest|babel|eslint|rollup)\.config)\.\w+$")
FOLDERS = words(
    ".git/hooks .github/workflows .github/actions .circleci .woodpecker .ci .husky .githooks .vscode .idea .zed"
    " .devcontainer"
)
"""Folders whose files are obeyed so, one or two names of them."""
MOVED = "Its repository was changed in the project meanwhile."
PART = "it is part of the repository"
BULK = ("node_modules", "__pycache__", ".venv", "venv", "target", ".mypy_cache", ".pytest_cache", ".tox", ".git")
"""Folders whose content is counted, not listed, where it is ordinary."""


def mark(path: bytes, before: TreeEntry | None, after: TreeEntry | None) -> str:
    """Return why a change needs a word of its own; '' where it is an ordinary one."""
    if after is None:
        return PART if _repository(path) else ""
    if after.mode & (stat.S_ISUID | stat.S_ISGID) and after.kind is TreeKind.FILE:
        return "it runs with the rights of its owner"
    if after.kind is TreeKind.LINK:
        return "a link that leads out of the project" if _leads_out(path, after.target) else ""
    if after.kind is TreeKind.FOLDER:
        return ""
    return _obeyed(path)


@functools.lru_cache(maxsize=1 << 15)
def _obeyed(written: bytes) -> str:
    """Return what makes a file of the project run by itself, or be obeyed by another program; '' for nothing."""
    # The table has nothing on paths of several lines; a name may be anything where a whole folder is obeyed.
    path = os.fsdecode(written).lower().replace("\n", "_")
    *folders, name = path.split("/")
    kinds = bundled().targets.among(path, OBEYED)
    if "steering" in kinds:
        return "agents' programs obey it"
    if kinds:
        by = started_by(path)
        return f"it runs by itself: {by}" if by else "other programs run or obey it"
    if name == "config" and ".git" in folders:
        return "git obeys it"
    pairs = {f"{one}/{two}" for one, two in itertools.pairwise(folders)}
    if name in BUILDS or CONFIGURATION.match(name) or FOLDERS & {*folders, *pairs}:
        return "a build, a server, an editor or an agent obeys it"
    return ""


def as_one(changes: Iterable[ProjectChange]) -> tuple[ProjectChange, ...]:
    """Return the changes with those of one repository as alike: half of them would break it.

    Where something of a repository is deleted, all of it is marked; where a branch of it was moved meanwhile, all of it
    conflicts. What git obeys (its configuration and hooks) is marked by itself and may be left out.
    """
    listed = tuple(changes)
    marked: set[bytes] = set()
    moved: set[bytes] = set()
    for one in listed:
        if found := _repository(one.path):
            if one.mark == PART:
                marked.add(found)
            if one.conflict and not one.path.endswith(b"/index"):
                moved.add(found)
    return tuple(_like_its_repository(one, marked, moved) for one in listed) if marked or moved else listed


def _like_its_repository(one: ProjectChange, marked: set[bytes], moved: set[bytes]) -> ProjectChange:
    found = _repository(one.path)
    if not found:
        return one
    mark = one.mark or (PART if found in marked else "")
    return replace(one, mark=mark, conflict=one.conflict or (MOVED if found in moved else ""))


def _repository(path: bytes) -> bytes:
    """Return the folder of git's that a path is or lies in; nothing for none."""
    if b".git" not in path:
        return b""
    parts = path.split(b"/")
    return b"/".join(parts[: parts.index(b".git") + 1]) if b".git" in parts else b""


def bulk(path: bytes) -> str:
    """Return the folder of many files that a path lies in, to be counted as one; '' for none."""
    parts = os.fsdecode(path).split("/")
    for at, part in enumerate(parts[:-1]):
        if part in BULK:
            return "/".join(parts[: at + 1])
    return ""


def _leads_out(path: bytes, target: bytes) -> bool:
    """Return whether a link leads out of the project, judged from its text: what it leads to may itself be a link."""
    if target.startswith(b"/"):
        return True
    depth = path.count(b"/")
    for part in target.split(b"/"):
        depth += -1 if part == b".." else part not in (b"", b".")
        if depth < 0:
            return True
    return False
