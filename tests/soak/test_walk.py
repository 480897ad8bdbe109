"""The requests of the walk of fifty, judged without a window, and how the walk counts."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from app.state.cards import Card
from runner.model.assessment import Level
from runner.model.decision import Verdict
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess
from tests.soak.walk import Answered, is_denied, report
from tests.soak.walk_requests import walk_requests

if TYPE_CHECKING:
    from tests.soak.walk_requests import WalkRequest


def test_there_are_fifty_different_ones_half_of_them_dangerous() -> None:
    every = walk_requests()
    assert len({one.title for one in every}) == len(every) == 50
    assert sum(one.deny for one in every) == 25


@pytest.mark.parametrize("one", walk_requests(), ids=lambda one: one.title)
def test_badge_and_sentence_are_enough_to_decide(one: WalkRequest) -> None:
    request = Request("r", "a", Tool.CODE_EXECUTE, time.time(), Language(one.language), one.code)
    assert is_denied(Card(request, 0.0, request.digest, assess(request))) is one.deny


def test_what_expired_is_neither_right_nor_denied(capsys: pytest.CaptureFixture[str]) -> None:
    plain, grave = walk_requests()[:2]
    answers = [
        Answered(plain, None, "Computes.", Verdict.APPROVED, 0.7),
        Answered(plain, None, "Computes.", Verdict.EXPIRED, 60.0),
        Answered(grave, Level.CRITICAL, "Deletes.", Verdict.EXPIRED, 60.0),
        Answered(grave, Level.CRITICAL, "Deletes.", Verdict.DENIED, 0.8),
    ]
    assert report(answers) == 1
    said = capsys.readouterr().out
    assert "Right: 2 of 4" in said and "1 of 2 dangerous" in said and "1 of 2 CRITICAL" in said
