"""What a script costs is counted in steps, so that the same script gets the same answer however fast the machine is."""

from __future__ import annotations

import pytest

from runner.risk.across_languages import Nested
from runner.risk.model.acts import Budget, TooMuch, Trail
from runner.risk.rules.knowledge import bundled

PLENTY = 10**9
LONG_SECONDS = 600.0


def follow(code: str, steps: int = PLENTY) -> int:
    """Steps that following `code` takes; those taken until it stopped, where `steps` are too few."""
    budget = Budget(steps, LONG_SECONDS)
    try:
        Nested(bundled(), Trail(budget)).shell(code)
    except TooMuch:
        assert steps < PLENTY
    return steps - budget.left


@pytest.mark.parametrize("separator", ["\n", ";", "&"])
def test_a_repeated_command_is_counted_by_what_it_costs(separator: str) -> None:
    """One takes some 75 microseconds, the time of over forty steps."""
    assert follow(f"rm -rf /{separator}" * 200) >= 200 * 40


def test_following_stops_in_the_middle_of_one_command() -> None:
    assert follow("echo" + " a" * 20_000, 1_000) < 1_100


def test_words_made_of_one_long_text_are_counted() -> None:
    text = "x='" + "a " * 1_000 + "'\n"
    assert follow(text + "echo" + " $x" * 50) - follow(text + "echo") >= 50 * 1_000


def test_a_list_that_grows_element_by_element_is_counted_by_its_length() -> None:
    def grown(length: int) -> int:
        return follow("".join(f"a[{i}]=1\n" for i in range(length)))

    assert grown(800) > 5 * grown(200)
