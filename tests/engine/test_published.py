"""Whoever hears of something may look it up at once: it is in the history before it is published."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from runner.audit.ledger.ledger import Ledger
from runner.model.decision import Verdict
from runner.model.events import (
    QuestionAsked,
    RequestArrived,
    RequestAssessed,
    RequestClosed,
    RequestDecided,
    RequestEdited,
    RunFinished,
    RunStarted,
)
from runner.model.request import Tool
from runner.model.submission import Submission
from runner.policy.grants import Choice, Subject
from tests.patience import HANGS
from tests.stages.engine import Stage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from runner.audit.ledger.entry import NewEntry
    from runner.model.events import Event

pytestmark = pytest.mark.asyncio
TURNS = 50
"""Turns of the loop before anything is written: enough for everything that does not wait for that."""
INFO = Submission("claude", Tool.CODE_SANDBOX_INFO)


class LookingStage(Stage):
    """A stage that looks into the history at each event about a request."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.seen: list[tuple[str, bool]] = []
        """The entry that each event is about, and whether it was there."""
        self.engine.listen(self._look)

    def _look(self, event: Event) -> None:
        match event:
            case RequestArrived(request):
                told = (request.id, "arrived")
            case RequestAssessed(request_id):
                told = (request_id, "assessed")
            case QuestionAsked(request_id):
                told = (request_id, "asked")
            case RequestEdited(request_id):
                told = (request_id, "edited")
            case RequestDecided(request_id, decision):
                told = (request_id, decision.verdict.value)
            case RunStarted(request_id):
                told = (request_id, "running")
            case RunFinished(request_id):
                told = (request_id, "finished")
            case RequestClosed(request_id):
                told = (request_id, "closed")
            case _:
                return
        request_id, kind = told
        self.seen.append((kind, kind in self.phases(request_id)))


@pytest_asyncio.fixture
async def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LookingStage]:
    """A stage whose history is written late: only after the loop has turned so often that nothing else is left."""
    loop, write = asyncio.get_running_loop(), Ledger._write

    def written_late(self: Ledger, drafts: list[NewEntry]) -> list[int | Exception]:
        turned = threading.Event()

        def turn(left: int) -> None:
            loop.call_soon(turn, left - 1) if left else turned.set()

        loop.call_soon_threadsafe(turn, TURNS)
        assert turned.wait(HANGS)
        return write(self, drafts)

    monkeypatch.setattr(Ledger, "_write", written_late)
    stage = LookingStage(tmp_path)
    await stage.engine.start(gateway=False)
    yield stage
    await stage.engine.close("the test is over")


async def test_what_is_published_is_in_the_history_and_what_looks_back_sees_it(stage: LookingStage) -> None:
    hindsight = stage.engine.hindsight
    ticket = await stage.asked()
    preview = await hindsight.preview(ticket.request_id, Choice(Subject.TEXT, 5, 600))
    assert [past.id for past in preview.covered] == [ticket.request_id]
    request = ticket.case.request
    assert stage.engine.answer(request.id, request.digest, Verdict.APPROVED, "") == ""
    await stage.until(lambda: stage.sandbox.runs)
    stage.sandbox.runs[0].finish("hello\n")
    assert await ticket.answered(HANGS)
    again = await stage.asked()
    assert await stage.engine.editing.earlier(again.request_id) is not None
    assert (await hindsight.precedents(again.request_id)).count == 1
    reading = await stage.engine.submit(INFO)
    assert await reading.answered(HANGS)
    steps = ("arrived", "assessed", "asked", "approved", "running", "finished", "closed")
    read = ("arrived", "assessed", "approved", "closed")
    assert stage.seen == [(kind, True) for kind in (*steps, *steps[:3], *read)]
