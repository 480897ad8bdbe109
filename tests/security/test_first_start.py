"""An engine that hangs at the first start of all: the weaker sandbox is asked about and never taken for the usual."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.engine.foundation.last_isolation import LastIsolation
from runner.model.decision import Decider, Verdict
from runner.model.errors import KnownError
from runner.model.events import EngineTroubled, TroubleCleared
from runner.model.request import Isolation
from runner.sandbox.container import sandbox as sandbox_module
from runner.sandbox.contract import Readiness
from runner.system.places import Places
from tests.contract.test_engine_lost import sandbox_at, silent
from tests.engine.test_sandbox_watch import LOW, Engine, chosen, staged, troubles
from tests.security.test_stepping_down import told

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.asyncio

PERHAPS = "Perhaps weaker than it need be: local, as the container engine did not answer."
WHY = "Strongest available here. docker: The Docker daemon does not answer."


class Mute(Engine):
    """An engine that takes calls and answers none while it `hangs`."""

    def __init__(self) -> None:
        super().__init__(Isolation.DOCKER)
        self.hangs = True

    async def check(self) -> Readiness:
        if not self.hangs:
            return await super().check()
        return Readiness(False, problem="The Docker daemon does not answer.", unanswered=True)


def remembered(root: Path) -> Isolation | None:
    return LastIsolation(Places.under(root).last_isolation).read()


async def test_a_real_one_that_takes_calls_and_answers_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_module, "PING_SECONDS", 0.2)
    async with silent(tmp_path / "s") as url, staged(tmp_path / "home", sandbox_at(url)) as stage:
        await stage.engine.parts.sandboxes.known()
        await stage.until(lambda: troubles(stage, "isolation"))
        said = next(one for one in stage.heard if isinstance(one, EngineTroubled) and one.area == "isolation")
        assert said.what == f"{PERHAPS} {WHY}"
        assert "Restart the container engine" in said.remedy
        assert remembered(tmp_path / "home") is None


async def test_one_that_is_not_there_is_no_reason_to_ask(tmp_path: Path) -> None:
    async with staged(tmp_path / "home", sandbox_at(f"unix://{tmp_path}/none")) as stage:
        await stage.engine.parts.sandboxes.known()
        assert not troubles(stage, "isolation")
        assert stage.engine.parts.sandboxes.usual is Isolation.LOCAL


async def test_nothing_is_approved_unasked(tmp_path: Path) -> None:
    async with staged(tmp_path, Mute()) as stage:
        await stage.engine.modes.trust("claude", 60)
        ticket = await stage.asked(LOW)
        assert ticket.case.assessment is not None and PERHAPS in ticket.case.assessment.reasons
        assert stage.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.APPROVED, "") == ""
        await ticket.case.answer


async def test_the_next_start_asks_too(tmp_path: Path) -> None:
    for _ in range(2):
        async with staged(tmp_path, Mute()) as stage:
            await stage.engine.parts.sandboxes.known()
            assert troubles(stage, "isolation") == [f"{PERHAPS} {WHY}"]
            assert remembered(tmp_path) is None


async def test_one_that_dies_after_hanging_makes_nothing_usual(tmp_path: Path) -> None:
    docker = Mute()
    async with staged(tmp_path, docker) as stage:
        await stage.engine.parts.sandboxes.known()
        docker.hangs = False
        await stage.engine.look_for_sandbox()
        assert stage.engine.parts.sandboxes.weaker_than is Isolation.DOCKER
        assert troubles(stage, "isolation")[-1] == f"{PERHAPS} Strongest available here. docker: Not there."
        assert remembered(tmp_path) is None


async def test_one_that_answers_is_taken_and_is_the_usual_one(tmp_path: Path) -> None:
    docker = Mute()
    async with staged(tmp_path, docker) as stage:
        await stage.engine.parts.sandboxes.known()
        docker.hangs, docker.there = False, True
        await stage.engine.look_for_sandbox()
        assert chosen(stage) == ["Docker is there: new runs start in it."]
        assert TroubleCleared("isolation") in stage.heard
        assert remembered(tmp_path) is Isolation.DOCKER
        assert stage.engine.parts.sandboxes.weaker(Isolation.LOCAL) == (
            "Weaker than last time: local instead of Docker."
        )


async def test_a_person_may_accept_what_there_is(tmp_path: Path) -> None:
    async with staged(tmp_path, Mute()) as stage:
        await stage.engine.parts.sandboxes.known()
        await stage.engine.accept_sandbox(Isolation.LOCAL)
        assert TroubleCleared("isolation") in stage.heard
        assert '{"accepted":"local","before":""}' in told(stage.places.ledger)
        unasked = await (await stage.engine.submit(LOW)).case.answer
        assert unasked.decision.by is Decider.RULE
        await stage.engine.look_for_sandbox()
        assert len(troubles(stage, "isolation")) == 1, "asked again about what was accepted"
    async with staged(tmp_path, Mute()) as again:
        await again.engine.parts.sandboxes.known()
        assert not troubles(again, "isolation")


async def test_what_was_accepted_too_late_is_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    docker = Mute()
    async with staged(tmp_path, docker) as stage:
        choice = stage.engine.parts.sandboxes
        await choice.known()
        write = LastIsolation.write

        def lost_meanwhile(self: LastIsolation, isolation: Isolation) -> None:
            write(self, isolation)
            choice._choice = None

        monkeypatch.setattr(LastIsolation, "write", lost_meanwhile)
        with pytest.raises(KnownError, match="changed meanwhile"):
            await stage.engine.accept_sandbox(Isolation.LOCAL)
        assert remembered(tmp_path) is None


@pytest.mark.parametrize("wanted", ["local", "docker"])
async def test_what_the_settings_name_is_what_the_person_chose(tmp_path: Path, wanted: str) -> None:
    async with staged(tmp_path, Mute(), SANDBOX_TYPE=wanted) as stage:
        await stage.engine.parts.sandboxes.known()
        assert not troubles(stage, "isolation")
        assert stage.engine.parts.sandboxes.present is (Isolation.LOCAL if wanted == "local" else None)


async def test_another_in_place_of_the_named_one_is_asked_about(tmp_path: Path) -> None:
    async with staged(tmp_path, Mute(), SANDBOX_TYPE="docker", ASSENT_SANDBOX_FALLBACK="true") as stage:
        await stage.engine.parts.sandboxes.known()
        assert troubles(stage, "isolation")[0].startswith(PERHAPS)
