"""A real gateway with the real engine, policy and ledger behind it; only the runs are held."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runner.assembly import build
from runner.model.decision import Verdict
from runner.model.events import RequestClosed
from runner.settings.loading import load
from runner.system.places import Places
from runner.system.tasks import spawn
from tests.doubles import HeldSandbox
from tests.gateway.stage import AGENT, PRINT, Address, unhurried
from tests.patience import HANGS
from tests.recorded import records

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from mcp_types import CallToolResult

    from runner.approval.desk import Question
    from runner.audit.history.search import CaseRecord
    from runner.engine.engine import Engine
    from runner.model.events import Event


@dataclass
class House(Address):
    engine: Engine
    sandbox: HeldSandbox
    heard: list[Event] = field(default_factory=list)

    async def until(self, true: Callable[[], object]) -> None:
        """Wait for something that the engine does."""
        async with asyncio.timeout(HANGS):
            while not true():
                await asyncio.sleep(0.01)

    async def question(self) -> Question:
        """The newest open question, once there is one."""
        await self.until(self.engine.desk.waiting)
        return self.engine.desk.waiting()[-1]

    async def run(self) -> None:
        """Approve the newest question and wait until its code runs."""
        question, before = await self.question(), len(self.sandbox.runs)
        assert self.approve(question) == ""
        await self.until(lambda: len(self.sandbox.runs) > before)

    def approve(self, question: Question) -> str:
        """Empty when it counted, else why not."""
        return self.engine.answer(question.request_id, question.digest, Verdict.APPROVED, "")

    async def closed(self) -> None:
        """Wait until the newest request is over."""
        await self.until(lambda: any(isinstance(event, RequestClosed) for event in self.heard))

    async def works(self, token: str = "", era: str = "auto") -> CallToolResult:
        """A call from asking to its output, as an honest agent makes it."""
        async with self.client(era, token) as client:
            calling = spawn("honest call", client.call_tool("code_execute", {**PRINT, "title": "honest"}))
            await self.run()
            self.sandbox.runs[-1].finish("4\n")
            result = await calling
        assert not result.is_error
        return result

    def records(self) -> list[CaseRecord]:
        """Every request in the history, newest first."""
        return records(self.engine.parts.places.ledger)


@asynccontextmanager
async def opened(
    root: Path | Places, environment: dict[str, str] | None = None, agent: str = AGENT
) -> AsyncIterator[House]:
    """An engine with all its doors open; closed again at the end."""
    places, sandbox = root if isinstance(root, Places) else Places.under(root), HeldSandbox()
    settings = load(places, {"ASSENT_PORT": "0", **(environment or {})})
    assert not settings.problems
    engine = build(places, settings, (sandbox,))
    with unhurried():
        await engine.start()
        house = House(engine.parts.address, await engine.membership.add(agent), engine, sandbox)
        engine.listen(house.heard.append)
        try:
            yield house
        finally:
            await engine.close("The test is over.")
