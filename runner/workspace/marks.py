"""What of a project runs later by itself, or is grave otherwise: never applied without a word of its own."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.client_tools import steers
from runner.risk.rules.knowledge import bundled
from runner.risk.rules.starting import started_by
from runner.workspace.entry import TreeKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.workspace.change import ProjectChange
    from runner.workspace.entry import TreeEntry

STARTED = {
    expression(r"(^|/)\.git/(config|hooks/|modules/.*/(config|hooks/)|info/attributes$)"): "git obeys it",
    expression(r"(^|/)(\.gitmodules|\.gitattributes)$"): "git obeys it",
    expression(
        r"(^|/)(\.github/(workflows|actions)/|\.gitlab-ci\.yml$|\.circleci/|jenkinsfile|azure-pipelines\.yml$"
        r"|\.travis\.yml$|\.drone\.yml$|\.woodpecker|\.ci/)"
    ): "a server for builds runs it",
    expression(
        r"(^|/)(package\.json|makefile|gnumakefile|.*\.mk|justfile|rakefile|build\.rs|\.cargo/config(\.toml)?"
        r"|setup\.py|setup\.cfg|pyproject\.toml|conftest\.py|noxfile\.py|tox\.ini|cmakelists\.txt|meson\.build"
        r"|build\.gradle(\.kts)?|settings\.gradle(\.kts)?|pom\.xml|gruntfile\.\w+|gulpfile\.\w+|webpack\.config\.\w+"
        r"|vite\.config\.\w+|vitest\.config\.\w+|jest\.config\.\w+|\.npmrc|\.yarnrc(\.yml)?|\.pnpmfile\.cjs"
        r"|dockerfile|containerfile|docker-compose\.ya?ml|compose\.ya?ml|\.pre-commit-config\.yaml|lefthook\.ya?ml"
        r"|\.husky/.*|\.githooks/.*)$"
    ): "a build or test runs it",
    expression(r"(^|/)(\.vscode|\.idea|\.zed|\.devcontainer)/|(^|/)(\.exrc|\.nvimrc|\.vimrc|\.editorconfig)$"): (
        "an editor obeys it"
    ),
    expression(r"(^|/)(\.envrc|\.env(\.[\w.]+)?)$"): "it sets variables of other programs",
    expression(r"(^|/)(\.venv|venv|node_modules/\.bin|bin)/.*"): "a program that is started by name",
    expression(r"(^|/)(agents|claude|gemini)(\.local)?\.md$|(^|/)\.(cursorrules|windsurfrules|clinerules)"): (
        "agents take it as instructions"
    ),
}
"""Expressions over a path in lower case, and what they stand for."""
REPOSITORY = expression(r"^(?:.*/)?\.git(?=/|$)")
MOVED = "Its repository was changed in the project meanwhile."
PART = "it is part of the repository"
BULK = ("node_modules", "__pycache__", ".venv", "venv", "target", ".mypy_cache", ".pytest_cache", ".tox", ".git")
"""Folders whose content is counted, not listed, where it is ordinary."""


def mark(path: bytes, before: TreeEntry | None, after: TreeEntry | None) -> str:
    """Return why a change needs a word of its own; '' where it is an ordinary one."""
    text = os.fsdecode(path).lower()
    if after is None:
        return PART if REPOSITORY.match(text) else ""
    if after.mode & (stat.S_ISUID | stat.S_ISGID) and after.kind is TreeKind.FILE:
        return "it runs with the rights of its owner"
    if after.kind is TreeKind.LINK:
        return "a link that leads out of the project" if _leads_out(path, after.target) else ""
    if after.kind is TreeKind.FOLDER:
        return ""
    if steers("/" + text):
        return "agents' programs obey it"
    for pattern, words in STARTED.items():
        if pattern.search(text):
            return words
    if bundled().targets.of(os.fsdecode(path)) & {"startup", "hook"}:
        by = started_by(text)
        return f"it runs by itself: {by}" if by else "it runs by itself"
    return ""


def as_one(changes: Iterable[ProjectChange]) -> tuple[ProjectChange, ...]:
    """Return the changes with those of one repository as alike: half of them would break it.

    Where something of a repository is deleted, all of it is marked; where a branch of it was moved meanwhile, all of it
    conflicts. What git obeys (its configuration and hooks) is marked by itself and may be left out.
    """
    listed = tuple(changes)
    marked, moved = set(), set()
    for one in listed:
        if found := REPOSITORY.match(os.fsdecode(one.path)):
            if one.mark == PART:
                marked.add(found[0])
            if one.conflict and not one.path.endswith(b"/index"):
                moved.add(found[0])
    return tuple(_like_its_repository(one, marked, moved) for one in listed)


def _like_its_repository(one: ProjectChange, marked: set[str], moved: set[str]) -> ProjectChange:
    found = REPOSITORY.match(os.fsdecode(one.path))
    if found is None:
        return one
    mark = one.mark or (PART if found[0] in marked else "")
    return replace(one, mark=mark, conflict=one.conflict or (MOVED if found[0] in moved else ""))


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
