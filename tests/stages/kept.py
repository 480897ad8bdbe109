"""An engine on the real local sandbox, for what agents do with sandboxes that they keep."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest_asyncio

from runner.assembly import build
from runner.model.decision import Verdict
from runner.model.events import QuestionAsked, RequestAssessed
from runner.model.request import Language, Tool
from runner.model.submission import Submission
from runner.sandbox.local.sandbox import LocalSandbox
from runner.settings.loading import load
from runner.system.places import Places
from tests.patience import HANGS
from tests.stages.engine import EngineStage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from runner.approval.ticket import Ticket
    from runner.model.answer import Answer
    from runner.model.assessment import Level
    from runner.model.events import Event

CREATE = Submission("claude", Tool.CODE_CREATE_SANDBOX, Language.PYTHON, title="numbers")


class House(EngineStage):
    """One on which `says` answers every question."""

    def __init__(self, root: Path, environment: Mapping[str, str] | None = None) -> None:
        self.folder = root / "runs"
        self.sandbox = LocalSandbox(self.folder)
        self.says: Verdict | None = Verdict.APPROVED
        places = Places.under(root / "home")
        super().__init__(build(places, load(places, environment or {}), (self.sandbox,)), places)

    def _hear(self, event: Event) -> None:
        super()._hear(event)
        if isinstance(event, QuestionAsked) and self.says is not None:
            question = next(q for q in self.engine.desk.waiting() if q.request_id == event.request_id)
            loop = asyncio.get_running_loop()
            loop.call_soon(self.engine.answer, question.request_id, question.digest, self.says, "")

    async def call(self, tool: Tool, **given: object) -> Answer:
        submission = Submission(given.pop("agent", "claude"), tool, **given)  # type: ignore[arg-type]
        answer = await (await self.engine.submit(submission)).answered(HANGS)
        assert answer is not None
        return answer

    async def create(self, submission: Submission = CREATE) -> str:
        answer = await (await self.engine.submit(submission)).answered(HANGS)
        assert answer is not None and answer.facts is not None, answer
        return str(answer.facts["sandbox_id"])

    def level(self, request_id: str) -> Level:
        return next(
            e.assessment.level for e in self.heard if isinstance(e, RequestAssessed) and e.request_id == request_id
        )

    def set(self, **values: object) -> None:
        self.engine.parts.configuration.settings = replace(self.engine.parts.configuration.settings, **values)  # type: ignore[arg-type]


@pytest_asyncio.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with House(tmp_path).opened() as house:
        yield house
    assert not list(house.folder.glob("run-*"))


async def missed(house: House, id: str) -> Ticket:
    """A request to run code in a kept sandbox that has expired."""
    house.says = None
    ticket = await house.engine.submit(Submission("claude", Tool.CODE_EXECUTE, Language.PYTHON, "1", sandbox_id=id))
    await house.until(lambda: house.engine.desk.position(ticket.request_id))
    house.engine.desk._expire(ticket.request_id)
    assert await ticket.answered(HANGS) is not None
    return ticket
