"""Rehearsals: code that runs without network while a person is asked, and an outcome that nobody gets unasked."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from runner.approval.desk import LATE
from runner.approval.rehearsable import kept_from_rehearsal
from runner.audit.export.exporting import ExportFormat, HistoryExport
from runner.audit.ledger.ledger import LedgerFailed
from runner.audit.ledger.verify import verify
from runner.engine.rehearsal import before_answer, rehearsing
from runner.engine.request.runs import STOPPED
from runner.identity.allowance import Allowance
from runner.model.answer import REHEARSED as SAID
from runner.model.answer import WITHHELD, Status
from runner.model.decision import Ask, Decider, Verdict
from runner.model.events import RehearsalMoved
from runner.model.rehearsal import RehearsalPhase
from runner.model.request import Isolation, Limits, Tool
from runner.model.result import Outcome
from runner.model.tried import TRIAL_ENDED, TRIED, TRYING
from runner.policy.grants import Choice, Subject
from runner.system.places import resources
from tests.doubles import HeldSandbox
from tests.patience import HANGS
from tests.recorded import record_in
from tests.stages.engine import HELLO, Stage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from runner.approval.ticket import Ticket
    from runner.model.submission import Submission
    from tests.doubles import HeldRun

pytestmark = pytest.mark.asyncio
GVISOR = Allowance(rehearse="gvisor")


class RehearsalStage(Stage):
    """A stage on which code would run in gVisor."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, HeldSandbox(Isolation.LOCAL))
        self.sandbox.isolation = Isolation.GVISOR

    async def switch_on(self, agent: str = HELLO.agent, allowance: Allowance = GVISOR) -> None:
        self.engine.parts.agents.add(agent)
        await self.engine.membership.allow(agent, allowance)

    def phases(self, request_id: str) -> list[str]:
        """Without those of the trial with stand-ins, which runs beside it."""
        return [kind for kind in super().phases(request_id) if kind not in (TRYING, TRIED, TRIAL_ENDED)]

    def moves(self, ticket: Ticket) -> list[RehearsalMoved]:
        return [e for e in self.heard if isinstance(e, RehearsalMoved) and e.request_id == ticket.request_id]

    def last(self, ticket: Ticket) -> RehearsalMoved:
        """The newest; QUEUED before the first, as the question is recorded by then."""
        return (self.moves(ticket) or [RehearsalMoved(ticket.request_id, RehearsalPhase.QUEUED)])[-1]

    async def rehearsing(self, submission: Submission = HELLO) -> tuple[Ticket, HeldRun]:
        """Submit, and wait until the rehearsal runs."""
        before = len(self.sandbox.runs)
        ticket = await self.asked(submission)
        await self.until(lambda: len(self.sandbox.runs) > before or self.last(ticket).why)
        assert not self.last(ticket).why, self.last(ticket).why
        return ticket, self.sandbox.runs[-1]

    async def rehearsed(self, submission: Submission = HELLO, stdout: str = "hello\n") -> tuple[Ticket, str]:
        """Submit, and wait for the outcome; return its digest."""
        ticket, run = await self.rehearsing(submission)
        run.finish(stdout)
        await self.until(lambda: self.last(ticket).phase is RehearsalPhase.SHOWN)
        rehearsal = self.last(ticket).rehearsal
        assert rehearsal is not None
        return ticket, rehearsal.digest

    def hand_over(self, ticket: Ticket, outcome: str) -> str:
        return self.engine.hand_over(ticket.request_id, ticket.case.request.digest, outcome)

    async def idle(self) -> None:
        """Wait until no rehearsal runs or waits."""
        await self.until(lambda: not self.engine.runs.rehearsals._active and not self.engine.runs.rehearsals._queued)


@pytest_asyncio.fixture
async def stage(tmp_path: Path) -> AsyncIterator[RehearsalStage]:
    async with RehearsalStage(tmp_path).opened() as stage:
        yield stage


async def test_it_is_off_until_a_person_switches_it_on(stage: RehearsalStage) -> None:
    ticket = await stage.asked()
    assert not stage.sandbox.runs and not stage.moves(ticket)
    stage.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.DENIED, "no")
    await ticket.case.answer
    assert stage.phases(ticket.request_id) == ["arrived", "assessed", "asked", "denied", "closed"]
    assert not stage.moves(ticket)


async def test_the_agent_gets_exactly_the_outcome_that_was_shown(stage: RehearsalStage) -> None:
    await stage.switch_on()
    ticket, outcome = await stage.rehearsed()
    assert stage.hand_over(ticket, outcome) == ""
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.status is Status.FINISHED
    assert answer.text() == f"hello\n{SAID}" and answer.structured()["rehearsed"] == SAID
    assert len(stage.sandbox.runs) == 1
    kinds = stage.phases(ticket.request_id)
    assert kinds == [
        *("arrived", "assessed", "asked", "rehearsing", "rehearsed"),
        *("released", "approved", "finished", "closed"),
    ]
    record = record_in(stage.places.ledger, ticket.request_id)
    bodies = {step.entry.kind: step.body for step in record.steps}
    assert bodies["released"]["rehearsal"] == bodies["rehearsed"]["digest"] == outcome
    assert bodies["finished"]["stdout"] == bodies["rehearsed"]["stdout"] == "hello\n"
    assert record.result is not None and record.result.meta.rehearsed
    assert record.decision is not None and record.decision.by is Decider.PERSON
    assert verify(stage.places.ledger).ok


async def test_a_denial_keeps_all_of_it_from_the_agent(stage: RehearsalStage) -> None:
    await stage.switch_on()
    ticket, _ = await stage.rehearsed(stdout="the secret of the run\n")
    stage.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.DENIED, "no")
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.status is Status.DENIED and answer.result is None
    said = json.dumps([answer.text(), answer.structured(), answer.details()])
    assert "secret" not in said and "Nothing was run" not in said and WITHHELD in said
    assert "released" not in stage.phases(ticket.request_id)


async def test_nothing_of_it_is_on_its_way_while_the_agent_waits(stage: RehearsalStage) -> None:
    await stage.switch_on()
    ticket, _ = await stage.rehearsed()
    assert ticket.transcript is None and not ticket.case.answer.done() and ticket.case.result is None


async def test_it_runs_without_network_and_within_narrow_limits(stage: RehearsalStage) -> None:
    await stage.switch_on()
    ticket, run = await stage.rehearsing(replace(HELLO, timeout=90.0))
    assert ticket.case.request.limits.seconds == 90.0
    gate = run.job.gate
    assert gate is not None and not gate.destinations
    assert run.job.limits.seconds == 30.0 and run.job.limits.disk_mb == 256 and run.job.id != ticket.request_id
    assert stage.engine.runs.reachable(ticket.request_id) is None
    assert rehearsing.narrowed(Limits(seconds=1.0, memory_mb=64)).memory_mb == 64


async def test_what_is_approved_for_real_runs_and_ends_the_rehearsal(stage: RehearsalStage) -> None:
    await stage.switch_on()
    ticket, rehearsal = await stage.rehearsing()
    assert stage.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.APPROVED, "") == ""
    await stage.until(lambda: len(stage.sandbox.runs) == 2)
    assert (await rehearsal.finished()).outcome is Outcome.KILLED
    stage.sandbox.runs[1].finish("for real\n")
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.text() == "for real"
    kinds = stage.phases(ticket.request_id)
    assert "running" in kinds and "rehearsed" not in kinds and "rehearsal-ended" in kinds


async def test_another_outcome_than_that_on_screen_is_not_handed_over(stage: RehearsalStage) -> None:
    await stage.switch_on()
    ticket, outcome = await stage.rehearsed()
    other, _ = await stage.rehearsed(replace(HELLO, code="print('another')"))
    for wrong in ("", "0" * 64, "x", outcome[:-1]):
        assert "Not handed over" in stage.hand_over(ticket, wrong)
    assert "Not handed over" in stage.hand_over(other, outcome)
    assert stage.engine.hand_over(ticket.request_id, "0" * 64, outcome)
    assert not ticket.case.answer.done() and not other.case.answer.done()
    assert stage.hand_over(ticket, outcome) == ""
    assert stage.hand_over(ticket, outcome)  # once


async def test_before_it_has_ended_nothing_can_be_handed_over(stage: RehearsalStage) -> None:
    await stage.switch_on()
    ticket, run = await stage.rehearsing()
    assert "Not handed over" in stage.hand_over(ticket, "0" * 64)
    run.finish("late\n")


async def put_an_end_to_it(stage: RehearsalStage, how: str) -> None:
    """End every rehearsal of the agent in one of the ways that do not ask how far it is."""
    match how:
        case "lockdown":
            await stage.engine.modes.lock()
        case "stop all":
            stage.engine.stop_all()
        case "revoked":
            await stage.engine.membership.revoke(HELLO.agent)
        case "switched off":
            await stage.engine.membership.allow(HELLO.agent, Allowance())
        case _:
            raise AssertionError(how)


@pytest.mark.parametrize("how", ["expiry", "client", "lockdown", "stop all", "revoked", "switched off", "paused"])
async def test_whatever_ends_the_question_ends_the_rehearsal(stage: RehearsalStage, how: str) -> None:
    await stage.switch_on()
    ticket, run = await stage.rehearsing()
    match how:
        case "expiry":
            stage.engine.desk._expire(ticket.request_id)
        case "client":
            stage.engine.withdraw(ticket.request_id)
        case "paused":
            await stage.engine.membership.pause(HELLO.agent)
            run.finish("too late\n")
        case _:
            await put_an_end_to_it(stage, how)
    assert await run.finished()
    await stage.idle()
    if how in ("switched off", "paused"):
        assert stage.last(ticket).phase is RehearsalPhase.NONE and stage.last(ticket).why
        assert stage.engine.desk.position(ticket.request_id)  # it is an ordinary question now
    else:
        answer = await ticket.answered(HANGS)
        assert answer is not None and answer.result is None and answer.status is not Status.FINISHED
        assert answer.decision.reason in (LATE, STOPPED) or how not in ("expiry", "stop all")
    assert ticket.case.rehearsal is None
    await stage.until(lambda: "rehearsal-ended" in stage.phases(ticket.request_id))
    assert not {"rehearsed", "released"} & {*stage.phases(ticket.request_id)}


@pytest.mark.parametrize("how", ["lockdown", "stop all", "revoked", "switched off"])
async def test_an_outcome_that_is_shown_goes_with_its_question_or_its_mode(stage: RehearsalStage, how: str) -> None:
    await stage.switch_on()
    ticket, outcome = await stage.rehearsed()
    await put_an_end_to_it(stage, how)
    assert stage.hand_over(ticket, outcome)
    assert "released" not in stage.phases(ticket.request_id)
    if how == "switched off":
        assert stage.last(ticket).phase is RehearsalPhase.NONE
        assert stage.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.APPROVED, "") == ""


async def test_a_lockdown_between_the_click_and_the_answer_hands_nothing_over(stage: RehearsalStage) -> None:
    await stage.switch_on()
    ticket, outcome = await stage.rehearsed()
    assert stage.hand_over(ticket, outcome) == ""
    await stage.engine.modes.lock()
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.result is None and "hello" not in answer.text()
    assert "released" not in stage.phases(ticket.request_id)


async def test_what_cannot_be_recorded_is_neither_shown_nor_handed_over(
    stage: RehearsalStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stage.switch_on()
    first, outcome = await stage.rehearsed()
    real = stage.engine._recorder.append

    async def failing(kind: str, request_id: str, body: dict[str, object], **how: bool) -> None:
        if kind in ("released", "rehearsed"):
            raise LedgerFailed("The disk is full.", "Free disk space.")
        await real(kind, request_id, body, **how)

    monkeypatch.setattr(stage.engine._recorder, "append", failing)
    assert stage.hand_over(first, outcome) == ""
    answer = await first.answered(HANGS)
    assert answer is not None and answer.status is Status.DENIED and answer.result is None
    second, run = await stage.rehearsing(replace(HELLO, code="print('second')"))
    run.finish("second\n")
    await stage.until(lambda: stage.last(second).phase is RehearsalPhase.NONE)
    assert second.case.rehearsal is None and "disk is full" in stage.last(second).why


CRITICAL = replace(HELLO, code="import base64\nexec(base64.b64decode('cHJpbnQoMSk='))\n")


async def test_critical_code_is_asked_about_as_always(stage: RehearsalStage) -> None:
    await stage.switch_on()
    ticket = await stage.asked(CRITICAL)
    await stage.until(lambda: stage.moves(ticket))
    assert not stage.sandbox.runs and "CRITICAL" in stage.last(ticket).why


@pytest.mark.parametrize(
    ("changed", "ask", "why"),
    [
        ({}, Ask(60.0), ""),
        ({"tool": Tool.CODE_WRITE_FILE}, Ask(60.0), "Only code"),
        ({"sandbox": "abc"}, Ask(60.0), "kept sandbox"),
        ({"packages": ("six",)}, Ask(60.0), "packages"),
        ({}, Ask(60.0, blocked="It needs gVisor."), "cannot be approved"),
    ],
)
async def test_kept_sandboxes_packages_and_what_is_blocked_are_left_out(
    stage: RehearsalStage, changed: dict[str, Any], ask: Ask, why: str
) -> None:
    case = (await stage.asked()).case
    assert case.assessment is not None
    said = kept_from_rehearsal(replace(case.request, **changed), case.assessment, ask)
    assert why in said if why else not said


@pytest.mark.parametrize(
    ("isolation", "mode", "protections", "may"),
    [
        (Isolation.GVISOR, "gvisor", (), True),
        (Isolation.DOCKER, "gvisor", (), False),
        (Isolation.DOCKER, "any", (), True),
        (Isolation.LOCAL, "gvisor", (rehearsing_filter := "system calls filtered (seccomp)",), False),
        (Isolation.LOCAL, "any", (rehearsing_filter,), False),
        (Isolation.LOCAL, "any", (rehearsing_filter, "memory limited by a control group"), True),
        (Isolation.PROCESS, "any", (rehearsing_filter, "memory limited by a control group"), False),
    ],
)
async def test_only_sandboxes_that_are_strong_enough_take_it(
    stage: RehearsalStage, isolation: Isolation, mode: str, protections: tuple[str, ...], may: bool
) -> None:
    await stage.switch_on(allowance=Allowance(rehearse=mode))
    stage.sandbox.isolation, stage.sandbox.protections = isolation, protections
    stage.engine.parts.sandboxes._before = isolation
    settings = stage.engine.parts.configuration.settings
    stage.engine.parts.configuration.settings = replace(settings, weakest_isolation_high="process")
    stage.engine.parts.configuration.policy = stage.engine.parts.configuration._make_policy()
    ticket = await stage.asked()
    await stage.until(lambda: stage.sandbox.runs or stage.last(ticket).phase is RehearsalPhase.NONE)
    assert bool(stage.sandbox.runs) is may


async def test_a_weaker_sandbox_than_last_time_starts_nothing_before_it_is_accepted(stage: RehearsalStage) -> None:
    await stage.switch_on(allowance=Allowance(rehearse="any"))
    stage.sandbox.isolation = Isolation.DOCKER  # it was gVisor when the console was opened
    ticket = await stage.asked()
    await stage.until(lambda: stage.last(ticket).phase is RehearsalPhase.NONE)
    assert not stage.sandbox.runs and "Weaker than last time" in stage.last(ticket).why


async def test_one_agent_has_one_at_a_time_and_a_short_queue(
    stage: RehearsalStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearsing, "MOST_QUEUED", 2)
    await stage.switch_on()
    await stage.switch_on("codex")
    await stage.switch_on("gemini")
    tickets = [await stage.asked(replace(HELLO, code=f"print({n})")) for n in range(4)]
    other = await stage.asked(replace(HELLO, agent="codex"))
    third = await stage.asked(replace(HELLO, agent="gemini"))
    await stage.until(lambda: len(stage.sandbox.runs) == 2)
    assert [stage.last(one).phase.value for one in (*tickets, other, third)] == [
        *("running", "queued", "queued", "none"),
        *("running", "queued"),
    ]
    stage.sandbox.runs[0].finish()
    await stage.until(lambda: len(stage.sandbox.runs) == 3)
    assert stage.last(tickets[1]).phase is RehearsalPhase.RUNNING
    stage.sandbox.runs[1].finish()
    await stage.until(lambda: len(stage.sandbox.runs) == 4)
    assert stage.last(third).phase is RehearsalPhase.RUNNING


async def test_rehearsals_of_an_agent_have_a_budget_of_time(
    stage: RehearsalStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(stage.engine.runs.rehearsals._spent, "now", lambda: now)
    await stage.switch_on()
    _, run = await stage.rehearsing()
    now = before_answer.MOST_SECONDS
    run.finish()
    await stage.idle()
    refused = await stage.asked(replace(HELLO, code="print(2)"))
    await stage.until(lambda: stage.moves(refused))
    assert stage.last(refused).why == before_answer.SPENT and len(stage.sandbox.runs) == 1
    now += before_answer.HOUR
    await stage.rehearsing(replace(HELLO, code="print(3)"))


async def test_what_a_person_remembered_runs_and_is_not_rehearsed(stage: RehearsalStage) -> None:
    await stage.switch_on()
    ticket, _ = await stage.rehearsed()
    digest = ticket.case.request.digest
    await stage.engine.remembering.add(ticket.request_id, digest, Choice(Subject.EXACT, 5, 3600.0))
    stage.engine.answer(ticket.request_id, digest, Verdict.DENIED, "no")
    await ticket.case.answer
    again = await stage.engine.submit(HELLO)
    await stage.until(lambda: len(stage.sandbox.runs) == 2)
    stage.sandbox.runs[1].finish("by grant\n")
    answer = await again.answered(HANGS)
    assert answer is not None and answer.decision.by is Decider.GRANT and answer.text() == "by grant"
    assert not stage.moves(again)


async def test_identical_calls_join_one_rehearsal_and_get_one_outcome(stage: RehearsalStage) -> None:
    await stage.switch_on()
    ticket, outcome = await stage.rehearsed()
    joined = await stage.engine.submit(replace(HELLO, may_join=True))
    assert joined.request_id == ticket.request_id and len(stage.sandbox.runs) == 1
    assert stage.hand_over(ticket, outcome) == ""
    assert await joined.answered(HANGS) is await ticket.answered(HANGS)


async def test_closing_ends_it_and_the_next_start_shows_no_old_outcome(tmp_path: Path) -> None:
    stage = RehearsalStage(tmp_path)
    await stage.engine.start(gateway=False)
    await stage.switch_on()
    ticket, outcome = await stage.rehearsed()
    await stage.engine.park(ticket.request_id)
    await stage.engine.absence.leave()  # so that the question outlives this process
    running, run = await stage.rehearsing(replace(HELLO, code="print('runs')"))
    await stage.engine.close("the console was closed")
    assert (await run.finished()).outcome is Outcome.KILLED and running.case.rehearsal is None
    later = RehearsalStage(tmp_path)
    await later.engine.start(gateway=False)
    try:
        await later.until(lambda: later.engine.desk.position(ticket.request_id))
        case = later.engine._cases.find(ticket.request_id)
        assert case is not None and case.rehearsal is None
        assert later.engine.hand_over(ticket.request_id, ticket.case.request.digest, outcome)
        await later.until(lambda: later.sandbox.runs)  # it is rehearsed again, from the beginning
        later.sandbox.runs[0].finish("again\n")
        await later.until(lambda: case.rehearsal is not None)
        assert case.rehearsal is not None and case.rehearsal.digest != outcome
    finally:
        await later.engine.close("the test is over")


async def test_exports_and_the_program_that_checks_them_take_rehearsals(tmp_path: Path) -> None:
    stage = RehearsalStage(tmp_path / "home")
    await stage.engine.start(gateway=False)
    await stage.switch_on()
    given, outcome = await stage.rehearsed()
    stage.hand_over(given, outcome)
    kept, _ = await stage.rehearsed(replace(HELLO, code="print('kept')"), stdout="kept back\n")
    stage.engine.answer(kept.request_id, kept.case.request.digest, Verdict.DENIED, "no")
    await given.case.answer
    await kept.case.answer
    await stage.engine.close("the test is over")
    made = {}
    for format_ in ExportFormat:
        made[format_] = tmp_path / f"export-{format_.value}"
        HistoryExport(stage.places.ledger, format_).write(made[format_])
    lines = [json.loads(line) for line in made[ExportFormat.JSON_LINES].read_text().splitlines()]
    first = next(line for line in lines if line["id"] == given.request_id)
    assert first["result"]["meta"]["rehearsed"] is True and first["result"]["stdout"] == "hello\n"
    second = next(line for line in lines if line["id"] == kept.request_id)
    assert second["result"] is None
    assert next(step["body"]["stdout"] for step in second["steps"] if step["kind"] == "rehearsed") == "kept back\n"
    program = shutil.copy(resources() / "assent_verify.py", tmp_path)
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-I", program, made[ExportFormat.ENTRIES]], capture_output=True, text=True
    )
    assert not done.stderr and "broken" not in done.stdout.casefold(), done.stdout
    assert verify(stage.places.ledger).ok
