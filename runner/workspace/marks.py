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
from runner.workspace.change import repository_of
from runner.workspace.entry import TreeKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from runner.risk.rules.knowledge import Knowledge
    from runner.workspace.change import ProjectChange
    from runner.workspace.entry import TreeEntry

OBEYED = frozenset({"steering", "instructions", "obeyed", "startup", "hook", "environment-file"})
"""Kinds of files of the classifier's own table that run by themselves, or that other programs obey."""
BUILDS = words(
    "package.json makefile gnumakefile justfile rakefile setup.py setup.cfg pyproject.toml conftest.py"
    " noxfile.py tox.ini cmakelists.txt meson.build build.gradle build.gradle.kts settings.gradle settings.gradle.kts"
    " pom.xml .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs dockerfile containerfile docker-compose.yml docker-compose.yaml"
    " compose.yml compose.yaml .pre-commit-config.yaml .gitlab-ci.yml jenkinsfile azure-pipelines.yml .travis.yml"
    " .drone.yml .gitmodules .gitattributes .editorconfig"
    " pylintrc .pylintrc pytest.ini .pytest.ini mypy.ini .mypy.ini .flake8 .coveragerc uv.toml pdm.toml poetry.toml"
    " pipfile pip.conf dodo.py fabfile.py .justfile mise.toml .mise.toml mise.local.toml .mise.local.toml"
    " .tool-versions gemfile gems.rb vagrantfile procfile tiltfile earthfile brewfile podfile fastfile guardfile"
    " shell.nix default.nix flake.nix .lldbinit .dir-locals.el .dir-locals-2.el .nvim.lua .nvimrc .projections.json"
    " cmakepresets.json cmakeuserpresets.json gradle.properties gradlew mvnw .goosehints"
    " .aider.conf.yml bunfig.toml deno.json deno.jsonc pnpm-workspace.yaml composer.json mix.exs package.swift"
    " build.zig build.sbt project.clj cargo.toml .bazelrc build.bazel module.bazel workspace.bazel workspace sconstruct"
    " sconscript wscript configure configure.ac .rprofile .renviron .ghci .pryrc latexmkrc .latexmkrc ansible.cfg"
)
"""Names of files that a build, a test, a server, git, an editor or an agent obeys, besides those of the classifier's
table: to write one of them is ordinary for a program, and what it does is looked at when it is applied."""
CONFIGURATION = expression(
    r"(?:\A|/)(?:"
    r"(?:gulpfile|gruntfile|(?:webpack|vite|vitest|jest|babel|eslint|rollup)\.config|directory\.build)\.\w+\Z"
    r"|[\w-]++\.config\.[cm]?[jt]sx?\Z"
    r"|\.(?:babel|eslint|prettier|mocha|stylelint|lintstaged|commitlint|swc|husky|release|graphql)rc(?:\.\w+)?\Z"
    r"|\.?lefthook(?:-local)?\.\w+\Z|\.?taskfile(?:\.\w+)?\.ya?ml\Z|(?:gnu)?makefile\.\w"
    r"|(?:requirements|constraints)[\w.-]*+(?:(?<=\.txt)|(?<=\.in))\Z|requirements/[\w.-]++(?:(?<=\.txt)|(?<=\.in))\Z)"
    r"|\.(?:mk|cmake|bzl|tf|gemspec|gradle|code-workspace|sublime-project|(?:cs|vb|fs|vcx)proj|props|targets)\Z"
)
"""The same, by what the ends of paths look like."""
FOLDERS = words(
    ".git/hooks .github/workflows .github/actions .circleci .woodpecker .ci .husky .githooks .vscode .idea .zed"
    " .devcontainer .mvn .hg gradle/wrapper"
)
"""Folders whose files are obeyed so, one or two names of them."""
DATA_OF_GIT = words("index head orig_head fetch_head commit_editmsg packed-refs description branches")
REFS_OF_GIT = words("heads tags remotes notes stash")
BORROWED = words("alternates http-alternates")
"""What commits write into a repository's folder, below `refs` and beside `objects` and `logs`; and which of the objects
have git read elsewhere. All else there git obeys, continues, or lets decide what it shows: an unfinished rebase runs
the commands of its list."""
OF_GIT = frozenset({".git", "commondir", "config.worktree"})
"""Names by which git finds a repository, or its configuration, that may lie anywhere."""
REPOSITORY = frozenset({"head", "config"})
"""Names in every folder that git takes for a repository without being told: whoever enters it has its commands run."""
BELOW = (b"", b"/x", b"/bin/x", b"/.bin/x", b"/pre-commit", b"/wrapper/x")
"""What a link may lead to, behind its own path: a file, or a folder whose files are obeyed."""
LEADS_OUT = "a link that leads out of the project"
MOVED = "Its repository was changed in the project meanwhile."
PART = "it is part of the repository"
BULK = ("node_modules", "__pycache__", ".venv", "venv", "target", ".mypy_cache", ".pytest_cache", ".tox", ".git")
"""Folders whose content is counted, not listed, where it is ordinary."""


def mark(path: bytes, before: TreeEntry | None, after: TreeEntry | None) -> str:
    """Return why a change needs a word of its own; '' where it is an ordinary one."""
    if after is None:
        return PART if repository_of(path) else ""
    if after.mode & (stat.S_ISUID | stat.S_ISGID) and after.kind is TreeKind.FILE:
        return "it runs with the rights of its owner"
    if after.kind is TreeKind.LINK:
        return LEADS_OUT if _leads_out(path, after.target) else _obeyed_by_link(path)
    if after.kind is TreeKind.FOLDER:
        return ""
    return _obeyed(path)


@functools.lru_cache(maxsize=1 << 15)
def _obeyed(written: bytes) -> str:
    """Return what makes a file of the project run by itself, or be obeyed by another program; '' for nothing."""
    # The table has nothing on paths of several lines; a name may be anything where a whole folder is obeyed.
    path = os.fsdecode(written).lower().replace("\n", "_")
    *folders, name = path.split("/")
    knowledge, started_by = _of_classifier()
    kinds = knowledge.targets.among(path, OBEYED)
    if kinds & {"steering", "instructions"}:
        return "agents' programs obey it"
    if kinds:
        by = started_by(path)
        return f"it runs by itself: {by}" if by else "other programs run or obey it"
    if name in OF_GIT or (name in REPOSITORY and (name == "config" or ".git" not in folders)):
        return "git obeys it, where it finds a repository"
    if ".git" in folders and not _is_data_of_git([*folders, name][folders.index(".git") + 1 :]):
        return "git obeys it, or continues with it"
    pairs = {f"{one}/{two}" for one, two in itertools.pairwise(folders)}
    if name in BUILDS or CONFIGURATION.search(path) or FOLDERS & {*folders, *pairs}:
        return "a build, a server, an editor or an agent obeys it"
    return ""


@functools.cache
def _of_classifier() -> tuple[Knowledge, Callable[[str], str]]:
    """Return what the classifier knows of files, and what names how one of them is started."""
    # Loaded here: it takes long, and a program is started, or a working copy listed, without a look at changes.
    from runner.risk.rules.knowledge import bundled
    from runner.risk.rules.starting import started_by

    return bundled(), started_by


def _is_data_of_git(inside: list[str]) -> bool:
    """Whether a path in the folder of a repository, in parts, is what commits write there."""
    match inside:
        case ["objects", *_, name]:
            return name not in BORROWED
        case ["logs", *_]:
            return True
        case ["refs", kind, *_]:
            return kind in REFS_OF_GIT
        case ["info", "refs"]:
            return True
        case [name]:
            return name in DATA_OF_GIT
    return False


def _obeyed_by_link(path: bytes) -> str:
    """Return the same of what would be found by way of a link at this path, whatever it leads to."""
    if found := next(filter(None, (_obeyed(path + below) for below in BELOW)), ""):
        return found
    # Many folders of settings are hidden: of such a one the link decides all that is obeyed below it.
    return "a link in the place of hidden settings" if path.rpartition(b"/")[2].startswith(b".") else ""


def as_one(changes: Iterable[ProjectChange]) -> tuple[ProjectChange, ...]:
    """Return the changes with those of one repository as alike: half of them would break it.

    Where something of a repository is deleted, all of it is marked; where a branch of it was moved meanwhile, all of it
    conflicts. What git obeys (its configuration and hooks) is marked by itself and may be left out.
    """
    listed = tuple(changes)
    marked: set[bytes] = set()
    moved: set[bytes] = set()
    for one in listed:
        if found := repository_of(one.path):
            if one.mark == PART:
                marked.add(found)
            if one.conflict and not one.path.endswith(b"/index"):
                moved.add(found)
    return tuple(_like_its_repository(one, marked, moved) for one in listed) if marked or moved else listed


def _like_its_repository(one: ProjectChange, marked: set[bytes], moved: set[bytes]) -> ProjectChange:
    found = repository_of(one.path)
    if not found:
        return one
    mark = one.mark or (PART if found in marked else "")
    return replace(one, mark=mark, conflict=one.conflict or (MOVED if found in moved else ""))


def bulk(path: bytes) -> str:
    """Return the folder of many files that a path lies in, to be counted as one; '' for none."""
    parts = os.fsdecode(path).split("/")
    for at, part in enumerate(parts[:-1]):
        if part in BULK:
            return "/".join(parts[: at + 1])
    return ""


def _leads_out(path: bytes, target: bytes) -> bool:
    """Return whether a link leads out of the project, judged from its text."""
    if target.startswith(b"/"):
        return True
    depth = path.count(b"/")
    named = False
    for part in target.split(b"/"):
        if part == b"..":
            depth -= 1
            # A name before it may be a link itself: then it goes up from elsewhere.
            if named or depth < 0:
                return True
        named = named or part not in (b"", b".", b"..")
    return False
