"""A run that is one command of this machine, for sandboxes that packages bring: its files, its output, its end.

What the command starts must die with it. Assent's own sandboxes have runs of their own, which see more of a run.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from typing import TYPE_CHECKING, Any

from runner.model.result import Outcome, Usage
from runner.sandbox import report, verdict
from runner.sandbox.languages import BadContext
from runner.sandbox.local import tree
from runner.sandbox.output import Stream, Transcript
from runner.sandbox.usage import Curve
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.model.result import Result
    from runner.sandbox.contract import Job
    from runner.sandbox.verdict import Setting

MOST_OUTPUT = 64 << 20
"""Bytes after which a program that does not stop writing is ended."""
READING_EVERY = 0.1
"""Seconds."""


class CommandFiles:
    """Descriptors that the command inherits: memory that no path leads to, closed when the run is over."""

    def __init__(self, job: Job) -> None:
        self.report = report.open_channel(report.limit(job))
        """For what the code hands out, as `starter.files` takes it."""
        self.open = [self.report]

    def put(self, data: bytes) -> int:
        """Return a descriptor from which `data` can be read."""
        self.open.append(os.memfd_create("assent"))
        with open(os.dup(self.open[-1]), "wb") as file:
            file.write(data)
            file.seek(0)
        return self.open[-1]

    def close(self) -> None:
        while self.open:
            os.close(self.open.pop())


class CommandRun:
    """The run; it begins when this is made, so `job.permit()` comes right before."""

    def __init__(
        self,
        job: Job,
        setting: Setting,
        measured: Callable[[Usage], None],
        words: Callable[[CommandFiles], list[str]],
        *,
        watches_memory: bool = False,
        **given: Any,
    ) -> None:
        """`words` returns the command, which gets the standard input of the job; it may raise BadContext.

        With `watches_memory` the run ends where what the command has started holds more together than the job allows;
        each process by itself is for the command to limit. For programs that are processes of this machine.
        `given` are arguments of `asyncio.create_subprocess_exec`.
        """
        self._job, self._setting, self._measured, self._words, self._given = job, setting, measured, words, given
        self._watches_memory = watches_memory
        self._transcript = Transcript(job.limits.output_bytes, budget=job.budget)
        self._loop = asyncio.get_running_loop()
        self._process: asyncio.subprocess.Process | None = None
        self._why: Outcome | None = None
        self._reason = ""
        self._result = spawn(f"run {job.id}", self._ran())

    @property
    def transcript(self) -> Transcript:
        return self._transcript

    async def finished(self) -> Result:
        return await asyncio.shield(self._result)

    def stop(self, why: str) -> None:
        self._loop.call_soon_threadsafe(self._end, Outcome.KILLED, why)

    def _end(self, why: Outcome, reason: str = "") -> None:
        if self._why is None:
            self._why, self._reason = why, reason
        if self._process is not None:
            self._kill(self._process)

    def _kill(self, process: asyncio.subprocess.Process) -> None:
        """Kill its group: what it starts may not have had the time yet to ask that it dies with it."""
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    async def _ran(self) -> Result:
        if (refused := verdict.refused(self._job, self._setting)) is not None:
            self._transcript.end()
            return refused
        files = CommandFiles(self._job)
        try:
            ended = await self._watched(self._words(files), files)
            told = report.read(files.report, report.limit(self._job))
            return verdict.result(self._job, self._setting, self._transcript, ended, told)
        except BadContext as error:
            return verdict.not_run(self._job, self._setting, f"{error}\n", str(error))
        finally:
            self._transcript.end()
            files.close()

    async def _watched(self, words: list[str], files: CommandFiles) -> verdict.RunEnd:
        stdin = files.put(self._job.stdin.encode("utf-8", "replace"))
        pipe = asyncio.subprocess.PIPE
        begun, curve, peak = time.monotonic(), Curve(), 0
        process = await asyncio.create_subprocess_exec(
            *words,
            stdin=stdin,
            stdout=pipe,
            stderr=pipe,
            pass_fds=files.open,
            start_new_session=True,
            **self._given,
        )
        self._process = process
        assert process.stdout is not None and process.stderr is not None
        pipes = ((process.stdout, Stream.OUT), (process.stderr, Stream.ERR))
        over = asyncio.gather(process.wait(), *(self._read(*each) for each in pipes))
        if self._why is not None:  # stopped while it was being started
            self._kill(process)
        while not over.done():
            memory = await asyncio.to_thread(_memory, process.pid) if self._watches_memory else 0
            peak = max(peak, memory)
            usage = Usage(time.monotonic() - begun, memory_bytes=memory or None)
            curve.add(usage)
            self._measured(usage)
            if usage.at > self._job.limits.seconds:
                self._end(Outcome.TIMED_OUT)
            if memory > self._job.limits.memory_mb << 20:
                self._end(Outcome.OUT_OF_MEMORY)
            await asyncio.wait({over}, timeout=READING_EVERY)
        await over
        status = process.returncode or 0
        return verdict.RunEnd(
            status=status if status >= 0 else 128 - status,
            seconds=time.monotonic() - begun,
            why=self._why,
            reason=self._reason,
            curve=curve.thinned,
            peak_memory=peak,
            disk_is_full=False,
        )

    async def _read(self, pipe: asyncio.StreamReader, stream: Stream) -> None:
        while data := await pipe.read(1 << 16):
            self._transcript.append(stream, data)
            if self._transcript.total > MOST_OUTPUT:
                self._end(Outcome.OUTPUT_LIMIT)


def _memory(pid: int) -> int:
    """Return the bytes that a process and all below it hold, pages that they share counted once."""
    return tree.proportional_memory([pid, *tree.descendants(pid)])
