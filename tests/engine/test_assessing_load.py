"""Code that cannot be read in time holds up nothing but its own request: a person and other agents go first."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from runner.approval.modes import Mode
from runner.model.answer import Status
from runner.model.assessment import Assessment, Level
from runner.model.decision import Verdict
from runner.model.events import ModeChanged, RequestAssessed, RequestDecided
from runner.model.request import Language
from runner.model.result import Outcome
from runner.risk.assess import TOO_LARGE
from runner.risk.worker.assessor import Assessor
from tests.patience import HANGS
from tests.stages.engine import HELLO, Stage
from tests.stages.worker import StandIn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from runner.model.request import Request

pytestmark = pytest.mark.asyncio
BOMBS = 8
BOMB = replace(HELLO, agent="bomber", code="HANG")


def hanging(root: Path, seconds: float) -> Stage:
    """An engine whose processes hang on some code, without letting go of their interpreter."""
    StandIn.made = []
    stage = Stage(root)
    stage.engine.parts.assessor = Assessor(stage.places.config / "rules", lambda rules: StandIn(rules, seconds))
    return stage


@pytest_asyncio.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """One in which what hangs is not given up before the test is over."""
    async with hanging(tmp_path, 600).opened() as stage:
        yield stage


def order(stage: Stage, *ids: str) -> list[str]:
    """What became of the requests with `ids`, and of the mode, in the order in which it was told."""
    told = []
    for event in stage.heard:
        if isinstance(event, RequestAssessed | RequestDecided) and event.request_id in ids:
            told.append(type(event).__name__)
        elif isinstance(event, ModeChanged):
            told.append(event.mode)
    return told


async def test_deny_stop_and_lockdown_act_while_bombs_are_read(stage: Stage) -> None:
    asked, running = await stage.asked(), await stage.approved()
    bombs = [(await stage.engine.submit(BOMB)).request_id for _ in range(BOMBS)]
    other = await stage.asked(replace(HELLO, agent="other"))
    digest = asked.case.request.digest
    assert stage.engine.answer(asked.request_id, digest, Verdict.DENIED, "no") == ""
    denied = await asked.answered(HANGS)
    stage.engine.runs.stop(running.request_id)
    stopped = await running.answered(HANGS)
    await stage.engine.modes.lock()
    locked = await other.answered(HANGS)
    assert denied is not None and denied.status is Status.DENIED
    assert stopped is not None and stopped.result is not None and stopped.result.outcome is Outcome.KILLED
    assert locked is not None and locked.status is Status.DENIED
    assert stage.phases(asked.request_id)[-2:] == ["denied", "closed"]
    said = order(stage, *bombs)
    assert said[0] == Mode.LOCKDOWN and RequestAssessed.__name__ not in said, "nobody waited for the bombs to be read"
    await stage.engine.modes.guard()


async def test_what_hangs_is_asked_as_critical(tmp_path: Path) -> None:
    stage = hanging(tmp_path, 1.0)
    await stage.engine.start(gateway=False)
    ticket = await stage.asked(BOMB)
    assessment = ticket.case.assessment
    assert assessment is not None
    assert (assessment.level, assessment.reasons) == (Level.CRITICAL, (TOO_LARGE,))
    await stage.engine.close("the test is over")


async def test_a_persons_version_is_assessed_before_what_agents_wait_for(stage: Stage) -> None:
    asked = await stage.asked()
    bombs = [(await stage.engine.submit(replace(BOMB, agent=f"bomber {n}"))).request_id for n in range(BOMBS)]
    draft = await stage.engine.editing.draft(asked.request_id, "print(2)")
    assert draft.assessment.level is Level.HIGH
    assert order(stage, *bombs) == []


async def test_imports_that_cannot_be_read_are_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage(tmp_path)
    stage.engine.parts.configuration.settings = replace(
        stage.engine.parts.configuration.settings, block_dangerous_imports=True
    )
    await stage.engine.start(gateway=False)
    found = await stage.approved(replace(HELLO, code="import os"))
    assert [(one.module, one.line) for one in stage.sandbox.runs[0].job.imported or ()] == [("os", 1)]
    stage.engine.runs.stop(found.request_id)

    async def unread(_code: str, *, agent: str) -> None:
        return None

    ticket = await stage.asked()
    monkeypatch.setattr(stage.engine.parts.assessor, "imported", unread)
    assert stage.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.APPROVED, "") == ""
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.result is not None
    assert "could not be read" in answer.result.error and len(stage.sandbox.runs) == 1
    await stage.engine.close("the test is over")


async def test_rules_that_broke_since_they_were_taken_up_have_everything_asked(stage: Stage) -> None:
    folder = stage.places.config / "rules"
    await stage.asked()
    folder.mkdir()
    (folder / "own.yaml").write_text("nonsense")
    assert not stage.engine.parts.configuration.problems
    stage.engine.parts.assessor.listen(lambda _problems: stage._changed.set())
    stage.engine.parts.assessor.listen(stage.engine._compare_rules)
    stage.engine.parts.assessor.reload()
    await stage.until(lambda: stage.engine.parts.configuration.problems)
    assert stage.engine.parts.configuration.policy.asks_everything
    (folder / "own.yaml").unlink()


async def test_an_engine_reads_no_code_in_its_own_process(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    here: list[Request] = []

    def noted(_classifier: object, request: Request) -> Assessment:
        here.append(request)
        return Assessment(Level.HIGH, ("Runs code.",))

    monkeypatch.setattr("runner.risk.assess.Classifier.assess", noted)
    for language, code in ((Language.PYTHON, "print(1)"), (Language.SHELL, "ls"), (Language.JAVASCRIPT, "x = 1")):
        ticket = await stage.asked(replace(HELLO, language=language, code=code))
        await stage.engine.editing.draft(ticket.request_id, code + "\n")
        await stage.engine.hindsight.explain_past(ticket.request_id)
    await asyncio.sleep(0)
    assert here == []
