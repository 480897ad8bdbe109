"""Programs that people wrote who had not seen the rules: what is dangerous is CRITICAL, what only looks like it is not.

Each set was counted before a rule was made for any of it; the figures of that first contact stand beside it.
"""

from __future__ import annotations

import pytest

from runner.model.assessment import Level
from runner.model.request import Request, Tool
from runner.risk.assess import assess
from tests.risk.test_quiet import Case, cases

FOUND_AT_LEAST = 0.9
SETS = {
    "node": "24 of 30 found, none of 30 raised",
    "node-packages": "26 of 30 found, none of 30 raised",
    "node-servers": "15 of 30 found, none of 30 raised",
    "node-further": "42 of 50 found, 2 of 50 raised",
    "node-last": "43 of 50 found, none of 50 raised",
    "python-and-shell": "26 of 30 found, 1 of 30 raised",
    "further-python-and-shell": "35 of 40 found, 2 of 40 raised",
    "last-python-and-shell": "48 of 50 found, 2 of 50 raised",
}
"""Names of the sets, with what was found and raised at first."""


def raised(case: Case) -> bool:
    assert case.language is not None
    return assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, case.language, case.code)).level >= Level.CRITICAL


@pytest.mark.parametrize("name", SETS)
def test_the_danger_of_strangers_is_found(name: str) -> None:
    danger = cases(f"../strangers/{name}-danger.txt")
    missed = [case.name for case in danger if not raised(case)]
    assert 1 - len(missed) / len(danger) >= FOUND_AT_LEAST, missed


@pytest.mark.parametrize("name", SETS)
def test_what_strangers_hold_for_harmless_is_not_raised(name: str) -> None:
    harmless = cases(f"../strangers/{name}-harmless.txt")
    assert [case.name for case in harmless if raised(case)] == []
