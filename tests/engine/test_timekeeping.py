"""A machine that sleeps, and a clock that is set back: no permission outlives its time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from runner.approval import late_approval
from runner.approval.modes import Mode
from runner.assembly import build
from runner.model.decision import Verdict
from runner.settings.loading import load
from runner.system.clock import SleepGauge, since_boot
from runner.system.places import Places
from tests.doubles import HeldSandbox
from tests.patience import HANGS
from tests.stages.engine import Stage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


pytestmark = pytest.mark.asyncio


class Machine(Stage):
    """An engine on a machine that the test sends to sleep."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.asleep = 0.0
        loop = asyncio.get_running_loop()

        def passing() -> float:
            return loop.time() + self.asleep

        for part in (self.engine.modes, self.engine.modes._trust, self.engine.late, self.engine.desk):
            part._clock = passing  # type: ignore[attr-defined]
        self.engine._timekeeping._gauge = SleepGauge(loop.time, passing)

    def sleep(self, seconds: float, *, noticed: bool = True) -> None:
        self.asleep += seconds
        if noticed:
            self.engine._timekeeping.look()


@pytest_asyncio.fixture
async def machine(home: Path) -> AsyncIterator[Machine]:
    async with Machine(home).opened() as machine:
        yield machine


async def test_sleep_counts_on_the_clock_of_each_part(home: Path) -> None:
    places = Places.under(home)
    engine = build(places, load(places, {}), (HeldSandbox(),))
    parts = (engine.modes, engine.modes._trust, engine.late, engine.desk, engine.sandboxes)
    assert {part._clock for part in parts} == {since_boot}


async def test_trust_ends_when_the_machine_wakes(machine: Machine) -> None:
    await machine.engine.modes.trust("claude", 3600)
    machine.engine._timekeeping.look()
    assert machine.engine.modes.now.mode is Mode.TRUST, "it was awake"
    machine.sleep(60)
    assert machine.engine.modes.now.mode is Mode.GUARDED


async def test_trust_does_not_last_through_a_sleep_that_was_not_noticed_yet(machine: Machine) -> None:
    await machine.engine.modes.trust("claude", 600)
    machine.sleep(601, noticed=False)
    ticket = await machine.asked()
    assert machine.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.DENIED, "") == ""
    await ticket.answered(None)
    assert machine.sandbox.runs == []


async def test_a_question_expires_while_the_machine_sleeps(machine: Machine) -> None:
    first, second = await machine.asked(), await machine.asked()
    machine.sleep(601, noticed=False)
    refused = machine.engine.answer(first.request_id, first.case.request.digest, Verdict.APPROVED, "")
    assert "no longer open" in refused
    machine.sleep(0.0)
    for ticket in (first, second):
        answer = await ticket.answered(HANGS)
        assert answer is not None and answer.decision.verdict is Verdict.EXPIRED


async def test_a_question_is_asked_on_after_a_short_sleep(machine: Machine) -> None:
    ticket = await machine.asked()
    machine.sleep(5)
    assert machine.engine.desk.seconds_left(ticket.request_id)
    assert machine.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.DENIED, "") == ""
    await ticket.answered(None)


async def test_a_late_approval_ends_while_the_machine_sleeps(machine: Machine) -> None:
    ticket = await machine.asked()
    machine.sleep(601)
    await ticket.answered(HANGS)
    assert await machine.engine.late.arm(ticket.request_id, ticket.case.request.digest) == ""
    machine.sleep(late_approval.ARMED_SECONDS / 2)
    assert len(machine.engine.late._armed) == 1
    machine.sleep(late_approval.ARMED_SECONDS)
    await machine.until(lambda: not machine.engine.late._armed)


async def test_the_time_is_noted_at_the_end(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[int] = []

    async def note() -> None:
        noted.append(1)

    machine.engine._timekeeping._note_time = note
    await machine.engine.close("the test is over")
    assert noted == [1]
