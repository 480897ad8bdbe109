"""The project's frame: what lies at the top, the locked dependencies, what a wheel holds, the one list of commands."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from pygments.lexers import find_lexer_class_by_name

from runner.model.language_support import LANGUAGES
from tests.components import require

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ROOT / "packaging/requirements"
TOP = {
    ".ci",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "app",
    "images",
    "packaging",
    "pyproject.toml",
    "resources",
    "runner",
    "tests",
}


@cache
def tracked() -> tuple[str, ...]:
    """Files under version control; all files of a copy that is not under it."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is not a checkout")
    return tuple(listed.stdout.splitlines())


@cache
def project() -> dict[str, object]:
    return dict(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"])


def wanted(kind: str) -> list[Requirement]:
    """What the project asks for itself."""
    extras = project()["optional-dependencies"]
    asked = [*project()["dependencies"], *extras["checkout"]]  # type: ignore[index, misc]
    return [Requirement(text) for text in (asked if kind == "run" else [*asked, *extras["dev"]])]  # type: ignore[index]


def locked(kind: str) -> dict[str, tuple[Version, Requirement, int]]:
    """Package -> its version, the whole line, and how many hashes it has."""
    text = (LOCKS / f"{kind}.txt").read_text("utf-8")
    found = {}
    for entry in re.split(r"\n(?=\S)", re.sub(r"(?m)^ *#.*\n?", "", text).strip()):
        line, *hashes = re.split(r" \\\n +", entry)
        requirement = Requirement(line)
        (pin,) = requirement.specifier
        assert pin.operator == "==", line
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", one) for one in hashes), line
        found[canonicalize_name(requirement.name)] = Version(pin.version), requirement, len(hashes)
    return found


def test_the_top_level_holds_what_it_should() -> None:
    tops = {path.split("/")[0] for path in tracked()}
    assert {top for top in tops if not top.startswith(".")} <= TOP
    assert ".ci/run" in tracked()


@pytest.mark.parametrize("kind", ["run", "dev", "agents"])
def test_lock_files_say_what_and_never_from_where(kind: str) -> None:
    lines = [line.split("#")[0] for line in (LOCKS / f"{kind}.txt").read_text("utf-8").splitlines()]
    assert [line for line in lines if line.startswith("-") or re.search(r"[/@]|\.whl|\.tar", line)] == []


@pytest.mark.parametrize("kind", ["run", "dev", "agents"])
def test_every_locked_package_has_its_hashes(kind: str) -> None:
    assert all(hashes for _, _, hashes in locked(kind).values())


@pytest.mark.parametrize("kind", ["run", "dev"])
def test_lock_files_give_what_the_project_asks_for(kind: str) -> None:
    found = locked(kind)
    for requirement in wanted(kind):
        version, _, _ = found[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), requirement


@pytest.mark.parametrize("kind", ["run", "dev"])
def test_lock_files_are_closed(kind: str) -> None:
    """What a locked package needs on this machine is locked as well: an installation asks nobody for a version."""
    found = locked(kind)
    for name, (version, line, _) in found.items():
        if line.marker is not None and not line.marker.evaluate():
            continue
        try:
            here = distribution(name)
        except PackageNotFoundError:
            assert kind == "dev", f"{name} is locked but not installed"
            continue
        if Version(here.version) != version:
            continue
        for needed in map(Requirement, here.requires or ()):
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                assert canonicalize_name(needed.name) in found, f"{name} needs {needed}"


def test_running_and_developing_use_the_same_versions() -> None:
    dev = locked("dev")
    assert all(dev[name][0] == version for name, (version, _, _) in locked("run").items())


def test_nothing_names_a_registry_or_the_place_of_this_checkout() -> None:
    """Mirrors and other machines must work as well. (Written so that this file does not name them itself.)"""
    hosts = [".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"))]
    unwanted = re.compile("|".join(map(re.escape, [*hosts, f"{ROOT}/"])))
    named = [name for name in tracked() if unwanted.search(_text(ROOT / name))]
    assert named == []


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace") if path.is_file() else ""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from this checkout as it is."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("assent-*.whl")
    return built


def test_a_wheel_holds_the_program_and_its_resources(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    ours = {name for name in tracked() if name.startswith(("app/", "runner/", "resources/"))}
    shipped = {name for name in ours if (ROOT / name).is_file()}
    assert shipped
    assert shipped <= names
    assert not [name for name in names if name.startswith("tests/")]


FROM_THE_WHEEL = """
import sys
from pathlib import Path
from PySide6.QtWidgets import QApplication
import app, runner
from app.help.panel import HelpPanel
from app.look.look import Look
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

site = Path(sys.argv[1])
assert {Path(package.__file__).parent.parent for package in (app, runner)} == {site}, (app, runner)
look = Look(QApplication([]))
assert look.font().exactMatch() and look.mono().exactMatch()
look.pixmap("shield-check")
assert assess(Request("1", "a", Tool.CODE_EXECUTE, 0.0, Language.SHELL, "rm -rf /")).findings
panel = HelpPanel(look)
assert panel.view.toPlainText().startswith("Getting started")
"""


def test_an_installed_wheel_finds_everything_it_needs(wheel: Path, tmp_path: Path) -> None:
    """Away from the checkout: its commands, fonts, icons, rules and help, and the whole path with the sandbox."""
    require("bubblewrap")
    require("node")
    site = tmp_path / "site"
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--target",
        str(site),
        str(wheel),
    ]
    subprocess.run(install, check=True, capture_output=True)
    environment = {**os.environ, "PYTHONPATH": str(site), "PYTHONSAFEPATH": "1"}

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)

    assent = str(site / "bin" / "assent")
    for command in ((assent, "self-test"), (sys.executable, "-c", FROM_THE_WHEEL, str(site))):
        done = run(*command)
        assert done.returncode == 0, done.stdout + done.stderr
    # The self-test is what would tell of a package without them.
    steps = {"rules": "rules and settings", "fonts": "window", "seccomp": "sandboxes"}
    for folder in steps:
        shutil.move(site / "resources" / folder, tmp_path)
    done = run(assent, "self-test")
    assert done.returncode == 1
    for step in steps.values():
        assert f"BAD   {step}: " in done.stdout


CHANGES = (ROOT / "CHANGELOG.md").read_text("utf-8")
GROUPS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")


def test_the_changelog_has_the_form_that_it_names() -> None:
    """Releases, newest first, each with its date and known groups in their order; the version of the project is one."""
    first, *sections = re.split(r"(?m)^## ", CHANGES)
    assert first.startswith("# Changelog\n")
    names = [section.splitlines()[0] for section in sections]
    assert names[0] == "[Unreleased]"
    released = [re.fullmatch(r"\[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d", name) for name in names[1:]]
    versions = [Version(found[1]) for found in released if found]
    assert len(versions) == len(names) - 1 and versions == sorted(set(versions), reverse=True)
    assert Version(str(project()["version"])) in versions
    for section in sections:
        groups = re.findall(r"(?m)^### (.+)", section)
        assert groups == [group for group in GROUPS if group in groups]


def test_the_changelog_has_one_short_line_a_change() -> None:
    listed = CHANGES.split("## [Unreleased]")[1].splitlines()
    entries = [line for line in listed if line.startswith("- ")]
    assert len(entries) == len(set(entries)) > 20
    assert [line for line in entries if len(line) > 120 or not line.endswith(".")] == []
    assert [line for line in listed if line.startswith(" ")] == [], "an entry goes over more than one line"


def test_the_package_takes_what_highlights_each_language() -> None:
    kept = re.findall(r"(?m)^lexer (\w+)\.py", (ROOT / "packaging/linux/keep.txt").read_text("utf-8"))
    needed = {find_lexer_class_by_name(one.value).__module__.rpartition(".")[2] for one in LANGUAGES}
    assert needed <= {*kept}


def test_make_lists_the_commands_it_has() -> None:
    said = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    named = re.findall(r"(?m)^make ([\w-]+)", said)
    (phony,) = re.findall(r"(?m)^\.PHONY: (.*)", (ROOT / "Makefile").read_text("utf-8"))
    assert named == [name for name in phony.split() if name != "help"]


def imported(path: Path) -> set[str]:
    """The first names of all modules that a file imports, also inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def imports_of(path: Path) -> set[str]:
    """The modules from which a file imports anything, as dotted names, and what it imports from packages."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def at_run_time() -> set[str]:
    """The distributions that come with the project's own dependencies, those of theirs too."""
    found: set[str] = set()
    waiting = [Requirement(text) for text in project()["dependencies"]]  # type: ignore[attr-defined]
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        if name in found or (one.marker is not None and not one.marker.evaluate({"extra": ""})):
            continue
        found.add(name)
        waiting += [Requirement(text) for text in distribution(name).requires or ()]
    return found


def test_everything_that_is_imported_is_there_without_the_tools_of_development() -> None:
    pins = re.findall(r"^([A-Za-z0-9._-]+)==", (LOCKS / "run.txt").read_text(), re.MULTILINE)
    there = at_run_time() & {canonicalize_name(name) for name in pins}
    by_module = packages_distributions()
    missing = []
    for path in sorted((*(ROOT / "runner").rglob("*.py"), *(ROOT / "app").rglob("*.py"))):
        for name in sorted(imported(path) - sys.stdlib_module_names - {"runner", "app", "images", "resources"}):
            if there.isdisjoint(map(canonicalize_name, by_module.get(name, ()))):
                missing.append(f"{path.relative_to(ROOT)}: {name}")
    assert missing == ["runner/sandbox/contract_suite.py: pytest"], "which only those load who write a sandbox"
    suite = "runner.sandbox.contract_suite"
    paths = [path for top in ("runner", "app") for path in (ROOT / top).rglob("*.py")]
    # Whatever imports it has its name in the text.
    named = [path for path in paths if suite.rpartition(".")[2] in path.read_text("utf-8")]
    assert named and not [path for path in named if suite in imports_of(path)]
