"""Differences between two pieces of code: nothing is lost, numbers are right, and long ones stay cheap."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runner.model.difference import MOST_COMPARED, Change, DiffLine, Side, as_text, compare, difference

LINES = st.lists(st.sampled_from(["a", "b", "c", "", "  d"]), max_size=30).map("\n".join)


@given(LINES, LINES)
def test_both_versions_can_be_read_off_the_difference(old: str, new: str) -> None:
    lines = difference(old, new, around=1000)
    if old == new:
        assert lines == ()
        return
    before = [(line.old, line.text) for line in lines if line.side is not Side.ADDED]
    after = [(line.new, line.text) for line in lines if line.side is not Side.REMOVED]
    assert before == list(enumerate(old.split("\n"), 1))
    assert after == list(enumerate(new.split("\n"), 1))


@given(LINES, LINES)
def test_folding_hides_only_what_is_the_same(old: str, new: str) -> None:
    lines = difference(old, new, around=1)
    whole = difference(old, new, around=1000)
    changed = [line for line in whole if line.side is not Side.SAME]
    assert [line for line in lines if line.side in (Side.ADDED, Side.REMOVED)] == changed
    assert sum(line.count for line in lines) == len(whole)


def test_unchanged_parts_fold() -> None:
    old = "\n".join(f"line {number}" for number in range(1, 21))
    lines = difference(old, old.replace("line 10", "line ten"))
    assert lines[0] == DiffLine(Side.FOLDED, count=6)
    assert [line.text for line in lines if line.side is Side.ADDED] == ["line ten"]
    assert as_text(lines, 1000).startswith("@@ 6 unchanged @@\n line 7\n")


def test_a_region_too_long_to_compare_counts_as_replaced() -> None:
    old = "\n".join(f"x = {number}" for number in range(MOST_COMPARED + 1))
    lines = difference(old, old.replace("x", "y"))
    assert [line.side for line in lines] == [Side.REMOVED] * (MOST_COMPARED + 1) + [Side.ADDED] * (MOST_COMPARED + 1)


def test_what_is_left_out_is_said() -> None:
    lines = difference("", "\n".join("long line" for _ in range(100)))
    assert "more lines of the difference" in as_text(lines, 100)


@given(LINES, LINES, LINES)
def test_what_was_compared_elsewhere_is_taken_only_where_it_fits(old: str, new: str, other: str) -> None:
    assert difference(old, new, changes=compare(old, new)) == difference(old, new)
    wrongs = (), compare(other + "\nx", new), (Change(True, 0, 10**9, 0, 10**9),), (Change(False, 0, -1, 0, -1),)
    for wrong in wrongs:
        lines = difference(old, new, around=1000, changes=wrong)
        if old != new:
            assert [line.text for line in lines if line.side is not Side.ADDED] == old.split("\n")
            assert [line.text for line in lines if line.side is not Side.REMOVED] == new.split("\n")
