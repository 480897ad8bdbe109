"""The table of a request's life."""

from __future__ import annotations

import pytest

from runner.model.lifecycle import NEXT, IllegalMove, Phase, check


def test_every_phase_has_a_row_and_leads_to_the_end() -> None:
    assert set(NEXT) == {None, *Phase}
    for start in Phase:
        reached, todo = {start}, [start]
        while todo:
            fresh = NEXT[todo.pop()] - reached
            reached |= fresh
            todo += fresh
        assert Phase.CLOSED in reached, start


@pytest.mark.parametrize(
    ("now", "then"),
    [
        (Phase.ARRIVED, Phase.RUNNING),
        (Phase.ASKED, Phase.RUNNING),
        (Phase.DENIED, Phase.RUNNING),
        (Phase.EXPIRED, Phase.APPROVED),
        (Phase.RUNNING, Phase.RUNNING),
        (Phase.FINISHED, Phase.RUNNING),
        (Phase.CLOSED, Phase.ASKED),
        (None, Phase.APPROVED),
    ],
)
def test_no_way_around_the_table(now: Phase | None, then: Phase) -> None:
    with pytest.raises(IllegalMove):
        check(now, then)


def test_nothing_runs_without_an_approval() -> None:
    assert {phase for phase, after in NEXT.items() if Phase.RUNNING in after} == {Phase.APPROVED}
