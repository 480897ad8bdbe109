"""Quiet danger: ordinary-looking code that loses data, shows secrets or trusts anybody; and code that looks like it.

The cases are in `quiet/`, under headings `=== language: name`; `⟵` marks the lines that a person should look at. The
`unseen` ones were written before the rules and are only counted, so that no rule is made for one of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from runner.model.assessment import Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess
from runner.risk.tools.writes import assess_content

MARK = "⟵"
FOUND_AT_LEAST, RAISED_AT_MOST = 0.85, 0.10
NOT_YET = {"migrations shown": "npx fetches a program that is not there, whatever it is asked to do"}


@dataclass(frozen=True, slots=True)
class Case:
    """One program, and the lines of it that matter."""

    name: str
    """Of one that is no program but a file that a tool runs, its path."""
    language: Language | None
    code: str
    lines: frozenset[int]

    @property
    def findings(self) -> set[int]:
        """Every line with a finding of at least MEDIUM; of a file those about its content, not about its place."""
        if self.language is None:
            assessment = assess_content(self.name, self.code)
        else:
            assessment = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, self.language, self.code))
        worst = [one for one in assessment.findings if one.level >= Level.MEDIUM]
        return {line for one in worst for line in range(one.span.line, one.span.end_line + 1)}


def cases(name: str) -> list[Case]:
    parts = re.split(r"(?m)^=== (\w+): (.*)\n", (Path(__file__).parent / "quiet" / name).read_text("utf-8"))
    found = []
    for language, title, code in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        lines = frozenset(number for number, line in enumerate(code.split("\n"), 1) if MARK in line)
        known = None if language == "file" else Language(language)
        found.append(Case(title, known, re.sub(rf" *{MARK}", "", code), lines))
    return found


def share(hits: list[bool]) -> float:
    return sum(hits) / len(hits)


@pytest.mark.parametrize("case", cases("danger.txt"), ids=lambda case: f"{case.language}: {case.name}")
def test_quiet_danger_is_found_on_its_line(case: Case) -> None:
    assert case.findings & case.lines


@pytest.mark.parametrize("case", cases("harmless.txt"), ids=lambda case: f"{case.language}: {case.name}")
def test_what_looks_like_it_is_not_raised(case: Case, request: pytest.FixtureRequest) -> None:
    if case.name in NOT_YET:
        request.applymarker(pytest.mark.xfail(strict=True, reason=NOT_YET[case.name]))
    assert not case.findings


def test_quiet_danger_that_no_rule_was_made_for_is_found() -> None:
    unseen = cases("unseen-danger.txt")
    assert share([bool(case.findings & case.lines) for case in unseen]) >= FOUND_AT_LEAST


def test_quiet_danger_of_a_stranger_is_found() -> None:
    """Written without a look at the rules. At first 74 of 80 were found (92.5 %), and 79 once the causes were mended.

    The other one is found a line further on.
    """
    stranger = cases("stranger-danger.txt")
    assert {case.name for case in stranger if not case.findings & case.lines} <= {"home glob"}


def test_what_looks_like_it_to_a_stranger_is_seldom_raised() -> None:
    """At first 4 of 80 were raised (5 %)."""
    assert [case.name for case in cases("stranger-harmless.txt") if case.findings] == []


def test_quiet_danger_in_everyday_work_is_found() -> None:
    """Servers, data, clusters and files that tools run. At first 38 of 60 were found (63 %).

    The command of the one that is missed is found in the function that runs it, and not where that is called.
    """
    missed = {case.name for case in cases("newcomer-danger.txt") if not case.findings & case.lines}
    assert missed == {"a migration started again"}


def test_everyday_work_is_not_raised() -> None:
    """At first 4 of 60 were raised (7 %): a notebook, a makefile, an image and checked settings."""
    assert [case.name for case in cases("newcomer-harmless.txt") if case.findings] == []


def test_quiet_danger_in_services_and_their_tools_is_found() -> None:
    """Payments, brokers, disks, servers and settings. At first 19 of 41 were found (46 %)."""
    assert [case.name for case in cases("later-danger.txt") if not case.findings & case.lines] == []


def test_services_and_their_tools_are_not_raised() -> None:
    """At first 1 of 30 was raised (3 %): a program that npx was not to fetch."""
    assert [case.name for case in cases("later-harmless.txt") if case.findings] == []


def test_quiet_danger_of_a_third_look_is_found() -> None:
    """At first 20 of 25 were found (80 %), after what the two looks before had led to.

    Of one the statement is found where a function runs it, not where that is called; a database that is read from
    another one is not known to be changed.
    """
    missed = {case.name for case in cases("held-danger.txt") if not case.findings & case.lines}
    assert missed == {"rows without a bound in a helper", "swap of a database"}


def test_what_looks_like_it_at_a_third_look_is_seldom_raised() -> None:
    """At first 2 of 20 were raised (10 %): a column that is added, and the package that CI installs, which still is."""
    assert [case.name for case in cases("held-harmless.txt") if case.findings] == [".github/workflows/lint.yml"]


NEXT = ("visitor", "caller", "guest")
"""Three sets of others who had not seen the classifier, each looked at after what the one before had led to was done.

Of their 50 dangerous and 50 harmless programs each were at first found 35, 45 and 47 (70, 90 and 94 %), and raised
14, 4 and 2 (28, 8 and 4 %). One key of a cache is found where it is named, and not where the pipeline of commands is
carried out; of a client that a test puts a mock on, another one may still be real.
"""


@pytest.mark.parametrize("name", NEXT)
def test_quiet_danger_of_the_next_looks_is_found(name: str) -> None:
    missed = {case.name for case in cases(f"{name}-danger.txt") if not case.findings & case.lines}
    assert missed <= {"warms the cache after deploy"}


@pytest.mark.parametrize("name", NEXT)
def test_what_looks_like_it_at_the_next_looks_is_seldom_raised(name: str) -> None:
    raised = {case.name for case in cases(f"{name}-harmless.txt") if case.findings}
    assert raised <= {"aws client mock for batch delete"}


def test_what_no_rule_was_made_to_spare_is_seldom_raised() -> None:
    assert share([bool(case.findings) for case in cases("unseen-harmless.txt")]) <= RAISED_AT_MOST


def test_quiet_danger_of_a_passer_by_is_found_and_its_like_not_raised() -> None:
    """At first 45 of 50 were found (90 %), and 1 of 50 was raised (2 %): a wait for a port, which no longer is."""
    assert share([bool(case.findings & case.lines) for case in cases("passer-by-danger.txt")]) >= 0.9
    assert [case.name for case in cases("passer-by-harmless.txt") if case.findings] == []
