"""The path of a request through the real engine, policy, classifier and ledger; only the runs are held."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from runner.audit.ledger.ledger import Ledger, LedgerFailed
from runner.audit.ledger.verify import verify
from runner.model.answer import Status
from runner.model.decision import Decider, Verdict
from runner.model.errors import KnownError, Refused
from runner.model.events import QuestionAsked, RequestDecided, RunFinished, RunHeld
from runner.model.lifecycle import Phase
from runner.model.request import Isolation, Language, Tool
from runner.model.result import Outcome
from runner.model.submission import Submission
from tests.doubles import HeldSandbox
from tests.patience import HANGS
from tests.stages.engine import HELLO, Stage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(tmp_path).opened() as stage:
        yield stage


async def test_what_is_approved_runs_and_is_answered_and_recorded(stage: Stage) -> None:
    ticket = await stage.approved()
    assert stage.sandbox.runs[0].job.code == HELLO.code
    stage.sandbox.runs[0].finish("hello\n")
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.text() == "hello"
    assert stage.phases(ticket.request_id) == [
        "arrived",
        "assessed",
        "asked",
        "approved",
        "running",
        "finished",
        "closed",
    ]


async def test_a_run_is_paused_and_continues(stage: Stage) -> None:
    ticket = await stage.approved()
    for held in (True, False):
        stage.engine.runs.hold(ticket.request_id, held)
        assert stage.sandbox.runs[0].still is held
        assert stage.heard[-1] == RunHeld(ticket.request_id, held)
    stage.sandbox.runs[0].finish()
    await ticket.case.answer
    heard = len(stage.heard)
    stage.engine.runs.hold(ticket.request_id, True)
    assert len(stage.heard) == heard
    await stage.until(lambda: "resumed" in stage.phases(ticket.request_id))
    assert [kind for kind in stage.phases(ticket.request_id) if kind in ("held", "resumed")] == ["held", "resumed"]


async def test_all_runs_are_paused_but_those_that_cannot_be_and_these_are_named(stage: Stage) -> None:
    first, second, fixed = [await stage.approved() for _ in range(3)]
    stage.sandbox.runs[2].pause = None  # type: ignore[assignment,method-assign]
    stage.engine.runs.hold(first.request_id, True)
    assert stage.engine.runs.hold_all(True) == (fixed.request_id,)
    assert [run.still for run in stage.sandbox.runs] == [True, True, False]
    assert stage.engine.runs.hold_all(False) == (fixed.request_id,)
    assert [run.still for run in stage.sandbox.runs] == [False, False, False]
    told = [(event.request_id, event.held) for event in stage.heard if isinstance(event, RunHeld)]
    one, two = first.request_id, second.request_id
    assert told == [(one, True), (two, True), (one, False), (two, False)], "paused again what was paused"


async def test_a_sandbox_that_came_after_the_start_is_taken_up_and_runs_go_on(tmp_path: Path) -> None:
    late = HeldSandbox(Isolation.GVISOR)
    late.there = False
    stage = Stage(tmp_path, late)
    await stage.engine.start(gateway=False)
    running, asked = await stage.approved(), await stage.asked()
    late.there = True
    await stage.engine.look_for_sandbox()
    assert stage.engine.parts.sandboxes.isolation is Isolation.GVISOR
    stage.sandbox.runs[0].finish("hello\n")
    said = stage.engine.answer(asked.request_id, asked.case.request.digest, Verdict.APPROVED, "")
    was_running, was_asked = (await running.case.answer).result, await asked.case.answer
    again = await stage.engine.submit(HELLO)
    await stage.engine.close("the test is over")
    assert was_running is not None
    assert was_running.stdout == "hello\n"
    assert said == "Not approved: This was shown for local, and code runs in gVisor now. Ask again."
    assert (was_asked.status, was_asked.decision.reason) == (Status.DENIED, said.removeprefix("Not approved: "))
    assert again.case.request.isolation is Isolation.GVISOR


async def test_what_is_denied_never_reaches_the_sandbox(stage: Stage) -> None:
    ticket = await stage.asked()
    stage.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.DENIED, "not here")
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.text() == "Denied: not here. Nothing was run; there is no output."
    assert stage.sandbox.runs == []


async def test_a_stale_digest_approves_nothing(stage: Stage) -> None:
    ticket = await stage.asked()
    assert "the request changed" in stage.engine.answer(ticket.request_id, "0" * 64, Verdict.APPROVED, "")
    assert stage.engine.desk.position(ticket.request_id) == 1
    assert stage.sandbox.runs == []


async def test_critical_cannot_be_approved_for_the_local_sandbox(stage: Stage) -> None:
    ticket = await stage.asked(replace(HELLO, code="import shutil\nshutil.rmtree('/')"))
    why = stage.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.APPROVED, "")
    assert "CRITICAL may not run on the local sandbox" in why
    assert stage.sandbox.runs == []


async def test_low_is_decided_without_asking_and_still_recorded(stage: Stage) -> None:
    ticket = await stage.engine.submit(Submission("claude", Tool.CODE_SANDBOX_INFO))
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.decision.by is Decider.RULE
    assert stage.phases(ticket.request_id) == ["arrived", "assessed", "approved", "finished", "closed"]
    assert not any(isinstance(event, QuestionAsked) for event in stage.heard)


async def test_a_caller_that_goes_away_withdraws_its_question(stage: Stage) -> None:
    ticket = await stage.asked()
    stage.engine.withdraw(ticket.request_id)
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.status is Status.WITHDRAWN
    late = stage.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.APPROVED, "")
    assert "no longer open" in late
    assert stage.sandbox.runs == []


async def test_a_caller_that_goes_away_before_the_question_is_put_withdraws_it(stage: Stage) -> None:
    ticket = await stage.engine.submit(HELLO)
    stage.engine.withdraw(ticket.request_id)
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.status is Status.WITHDRAWN
    assert not any(isinstance(event, QuestionAsked) for event in stage.heard)


async def test_a_caller_that_goes_away_ends_its_run(stage: Stage) -> None:
    ticket = await stage.approved()
    stage.engine.withdraw(ticket.request_id)
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.result is not None and answer.result.outcome is Outcome.KILLED


async def test_nobody_sees_the_request_of_another_agent(stage: Stage) -> None:
    ticket = await stage.asked()
    assert stage.engine.ticket("codex", ticket.request_id) is None
    assert stage.engine.ticket("claude", ticket.request_id) is not None


async def test_an_agent_with_the_name_of_a_former_one_sees_none_of_its_requests(stage: Stage) -> None:
    await stage.engine.membership.add("claude")
    ticket = await stage.asked()
    assert stage.engine.ticket("claude", ticket.request_id) is not None
    await stage.engine.membership.revoke("claude")
    await stage.engine.membership.add("claude")
    assert stage.engine.ticket("claude", ticket.request_id) is None


async def test_stop_all_denies_what_waits_and_ends_what_runs(stage: Stage) -> None:
    running, waiting = await stage.approved(), await stage.asked()
    stage.engine.stop_all()
    first, second = await running.answered(HANGS), await waiting.answered(HANGS)
    assert first is not None and first.result is not None and first.result.outcome is Outcome.KILLED
    assert second is not None and second.status is Status.DENIED


async def test_closing_answers_everybody_and_seals(stage: Stage) -> None:
    running, waiting = await stage.approved(), await stage.asked()
    await stage.engine.close("The console was closed.")
    first, second = await running.answered(0), await waiting.answered(0)
    assert first is not None and second is not None
    assert second.decision.reason == "The console was closed."
    with pytest.raises(KnownError, match="closing"):
        await stage.engine.submit(HELLO)
    verdict = verify(stage.places.ledger)
    assert verdict.ok, verdict.what


async def test_out_of_bounds_is_refused_before_there_is_a_request(stage: Stage) -> None:
    with pytest.raises(Refused, match="timeout is -1"):
        await stage.engine.submit(Submission("a", Tool.CODE_EXECUTE, Language.PYTHON, "1", timeout=-1))
    assert stage.heard == []


async def test_after_a_crash_nothing_is_approved_and_nothing_runs_twice(tmp_path: Path) -> None:
    before = Stage(tmp_path)
    await before.engine.start(gateway=False)
    running, asked, parked = await before.approved(), await before.asked(), await before.asked()
    await before.engine.park(parked.request_id)
    # A crash: the ledger is let go of without a word to the cases.
    book = before.engine.parts.ledger.writer
    assert isinstance(book, Ledger)
    await book.close()
    before.engine.parts.captures.close()
    await before.engine.parts.assessor.close()

    after = Stage(tmp_path)
    await after.engine.start(gateway=False)
    await after.until(lambda: any(isinstance(event, QuestionAsked) for event in after.heard))
    again = [event for event in after.heard if isinstance(event, QuestionAsked)]
    assert [(event.request_id, event.again) for event in again] == [(parked.request_id, True)]
    ended = after.engine.ticket("claude", running.request_id)
    denied = after.engine.ticket("claude", asked.request_id)
    assert ended is not None and denied is not None
    lost, interrupted = await ended.answered(HANGS), await denied.answered(HANGS)
    assert lost is not None and lost.result is not None and lost.result.outcome is Outcome.ENGINE_LOST
    assert interrupted is not None and interrupted.decision.by is Decider.ENGINE
    assert interrupted.status is Status.DENIED
    assert after.sandbox.runs == []
    await after.engine.close("over")
    assert verify(after.places.ledger).ok


async def test_a_ledger_that_cannot_be_written_approves_nothing(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    ticket = await stage.asked()
    written = Ledger.append
    full = [True]

    async def append(self: Ledger, kind: str, request_id: str, body: dict[str, object], **how: bool) -> int:
        if full[0]:
            raise LedgerFailed("The disk is full.", "Free some space.")
        return await written(self, kind, request_id, body, **how)

    monkeypatch.setattr(Ledger, "append", append)
    monkeypatch.setattr("runner.engine.foundation.recorder.RETRY_SECONDS", 0.01)
    stage.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.APPROVED, "")
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.status is Status.DENIED
    assert "disk is full" in answer.text()
    assert stage.sandbox.runs == []
    with pytest.raises(KnownError, match="disk is full"):
        await stage.engine.submit(HELLO)
    full[0] = False
    await stage.until(lambda: ticket.phase is Phase.CLOSED)
    assert stage.phases(ticket.request_id)[-2:] == ["denied", "closed"]
    decided = [event for event in stage.heard if isinstance(event, RequestDecided)]
    assert [event.decision.verdict for event in decided] == [Verdict.DENIED]


async def test_a_disk_that_is_full_once_more_is_asked_leaves_an_approval_as_it_is_written(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The approval is on the disk, and the step after it is not: nothing runs, and what was decided stays decided."""
    ticket = await stage.asked()
    written = Ledger.append
    full = [True]

    async def append(self: Ledger, kind: str, request_id: str, body: dict[str, object], **how: bool) -> int:
        if full[0] and kind == "running":
            await stage.until(lambda: any(isinstance(event, RequestDecided) for event in stage.heard))
            raise LedgerFailed("The disk is full.", "Free some space.")
        return await written(self, kind, request_id, body, **how)

    monkeypatch.setattr(Ledger, "append", append)
    assert stage.approve(ticket) == ""
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.result is not None and "disk is full" in answer.result.error
    assert stage.sandbox.runs == []
    assert stage.phases(ticket.request_id)[-3:] == ["approved", "finished", "closed"]


async def test_the_windows_of_two_requests_do_not_wait_for_each_other(stage: Stage) -> None:
    first, second = await stage.asked(), await stage.approved()
    stage.sandbox.runs[0].finish("done")
    assert await second.answered(HANGS) is not None
    assert await first.answered(0) is None
    assert sum(isinstance(event, RunFinished) for event in stage.heard) == 1


@pytest.mark.errors_expected
async def test_a_bug_on_the_way_denies_and_answers(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(_request: object, *, person: bool) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(stage.engine.parts, "assess", broken)
    caught: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: caught.append(context))
    ticket = await stage.engine.submit(HELLO)
    answer = await ticket.answered(HANGS)
    assert answer is not None
    assert (answer.status, answer.decision.by) == (Status.DENIED, Decider.ENGINE)
    assert stage.phases(ticket.request_id) == ["arrived", "denied", "closed"]
    await stage.until(lambda: caught)
    assert str(caught[0]["exception"]) == "a bug"


@pytest.mark.errors_expected
async def test_a_bug_in_the_sandbox_ends_the_request(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_arguments: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(stage.sandbox, "start", broken)
    asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: None)
    ticket = await stage.asked()
    stage.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.APPROVED, "")
    answer = await ticket.answered(HANGS)
    assert answer is not None
    assert answer.result is not None
    assert answer.result.outcome is Outcome.ENGINE_LOST
    assert stage.phases(ticket.request_id)[-3:] == ["running", "finished", "closed"]
