"""The desk: first answer wins, nothing decides by itself but time."""

from __future__ import annotations

import pytest

from runner.approval.desk import ATTENDED_SECONDS, LONGEST_PAUSE, Desk, Taken
from runner.model.decision import Ask, Decider, Verdict

pytestmark = pytest.mark.asyncio


async def test_the_first_answer_wins_and_the_second_is_refused() -> None:
    desk = Desk()
    question = desk.put("r1", "d1", Ask(60))
    assert desk.answer("r1", "d1", Verdict.DENIED, "no") is Taken.ACCEPTED
    assert desk.answer("r1", "d1", Verdict.APPROVED, "") is Taken.UNKNOWN
    decision = await question.future
    assert (decision.verdict, decision.by, decision.reason, decision.digest) == (
        Verdict.DENIED,
        Decider.PERSON,
        "no",
        "d1",
    )


async def test_an_answer_for_another_digest_is_stale_and_decides_nothing() -> None:
    desk = Desk()
    question = desk.put("r1", "d1", Ask(60))
    assert desk.answer("r1", "d2", Verdict.APPROVED, "") is Taken.STALE
    assert not question.future.done()


async def test_two_questions_and_the_answer_goes_to_the_right_one() -> None:
    desk = Desk()
    one, two = desk.put("r1", "d1", Ask(60)), desk.put("r2", "d2", Ask(60))
    assert desk.answer("r2", "d2", Verdict.APPROVED, "") is Taken.ACCEPTED
    assert not one.future.done()
    assert (await two.future).verdict is Verdict.APPROVED
    assert desk.position("r1") == 1 and desk.position("r2") == 0


async def test_time_out_is_expired_and_by_nobody() -> None:
    question = Desk().put("r1", "d1", Ask(0.01))
    decision = await question.future
    assert (decision.verdict, decision.by) == (Verdict.EXPIRED, Decider.ENGINE)


async def test_withdrawing_takes_the_question_away() -> None:
    desk = Desk()
    question = desk.put("r1", "d1", Ask(60))
    assert desk.withdraw("r1", "gone")
    assert not desk.withdraw("r1", "gone")
    assert (await question.future).verdict is Verdict.WITHDRAWN
    assert desk.waiting() == ()


async def test_clearing_denies_everything_with_the_reason() -> None:
    desk = Desk()
    questions = [desk.put(f"r{n}", "d", Ask(60)) for n in range(3)]
    assert desk.clear("closing") == 3
    assert {(await q.future).reason for q in questions} == {"closing"}


async def test_the_waiting_time_is_reported() -> None:
    now = [10.0]
    desk = Desk(lambda: now[0])
    question = desk.put("r1", "d1", Ask(60))
    now[0] = 14.5
    assert desk.seconds_left("r1") == 55.5
    desk.answer("r1", "d1", Verdict.APPROVED, "")
    assert (await question.future).after_seconds == 4.5


async def test_countdowns_stand_while_somebody_is_active_and_no_longer_than_the_cap() -> None:
    now = 1000.0
    desk = Desk(lambda: now)
    question = desk.put("r1", "d1", Ask(60))
    for _ in range(30):
        desk.attend()
        now += 1
    assert question.deadline == 1000 + 60 + 29 + ATTENDED_SECONDS, "each second of thirty counted once"
    now += 60
    assert desk.attend() == (question,)
    for _ in range(2000):
        desk.attend()
        now += 0.5
    assert question.window == LONGEST_PAUSE
    assert desk.attend() == ()
    desk.clear("over")
