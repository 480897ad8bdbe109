"""Install scripts of npm packages: found, with the files that they start, and in the order of what they need."""

from __future__ import annotations

import pytest

from runner.model.plan import OwnProgram, PlannedPackage, ProgramKind
from runner.packages.failures import Unusable
from runner.packages.npm_scripts import bins, in_order, programs, resolved
from runner.packages.tarball import Tarball
from tests.packages.registry import tarball

NEEDS = {"a": ("b", "c"), "b": ("c",), "a/node_modules/c": ("d",), "c": ("a",), "d": ()}


def test_scripts_and_what_they_start_are_found() -> None:
    read = Tarball(tarball({"package.json": "{}", "lib/make.js": "make()", "install.cjs": "x"}))
    said = {"postinstall": "node ./lib/make --fast", "preinstall": "node install.cjs", "test": "rm", "install": 3}
    found = programs(read, {"scripts": said})
    assert [(one.name, one.kind) for one in found] == [
        ("preinstall", ProgramKind.SHELL),
        ("postinstall", ProgramKind.SHELL),
        ("install.cjs", ProgramKind.JAVASCRIPT),
        ("lib/make.js", ProgramKind.JAVASCRIPT),
    ]
    assert programs(read, {"scripts": {"install": "node ../x.js; node -e 1"}})[1:] == ()
    for line in ("x" * 10_001, "a\0b"):
        with pytest.raises(Unusable, match="too long"):
            programs(read, {"scripts": {"install": line}})


def test_each_comes_behind_what_it_needs_and_circles_end() -> None:
    program = (OwnProgram("install", "true", ProgramKind.SHELL),)
    built = [PlannedPackage(place[-1], "1", "", "", 0, "", place, programs=program) for place in NEEDS if place != "b"]
    assert [one.place for one in in_order(built, NEEDS)] == ["c", "d", "a/node_modules/c", "a"]


def test_a_name_leads_to_the_nearest_folder() -> None:
    assert resolved("a", "c", NEEDS) == "a/node_modules/c"
    assert resolved("a/node_modules/c", "d", NEEDS) == "d"
    assert resolved("b", "none", NEEDS) == ""


def test_commands_stay_below_their_package() -> None:
    assert bins({"name": "@scope/tool", "bin": "./cli.js"}) == {"tool": "cli.js"}
    listed = {"good": "bin/x", "../evil": "x", "up": "../../x", "root": "/bin/sh", "odd": 3, "..": "x", "-x": "x"}
    assert bins({"name": "x", "bin": listed}) == {"good": "bin/x"}


@pytest.mark.parametrize(
    ("line", "others", "shown"),
    [
        ("node install", {"install.cjs": "other", "install/index.js": "runs"}, ["install/index.js"]),
        ("node install", {"install/package.json": '{"main": "runs.js"}', "install/index.js": "other"}, []),
        ("node install", {"install.json": "{}", "install/index.js": "other"}, []),
        ("node -r ./runs.js install.js", {"-r": "other", "runs.js": "runs"}, []),
        ("node first.js && node ./then.js; echo", {"first.js": "runs", "then.js": "runs"}, ["first.js", "then.js"]),
        ("echo node other.js", {"other.js": "other"}, []),
        ('node runs.js"x"', {"runs.js": "other", "runs.jsx": "runs"}, []),
    ],
)
def test_what_is_shown_as_started_is_what_node_starts(line: str, others: dict[str, str], shown: list[str]) -> None:
    read = Tarball(tarball({"package.json": "{}", **others}))
    found = programs(read, {"scripts": {"install": line}})
    assert [one.name for one in found[1:]] == shown
    assert all(one.text == "runs" for one in found[1:])
