"""Answers of an earlier console, given out from the history."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.engine.request.past_answers import recalled
from runner.model.errors import KnownError
from runner.requests.case import PARKED
from runner.risk.worker.assessor import Assessor
from runner.system.tasks import spawn
from tests.audit import story
from tests.stages.engine import HELLO, Stage

if TYPE_CHECKING:
    from pathlib import Path

    from runner.engine.request.deduplication import Deduplication
    from runner.model.difference import Change
    from runner.model.request import Request

pytestmark = pytest.mark.asyncio


class Comparing(Assessor):
    """Counts what is compared in its processes."""

    compared = 0

    async def compare(self, old: str, new: str, *, agent: str = "") -> tuple[Change, ...]:
        self.compared += 1
        return await super().compare(old, new, agent=agent)


@pytest.mark.parametrize("approved", ["version", "original"])
async def test_only_a_version_that_was_approved_is_a_change_and_it_is_compared_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, approved: str
) -> None:
    """Comparing takes quadratic time, and an agent may fetch as often as it likes."""
    ledger = tmp_path / "ledger.sqlite3"
    one = story.request("r1", code="print(1)")
    version = replace(one, code="print(2)")
    entries = story.approved(one)
    body = {"from": one.digest, "digest": version.digest, "code": version.code}
    digest = {"version": version.digest, "original": one.digest}[approved]
    entries[3:4] = [
        (PARKED, one.id, {}),
        ("edited", one.id, body),
        ("approved", one.id, entries[3][2] | {"digest": digest}),
    ]
    await asyncio.to_thread(story.write, ledger, entries)
    monkeypatch.setattr("runner.model.difference.compare", None)
    assessor = Comparing(tmp_path / "rules")
    try:
        found = await recalled(ledger, "claude", "r1", 0.0, assessor)
    finally:
        await assessor.close()
    assert found is not None
    changes = found[0].changes
    assert (changes, assessor.compared) == (("-print(1)\n+print(2)", 1) if approved == "version" else ("", 0))


async def test_a_call_that_waited_for_an_identical_one_is_not_taken_once_the_console_closes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(tmp_path)
    await stage.engine.start(gateway=False)
    deduplication: Deduplication = stage.engine._admission._deduplication
    reached = asyncio.Event()
    turn = deduplication.turn

    def watched(request: Request) -> object:
        reached.set()
        return turn(request)

    monkeypatch.setattr(deduplication, "turn", watched)
    try:
        first = await stage.engine.submit(HELLO)
        key = (first.case.request.agent, first.case.request.digest)
        written = deduplication._arriving[key] = asyncio.Event()
        reached.clear()
        waiting = spawn("second", stage.engine.submit(HELLO))
        await reached.wait()
        stage.engine._closing.why = "The console is closing."
        del deduplication._arriving[key]
        written.set()
        with pytest.raises(KnownError, match="closing"):
            await waiting
    finally:
        stage.engine._closing.why = ""
        await stage.engine.close("the test is over")
