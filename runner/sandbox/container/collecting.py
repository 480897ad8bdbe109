"""Collects the files that a finished container run created: asks for them, takes them, unpacks them."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.result import Outcome
from runner.sandbox.container.failures import Denied, EngineGone
from runner.sandbox.container.unpack import Spool
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from runner.model.result import Result
    from runner.sandbox.container.container import Container
    from runner.sandbox.container.exec import ExecContainer
    from runner.sandbox.contract import Collect, Job

ASKED_SECONDS = 2.0
"""Time for the keeper inside to end everything and begin to send."""
SECONDS = 5.0
"""Time for it to send everything."""
NOT_HANDED_OUT = "whatever was there: the sandbox did not hand it out in time"


class Collecting:
    """The collection of one run's files; does nothing where none are wanted."""

    def __init__(self, job: Job, container: Container) -> None:
        self._container = container
        self._spool: Spool | None = None
        self._trouble = ""
        self._asked = False
        self.begun: float | None = None
        """When the interpreter had ended and files began to come (monotonic)."""
        if job.collect is None or container.shape.bounds is None:
            return
        if spool := self._opened(job.collect):
            container.give_files_to(spool.write)

    def _opened(self, collect: Collect) -> Spool | None:
        """Return the place for the files; None where there is none, which is noted."""
        try:
            self._spool = Spool(collect)
        except OSError as error:
            self._trouble = f"everything, as files could not be stored: {error.strerror}"
        return self._spool

    def news(self) -> bool:
        """Return whether files have begun to arrive, or exceed their limit."""
        if self.begun is None and self._container.left_status is not None:
            self.begun = time.monotonic()
            return True
        return self.overflows

    @property
    def ends(self) -> float:
        """Time at which the collection has to be complete."""
        return float("inf") if self.begun is None else self.begun + SECONDS

    @property
    def overflows(self) -> bool:
        """Whether more has arrived than is allowed, or than could be stored."""
        return self._spool is not None and self._spool.full

    @property
    def to_be_asked(self) -> bool:
        """Whether the keeper is to end everything before the container is ended."""
        return self._spool is not None and self.begun is None and not self._asked

    def ask(self) -> float:
        """Note that the keeper was asked; return the seconds that it has."""
        self._asked = True
        return ASKED_SECONDS

    async def added_to(self, result: Result, *, cut: bool) -> Result:
        """`result` with the files; `cut` says that the container was ended before it did so itself."""
        if self._spool is None or self.begun is None:
            why = NOT_HANDED_OUT if cut and self._asked else self._trouble
            return replace(result, files_left_out=why) if why else result
        return await _unpacked(self._spool, result)

    def stop(self) -> None:
        """Note that a person wants the run to end now; one whose files are awaited is ended by the run itself."""

    def close(self) -> None:
        if self._spool is not None:
            self._spool.close()
            self._spool = None


class LaterCollecting(Collecting):
    """The same for a run in a kept container: asked for when the run has ended, so nothing of it speaks any more."""

    def __init__(self, job: Job, container: ExecContainer) -> None:
        super().__init__(job, container)
        self._collect = job.collect
        self._exec = container
        self._handing: asyncio.Task[None] | None = None

    async def added_to(self, result: Result, *, cut: bool) -> Result:
        if self._collect is None or result.outcome is Outcome.ENGINE_LOST:
            return result
        if (spool := self._opened(self._collect)) is None:
            return await super().added_to(result, cut=cut)
        self._handing = spawn("hand out files", self._exec.hand_out(self._collect.bounds, spool.write))
        try:
            await asyncio.wait({self._handing}, timeout=SECONDS)
        finally:
            self._handing.cancel()
            (end,) = await asyncio.gather(self._handing, return_exceptions=True)
        if isinstance(end, (asyncio.CancelledError, Denied, EngineGone, OSError)):
            return replace(result, files_left_out=NOT_HANDED_OUT)
        return await _unpacked(spool, result)

    def stop(self) -> None:
        """End the handing out, where it has begun."""
        if self._handing is not None:
            self._handing.cancel()


async def _unpacked(spool: Spool, result: Result) -> Result:
    collector = await asyncio.to_thread(spool.unpack)
    return replace(result, files=collector.files, files_left_out=collector.left_out)
