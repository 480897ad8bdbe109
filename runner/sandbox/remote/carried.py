"""A run over files that were sent with it: they are fetched when it is over, and then its sandbox is removed."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.model.result import Outcome
from runner.sandbox.contract import Haltable, Killable
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from runner.model.result import Result
    from runner.sandbox.container.session import ContainerSession
    from runner.sandbox.contract import Run
    from runner.sandbox.output import Transcript
    from runner.sandbox.workspace_copy import WorkspaceCopy

LOST = "What it changed there is lost: {}."


class CarriedRun:
    """Implements `Run`, `Haltable` and `Killable` of `runner.sandbox.contract`."""

    def __init__(
        self,
        id: str,
        run: Run,
        session: ContainerSession,
        fetched: Callable[[], Awaitable[WorkspaceCopy]],
        taken: Callable[[CarriedRun, Result], Awaitable[Result]] | None = None,
    ) -> None:
        """`taken` takes in what has come back, and returns what is said of the run then."""
        self.returned: WorkspaceCopy | None = None
        """What was in the workspace at the end, for whoever takes it, who closes it."""
        self.lost = ""
        """Why nothing came back, as a sentence."""
        self.remains = False
        """Whether its sandbox is still there, as the service did not take the call that removes it."""
        self._run = run
        self._session = session
        self._fetched = fetched
        self._taken = taken
        self._work = spawn(f"carried run {id}", self._to_the_end())

    @property
    def transcript(self) -> Transcript:
        return self._run.transcript

    async def finished(self) -> Result:
        return await asyncio.shield(self._work)

    def stop(self, why: str) -> None:
        self._run.stop(why)

    def pause(self) -> None:
        if isinstance(self._run, Haltable):
            self._run.pause()

    def resume(self) -> None:
        if isinstance(self._run, Haltable):
            self._run.resume()

    def kill_now(self) -> None:
        if isinstance(self._run, Killable):
            self._run.kill_now()

    async def _to_the_end(self) -> Result:
        try:
            result = await self._run.finished()
            if result.outcome is Outcome.ENGINE_LOST:
                self.lost = LOST.format("the sandbox does not answer any more")
            else:
                try:
                    self.returned = await self._fetched()
                except KnownError as error:
                    self.lost = LOST.format(error.what.rstrip("."))
        finally:
            with contextlib.suppress(KnownError):  # whatever is left there is removed by the next start
                await self._session.close()
            self.remains = self._session.remains
        result = replace(result, meta=replace(result.meta, rented_seconds=self._session.rented_seconds))
        return result if self._taken is None else await self._taken(self, result)
