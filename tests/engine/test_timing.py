"""What a person does at the worst moment: while a sandbox starts, while an entry is written, twice at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from runner.audit.ledger.verify import verify
from runner.identity.agents import Agents
from runner.model.decision import Verdict
from runner.model.events import EngineTroubled, RequestAssessed
from runner.model.request import Isolation, Language, Tool
from runner.model.result import Outcome
from runner.model.submission import Submission
from runner.policy.grants import Choice, Subject
from tests.approval.test_door import Pen
from tests.doubles import HeldRun, HeldSandbox, HeldSession
from tests.patience import HANGS
from tests.stages.engine import HELLO, Stage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from runner.model.assessment import Assessment
    from runner.model.events import Event
    from runner.model.request import Limits, Request
    from runner.model.result import Usage
    from runner.sandbox.contract import Job

pytestmark = pytest.mark.asyncio
CREATE = Submission("claude", Tool.CODE_CREATE_SANDBOX, Language.PYTHON, title="numbers")


class SlowSandbox(HeldSandbox):
    """A sandbox that takes as long to start or open as the test says."""

    def __init__(self) -> None:
        super().__init__()
        self.starting = asyncio.Event()
        self.go = asyncio.Event()
        self.sessions: list[HeldSession] = []

    async def start(self, job: Job, measured: Callable[[Usage], None]) -> HeldRun:
        self.starting.set()
        await self.go.wait()
        job.permit()
        return await super().start(job, measured)

    async def open(self, language: Language, limits: Limits, image: str, agent: str = "") -> HeldSession:
        self.starting.set()
        await self.go.wait()
        self.sessions.append(HeldSession())
        return self.sessions[-1]


class SlowStage(Stage):
    """An engine whose sandbox is slow to start."""

    def __init__(self, root: Path) -> None:
        self.slow = SlowSandbox()
        super().__init__(root, self.slow)
        self.sandbox.there = False


@pytest_asyncio.fixture
async def stage(tmp_path: Path) -> AsyncIterator[SlowStage]:
    async with SlowStage(tmp_path).opened() as stage:
        yield stage
        stage.slow.go.set()


async def test_a_run_is_stopped_while_its_sandbox_starts(stage: SlowStage) -> None:
    ticket = await stage.asked()
    assert stage.approve(ticket) == ""
    await stage.slow.starting.wait()
    stage.engine.runs.stop(ticket.request_id, "No, not that.")
    stage.slow.go.set()
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.result is not None
    assert answer.result.outcome is Outcome.KILLED
    assert "No, not that." in answer.result.error
    assert stage.slow.runs == []


async def test_a_run_is_paused_while_its_sandbox_starts(stage: SlowStage) -> None:
    ticket = await stage.asked()
    assert stage.approve(ticket) == ""
    await stage.slow.starting.wait()
    assert stage.engine.runs.hold_all(True) == ()
    stage.slow.go.set()
    await stage.until(lambda: stage.slow.runs)
    assert stage.slow.runs[0].still
    stage.engine.runs.hold_all(False)
    assert not stage.slow.runs[0].still
    stage.slow.runs[0].finish()
    assert await ticket.answered(HANGS) is not None


async def test_stop_all_ends_a_request_whose_assessment_is_being_written(stage: SlowStage) -> None:
    await stage.engine.modes.trust("claude", 60)
    stage.slow.go.set()

    def stop(event: Event) -> None:
        if isinstance(event, RequestAssessed):
            stage.engine.stop_all("Stop.")

    stage.engine.listen(stop)
    ticket = await stage.engine.submit(HELLO)
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.result is not None
    assert (answer.result.outcome, answer.result.error) == (Outcome.KILLED, "Stop. Nothing was run.")
    assert stage.slow.runs == []


async def test_no_sandbox_is_opened_before_its_approval_is_durable(
    stage: SlowStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    pen = Pen(monkeypatch)
    pen.held.add("approved")
    await stage.engine.submit(CREATE)
    await stage.until(lambda: pen.waiting["approved"])
    await asyncio.sleep(0)
    assert not stage.slow.starting.is_set()
    pen.go()
    await stage.slow.starting.wait()


@pytest.mark.parametrize("end", ["lock", "stop", "leave"])
async def test_no_sandbox_is_kept_that_opened_after_the_end_of_its_approval(stage: SlowStage, end: str) -> None:
    ticket = await stage.engine.submit(CREATE)
    await stage.slow.starting.wait()  # LOW: nobody is asked
    match end:
        case "lock":
            await stage.engine.modes.lock()
        case "stop":
            stage.engine.stop_all("Stop.")
        case _:
            stage.engine.withdraw(ticket.request_id)
    stage.slow.go.set()
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.facts is None
    assert stage.engine.sandboxes.listed() == ()
    assert [session.closed for session in stage.slow.sessions] == [True]


async def test_the_ledger_is_sealed_although_a_kept_sandbox_does_not_close(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(_session: HeldSession) -> None:
        await hanging.wait()

    hanging = asyncio.Event()

    stage = SlowStage(tmp_path)
    await stage.engine.start(gateway=False)
    stage.slow.go.set()
    ticket = await stage.engine.submit(CREATE)
    assert await ticket.answered(HANGS) is not None
    monkeypatch.setattr(HeldSession, "close", broken)
    async with asyncio.timeout(HANGS):
        await stage.engine.close("over")
    hanging.set()
    assert not stage.engine.parts.ledger.is_open
    assert verify(stage.places.ledger).ok


async def test_a_new_history_is_begun_twice_at_once(stage: SlowStage) -> None:
    await stage.asked()
    await asyncio.gather(*(stage.engine.history.renew() for _ in range(3)))
    assert stage.engine.parts.ledger.is_open
    assert [event for event in stage.heard if isinstance(event, EngineTroubled)] == []
    assert await stage.asked() is not None
    await stage.engine.close("over")
    assert verify(stage.places.ledger).ok
    aside = list(stage.places.ledger.parent.glob("ledger-corrupt-*.sqlite3"))
    assert len(aside) == 1


@pytest.mark.parametrize("when", ["assessed", "asked"])
async def test_a_level_that_a_rule_sets_meanwhile_counts(
    stage: SlowStage, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    assess = stage.engine.parts.assess
    rules = stage.places.config / "rules.yaml"

    def reload() -> None:
        rules.write_text("rules: [{name: worse, level: CRITICAL}]")
        stage.engine.reload()

    async def slow(request: Request, *, person: bool) -> Assessment:
        assessment = await assess(request, person=person)
        reload()
        return assessment

    stage.slow.go.set()
    if when == "assessed":
        monkeypatch.setattr(stage.engine.parts, "assess", slow)
        await stage.engine.modes.trust("claude", 60)
    ticket = await stage.engine.submit(HELLO)
    await stage.until(lambda: stage.slow.runs or stage.engine.desk.position(ticket.request_id))
    assert stage.slow.runs == [], "trusted up to HIGH"
    reload()
    request = ticket.case.request
    assert "CRITICAL" in stage.engine.answer(request.id, request.digest, Verdict.APPROVED, "")


@pytest.mark.parametrize("by", ["trust", "rule", "grant"])
async def test_an_approval_without_asking_ends_when_the_rules_no_longer_give_it(stage: SlowStage, by: str) -> None:
    stage.slow.isolation = Isolation.GVISOR  # strong enough for CRITICAL
    if by == "trust":
        await stage.engine.modes.trust("claude", 60)
    elif by == "grant":
        asked = await stage.asked()
        request = asked.case.request
        await stage.engine.remembering.add(request.id, request.digest, Choice(Subject.EXACT, 5, 600.0))
        assert stage.engine.answer(request.id, request.digest, Verdict.DENIED, "") == ""
    ticket = await stage.engine.submit(CREATE if by == "rule" else HELLO)
    await stage.slow.starting.wait()
    (stage.places.config / "rules.yaml").write_text("rules: [{name: worse, level: CRITICAL}]")
    stage.engine.reload()
    stage.slow.go.set()
    answer = await ticket.answered(HANGS)
    assert answer is not None
    assert stage.slow.runs == []
    assert stage.engine.sandboxes.listed() == ()


@pytest.mark.parametrize("by", ["this process", "another"])
async def test_an_agent_added_again_after_a_broken_list_inherits_nothing(stage: SlowStage, by: str) -> None:
    engine = stage.engine
    await engine.membership.add("claude")
    await engine.modes.trust("claude", 60)
    stage.places.agents.write_text("{")
    engine.parts.agents.refresh()
    if by == "another":
        Agents(stage.places).add("claude")
        engine.parts.agents.refresh()
    else:
        await engine.membership.add("claude")
    stage.slow.go.set()
    ticket = await engine.submit(HELLO)
    await stage.until(lambda: stage.slow.runs or engine.desk.position(ticket.request_id))
    assert stage.slow.runs == []
