"""The right sandbox, always: looked for again, never a weaker one unasked, and cheap whatever agents do."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.assembly import build
from runner.engine.foundation.sandbox_choice import DOUBTED
from runner.engine.rehearsal import sandbox_watch
from runner.model.answer import Status
from runner.model.decision import Decider, Verdict
from runner.model.errors import KnownError
from runner.model.events import EngineTroubled, SandboxChosen, TroubleCleared
from runner.model.request import Isolation, Tool
from runner.policy.grants import Choice, Subject
from runner.settings.loading import load
from runner.system.places import Places
from runner.system.tasks import spawn
from tests.approval.test_door import Pen
from tests.doubles import HeldSandbox
from tests.patience import HANGS
from tests.stages.engine import HELLO, Stage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from runner.model.submission import Submission
    from runner.sandbox.contract import Readiness

pytestmark = pytest.mark.asyncio
WEAKER = "Weaker than last time: local instead of gVisor."
LOW = replace(HELLO, tool=Tool.CODE_CREATE_SANDBOX, code="")


class Engine(HeldSandbox):
    """A sandbox that comes and goes, and counts how often it is examined."""

    def __init__(self, isolation: Isolation = Isolation.GVISOR, *, there: bool = False) -> None:
        super().__init__(isolation)
        self.there = there
        self.examined = 0
        self.seconds = 0.0
        self.broken = False
        self.answers = asyncio.Event()
        self.answers.set()
        self.listeners: set[Callable[[], None]] = set()

    def no_answer(self) -> None:
        """Say that a call had no answer, as a container sandbox does."""
        for listener in self.listeners:
            listener()

    async def check(self) -> Readiness:
        self.examined += 1
        await self.answers.wait()
        await asyncio.sleep(self.seconds)
        if self.broken:
            raise ValueError("a bug")
        return await super().check()


@contextlib.asynccontextmanager
async def staged(root: Path, engine: HeldSandbox, **environment: str) -> AsyncIterator[Stage]:
    """One session."""
    stage = Stage(root, engine)
    if environment:
        stage.engine = build(stage.places, load(stage.places, environment), (stage.sandbox, engine))
        stage.engine.listen(stage._hear)
    stage.places.make()
    try:
        await stage.engine.start(gateway=False)
        yield stage
    finally:
        await stage.engine.close("over")


async def last_time(root: Path, isolation: Isolation = Isolation.GVISOR) -> None:
    """An earlier session, in which the stronger sandbox was there."""
    async with staged(root, Engine(isolation, there=True)) as stage:
        await stage.engine.parts.sandboxes.known()


def troubles(stage: Stage, area: str) -> list[str]:
    return [event.what for event in stage.heard if isinstance(event, EngineTroubled) and event.area == area]


def chosen(stage: Stage) -> list[str]:
    return [event.words for event in stage.heard if isinstance(event, SandboxChosen)]


async def refused(stage: Stage, submission: Submission = HELLO) -> str:
    with pytest.raises(KnownError) as error:
        await stage.engine.submit(submission)
    return str(error.value)


# ---- looked for again ----


async def test_a_named_engine_that_is_started_later_is_used_without_a_restart(tmp_path: Path) -> None:
    docker = Engine(Isolation.DOCKER)
    async with staged(tmp_path, docker, SANDBOX_TYPE="docker") as stage:
        assert "Not there." in await refused(stage)
        docker.there = True
        stage.engine._watch._rest_until = 0.0
        ticket = await stage.asked()
        assert ticket.case.request.isolation is Isolation.DOCKER
        assert any(isinstance(event, TroubleCleared) and event.area == "sandbox" for event in stage.heard)


async def test_a_stronger_engine_is_taken_without_anybody_asking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox_watch, "AGAIN_SECONDS", (0.01,))
    monkeypatch.setattr(sandbox_watch, "EVERY_SECONDS", 0.02)
    gvisor = Engine()
    async with staged(tmp_path, gvisor) as stage:
        running = await stage.approved()
        await stage.until(lambda: gvisor.examined > 4)
        gvisor.there = True
        await stage.until(lambda: chosen(stage))
        assert chosen(stage) == ["gVisor is there: new runs start in it."]
        stage.sandbox.runs[0].finish("hello\n")
        result = (await running.case.answer).result
        assert result is not None and result.stdout == "hello\n", "what was under way stays where it is"
        looked = gvisor.examined
        await asyncio.sleep(0.1)
        assert gvisor.examined == looked, "it is the strongest: nothing is looked for any more"


async def test_a_bug_while_looking_ends_neither_the_looking_nor_the_console(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox_watch, "AGAIN_SECONDS", ())
    monkeypatch.setattr(sandbox_watch, "EVERY_SECONDS", 0.01)
    faults: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, fault: faults.append(fault))
    gvisor = Engine()
    async with staged(tmp_path, gvisor) as stage:
        gvisor.broken = True
        await stage.until(lambda: faults)
        looked = gvisor.examined
        await stage.until(lambda: gvisor.examined > looked + 2)
        assert len(faults) == 1, "the same failure fills no log"
        gvisor.broken, gvisor.there = False, True
        await stage.until(lambda: chosen(stage))
        assert stage.engine.parts.sandboxes.isolation is Isolation.GVISOR


async def test_closing_ends_a_look(tmp_path: Path) -> None:
    gvisor = Engine()
    async with staged(tmp_path, gvisor) as stage:
        gvisor.seconds = 600.0
        looking = spawn("look", stage.engine.look_for_sandbox())
        await stage.until(lambda: gvisor.examined > 1)
        before = time.monotonic()
        await stage.engine.close("over")
        await looking
        await stage.engine.look_for_sandbox()
        assert time.monotonic() - before < HANGS
        assert gvisor.examined == 2, "looked for after the end"


# ---- never a weaker one unasked ----


async def test_a_weaker_sandbox_than_last_time_is_told_and_runs_nothing_unasked(tmp_path: Path) -> None:
    await last_time(tmp_path)
    async with staged(tmp_path, Engine()) as stage:
        assert troubles(stage, "isolation") == [f"{WEAKER} Strongest available here. gvisor: Not there."]
        await stage.engine.modes.trust("claude", 60)
        ticket = await stage.asked()
        assert ticket.case.assessment is not None and WEAKER in ticket.case.assessment.reasons
        choice = Choice(Subject.EXACT, uses=2, seconds=600)
        with pytest.raises(KnownError, match="Nothing remembered counts"):
            await stage.engine.remembering.add(ticket.request_id, ticket.case.request.digest, choice)
        stage.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.APPROVED, "")
        await stage.until(lambda: stage.sandbox.runs)
        stage.sandbox.runs[0].finish()
        await ticket.case.answer


async def test_a_weaker_kind_is_not_accepted_because_the_stronger_one_came_back(tmp_path: Path) -> None:
    """A sandbox that an agent keeps stays of the weaker kind, and nobody has accepted that."""
    await last_time(tmp_path)
    container = Engine()
    async with staged(tmp_path, container) as stage:
        container.there = True
        await stage.engine.look_for_sandbox()
        assert stage.engine.parts.sandboxes.present is Isolation.GVISOR
        assert stage.engine.parts.sandboxes.weaker(Isolation.LOCAL) == WEAKER
        assert stage.engine.parts.sandboxes.weaker(Isolation.GVISOR) == ""


async def test_what_was_accepted_is_the_usual_one_from_then_on(tmp_path: Path) -> None:
    await last_time(tmp_path)
    async with staged(tmp_path, Engine()) as stage:
        low = await stage.asked(LOW)
        with pytest.raises(KnownError, match="changed meanwhile"):
            await stage.engine.accept_sandbox(Isolation.DOCKER)
        await stage.engine.accept_sandbox(Isolation.LOCAL)
        assert TroubleCleared("isolation") in stage.heard
        unasked = await (await stage.engine.submit(LOW)).case.answer
        assert unasked.decision.by is Decider.RULE
        stage.engine.answer(low.request_id, low.case.request.digest, Verdict.DENIED, "no")
        await low.case.answer
    async with staged(tmp_path, Engine()) as again:
        assert not troubles(again, "isolation")


async def test_the_stronger_one_that_is_back_is_told_so(tmp_path: Path) -> None:
    await last_time(tmp_path)
    gvisor = Engine()
    async with staged(tmp_path, gvisor) as stage:
        gvisor.there = True
        stage.engine._watch._rest_until = 0.0
        ticket = await stage.asked()
        assert ticket.case.request.isolation is Isolation.GVISOR, "looked for before the question was put"
        assert chosen(stage) == ["gVisor is there again: new runs start in it."]
        assert TroubleCleared("isolation") in stage.heard


async def test_a_sandbox_that_the_settings_name_is_what_the_person_chose(tmp_path: Path) -> None:
    await last_time(tmp_path)
    async with staged(tmp_path, Engine(), SANDBOX_TYPE="local") as stage:
        assert not troubles(stage, "isolation")


async def test_taking_another_in_place_of_the_named_one_is_a_step_down(tmp_path: Path) -> None:
    await last_time(tmp_path)
    async with staged(tmp_path, Engine(), SANDBOX_TYPE="gvisor", ASSENT_SANDBOX_FALLBACK="true") as stage:
        assert troubles(stage, "isolation")[0].startswith(WEAKER)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"isolation": "none"}', "[" * 900])
async def test_a_memory_that_cannot_be_read_hides_no_step_down(tmp_path: Path, text: str) -> None:
    places = Places.under(tmp_path)
    places.make()
    places.last_isolation.write_text(text)
    async with staged(tmp_path, Engine()) as stage:
        assert troubles(stage, "isolation")


async def test_a_pipe_in_place_of_the_memory_holds_nobody_and_hides_no_step_down(tmp_path: Path) -> None:
    places = Places.under(tmp_path)
    places.make()
    os.mkfifo(places.last_isolation)
    async with asyncio.timeout(HANGS), staged(tmp_path, Engine()) as stage:
        assert troubles(stage, "isolation")


async def test_what_could_not_be_remembered_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_watch, "AGAIN_SECONDS", ())
    monkeypatch.setattr(sandbox_watch, "EVERY_SECONDS", 0.01)
    in_the_way = Places.under(tmp_path).last_isolation
    (in_the_way / "x").mkdir(parents=True)
    async with staged(tmp_path, Engine(there=True)) as stage:
        (in_the_way / "x").rmdir()
        in_the_way.rmdir()
        await stage.until(in_the_way.is_file)


async def test_the_step_down_of_a_session_is_asked_about_too(tmp_path: Path) -> None:
    gvisor = Engine(there=True)
    async with staged(tmp_path, gvisor) as stage:
        gvisor.there = False
        await stage.engine.look_for_sandbox()
        assert troubles(stage, "isolation")
        assert chosen(stage) == ["New runs start in local."]
        low = await stage.asked(LOW)
        assert low.case.request.isolation is Isolation.LOCAL


# ---- lost while the console is open ----


async def test_what_is_lost_is_looked_for_at_once_and_approvals_wait_for_it(tmp_path: Path) -> None:
    docker = Engine(Isolation.DOCKER, there=True)
    async with staged(tmp_path, docker, SANDBOX_TYPE="docker") as stage:
        ticket = await stage.asked()
        digest = ticket.case.request.digest
        docker.answers.clear()
        docker.there = False
        docker.no_answer()
        await stage.until(lambda: stage.engine.parts.sandboxes.doubted)
        assert stage.engine.answer(ticket.request_id, digest, Verdict.APPROVED, "") == f"Not approved: {DOUBTED}"
        docker.answers.set()
        await stage.until(lambda: troubles(stage, "sandbox"))
        assert troubles(stage, "sandbox") == ["Not there."]
        assert stage.engine.answer(ticket.request_id, digest, Verdict.APPROVED, "") == "Not approved: Not there."
        assert "Not there." in await refused(stage)
        docker.there = True
        await stage.engine.look_for_sandbox()
        assert TroubleCleared("sandbox") in stage.heard
        assert stage.engine.desk.position(ticket.request_id), "it stayed open"
        assert stage.engine.answer(ticket.request_id, digest, Verdict.APPROVED, "") == ""
        await stage.until(lambda: docker.runs)
        assert not stage.sandbox.runs
        docker.runs[0].finish()
        await ticket.case.answer


async def test_what_was_shown_for_the_lost_one_runs_in_no_other(tmp_path: Path) -> None:
    gvisor = Engine(there=True)
    async with staged(tmp_path, gvisor) as stage:
        ticket = await stage.asked()
        gvisor.there = False
        gvisor.no_answer()
        await stage.until(lambda: chosen(stage))
        assert troubles(stage, "isolation") == [f"{WEAKER} Strongest available here. gvisor: Not there."]
        assert chosen(stage) == ["New runs start in local."]
        said = stage.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.APPROVED, "")
        assert "shown for gVisor, and code runs in local now" in said
        await ticket.case.answer
        assert not stage.sandbox.runs and not gvisor.runs


async def test_a_request_waits_for_the_look_after_a_loss(tmp_path: Path) -> None:
    gvisor = Engine(there=True)
    async with staged(tmp_path, gvisor) as stage:
        gvisor.answers.clear()
        gvisor.there = False
        gvisor.no_answer()
        await stage.until(lambda: stage.engine.parts.sandboxes.doubted)
        submitted = spawn("submit", stage.engine.submit(LOW))
        await asyncio.sleep(0)
        gvisor.answers.set()
        ticket = await submitted
        assert ticket.case.request.isolation is Isolation.LOCAL
        await stage.until(lambda: stage.engine.desk.position(ticket.request_id))


async def test_what_was_no_loss_is_no_reason_to_look_for_a_while(tmp_path: Path) -> None:
    gvisor = Engine(there=True)
    async with staged(tmp_path, gvisor) as stage:
        looked = gvisor.examined
        for _ in range(20):
            gvisor.no_answer()
        await stage.until(lambda: stage.engine._watch._calm_until)
        assert gvisor.examined == looked + 1 and not stage.engine.parts.sandboxes.doubted
        for _ in range(20):
            gvisor.no_answer()
            await asyncio.sleep(0)
        assert gvisor.examined == looked + 1, "whoever makes containers that are stuck keeps nobody from approving"


async def test_what_is_not_in_use_is_not_missed_and_nothing_is_looked_for_at_the_end(tmp_path: Path) -> None:
    gvisor, docker = Engine(there=True), Engine(Isolation.DOCKER, there=True)
    async with staged(tmp_path, gvisor, SANDBOX_TYPE="gvisor") as stage:
        stage.engine.parts.sandboxes.listen(stage.engine._watch._lost)
        stage.engine._watch._lost(docker)
        assert stage.engine._watch._after_loss is None
        await stage.engine.close("over")
        gvisor.no_answer()
        assert stage.engine._watch._after_loss is None


# ---- what was shown is where it runs ----


async def test_an_approval_is_not_valid_where_the_sandbox_changed_while_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gvisor = Engine()
    async with staged(tmp_path, gvisor) as stage:
        pen = Pen(monkeypatch)
        ticket = await stage.asked()
        pen.held.add("approved")
        assert stage.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.APPROVED, "") == ""
        await stage.until(lambda: pen.waiting["approved"])
        gvisor.there = True
        await stage.engine.look_for_sandbox()
        pen.go()
        answer = await ticket.case.answer
        assert "shown for local, and code runs in gVisor now" in answer.text()
        assert answer.status is Status.FAILED
        assert not stage.sandbox.runs and not gvisor.runs


# ---- an agent that wants looking to be costly ----


async def test_however_many_ask_at_once_there_is_one_look(tmp_path: Path) -> None:
    docker = Engine(Isolation.DOCKER)
    async with staged(tmp_path, docker, SANDBOX_TYPE="docker") as stage:
        stage.engine._watch._rest_until = 0.0
        before, docker.seconds = docker.examined, 0.05
        await asyncio.gather(*(refused(stage) for _ in range(50)))
        assert docker.examined == before + 1
        assert "Not there." in await refused(stage)
        assert docker.examined == before + 1, "a look that took long is not repeated at once"


async def test_an_engine_that_hangs_holds_no_request_for_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_watch, "WAIT_SECONDS", 0.05)
    await last_time(tmp_path)
    gvisor = Engine()
    async with staged(tmp_path, gvisor) as stage:
        stage.engine._watch._rest_until = 0.0
        gvisor.seconds = 60.0
        ticket = await stage.asked()
        assert ticket.case.request.isolation is Isolation.LOCAL
        assert ticket.case.assessment is not None and WEAKER in ticket.case.assessment.reasons


async def test_an_engine_that_comes_and_goes_with_fifty_open_requests(tmp_path: Path) -> None:
    gvisor = Engine()
    async with staged(tmp_path, gvisor, ASSENT_MAX_PENDING="60") as stage:
        tickets = [await stage.engine.submit(HELLO) for _ in range(50)]
        await stage.until(lambda: stage.engine.desk.position(tickets[-1].request_id))
        for there in (True, False, True, False, True):
            gvisor.there = there
            await stage.engine.look_for_sandbox()
        assert all(stage.engine.desk.position(ticket.request_id) for ticket in tickets), "nobody answered yet"
        for ticket in tickets:
            stage.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.APPROVED, "")
        answers = [await ticket.case.answer for ticket in tickets]
        assert {answer.status for answer in answers} == {Status.DENIED}
        assert not stage.sandbox.runs and not gvisor.runs
