"""The text of a rehearsal's outcome, which a person reads before it is handed over."""

from __future__ import annotations

import pytest

from runner.model.answer import within
from runner.model.rehearsal import Rehearsal
from runner.model.result import Outcome, Result


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (Result(Outcome.OK, "x" * 90, "", 0, 0.1), "bytes of output are left out."),
        (Result(Outcome.OK, "", "", 0, 0.1, value=["x" * 90]), "Shortened: a part of the result value is left out."),
        (Result(Outcome.OK, "x", "", 0, 0.1, value=1), ""),
    ],
)
def test_what_the_agent_does_not_get_is_named(result: Result, words: str) -> None:
    text = Rehearsal("", within(result, 40)).text
    assert words in text if words else "Shortened" not in text
