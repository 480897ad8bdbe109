"""Stand-ins where the real thing would only make a test slow or its order uncertain."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from runner.model.request import Isolation
from runner.model.result import Meta, Outcome, Result
from runner.sandbox.contract import Readiness
from runner.sandbox.output import Stream, Transcript
from runner.sandbox.workspace_copy import NotCopied

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from runner.model.events import Event
    from runner.model.result import Usage
    from runner.sandbox.contract import FileSlice, FolderListing, Job
    from runner.sandbox.workspace_copy import WorkspaceCopy


class HeldRun:
    """Runs until the test says so."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.still = False
        self.transcript = Transcript(job.limits.output_bytes)
        self._end: asyncio.Future[Result] = asyncio.get_running_loop().create_future()

    async def finished(self) -> Result:
        return await asyncio.shield(self._end)

    def finish(self, stdout: str = "", outcome: Outcome = Outcome.OK, error: str = "", stderr: str = "") -> None:
        self.transcript.append(Stream.OUT, stdout.encode())
        self.transcript.end()
        if not self._end.done():
            code = 0 if outcome is Outcome.OK else 1
            meta = Meta(runtime="local", limits=self.job.limits)
            self._end.set_result(Result(outcome, stdout, stderr, code, 0.1, error=error, meta=meta))

    def pause(self) -> None:
        self.still = True

    def resume(self) -> None:
        self.still = False

    def stop(self, why: str) -> None:
        self.finish(outcome=Outcome.KILLED, error=why)


class HeldSandbox:
    """A sandbox whose runs the test ends."""

    def __init__(self, isolation: Isolation = Isolation.LOCAL) -> None:
        self.isolation = isolation
        self.there = True
        self.protections: tuple[str, ...] = ("a test", "a wall of cards")
        self.runs: list[HeldRun] = []
        self.trials: list[HeldRun] = []
        """Runs with stand-ins, which are beside the others."""

    async def check(self) -> Readiness:
        return Readiness(ready=self.there, protections=self.protections, problem="" if self.there else "Not there.")

    async def start(self, job: Job, measured: Callable[[Usage], None]) -> HeldRun:
        runs = self.trials if job.id.endswith("-trial") else self.runs
        runs.append(HeldRun(job))
        return runs[-1]

    async def sweep(self) -> tuple[str, ...]:
        return ()

    async def close(self) -> None:
        for run in (*self.runs, *self.trials):
            run.stop("closing")


class SilentRecord:
    """A record that keeps nothing and calls nobody."""

    ledger = 0

    async def append(self, kind: str, request_id: str, body: Mapping[str, object], *, can_wait: bool = False) -> None:
        pass

    async def note(self, kind: str, request_id: str, body: Mapping[str, object] | None = None) -> None:
        pass

    async def keep_noting(self, kind: str, request_id: str, body: Mapping[str, object]) -> None:
        pass

    def publish(self, event: Event) -> None:
        pass

    def trouble(self, area: str, what: str, remedy: str) -> None:
        pass

    def clear(self, area: str) -> None:
        pass


class HeldSession:
    """A sandbox that is kept, in which nothing can be done."""

    protections = ("a test",)

    def __init__(self) -> None:
        self.closed = False

    @property
    def alive(self) -> bool:
        return not self.closed

    async def start(self, job: Job, measured: Callable[[Usage], None]) -> HeldRun:
        raise AssertionError("nothing runs here")

    async def write(self, path: str, data: bytes, *, executable: bool) -> None:
        raise AssertionError("nothing is written here")

    async def read(self, path: str, offset: int, most: int) -> FileSlice:
        raise AssertionError("nothing is read here")

    async def files(self, path: str) -> FolderListing:
        raise AssertionError("nothing is listed here")

    async def copy(self, folder: Path, left: tuple[str, ...]) -> WorkspaceCopy:
        raise NotCopied("nothing is copied here")

    async def put_back(self, copy: WorkspaceCopy, folder: Path, left: tuple[str, ...]) -> None:
        raise AssertionError("nothing is put back here")

    async def close(self) -> None:
        self.closed = True
