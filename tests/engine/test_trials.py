"""Trials with stand-ins: beside the question, for the person alone, and only ever adding."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from runner.approval.rehearsable import kept_from_trial
from runner.engine.rehearsal import trials
from runner.identity.allowance import Allowance
from runner.model.assessment import Capability, Finding, Level, Span
from runner.model.codec import decode
from runner.model.decision import Verdict
from runner.model.errors import KnownError
from runner.model.events import TrialMoved
from runner.model.rehearsal import RehearsalPhase
from runner.model.request import ALL_LIMITS, Isolation, NetworkMode, Tool
from runner.model.result import Outcome
from runner.model.tried import TRIED, Tried, TriedKind
from runner.policy.grants import Choice, Subject
from runner.risk.worker.turns import Turns
from runner.sandbox.local.group import GROUPED
from runner.sandbox.local.syscalls import FILTERED
from tests.doubles import HeldSandbox
from tests.patience import HANGS
from tests.recorded import record_in
from tests.stages.engine import HELLO, Stage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from runner.approval.ticket import Ticket
    from tests.doubles import HeldRun

pytestmark = pytest.mark.asyncio
QUIET = replace(HELLO, code="import toolbox\ntoolbox.go()\n")
WIPES = {"kind": "delete folder", "target": "/tmp/home/user/Documents", "data": "", "line": 2}


class TrialStage(Stage):
    """A stage on which code would run in gVisor."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, HeldSandbox(Isolation.LOCAL))
        self.sandbox.isolation = Isolation.GVISOR

    def moves(self, ticket: Ticket) -> list[TrialMoved]:
        return [e for e in self.heard if isinstance(e, TrialMoved) and e.request_id == ticket.request_id]

    def last(self, ticket: Ticket) -> TrialMoved:
        return (self.moves(ticket) or [TrialMoved(ticket.request_id, RehearsalPhase.QUEUED)])[-1]

    async def trying(self, ticket: Ticket) -> HeldRun:
        """Press T, and wait until the code runs with stand-ins."""
        before = len(self.sandbox.trials)
        assert self.engine.try_it(ticket.request_id) == ""
        await self.until(lambda: len(self.sandbox.trials) > before)
        return self.sandbox.trials[-1]

    async def outcome(self, ticket: Ticket) -> Tried:
        await self.until(lambda: self.last(ticket).phase is RehearsalPhase.SHOWN)
        tried = self.last(ticket).tried
        assert tried is not None
        return tried


def finish(run: HeldRun, *records: dict[str, object], printed: str = "", whole: bool = True) -> None:
    """End a run as the programs in the sandbox end it that have recorded `records`."""
    mark = json.loads(run.job.code.rsplit("\ntry_it(", 1)[1].split(", ", 1)[0])
    begun = {"kind": "begun", "target": "/workspace", "data": "/tmp/home/user"}
    over = [{"kind": "over"}] if whole else []
    run.finish(printed, stderr="".join(f"\n{mark} {json.dumps(one)}\n" for one in (begun, *records, *over)))


@pytest_asyncio.fixture
async def stage(tmp_path: Path) -> AsyncIterator[TrialStage]:
    async with TrialStage(tmp_path).opened() as stage:
        yield stage


async def test_nothing_is_tried_unless_a_person_asks(stage: TrialStage) -> None:
    ticket = await stage.asked(QUIET)
    assert not stage.sandbox.trials and not stage.moves(ticket)
    await stage.trying(ticket)
    assert not stage.sandbox.runs


async def test_what_reading_had_not_said_is_high_and_marked_and_decides_nothing(stage: TrialStage) -> None:
    ticket = await stage.asked(QUIET)
    before = ticket.case.assessment
    finish(await stage.trying(ticket), WIPES)
    tried = await stage.outcome(ticket)
    assert [(act.kind, act.target, act.line, act.unsaid) for act in tried.acts] == [
        (TriedKind.DELETE_FOLDER, "~/Documents", 2, True)
    ]
    assert tried.level is Level.HIGH
    assert tried.sentence == (
        "Tried in gVisor without network, it asked to delete the folder ~/Documents, which reading had not said."
    )
    assert ticket.case.assessment is before and not ticket.case.answer.done()
    assert stage.engine.desk.position(ticket.request_id)


async def test_it_has_no_network_no_packages_and_narrow_limits_among_decoys(stage: TrialStage) -> None:
    ticket = await stage.asked(replace(QUIET, timeout=90.0))
    job = (await stage.trying(ticket)).job
    assert job.network is NetworkMode.NONE and job.gate is None and job.collect is None and job.bundle is None
    assert job.limits.seconds <= 3.0 and job.limits.disk_mb <= 64 and job.limits.memory_mb <= 512
    assert ticket.case.request.limits.seconds == 90.0


async def test_the_agent_gets_nothing_of_it_and_is_told_that_it_ran(stage: TrialStage) -> None:
    ticket = await stage.asked(QUIET)
    finish(await stage.trying(ticket), WIPES, printed="SECRET OUTPUT\n")
    await stage.outcome(ticket)
    stage.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.DENIED, "no")
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.result is None
    told = json.dumps([answer.text(), answer.structured(), answer.details()])
    assert "SECRET" not in told and "Documents" not in told and "Nothing was run" not in told


async def test_approval_does_not_wait_and_ends_it(stage: TrialStage) -> None:
    ticket = await stage.asked(QUIET)
    trial = await stage.trying(ticket)
    assert stage.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.APPROVED, "") == ""
    await stage.until(lambda: stage.sandbox.runs)
    assert (await trial.finished()).outcome is Outcome.KILLED
    stage.sandbox.runs[0].finish("for real\n")
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.text() == "for real"
    await stage.until(lambda: "trial-ended" in stage.phases(ticket.request_id))
    assert TRIED not in stage.phases(ticket.request_id)


async def test_each_is_an_entry_of_the_history_before_and_after(stage: TrialStage) -> None:
    ticket = await stage.asked(QUIET)
    run = await stage.trying(ticket)
    assert stage.phases(ticket.request_id)[-1] == "trying"
    finish(run, WIPES)
    tried = await stage.outcome(ticket)
    step = record_in(stage.places.ledger, ticket.request_id).steps[-1]
    assert step.entry.kind == TRIED and decode(Tried, step.body) == tried


async def test_the_same_code_is_not_run_again(stage: TrialStage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "MOST_KEPT", 2)
    first = await stage.asked(QUIET)
    finish(await stage.trying(first), WIPES)
    known = await stage.outcome(first)
    stage.engine.answer(first.request_id, first.case.request.digest, Verdict.DENIED, "no")
    await first.answered(HANGS)
    again = await stage.asked(QUIET)
    assert stage.engine.try_it(again.request_id) == ""
    assert await stage.outcome(again) == known and len(stage.sandbox.trials) == 1
    for number in range(3):
        other = await stage.asked(replace(QUIET, code=f"print({number})"))
        finish(await stage.trying(other))
        await stage.outcome(other)
    assert len(stage.engine.runs.rehearsals.trials._kept) == 2


async def test_what_is_kept_is_judged_by_what_reading_says_of_each_request(stage: TrialStage) -> None:
    """Of the same code it may say more, for instance where it may use the network."""
    first = await stage.asked(QUIET)
    finding = Finding("files.x", Level.HIGH, Capability.DESTROYS_FILES, Span(2, 0, 2, 1), "", "Deletes.")
    assert first.case.assessment is not None
    first.case.assessment = replace(first.case.assessment, findings=(finding,))
    finish(await stage.trying(first), WIPES)
    assert (await stage.outcome(first)).level is None
    again = await stage.asked(QUIET)
    assert stage.engine.try_it(again.request_id) == ""
    assert (await stage.outcome(again)).level is Level.HIGH and len(stage.sandbox.trials) == 1


async def test_by_itself_only_where_a_person_switched_that_on_and_never_critical_code(stage: TrialStage) -> None:
    stage.engine.parts.agents.add(HELLO.agent)
    await stage.engine.membership.allow(HELLO.agent, Allowance(rehearse="gvisor"))
    ticket = await stage.asked(QUIET)
    await stage.until(lambda: stage.sandbox.trials)
    finish(stage.sandbox.trials[0], WIPES)
    await stage.outcome(ticket)
    critical = await stage.asked(replace(HELLO, code="import shutil\nshutil.rmtree('/')\n"))
    other = await stage.asked(replace(HELLO, code="print('other')"))
    await stage.until(lambda: len(stage.sandbox.trials) == 2)
    assert not stage.moves(critical)
    await stage.engine.membership.allow(HELLO.agent, Allowance())
    assert (await stage.sandbox.trials[1].finished()).outcome is Outcome.KILLED
    assert stage.last(other).phase is RehearsalPhase.NONE


def beside(stage: TrialStage, isolation: Isolation, *protections: str) -> HeldSandbox:
    """Another sandbox of the same machine, beside that of runs."""
    other = HeldSandbox(isolation)
    other.protections = protections
    choice = stage.engine.parts.sandboxes
    choice._sandboxes = (*choice._sandboxes, other)
    return other


async def test_it_runs_in_the_strongest_sandbox_that_may_have_it_and_says_in_which(stage: TrialStage) -> None:
    stage.sandbox.isolation = Isolation.LOCAL
    stage.sandbox.protections = (FILTERED,)
    stronger = beside(stage, Isolation.GVISOR_DIRECT, ALL_LIMITS)
    gone = beside(stage, Isolation.GVISOR)
    gone.there = False
    ticket = await stage.asked(QUIET)
    assert stage.engine.try_it(ticket.request_id) == ""
    await stage.until(lambda: stronger.trials)
    assert not stage.sandbox.trials and not gone.trials
    begun = record_in(stage.places.ledger, ticket.request_id).steps[-1]
    assert begun.entry.kind == "trying" and begun.body["isolation"] == "gvisor-direct"
    finish(stronger.trials[0], WIPES)
    tried = await stage.outcome(ticket)
    assert tried.where is Isolation.GVISOR_DIRECT and tried.sentence.startswith("Tried in gVisor without network, it")
    await stronger.close()


async def test_by_itself_in_a_weaker_sandbox_than_that_of_runs_never_where_a_person_chose_gvisor(
    stage: TrialStage,
) -> None:
    stage.sandbox.isolation = Isolation.E2B
    weaker = beside(stage, Isolation.LOCAL, FILTERED, GROUPED)
    stage.engine.parts.agents.add(HELLO.agent)
    await stage.engine.membership.allow(HELLO.agent, Allowance(rehearse="gvisor"))
    ticket = await stage.asked(QUIET)
    await stage.until(lambda: stage.last(ticket).why)
    assert not stage.sandbox.trials and not weaker.trials
    assert stage.engine.try_it(ticket.request_id) == ""
    await stage.until(lambda: weaker.trials)
    assert not stage.sandbox.trials  # nothing leaves this machine to be tried
    await weaker.close()


async def test_no_code_is_tried_on_another_machine_that_was_not_chosen(
    stage: TrialStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://engine.example:2376")
    stage.sandbox.isolation = Isolation.LOCAL
    stage.sandbox.protections = (FILTERED,)
    far = beside(stage, Isolation.GVISOR)
    await stage.trying(await stage.asked(QUIET))
    assert not far.trials


async def test_never_by_itself_in_a_weaker_sandbox_than_was_chosen(stage: TrialStage) -> None:
    stage.sandbox.isolation = Isolation.LOCAL
    stage.sandbox.protections = (FILTERED, "memory limited by a control group")
    stage.engine.parts.sandboxes._before = Isolation.LOCAL
    stage.engine.parts.agents.add(HELLO.agent)
    await stage.engine.membership.allow(HELLO.agent, Allowance(rehearse="gvisor"))
    ticket = await stage.asked(QUIET)
    await stage.until(lambda: stage.last(ticket).why)
    assert not stage.sandbox.trials and "gVisor only" in stage.last(ticket).why


async def test_at_most_two_agents_at_once_and_a_person_before_them(stage: TrialStage) -> None:
    tickets = []
    for number in range(3):
        agent = f"agent-{number}"
        stage.engine.parts.agents.add(agent)
        await stage.engine.membership.allow(agent, Allowance(rehearse="gvisor"))
        tickets.append(await stage.asked(replace(QUIET, agent=agent)))
    await stage.until(lambda: len(stage.sandbox.trials) == 2)
    mine = await stage.asked(replace(QUIET, agent="somebody", code="print('mine')"))
    await stage.trying(mine)
    assert len(stage.sandbox.trials) == 3
    assert stage.last(tickets[2]).phase is RehearsalPhase.QUEUED
    finish(stage.sandbox.trials[0])
    await stage.until(lambda: len(stage.sandbox.trials) == 4 or stage.last(tickets[2]).phase is RehearsalPhase.SHOWN)


async def test_only_code_and_only_once_and_only_while_it_is_asked(stage: TrialStage) -> None:
    ticket = await stage.asked(QUIET)
    await stage.trying(ticket)
    assert stage.engine.try_it(ticket.request_id) == trials.ALREADY
    assert stage.engine.try_it("nobody")
    assert "Only code" in kept_from_trial(replace(ticket.case.request, tool=Tool.CODE_WRITE_FILE))
    stage.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.DENIED, "no")
    await ticket.answered(HANGS)
    assert stage.engine.try_it(ticket.request_id)


async def test_a_record_that_breaks_off_is_said_to(stage: TrialStage) -> None:
    ticket = await stage.asked(QUIET)
    finish(await stage.trying(ticket), WIPES, whole=False)
    tried = await stage.outcome(ticket)
    assert any("not whole" in one for one in tried.remarks) and tried.unsaid


async def test_what_a_policy_keeps_from_a_sandbox_is_not_tried_in_it(stage: TrialStage) -> None:
    ticket = await stage.asked(QUIET)
    question = stage.engine.desk.question(ticket.request_id)
    assert question is not None
    question.ask = replace(question.ask, blocked="It may not run in this sandbox.")
    assert stage.engine.try_it(ticket.request_id) == "It may not run in this sandbox."
    assert not stage.sandbox.trials


@pytest_asyncio.fixture
async def waiting(stage: TrialStage) -> TrialStage:
    """The stage, where Approve waits for the trial."""
    configuration = stage.engine.parts.configuration
    configuration.settings = replace(configuration.settings, approve_after_trial=True)
    return stage


async def test_where_a_person_wants_it_approve_and_what_is_remembered_wait_for_the_trial(waiting: TrialStage) -> None:
    ticket = await waiting.asked(QUIET)
    run = await waiting.trying(ticket)
    assert waiting.last(ticket).holds
    assert waiting.approve(ticket).startswith("Not approved: It is being tried")
    choice = Choice(Subject.EXACT, 1, 60.0)
    with pytest.raises(KnownError, match="being tried"):
        await waiting.engine.remembering.add(ticket.request_id, ticket.case.request.digest, choice)
    assert not ticket.case.answer.done() and not waiting.sandbox.runs
    finish(run, WIPES)
    await waiting.outcome(ticket)
    assert not waiting.last(ticket).holds and waiting.approve(ticket) == ""
    await waiting.until(lambda: waiting.sandbox.runs)


async def test_denying_never_waits_and_ends_it(waiting: TrialStage) -> None:
    ticket = await waiting.asked(QUIET)
    run = await waiting.trying(ticket)
    assert waiting.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.DENIED, "no") == ""
    assert (await run.finished()).outcome is Outcome.KILLED


@pytest.mark.parametrize("late", [False, True])
async def test_approve_is_free_again_whatever_the_trial_does(
    waiting: TrialStage, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    """After some seconds, and while there is time left to answer."""
    monkeypatch.setattr(trials, "MOST_HELD", 1e9 if late else 0.01)
    ticket = await waiting.asked(QUIET)
    question = waiting.engine.desk.question(ticket.request_id)
    assert question is not None
    if late:
        monkeypatch.setattr(question.expiry, "_clock", lambda: question.deadline - 0.02)
    await waiting.trying(ticket)
    await waiting.until(lambda: not waiting.last(ticket).holds)
    assert waiting.last(ticket).phase is RehearsalPhase.RUNNING
    monkeypatch.undo()
    assert waiting.approve(ticket) == ""


async def test_what_waits_behind_other_trials_holds_no_longer(
    waiting: TrialStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "MOST_HELD", 0.01)
    waiting.engine.runs.rehearsals.trials._turns = Turns(0)
    ticket = await waiting.asked(QUIET)
    assert waiting.engine.try_it(ticket.request_id) == ""
    await waiting.until(lambda: waiting.moves(ticket) and not waiting.last(ticket).holds)
    assert waiting.approve(ticket) == ""
