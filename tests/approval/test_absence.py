"""Being away: requests wait instead of expiring, within bounds, over a restart, and nothing is approved by it."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.approval import desk as desks
from runner.approval.absence import ENTRY
from runner.approval.deciders import kept_for
from runner.approval.desk import AWAY_SECONDS, BACK_SECONDS, MOST_WAITING, Desk
from runner.audit.history.changes import read_changes
from runner.audit.ledger.ledger import LedgerFailed
from runner.audit.ledger.verify import verify
from runner.gateway import replies
from runner.model.decision import Ask, Decider, Verdict
from runner.model.errors import KnownError
from runner.model.events import AwayChanged, QuestionAsked, QuestionsMoved
from tests.patience import HANGS
from tests.stages.engine import HELLO, Stage

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.asyncio
LONG = 12 * 3600.0


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


# ---- the desk ----


async def test_questions_wait_for_a_person_who_is_away_and_have_time_when_they_are_back() -> None:
    clock = Clock()
    desk = Desk(clock)
    open_before = desk.put("r1", "d", Ask(60), keeps=LONG)
    assert desk.leave() == (open_before,)
    later = desk.put("r2", "d", Ask(30), keeps=LONG)
    assert open_before.deadline == later.deadline == clock.now + LONG
    clock.now += 3600
    assert desk.come_back() == (open_before, later)
    assert open_before.deadline == later.deadline == clock.now + BACK_SECONDS
    assert desk.put("r3", "d", Ask(30), keeps=LONG).window == 30
    desk.clear("over")


async def test_what_may_not_wait_and_what_is_too_much_expires_as_always() -> None:
    desk = Desk(Clock())
    desk.leave()
    assert not desk.put("client", "d", Ask(30)).parked
    waits = [desk.put(f"r{n}", "d", Ask(30), keeps=LONG) for n in range(MOST_WAITING + 3)]
    assert sum(question.parked for question in waits) == MOST_WAITING
    assert [question.window for question in waits[MOST_WAITING:]] == [30, 30, 30]
    desk.clear("over")


async def test_being_away_ends_by_itself_for_each_question(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk()
    desk.leave()
    question = desk.put("r1", "d", Ask(0.001), keeps=0.02)
    decision = await question.future
    assert (decision.verdict, decision.by) == (Verdict.EXPIRED, Decider.ENGINE)


# ---- in the engine ----


async def away(stage: Stage) -> None:
    await stage.engine.absence.leave()
    assert [event.away for event in stage.heard if isinstance(event, AwayChanged)][-1]


async def test_it_is_recorded_told_to_agents_and_never_an_approval(stage: Stage) -> None:
    before = await stage.asked()
    await away(stage)
    ticket = await stage.asked(replace(HELLO, code="print(2)"))
    moved = [event for event in stage.heard if isinstance(event, QuestionsMoved)]
    assert [one[0] for one in moved[0].ends] == [before.request_id]
    assert "waiting for a person who is away" in replies.pending(ticket).text
    assert stage.sandbox.runs == [] and ticket.case.decision is None
    await stage.engine.absence.come_back()
    assert "waiting for a person to decide" in replies.pending(ticket).text
    await stage.until(lambda: len([one for one in read_changes(stage.places.ledger) if one.kind == ENTRY]) == 2)
    entries = [one.body["away"] for one in read_changes(stage.places.ledger) if one.kind == ENTRY]
    assert entries == [False, True]


async def test_it_survives_a_restart_and_what_waits_is_asked_again_by_a_person_alone(tmp_path: Path) -> None:
    before = Stage(tmp_path)
    await before.engine.start(gateway=False)
    await before.engine.absence.leave()
    fetched, held = await before.asked(), await before.asked(replace(HELLO, code="print(2)"))
    await before.engine.park(fetched.request_id)
    await before.engine.close("over")
    denied = await held.answered(HANGS)
    assert denied is not None and denied.decision.verdict is Verdict.DENIED, "its agent still held the call open"

    after = Stage(tmp_path)
    await after.engine.start(gateway=False)
    assert after.engine.absence.away
    # Trust given later answers what comes later, not what a person was asked already.
    await after.engine.modes.trust("claude", 600)
    await after.until(lambda: any(isinstance(event, QuestionAsked) for event in after.heard))
    question = after.engine.desk.question(fetched.request_id)
    assert question is not None and question.parked
    assert AWAY_SECONDS - 60 < question.window <= AWAY_SECONDS
    asked = [event for event in after.heard if isinstance(event, QuestionAsked)]
    assert [(event.request_id, event.again) for event in asked] == [(fetched.request_id, True)]
    assert after.sandbox.runs == []
    await after.engine.absence.come_back()
    await after.engine.close("over")
    assert not after.places.away.exists()
    assert verify(after.places.ledger).ok


async def test_lockdown_and_stop_all_deny_what_waits(stage: Stage) -> None:
    await away(stage)
    ticket = await stage.asked()
    await stage.engine.modes.lock()
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.decision.verdict is Verdict.DENIED


async def test_what_cannot_be_recorded_is_not_so(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(*_: object) -> None:
        raise LedgerFailed("The disk is full.", "Free some space.")

    monkeypatch.setattr(stage.engine.absence._record, "append", fails)
    with pytest.raises(KnownError, match="disk is full"):
        await stage.engine.absence.leave()
    assert not stage.engine.absence.away and not stage.places.away.exists()


@pytest.mark.parametrize("content", ["", "{", '{"away": 1}', '["away"]', "[" * 900])
async def test_a_file_that_says_nothing_clear_lets_requests_expire(tmp_path: Path, content: str) -> None:
    stage = Stage(tmp_path)
    stage.places.make()
    stage.places.away.write_text(content)
    await stage.engine.absence.open()
    assert not stage.engine.absence.away
    assert not [event for event in stage.heard if isinstance(event, AwayChanged)]


async def test_a_request_waits_twelve_hours_from_when_it_was_asked_restarts_add_nothing(stage: Stage) -> None:
    ticket = await stage.asked()
    request = ticket.case.request
    assert kept_for(request, request.received_at) == AWAY_SECONDS
    assert kept_for(request, request.received_at + AWAY_SECONDS - 5) == 5
    assert kept_for(request, request.received_at + AWAY_SECONDS + 5) == 0
    assert kept_for(request, request.received_at - 86_400) == AWAY_SECONDS, "a clock put back"
    assert desks.BACK_SECONDS <= AWAY_SECONDS < time.time()
