"""What is remembered, against agents and machines that change what it meant."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.model.decision import Decider, Verdict
from runner.model.result import Outcome
from runner.policy.grants import Choice, Subject
from tests.approval.conftest import stage
from tests.approval.test_remembering import READING, denied, remember, unasked
from tests.patience import HANGS
from tests.stages.engine import HELLO, Stage

if TYPE_CHECKING:
    from runner.sandbox.contract import Readiness

pytestmark = pytest.mark.asyncio
CHOICES = tuple(Choice(subject, uses=9, seconds=600) for subject in (Subject.EXACT, Subject.TEXT, Subject.SHAPE))
AT_ONCE = 40
__all__ = ["stage"]


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: choice.subject)
async def test_a_sandbox_that_lost_a_protection_is_asked(stage: Stage, choice: Choice) -> None:
    """As when bubblewrap, or the filter of system calls, is gone at the next start."""
    await remember(stage, await denied(stage, READING), choice)
    await unasked(stage, READING)
    stage.sandbox.protections = stage.sandbox.protections[:1]
    ticket = await stage.asked(READING)
    assert len(stage.sandbox.runs) == 1 and ticket.case.request.protections == ("a test",)


async def test_nothing_runs_when_a_protection_goes_after_the_approval(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticket = await stage.asked()
    check = stage.sandbox.check

    async def less() -> Readiness:
        return replace(await check(), protections=("a test",))

    monkeypatch.setattr(stage.sandbox, "check", less)
    assert stage.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.APPROVED, "") == ""
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.result is not None
    assert answer.result.outcome is Outcome.ENGINE_LOST and stage.sandbox.runs == []
    assert "is gone: a wall of cards" in answer.result.error


async def test_many_calls_at_once_use_a_grant_no_more_often_than_it_says(stage: Stage) -> None:
    await remember(stage, await denied(stage), Choice(Subject.EXACT, uses=3, seconds=600))
    tickets = await asyncio.gather(*(stage.engine.submit(HELLO) for _ in range(AT_ONCE)))
    await stage.until(lambda: len(stage.sandbox.runs) == 3 and len(stage.engine.desk.waiting()) == AT_ONCE - 3)
    for run in stage.sandbox.runs:
        run.finish()
    decided = [ticket.case.decision for ticket in tickets if ticket.case.decision is not None]
    assert [decision.by for decision in decided] == [Decider.GRANT] * 3


async def test_what_runs_with_other_values_finds_no_module_in_its_workspace(stage: Stage) -> None:
    await remember(stage, await denied(stage, READING), CHOICES[2])
    await unasked(stage, replace(READING, code=READING.code.replace("jan", "feb")))
    assert stage.sandbox.runs[-1].job.own_modules is False
    await remember(stage, await denied(stage, HELLO), CHOICES[1])
    await unasked(stage, HELLO)
    assert stage.sandbox.runs[-1].job.own_modules is True
