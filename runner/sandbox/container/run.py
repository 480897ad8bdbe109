"""One run in a container: its output, its limits, its ways to end, its result."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.model.language_support import LANGUAGES
from runner.model.request import Isolation
from runner.model.result import Outcome
from runner.sandbox import report, verdict
from runner.sandbox.container import starter
from runner.sandbox.container.collecting import Collecting, LaterCollecting
from runner.sandbox.container.container import LAST_GRACE
from runner.sandbox.container.exec import ExecContainer
from runner.sandbox.container.failures import Denied, EngineGone
from runner.sandbox.container.gauge import ContainerGauge
from runner.sandbox.container.observing import Observing
from runner.sandbox.contract import NotPermitted
from runner.sandbox.local.watch import GRACE, output_stop
from runner.sandbox.output import Stream, Transcript
from runner.sandbox.verdict import RunEnd
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.model.result import Result, Usage
    from runner.sandbox.container.container import Container
    from runner.sandbox.container.engine import ContainerEngine
    from runner.sandbox.container.relay import ContainerRelay
    from runner.sandbox.contract import Job
    from runner.sandbox.verdict import Setting

NOT_FOUND = 127
"""Exit code of Bash and of engines where a program is not there."""
STATUS_SECONDS = 10.0
"""For the engine to say how a container ended, once its output has."""
LOST_SECONDS = 1.0
"""For an engine that seems lost to remove a container; what stays is swept later."""
DOUBTED = "The sandbox did not hand out the files in time and was ended, so how the code ended is not known"
"""Of a run whose status, as the engine says it, is not the one that came before the files."""
LOST = "{} stopped working during the run"
WHO = {Isolation.GVISOR_DIRECT: "gVisor", Isolation.E2B: "E2B"}
"""What carries containers that are of no container engine."""


class ContainerRun:
    """A run in `container`, which is removed at its end. Everything happens on the loop that made it."""

    def __init__(
        self,
        job: Job,
        orders: bytes,
        container: Container,
        client: ContainerEngine,
        setting: Setting,
        measured: Callable[[Usage], None],
        removed: Callable[[Container, bool], None],
        relay: ContainerRelay | None = None,
    ) -> None:
        """`removed` is called at the end with whether the container is gone; `relay` is that of a networked run."""
        self._job = job
        self._orders = orders
        self._container = container
        self._setting = setting
        self._removed = removed
        self._loop = asyncio.get_running_loop()
        self._transcript = Transcript(job.limits.output_bytes, budget=job.budget)
        self._collecting = _collecting(job, container)
        self._observing = Observing(job, client, container)
        self._relay = relay
        self._gauge = ContainerGauge(client, container, self._measure, relayed=relay is not None)
        self._measured = measured
        self._changed = asyncio.Event()
        self._asked: str | None = None
        self._why: Outcome | None = None
        self._reason = ""
        self._begun: float | None = None
        self._sent = asyncio.Event()
        self._kill_at = float("inf")
        self._killed = False
        self._over: float | None = None
        """When the container had no more to say: how long it ran is not for the code to tell."""
        self._still = False
        self._still_since: float | None = None
        self._still_seconds = 0.0
        self._cost: Callable[[], float] | None = None
        self._work = spawn(f"run {job.id}", self._to_the_end())

    @property
    def transcript(self) -> Transcript:
        return self._transcript

    async def finished(self) -> Result:
        return await asyncio.shield(self._work)

    def on_end(self, function: Callable[[ContainerRun], object]) -> None:
        """Call `function` on the loop when the run is over."""
        self._work.add_done_callback(lambda _: function(self))

    def costs(self, ended: Callable[[], float]) -> None:
        """Have `ended` called when the container is gone: it returns the seconds that it lasted, which cost."""
        self._cost = ended

    def stop(self, why: str) -> None:
        self._on_loop(self._ask_to_stop, why)

    def kill_now(self) -> None:
        """Kill the container without the loop; what becomes of the run is known when the loop comes round."""
        self._container.kill_now()

    @property
    def paused(self) -> bool:
        """Whether every process of the run is halted now."""
        return self._still_since is not None

    def pause(self) -> None:
        """Pause every process of the run and its time limit. Returns at once."""
        self._on_loop(self._hold_still, True)

    def resume(self) -> None:
        """Resume a paused run. Returns at once."""
        self._on_loop(self._hold_still, False)

    def abandon(self) -> None:
        """Give up at once, without the engine: it does not answer and the console wants to leave."""
        self._work.cancel()

    # ---- the course of the run ----

    async def _to_the_end(self) -> Result:
        gone = False
        try:
            result = await self._ran()
            result = await self._observing.added_to(result, self._over or time.monotonic())
            lost = result.outcome is Outcome.ENGINE_LOST
            gone = await (self._container.remove(LOST_SECONDS) if lost else self._container.remove())
            result = await self._collecting.added_to(result, cut=self._killed)
        except asyncio.CancelledError:
            result = self._observing.given_up(self._result(1, Outcome.ENGINE_LOST, self._lost))
        finally:
            self._container.let_go()
            if self._relay is not None:
                await self._relay.close()
            self._collecting.close()
            self._transcript.end()
            self._removed(self._container, gone)
            lasted = None if self._cost is None else self._cost()
        return result if lasted is None else replace(result, meta=replace(result.meta, rented_seconds=lasted))

    async def _ran(self) -> Result:
        pump = spawn(f"output {self._job.id}", self._pump())
        pump.add_done_callback(lambda _: self._ending())
        gauge = spawn(f"gauge {self._job.id}", self._gauge.follow(self._sent))
        try:
            await self._guard(pump)
            async with asyncio.timeout(STATUS_SECONDS):
                code, out_of_memory = await self._container.status()
                doubted = self._container.left_status not in (None, code)
                if doubted:
                    # Either the handing out was ended, or the code itself said that it had ended.
                    self._reason = self._reason or DOUBTED
        except (EngineGone, Denied, TimeoutError) as error:
            reason = self._lost if isinstance(error, TimeoutError) else f"{self._lost}: {error}"
            return self._result(1, Outcome.ENGINE_LOST, reason)
        finally:
            for task in (pump, gauge):
                task.cancel()
            await asyncio.gather(pump, gauge, return_exceptions=True)
        if self._begun is None and self._asked is not None:  # it may have ended before the signal
            return self._result(code, self._why or Outcome.KILLED, self._reason or self._asked)
        if self._begun is None and self._why is None:
            return self._result(code, Outcome.ENGINE_LOST, _not_begun(self._job, code, self._transcript))
        out_of_memory = out_of_memory or (code != 0 and self._gauge.killed)
        unknown = Outcome.FAILED if doubted else None  # whatever status the engine says
        return self._result(code, self._why or (Outcome.OUT_OF_MEMORY if out_of_memory else unknown), self._reason)

    async def _pump(self) -> None:
        """Read all output to its end."""
        container, transcript = self._container, self._transcript
        try:
            for stream, data in await container.ready():
                transcript.append(stream, data)
            if self._may_begin():
                container.begin()
                self._observing.begin()
                await container.send(self._orders, report.limit(self._job))
                self._begun = time.monotonic()
                self._sent.set()
            self._changed.set()
            most = output_stop(self._job.limits)
            while True:
                for stream, data in await container.read():
                    transcript.append(stream, data)
                if transcript.total > most or self._collecting.news():
                    self._changed.set()
                self._gauge.code_ended = self._collecting.begun is not None
        except (EOFError, OSError):
            self._over = time.monotonic()
            if rest := container.rest():
                transcript.append(Stream.ERR, rest)

    def _ending(self) -> None:
        """Note that the run is ending, whatever ends it; harmless when done before."""
        if self._relay is not None:
            self._relay.let_end()
        self._changed.set()

    def _may_begin(self) -> bool:
        """Return whether the code may be sent; where not, the run is being ended.

        No await follows before the sending.
        """
        if self._asked is None and self._why is None:
            try:
                self._job.permit()
            except NotPermitted as refusal:
                self._asked = refusal.what
        return self._asked is None and self._why is None

    async def _guard(self, pump: asyncio.Task[None]) -> None:
        """Enforce time, limits and stops until the output has ended. Raises EngineGone."""
        while not pump.done():
            await self._wait_until(self._next_moment())
            now = time.monotonic()
            if self._collecting.begun is None:
                await self._keep_limits(now)
            else:
                self._ending()
                self._watch_collecting(now)
            await self._keep_still(now)
            if now >= self._kill_at:
                await self._kill(now)

    def _watch_collecting(self, now: float) -> None:
        """Of a run that has ended the files are awaited, within bounds."""
        if self._collecting.overflows and self._why is None:  # no keeper writes so much: it was the code itself
            self._why = Outcome.OUTPUT_LIMIT
        elif now < self._collecting.ends and (self._asked is None or self._why is not None):
            return
        self._kill_at = min(self._kill_at, now)

    async def _keep_limits(self, now: float) -> None:
        if self._asked is not None:
            await self._end(Outcome.KILLED, self._asked, GRACE)
        if self._transcript.total > output_stop(self._job.limits):
            await self._end(Outcome.OUTPUT_LIMIT, "", 0.0)
        if self._gauge.too_much:
            await self._end(Outcome.OUT_OF_MEMORY, "", 0.0)
        if self._deadline() <= now:
            await self._end(Outcome.TIMED_OUT, "", GRACE)

    def _measure(self, usage: Usage) -> None:
        self._measured(usage)
        self._observing.look()
        if self._gauge.too_much:
            self._changed.set()

    async def _wait_until(self, moment: float) -> None:
        self._changed.clear()
        left = None if moment == float("inf") else max(0.0, moment - time.monotonic())
        try:
            async with asyncio.timeout(left):
                await self._changed.wait()
        except TimeoutError:
            return

    def _next_moment(self) -> float:
        ends = self._deadline() if self._collecting.begun is None else self._collecting.ends
        return self._kill_at if self._why is not None else min(ends, self._kill_at)

    def _deadline(self) -> float:
        """Return when its time is up: counted from the start of the code, not of the container, without pauses."""
        if self._begun is None or self._still_since is not None:
            return float("inf")
        return self._begun + self._still_seconds + self._job.limits.seconds

    # ---- ending the run ----

    async def _end(self, why: Outcome, reason: str, grace: float) -> None:
        """Begin to end the run; the first reason counts."""
        if self._why is not None:
            return
        self._why, self._reason = why, reason
        self._kill_at = time.monotonic() + grace
        self._still = False
        self._ending()
        await self._keep_still(time.monotonic())  # what is halted does not hear signals
        if grace:
            await self._container.signal("SIGTERM")

    async def _kill(self, now: float) -> None:
        if self._collecting.to_be_asked:
            self._kill_at = now + self._collecting.ask()
            await self._container.signal("SIGUSR1")
            return
        if self._killed:
            raise EngineGone("It did not end a container when asked to.", "Open Doctor.")
        self._killed = True
        self._kill_at = now + LAST_GRACE
        await self._container.signal("SIGKILL")

    async def _keep_still(self, now: float) -> None:
        if self._still is (self._still_since is not None):
            return
        await self._container.pause(self._still)
        if self._job.gate is not None:
            self._job.gate.pause(self._still)
        if self._still:
            self._still_since = now
        else:
            assert self._still_since is not None
            self._still_seconds += now - self._still_since
            self._still_since = None

    def _ask_to_stop(self, why: str) -> None:
        self._collecting.stop()
        if self._asked is None:
            self._asked = why
            self._changed.set()

    def _hold_still(self, still: bool) -> None:
        if self._why is None and self._asked is None:
            self._still = still
            self._changed.set()

    def _on_loop(self, function: Callable[..., None], argument: object) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function, argument)

    # ---- the result ----

    @property
    def _lost(self) -> str:
        return LOST.format(WHO.get(self._setting.isolation, "The container engine"))

    def _result(self, code: int, why: Outcome | None, reason: str) -> Result:
        over = self._over or time.monotonic()
        seconds = 0.0 if self._begun is None else over - self._begun - self._still_seconds
        ended = RunEnd(
            status=code,
            seconds=seconds,
            why=why,
            reason=reason,
            curve=self._gauge.curve.thinned,
            peak_memory=self._gauge.peak_memory,
            disk_is_full=self._gauge.disk_is_full,
            processes_full=self._gauge.processes_full,
        )
        setting = replace(self._setting, versions=_versions(self._job, self._setting, self._container))
        return verdict.result(self._job, setting, self._transcript, ended, self._container.report)


class SettledRun:
    """A run that failed before it began."""

    def __init__(self, job: Job, result: Result) -> None:
        self.transcript = Transcript(job.limits.output_bytes)
        self.transcript.end()
        self._result = result

    async def finished(self) -> Result:
        return self._result

    def stop(self, why: str) -> None:
        """Do nothing: the run is over."""


def _collecting(job: Job, container: Container) -> Collecting:
    return LaterCollecting(job, container) if isinstance(container, ExecContainer) else Collecting(job, container)


def not_started(error: Denied, image: str) -> KnownError:
    """Return what to say of an engine that does not make or start the container."""
    if error.status == 404 and "image" in error.message.lower():
        return KnownError(f"The image {image} is not there.", "Build it with: assent images")
    return KnownError(f"The container could not be started: {error.message.strip().rstrip('.')}.", "Open Doctor.")


def _versions(job: Job, setting: Setting, container: Container) -> dict[str, str]:
    """Return the versions of `setting`, with that of the interpreter that the container has named."""
    found = {job.language.value: container.version} if container.version else {}
    return {**setting.versions, **found}


def _not_begun(job: Job, code: int, transcript: Transcript) -> str:
    """Return why a container ended before any code was sent: what it printed last, else what its status says."""
    text, _ = transcript.text(Stream.ERR)
    said = " ".join(text.split())[-300:] or "it said nothing"
    if code == NOT_FOUND and not text.strip():
        tools = LANGUAGES[job.language].toolchain
        program = starter.command(job.language, job.limits)[0] if tools is None else tools.program
        said = f"the image has no `{program}`"
    return f"The container did not start: {said}"
