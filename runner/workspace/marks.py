"""Marks on files of a project that run later by themselves, or are grave: never applied without an own word."""

from __future__ import annotations

import functools
import itertools
import os
import stat
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.outline_data import words
from runner.workspace.change import repository_of
from runner.workspace.entry import TreeKind, is_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from runner.risk.rules.knowledge import Knowledge
    from runner.workspace.change import ProjectChange
    from runner.workspace.entry import TreeEntry

OBEYED = frozenset({"steering", "instructions", "obeyed", "startup", "hook", "environment-file"})
"""Kinds of files of the classifier's own table that run by themselves, or that other programs obey."""
BUILDS = words(
    "package.json makefile gnumakefile justfile rakefile setup.py setup.cfg pyproject.toml conftest.py noxfile.py"
    " tox.ini cmakelists.txt meson.build build.gradle build.gradle.kts settings.gradle settings.gradle.kts pom.xml"
    " dockerfile containerfile docker-compose.yml docker-compose.yaml compose.yml compose.yaml jenkinsfile"
    " azure-pipelines.yml pylintrc pytest.ini mypy.ini uv.toml pdm.toml poetry.toml pipfile pip.conf dodo.py fabfile.py"
    " mise.toml mise.local.toml gemfile gems.rb vagrantfile procfile tiltfile earthfile brewfile podfile fastfile"
    " guardfile shell.nix default.nix flake.nix cmakepresets.json cmakeuserpresets.json gradle.properties gradlew"
    " mvnw bunfig.toml deno.json deno.jsonc pnpm-workspace.yaml composer.json mix.exs package.swift build.zig"
    " build.sbt project.clj cargo.toml build.bazel module.bazel workspace.bazel workspace sconstruct sconscript"
    " wscript configure configure.ac latexmkrc ansible.cfg package-lock.json npm-shrinkwrap.json yarn.lock"
    " pnpm-lock.yaml bun.lock bun.lockb uv.lock poetry.lock pipfile.lock pdm.lock gemfile.lock composer.lock mix.lock"
    " flake.lock pixi.lock pixi.toml go.mod go.work rust-toolchain rust-toolchain.toml bitbucket-pipelines.yml"
    " cloudbuild.yaml appveyor.yml wercker.yml codemagic.yaml netlify.toml vercel.json fly.toml render.yaml"
    " serverless.yml wrangler.toml wrangler.jsonc firebase.json devbox.json turbo.json nx.json lerna.json"
    " angular.json phpunit.xml phpunit.xml.dist phpstan.neon phpstan.neon.dist mkdocs.yml autogen.sh bootstrap.sh"
    " kbuild nodemon.json webpack.mix.js hatch.toml hatch_build.py pants.toml build buck cabal.project stack.yaml"
    " setup.hs dune-project build.sc build.mill rebar.config dub.json shard.yml skaffold.yaml helmfile.yaml"
    " terragrunt.hcl pulumi.yaml nuget.config global.json berksfile capfile thorfile dangerfile appfile cartfile"
    " cakefile jupyter_server_config.py jupyter_notebook_config.py invoke.yaml crush.json"
)
"""Names of files that a build, a test, a server, git, an editor or an agent obeys, besides those of the classifier's
table: to write one of them is ordinary for a program, and what it does is looked at when it is applied."""
CONFIGURATION = expression(
    r"(?:\A|/)(?:"
    r"(?:gulpfile|gruntfile|(?:webpack|vite|vitest|jest|babel|eslint|rollup)\.config|directory\.build)\.\w+\Z"
    r"|[\w-]++\.conf(?:ig)?\.[cm]?[jt]sx?\Z"
    r"|(?:dockerfile|containerfile|jenkinsfile)\.[\w.-]++\Z|(?:docker-)?compose\.[\w.-]++(?<=ml)\Z"
    r"|gradle/[\w.-]++(?<=\.toml)\Z"
    r"|lefthook(?:-local)?\.\w+\Z|taskfile(?:\.\w+)?\.ya?ml\Z|(?:gnu)?makefile\.\w"
    r"|(?:requirements|constraints)[\w.-]*+(?:(?<=\.txt)|(?<=\.in))\Z|requirements/[\w.-]++(?:(?<=\.txt)|(?<=\.in))\Z)"
    r"|\.(?:mk|cmake|bzl|tf|gemspec|gradle|code-workspace|sublime-project|(?:cs|vb|fs|vcx)proj|props|targets|sln|pbxproj"
    r"|xcscheme|nix|cabal|dockerfile|build)\Z"
    r"|(?:\A|/)(?:pre-(?:commit|merge-commit|push|rebase|applypatch|auto-gc|receive)|post-(?:checkout|commit|merge|rewrite"
    r"|applypatch|receive|update|index-change)|(?:prepare-)?commit-msg|applypatch-msg|reference-transaction)"
    r"(?:\.\w{1,4})?\Z"
)
"""The same, by what the ends of paths look like."""
FOLDERS = frozenset({"gradle/wrapper", "buildsrc"})
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
BELOW_IT = b"/x"
LEADS_OUT = "a link that leads out of the project"
MOVED = "Its repository was changed in the project meanwhile."
PART = "it is part of the repository: what a commit has is not read here"
FILLED = "tools fill its folder, and run what is there in place of what it was made of; it is not read here"
COUNTED = frozenset({"", PART, FILLED})
"""Marks with which a change in such a folder is counted as one of many. Nobody looks at each: so none is applied
without a word. A program can put there what no tool would: in place of a library, of code that was compiled before
(`__pycache__`), or of what a blob of git's has, whose name git does not compare with what it reads."""
HIDDEN = "a tool obeys what has a hidden name"
PLAIN_HIDDEN = expression(r"\.(?:[\w-]*ignore|[\w-]*keep|coverage|ds_store|nojekyll|mailmap|eslintcache)")
"""Hidden names that nothing runs or obeys but for what it leaves out."""
WRITABLE = "other accounts could write to it"
WRITTEN_BY_OTHERS = 0o022
"""Permission bits: the group, everybody."""
WAITS = "a pipe: whatever opens it waits"
USUAL = 0o755
BULK = words(
    "node_modules bower_components __pycache__ .venv venv target .mypy_cache .pytest_cache .ruff_cache .tox"
    " .nox .eggs .git .next .nuxt .output .svelte-kit .angular .cache .parcel-cache .turbo .gradle .dart_tool"
    " .terraform .hypothesis .nyc_output .ipynb_checkpoints .pnpm-store"
)
"""Folders whose content is counted, not listed, where it is ordinary."""


def mark(path: bytes, before: TreeEntry | None, after: TreeEntry | None, usual: int = USUAL) -> str:
    """Return why a change needs a word of its own; '' where it is an ordinary one.

    `usual` are the permissions of the project's folder: a new file may be open to whom that is open to.
    """
    if after is None:
        return PART if repository_of(path) else ""
    if after.mode & (stat.S_ISUID | stat.S_ISGID) and after.kind is TreeKind.FILE:
        return "it runs with the rights of its owner"
    if after.kind is TreeKind.LINK:
        return LEADS_OUT if _leads_out(path, after.target) else _obeyed_by_link(path) or _filled(path)
    opened = _opened(before, after, usual)
    if after.kind is TreeKind.FOLDER:
        # Else it would come alone, and what is in it would stay.
        return opened or _filled(path + BELOW_IT)
    return _obeyed(path) or opened or _filled(path)


def _opened(before: TreeEntry | None, after: TreeEntry, usual: int) -> str:
    """Return that it is a pipe, or that other accounts could write to it newly; '' for neither."""
    if after.kind is TreeKind.PIPE:
        return WAITS
    had = usual if before is None or before.kind is TreeKind.LINK else before.mode
    return WRITABLE if after.mode & WRITTEN_BY_OTHERS & ~had else ""


def _filled(path: bytes) -> str:
    return PART if repository_of(path) else FILLED if bulk(path) else ""


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
    hidden = [one for one in (*folders, name) if one.startswith(".")]
    is_plain = hidden == [name] and PLAIN_HIDDEN.fullmatch(name)
    return HIDDEN if hidden and not is_plain and not bulk(written) else ""


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
    # What any other link would lead to as well is marked where it is.
    found = [why for below in BELOW if (why := _obeyed(path + below)) and why != _obeyed(b"link" + below)]
    return next((why for why in found if why != HIDDEN), HIDDEN if found else "")


def as_one(changes: Iterable[ProjectChange]) -> tuple[ProjectChange, ...]:
    """Return the changes with all of a repository as conflicts where a branch of it was moved in the project meanwhile.

    Half of them would break it. git's own index is no hindrance.
    """
    listed = tuple(changes)
    moved = {repository_of(one.path) for one in listed if one.conflict and not one.path.endswith(b"/index")} - {b""}
    return tuple(
        replace(one, conflict=one.conflict or MOVED) if repository_of(one.path) in moved else one for one in listed
    )


def counted(change: ProjectChange) -> str:
    """Return the folder in which a change is counted as one of many; '' where it is one that is looked at by itself."""
    return bulk(change.path + BELOW_IT * is_folder(change.after or change.before)) if change.mark in COUNTED else ""


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
