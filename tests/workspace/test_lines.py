"""Which lines differ: right for every pair of texts, and bounded for those that were made to take long."""

from __future__ import annotations

import difflib
import random
from typing import TYPE_CHECKING

import pytest

from runner.workspace import lines
from runner.workspace.lines import added, hunks_of, unified, unified_numbers

if TYPE_CHECKING:
    from runner.workspace.lines import Hunks


def applied(old: list[str], new: list[str], found: Hunks) -> list[str]:
    made = list(old)
    for hunk in reversed(found.hunks):
        for one in reversed(hunk):
            if one.same:
                assert old[one.old : one.old_end] == new[one.new : one.new_end]
            else:
                made[one.old : one.old_end] = new[one.new : one.new_end]
    return made


@pytest.mark.parametrize("between", [0, 4, 12, lines.MOST_BETWEEN])
def test_all_hunks_together_make_the_new_text(between: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MOST_BETWEEN", between)
    chance = random.Random(between)
    for _ in range(400):
        letters = "abcdefghijkl"[: chance.randint(1, 12)]
        old = [chance.choice(letters) for _ in range(chance.randint(0, 40))]
        new = list(old)
        for _ in range(chance.randint(0, 5)):
            at = chance.randint(0, len(new))
            new[at : at + chance.randint(0, 3)] = [chance.choice("xyza") for _ in range(chance.randint(0, 3))]
        found = hunks_of(old, new)
        assert applied(old, new, found) == new
        text = unified(old, new, found)
        numbered = [*zip(text, unified_numbers(text), strict=True)]
        assert all(new[number - 1] == line[1:] for line, number in numbered if number)
        assert {number for line, number in numbered if line.startswith("+")} == added(found)


def test_lines_that_were_moved_apart_stay_what_they_are_in_a_long_text() -> None:
    old = [f"line {number}" for number in range(9000)]
    new = [*old]
    new[8000:8000], new[10:12] = ["more"], []
    found = hunks_of(old, new)
    assert len(found.hunks) == 2 and not found.unsplit and not found.said
    assert found.hunks[0][1].new_end == found.hunks[0][1].new == 10


def test_what_is_too_many_lines_is_replaced_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    class Counted(difflib.SequenceMatcher[str]):
        given: list[int] = []

        def __init__(self, junk: None, one: list[str], other: list[str]) -> None:
            self.given.append(len(one) + len(other))
            super().__init__(junk, one, other)

    monkeypatch.setattr(difflib, "SequenceMatcher", Counted)
    old, new = ([str(number % other) for number in range(10_000)] for other in (150, 149))
    found = hunks_of(old, new)
    assert applied(old, new, found) == new
    assert found.unsplit > lines.MOST_BETWEEN and "too many to compare line by line" in found.said
    reverse = [str(number) for number in range(5000)]
    assert applied(reverse, reverse[::-1], hunks_of(reverse, reverse[::-1])) == reverse[::-1]
    assert max(Counted.given, default=0) <= lines.MOST_BETWEEN
