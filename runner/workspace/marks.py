"""What of a project runs later by itself, or is grave otherwise: never applied without a word of its own."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.client_tools import steers
from runner.risk.rules.knowledge import bundled
from runner.risk.rules.starting import started_by
from runner.workspace.entry import Kind

if TYPE_CHECKING:
    from runner.workspace.entry import Entry

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
REPOSITORY = expression(r"(^|/)\.git(/(head|packed-refs|objects/|refs/).*)?$")
BULK = ("node_modules", "__pycache__", ".venv", "venv", "target", ".mypy_cache", ".pytest_cache", ".tox", ".git")
"""Folders whose content is counted, not listed, where it is ordinary."""


def mark(path: bytes, before: Entry | None, after: Entry | None) -> str:
    """Return why a change needs a word of its own; '' where it is an ordinary one."""
    text = os.fsdecode(path).lower()
    if after is None:
        return "it is part of the repository" if REPOSITORY.search(text) and before is not None else ""
    if after.mode & (stat.S_ISUID | stat.S_ISGID) and after.kind is Kind.FILE:
        return "it runs with the rights of its owner"
    if after.kind is Kind.LINK:
        return "a link that leads out of the project" if _leads_out(path, after.target) else ""
    if after.kind is Kind.FOLDER:
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
