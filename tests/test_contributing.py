"""The way in: every path, command and name in CONTRIBUTING and in the README of a folder is there."""

from __future__ import annotations

import re
import shlex
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
FOLDERS = ("runner/engine", "runner/risk", "runner/sandbox", "runner/audit", "runner/workspace", "runner/work", "app")
READMES = tuple(ROOT / folder / "README.md" for folder in FOLDERS)
GUIDES = (CONTRIBUTING, *READMES)
TOPS = ("app/", "runner/", "tests/", "resources/", "packaging/", "images/")
MADE = ("build/",)
"""Folders that commands make."""
EXAMPLES = {"conftest.py", "panel.py", "assent_verify.py", "project-1a2b3c/", "docs/new", "docs/old"}
"""Names of files that stand for any, or whose folder the sentence says."""
MODULE = re.compile(r"python -m ([\w.]+)")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def quoted(page: Path) -> list[str]:
    """What stands in back-quotes, outside of blocks."""
    text = re.sub(r"(?ms)^```.*?^```$", "", page.read_text("utf-8"))
    return [found.replace("\n", " ") for found in re.findall(r"`([^`]+)`", text)]


def paths(page: Path) -> list[str]:
    return [one for one in quoted(page) if re.fullmatch(r"[\w.-]+(/[\w.-]*)+|[\w-]+\.(py|md|qss|cjs|yaml|toml)", one)]


def lines(page: Path) -> list[str]:
    """Commands: those of the shell blocks, and those in sentences."""
    blocks = re.findall(r"(?ms)^```sh\n(.*?)^```$", page.read_text("utf-8"))
    inline = [one for one in quoted(page) if re.match(r"(make|assent|python|\.venv/bin/\w+) ", one)]
    return [*(line for block in blocks for line in block.splitlines() if line), *inline]


@cache
def program() -> str:
    """The text of the whole program."""
    files = (*(ROOT / "runner").rglob("*.py"), *(ROOT / "app").rglob("*.py"))
    return "\n".join(path.read_text("utf-8") for path in files)


@pytest.mark.parametrize("page", GUIDES, ids=name_of)
def test_every_path_is_there(page: Path) -> None:
    named = paths(page)
    assert len(named) > 5
    places = (ROOT, page.parent, ROOT / "tests" / page.parent.name)
    missing = [one for one in named if not any((at / one).exists() for at in places)]
    if page != CONTRIBUTING:
        missing = [one for one in missing if "/" in one or not list(page.parent.rglob(one))]
    assert [one for one in missing if one not in EXAMPLES and not one.startswith(MADE)] == []


@pytest.mark.parametrize("page", GUIDES, ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
        assert (page.parent / link).exists(), link


@pytest.mark.parametrize("page", READMES, ids=name_of)
def test_every_name_is_in_the_program(page: Path) -> None:
    for one in quoted(page):
        if (found := re.fullmatch(r"([A-Z][a-z]\w+)\.(\w+)", one)) is not None:
            assert re.search(rf"(?m)^class {found[1]}\b", program()), one
            assert re.search(rf"(?m)^    (async )?def {found[2]}\(", program()), one
        elif re.fullmatch(r"[A-Z][a-z]+([A-Z][a-z]+)+|_[a-z_]+", one):
            assert re.search(rf"\b(class|def) {one}\b", program()), one


@pytest.mark.parametrize("page", READMES, ids=name_of)
def test_a_readme_is_short_and_begins_with_the_idea(page: Path) -> None:
    text = page.read_text("utf-8")
    assert 40 <= len(text.splitlines()) <= 80
    title, _, first, *_ = text.splitlines()
    assert title.startswith(f"# {page.parent.name}: ")
    assert first.startswith("**The idea.** ")
    assert "\n## One example, all the way\n" in text and "\n## To change\n" in text


def test_the_names_of_the_walks_are_where_they_say() -> None:
    text = re.sub(r"\s+", " ", CONTRIBUTING.read_text("utf-8"))
    places = re.findall(r"`([A-Z_]{4,}|[A-Z][a-z]+)` (?:in|of) `([\w/.]+\.py)`", text)
    assert len(places) >= 8
    for name, path in places:
        assert re.search(rf"\b{name}\b", (ROOT / path).read_text("utf-8")), (name, path)


@pytest.mark.parametrize("page", GUIDES, ids=name_of)
def test_every_command_exists(page: Path) -> None:
    targets = set(re.findall(r"(?m)^([\w-]+):", (ROOT / "Makefile").read_text("utf-8")))
    for line in lines(page):
        for module in MODULE.findall(line):
            place = ROOT / module.replace(".", "/")
            assert place.with_suffix(".py").is_file() or (place / "__main__.py").is_file() or module == "pytest", line
        words = [word for word in shlex.split(line) if "=" not in word]
        if words[0] == "make":
            assert words[1] in targets, line
        elif words[0].startswith("packaging/"):
            assert (ROOT / words[0]).stat().st_mode & 0o100, line
        elif words[0] == "assent":
            assert re.search(rf'"{words[1]}"', program()), line
        for path in (word for word in words if word.startswith(TOPS) and ".py" in word):
            assert (ROOT / path).exists(), line


def test_make_help_says_what_its_commands_take() -> None:
    """A command that passes ARGS on says so, and no other does."""
    recipes = dict(re.findall(r"(?m)^([\w-]+):\n((?:\t.*\n?)+)", (ROOT / "Makefile").read_text("utf-8")))
    said = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    entries = dict(re.findall(r"(?m)^make ([\w-]+)((?:.*\n(?!make ))*.*)", said))
    takes = {name for name, recipe in recipes.items() if "$(ARGS)" in recipe and name != "help"}
    assert takes == {name for name, words in entries.items() if "ARGS=" in words}
