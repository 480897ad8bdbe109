"""An engine in the loop of the test, and all that it said: what the stages for requests stand on."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Self

from runner.assembly import build
from runner.model.decision import Verdict
from runner.model.lifecycle import Phase
from runner.model.request import Language, Tool
from runner.model.submission import Submission
from runner.settings.loading import load
from runner.system.places import Places
from tests.doubles import HeldSandbox
from tests.patience import HANGS
from tests.recorded import record_in

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from pathlib import Path

    from runner.approval.ticket import Ticket
    from runner.engine.engine import Engine
    from runner.model.events import Event

HELLO = Submission("claude", Tool.CODE_EXECUTE, Language.PYTHON, "print('hello')")
LOOKS_SECONDS = 0.05
"""For what changes without an event."""


class EngineStage:
    """Any engine, whatever runs its code."""

    def __init__(self, engine: Engine, places: Places) -> None:
        self.engine = engine
        self.places = places
        self.heard: list[Event] = []
        self._changed = asyncio.Event()
        engine.listen(self._hear)

    def _hear(self, event: Event) -> None:
        self.heard.append(event)
        self._changed.set()

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncIterator[Self]:
        """Start the engine without its port, and close it in the end."""
        await self.engine.start(gateway=False)
        yield self
        await self.engine.close("the test is over")

    async def until(self, true: Callable[[], object]) -> None:
        """Wait until `true()`; looks again whenever something happened."""
        async with asyncio.timeout(HANGS):
            while not true():
                self._changed.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), LOOKS_SECONDS)

    async def asked(self, submission: Submission = HELLO) -> Ticket:
        """Submit, and wait for the question as a person does, who sees it once it is recorded."""
        ticket = await self.engine.submit(submission)
        await self.until(lambda: ticket.case.phase is Phase.ASKED)
        return ticket

    def approve(self, ticket: Ticket) -> str:
        """Empty when it counted, else why not."""
        return self.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.APPROVED, "")

    def phases(self, request_id: str) -> list[str]:
        return [step.entry.kind for step in record_in(self.places.ledger, request_id).steps]


class Stage(EngineStage):
    """One whose runs are held until the test ends them."""

    def __init__(self, root: Path | Places, *others: HeldSandbox, settings: Mapping[str, str] | None = None) -> None:
        self.sandbox = HeldSandbox()
        places = root if isinstance(root, Places) else Places.under(root)
        super().__init__(build(places, load(places, settings or {}), (self.sandbox, *others)), places)

    async def approved(self, submission: Submission = HELLO) -> Ticket:
        """Submit, approve, and wait for the run."""
        ticket = await self.asked(submission)
        before = len(self.sandbox.runs)
        assert self.approve(ticket) == ""
        await self.until(lambda: len(self.sandbox.runs) > before)
        return ticket

    async def works(self, submission: Submission = HELLO) -> None:
        """A request is asked and approved, runs, and is answered."""
        ticket = await self.approved(submission)
        self.sandbox.runs[-1].finish("done\n")
        assert await ticket.answered(None)
