"""Processes that read code are ready before they are needed: a call waits for a place and never for a start."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from runner.model.assessment import Level
from runner.model.request import Language
from runner.risk.worker.assessor import MOST_PROCESSES, Assessor
from runner.system.tasks import spawn
from tests.risk.test_assessor import BOMBERS, CALLS, GUARD
from tests.stages.worker import STANDS_IN, StandIn, request

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from runner.risk.worker.calls import Ready

pytestmark = pytest.mark.asyncio


class Started(StandIn):
    """One that starts while it `may`."""

    may = asyncio.Event()
    begun: list[StandIn] = []

    async def start(self) -> Ready:
        self.begun.append(self)
        await self.may.wait()
        return await super().start()


@pytest_asyncio.fixture
async def assessor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Assessor]:
    monkeypatch.setattr("runner.risk.worker.assessor.RESERVE_SECONDS", 0.0)
    monkeypatch.setattr(StandIn, "made", [])
    monkeypatch.setattr(Started, "may", asyncio.Event())
    monkeypatch.setattr(Started, "begun", [])
    Started.may.set()
    assessor = Assessor(tmp_path / "rules", lambda rules: Started(rules, 3600))
    async with asyncio.timeout(GUARD):
        yield assessor
        Started.may.set()
        await assessor.close()


async def complete(assessor: Assessor) -> None:
    while len(assessor._idle) < MOST_PROCESSES:
        await asyncio.sleep(0.02)


async def test_the_first_call_of_all_waits_for_no_start_while_bombs_fill_every_place(assessor: Assessor) -> None:
    assessor.warm()
    await complete(assessor)
    Started.may.clear()  # as on a machine on which a start takes longer than anybody waits
    bombs = [spawn(name, assessor.assess(request("HANG", name))) for name in BOMBERS * 8]
    await asyncio.sleep(0)
    for _ in range(CALLS):
        assert (await assessor.assess(request("print(1)", "honest"))).level is Level.HIGH
    assert not any(bomb.done() for bomb in bombs)
    for bomb in bombs:
        bomb.cancel()


async def test_what_was_ended_is_replaced_and_no_more_than_that(assessor: Assessor) -> None:
    assessor.warm()
    await complete(assessor)
    await assessor._end(assessor._idle[0])
    await assessor.assess(request("print(1)"))
    await complete(assessor)
    assert len(StandIn.made) == MOST_PROCESSES + 1
    for _ in range(CALLS):
        await asyncio.gather(*(assessor.assess(request("print(1)", name)) for name in BOMBERS))
    assert len(StandIn.made) == MOST_PROCESSES + 1


async def test_more_bombers_than_places_hold_nobody_for_good(assessor: Assessor) -> None:
    bombs = [spawn("bomb", assessor.assess(request("HANG", f"bomber {number}"))) for number in range(5)]
    await asyncio.sleep(0)
    assert (await assessor.assess(request("print(1)", "honest"))).level is Level.HIGH
    assert len(assessor._processes) <= MOST_PROCESSES
    assert not any(bomb.done() for bomb in bombs), "each is broken off, and none given up"
    for bomb in bombs:
        bomb.cancel()


async def test_closing_starts_none_of_those_that_were_to_come(assessor: Assessor) -> None:
    assessor.warm()
    assessor._warm_all()
    await assessor.close()
    assert not assessor._processes and not Started.begun


async def test_a_process_has_read_something_before_it_is_asked_again(tmp_path: Path) -> None:
    """What the classifier makes at its first use is no call's to wait for."""
    counting = STANDS_IN.replace(
        "def answer(call, rules):",
        'read = []\ndef answer(call, rules):\n    read.append(call)\n    if getattr(call, "code", "") == "COUNT":\n'
        "        return worker.Outlined(str([type(one).__name__ for one in read]))",
    )
    assessor = Assessor(tmp_path / "rules", lambda rules: StandIn(rules, 3600, counting))
    async with asyncio.timeout(GUARD):
        await assessor.outline(Language.PYTHON, "COUNT")
        read = await assessor.outline(Language.PYTHON, "COUNT")
        assert read in ("['Assess', 'Outline', 'Outline']", "['Outline', 'Assess', 'Outline']")
        await assessor.close()
