"""Which tests a change touches, the nearest first, by what each file imports or names.

A test is as near as the shortest way from it to a changed file. Of a change of `app/queue/model.py`:

    1  tests/gui/queue/test_queue.py imports it
    2  tests/gui/prompt/test_prompt.py imports what imports it

Names in texts count as imports do: a module that a test starts as a process, or in which it replaces something, is
named there. What is imported for types alone does not count, as nothing of it runs. A test stands on the `conftest.py`
of its folders too, but not on that of all tests, which would put everything beside everything.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

FURTHEST = 3
"""Steps. Almost everything is four or five from anything in `runner/model`: that is for the whole suite."""
FOR_ALL = "tests/conftest.py"
HOUSE = "tests/test_architecture.py"
"""Reads every file of the program and imports none; near enough to come after those that import what changed."""
READ_BY = {
    "tests/breaks/": ("tests/test_breaks.py",),
    "resources/rules/": ("tests/risk/test_rules.py", "tests/risk/test_rules_page.py", "tests/risk/test_sets.py"),
    "resources/help/": ("tests/test_cited.py", "tests/gui/help/test_help.py"),
    "resources/themes/": ("tests/gui/look/test_contrast.py", "tests/gui/test_accessibility.py"),
    "resources/spec.md": ("tests/test_cited.py",),
    "tests/risk/sets/": ("tests/risk/test_sets.py",),
    "tests/risk/constructs/": ("tests/risk/test_constructs.py",),
    "Makefile": ("tests/test_project.py", "tests/test_contributing.py"),
    "pyproject.toml": ("tests/test_project.py",),
    "README.md": ("tests/test_readme.py",),
    "CONTRIBUTING.md": ("tests/test_contributing.py",),
    ".ci/": ("tests/test_ci.py",),
}
"""What is read of files that are no modules."""
NAMED = re.compile(r"\b(?:runner|app|tests)(?:\.\w+)+")
FROM = re.compile(r"(?m)^[ \t]*from ([\w.]+) import (\([^)]*\)|.*)$")
FOR_TYPES = re.compile(r"(?m)^if TYPE_CHECKING:\n(?:[ \t]+.*\n|\n)+")


class Touched(NamedTuple):
    """A file of tests, in the order in which they are run."""

    steps: int
    """From it to what changed."""
    place: int
    """0 with the name of what changed and in the folder that mirrors its folder, 1 in or above that, 2 elsewhere."""
    file: str


def touched(changed: Iterable[str], texts: Mapping[str, str]) -> list[Touched]:
    """Return the tests that a change of these files touches, the nearest first.

    `texts` holds every module of the project by its path. A changed file that is gone is found by who still names it.
    """
    steps = dict.fromkeys(changed, 0)
    users = _users(texts, steps)
    read = {test for file in steps for prefix, tests in READ_BY.items() if file.startswith(prefix) for test in tests}
    if any(file.startswith(("runner/", "app/")) and file.endswith(".py") for file in steps):
        read.add(HOUSE)
    rooms = {_mirror(file) for file in steps}
    names = {f"{_mirror(file)}/test_{PurePosixPath(file).name}" for file in steps}
    last = set(steps)
    for step in range(1, FURTHEST + 1):
        last = {user for file in last for user in users[file]} - steps.keys()
        last |= {1: names & texts.keys(), 2: read}.get(step, set()) - steps.keys()
        steps |= dict.fromkeys(last, step)
    tests = [file for file in steps if PurePosixPath(file).match("test_*.py") and file in texts]
    return sorted(Touched(steps[file], 0 if file in names else 1 + (not _within(file, rooms)), file) for file in tests)


def _users(texts: Mapping[str, str], changed: Iterable[str]) -> Mapping[str, set[str]]:
    """Return who imports or names each file, or stands on it."""
    files = {_module(file): file for file in (*texts, *changed) if file.endswith(".py")}
    users = defaultdict[str, set[str]](set)
    for file, text in texts.items():
        for name in _names(FOR_TYPES.sub("", text)):
            while name and name not in files:
                name = name.rpartition(".")[0]
            if name:
                users[files[name]].add(file)
        for folder in PurePosixPath(file).parents:
            stands_on = str(folder / "conftest.py")
            if stands_on in texts and stands_on not in (file, FOR_ALL):
                users[stands_on].add(file)
    return users


def _names(text: str) -> Iterator[str]:
    """Yield the dotted names in a text, and those that it imports from a folder."""
    yield from NAMED.findall(text)
    for folder, names in FROM.findall(text):
        yield from (f"{folder}.{name}" for name in re.findall(r"\w+", names))


def _module(file: str) -> str:
    return file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def _mirror(file: str) -> str:
    """Return the folder of the tests of a file: `tests/risk/rules` for one in `runner/risk/rules`."""
    top, *rest = PurePosixPath(file).parent.parts or ("",)
    return "/".join((*{"runner": ("tests",), "app": ("tests", "gui")}.get(top, (top,)), *rest))


def _within(file: str, rooms: Iterable[str]) -> bool:
    """Return whether a test is in one of these folders, or in one above them that is not that of all tests."""
    folder = str(PurePosixPath(file).parent)
    return folder != "tests" and any(f"{room}/".startswith(f"{folder}/") for room in rooms)
