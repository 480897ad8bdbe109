"""Sandboxes that installed packages bring, by the entry point `assent.sandboxes`.

A package names a function without arguments, or a class, that returns a `Sandbox`. It is loaded when the settings name
it, and not before. Its code runs in this process with all rights of the account, so what is done here is no wall
against a hostile package: it keeps the faults of a clumsy one from being anything but a sentence with its name, and it
has the last word on what is said of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import threading
from dataclasses import replace
from types import NoneType
from typing import TYPE_CHECKING, TypeVar

from runner.model.behaviour import Behaviour
from runner.model.errors import KnownError
from runner.model.network import Contact
from runner.model.request import BROUGHT, Isolation, NetworkMode
from runner.model.result import CapturedFile, Meta, Outcome, OutputOrder, Result, Usage
from runner.sandbox.contract import NotPermitted, Readiness
from runner.sandbox.output import Transcript
from runner.system import entry_points
from runner.system.entry_points import LONGEST, error_line, line, package_of
from runner.system.tasks import in_daemon, spawn

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from runner.model.request import Limits
    from runner.sandbox.contract import Job, Run, Sandbox

log = logging.getLogger(__name__)
T = TypeVar("T")
GROUP = "assent.sandboxes"
LOAD_SECONDS = 20.0
"""To be imported and made. Large libraries of clouds take two or three."""
CALL_SECONDS = 60.0
"""To be examined, to start a run and to clear up. The first use of an image may fetch it."""
END_SECONDS = 15.0
"""From the time limit of a run, and again from Stop, until it has to be over."""
GIVEN_UP = "It was given up before it began"
STOPPING = "stop of a package's sandbox"
"""Name of the threads on which runs of packages are told to stop."""
MOST_LINES = 30
"""Of what it says of itself."""
REMEDY = "Ask whoever wrote it, or choose another sandbox in Settings."


def names() -> tuple[str, ...]:
    """Return the names that installed packages bring, without loading any. Reads folders of this machine."""
    return entry_points.names(GROUP)


class PluginSandbox:
    """The sandbox of a package, loaded with the first call that needs it. What it says is passed on as a promise.

    It starts runs without network and without packages, and keeps no sandboxes for agents: what nobody here has seen
    to hold is not offered.
    """

    isolation = Isolation.PLUGIN

    def __init__(self, name: str) -> None:
        self.name = name
        self._title = f"{name}, of an installed package"
        self._loaded: asyncio.Task[Sandbox] | None = None
        self._readiness: Readiness | None = None

    async def check(self) -> Readiness:
        if self._readiness is None or not self._readiness.ready:
            try:
                self._readiness = await self._examined()
            except KnownError as error:
                self._readiness = Readiness(False, problem=error.what, remedy=error.remedy)
        return self._readiness

    async def start(self, job: Job, measured: Callable[[Usage], None]) -> PluginRun:
        if job.network is not NetworkMode.NONE or job.gate is not None or job.bundle is not None:
            raise KnownError("Sandboxes of installed packages get no network and no packages.", REMEDY)
        ready = await self.check()
        if not ready.ready:
            raise KnownError(ready.problem, ready.remedy)
        sandbox, permit = await self._sandbox(), AskedPermit(job.permit)

        async def started() -> Run:
            run = await sandbox.start(replace(job, permit=permit), measured)
            if permit.ended:  # it went on although it was cancelled: nobody waits for what it has begun
                Stopping(run).ask(GIVEN_UP)
            return run

        try:
            run = await self._called("start", started())
        except BaseException:
            permit.end()  # whatever it still does, nobody waits for it
            raise
        if not isinstance(getattr(run, "transcript", None), Transcript):
            permit.end()
            Stopping(run).ask(GIVEN_UP)
            raise KnownError(f"The sandbox {self._title} starts a run without a Transcript.", REMEDY)
        return PluginRun(run, job, permit, ready.protections, f"The sandbox {self._title}")

    async def sweep(self) -> tuple[str, ...]:
        try:
            sandbox = await self._sandbox()
        except KnownError:
            return ()  # `check` says so
        return _lines(await self._called("sweep", sandbox.sweep()))

    async def close(self) -> None:
        if self._loaded is None or not self._loaded.done():
            return
        try:
            await self._called("close", (await self._sandbox()).close())
        except KnownError as error:
            log.warning("%s", error)

    async def _examined(self) -> Readiness:
        """Raises KnownError."""
        sandbox = await self._sandbox()
        said = await self._called("check", sandbox.check())
        if not isinstance(said, Readiness) or not isinstance(said.versions, dict) or not isinstance(said.images, dict):
            raise KnownError(f"The sandbox {self._title} answers check with no Readiness.", REMEDY)
        if not said.ready:
            problem = f"The sandbox {self._title} does not work: {line(said.problem) or 'it does not say why'}"
            return Readiness(False, problem=problem, remedy=line(said.remedy))
        promised = tuple(f"promised: {one}" for one in _lines(said.protections))
        return replace(
            said,
            protections=(f"{BROUGHT}{self._title}", *promised),
            missing=("network and packages", "sandboxes that agents keep", *_lines(said.missing)),
            versions={line(name): line(version) for name, version in list(said.versions.items())[:MOST_LINES]},
            packages=line(said.packages),
        )

    async def _sandbox(self) -> Sandbox:
        """Return what the package brings. Raises KnownError; what failed once is not tried again."""
        if self._loaded is None:
            self._loaded = spawn("load a sandbox", in_daemon("load a sandbox", self._load))
            self._loaded.add_done_callback(_looked_at)
        try:
            async with asyncio.timeout(LOAD_SECONDS):
                return await asyncio.shield(self._loaded)
        except TimeoutError:
            raise KnownError(f"The sandbox {self._title} is not loaded after {LOAD_SECONDS:g} s.", REMEDY) from None

    def _load(self) -> Sandbox:
        """Raises KnownError. Blocks for as long as the package likes."""
        entry = entry_points.the_one(GROUP, self.name, "sandbox")
        self._title = f"{self.name} of the package {package_of(entry)}"
        try:
            sandbox: Sandbox = entry.load()()
        except BaseException as error:  # an import may raise anything, SystemExit too
            raise KnownError(f"The sandbox {self._title} cannot be loaded: {error_line(error)}.", REMEDY) from error
        missing = [name for name in ("check", "start", "sweep", "close") if not callable(getattr(sandbox, name, None))]
        if missing:
            raise KnownError(f"What {self._title} brings is no sandbox: it has no {missing[0]}.", REMEDY)
        return sandbox

    async def _called(self, what: str, call: Awaitable[T]) -> T:
        """Return what a method of the package returns. Raises KnownError for all that it raises, or where it hangs."""
        try:
            return await _in(CALL_SECONDS, spawn(f"{what} of a package's sandbox", _awaited(call)))
        except NotPermitted:
            raise
        except KnownError as error:
            raise KnownError(f"The sandbox {self._title}: {line(error.what)}", line(error.remedy)) from error
        except TimeoutError as error:
            raise KnownError(f"The sandbox {self._title} does not answer {what}.", REMEDY) from error
        except Exception as error:
            raise KnownError(f"The sandbox {self._title} failed in {what}: {error_line(error)}.", REMEDY) from error


class AskedPermit:
    """The permit of a run, and whether it was asked for and given."""

    def __init__(self, permit: Callable[[], None]) -> None:
        self._permit = permit
        self.ended = False
        """Whether nobody waits for the run any more."""
        self.given = False

    def __call__(self) -> None:
        """Raises NotPermitted."""
        if self.ended:
            raise NotPermitted("This run was given up before it began.", "Nothing is run.")
        self._permit()
        self.given = True

    def end(self) -> None:
        """Give it to nobody any more."""
        self.ended = True


class Stopping:
    """The calls of a run's `stop`, on a thread of their own: they may take as long as they like, and hold up nobody."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._thread: threading.Thread | None = None

    @property
    def hangs(self) -> bool:
        """Whether a call has not returned."""
        return self._thread is not None and self._thread.is_alive()

    def ask(self, why: str) -> None:
        """Call it, unless an earlier call has not returned. Returns at once; may be called on any thread."""
        if self.hangs:
            return
        self._thread = threading.Thread(target=self._call, args=(why,), name=STOPPING, daemon=True)
        self._thread.start()

    def _call(self, why: str) -> None:
        with contextlib.suppress(Exception):  # then it is not over in time, which is said
            self._run.stop(why)


class PluginRun:
    """A run of a package's sandbox. That it is over is said in time, whatever the package does."""

    def __init__(self, run: Run, job: Job, permit: AskedPermit, protections: tuple[str, ...], who: str) -> None:
        self._run, self._job, self._permit, self._protections, self._who = run, job, permit, protections, who
        self._loop = asyncio.get_running_loop()
        self._stopping = Stopping(run)
        self._asked = asyncio.Event()
        self._transcript = run.transcript
        self._result = spawn(f"run {job.id}", self._followed())

    @property
    def transcript(self) -> Transcript:
        return self._transcript

    async def finished(self) -> Result:
        return await asyncio.shield(self._result)

    def stop(self, why: str) -> None:
        self._stopping.ask(why)
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._asked.set)

    async def _followed(self) -> Result:
        try:
            result = await self._in_time()
            if not isinstance(result, Result):
                raise TypeError("it returned no Result")
            if not self._permit.given and (result.duration or result.stdout):
                words = f"{self._who} ran code without a look whether its approval still holds."
                result = replace(result, outcome=Outcome.ENGINE_LOST, exit_code=1, error=words)
            result = _whole(result, self._job.limits)
        except Exception as error:
            words = f"{self._who} does not say how the run ended, which may still be going on: {error_line(error)}."
            if self._stopping.hangs:
                words = f"{self._who} was told to stop the run, and its stop does not return: it may still be going on."
            result = Result(Outcome.ENGINE_LOST, "", f"{words}\n", 1, 0.0, error=words)
        finally:
            self._permit.end()
            self._transcript.end()
        meta = result.meta if isinstance(result.meta, Meta) else Meta()
        mine = replace(
            meta,
            runtime=Isolation.PLUGIN.value,
            isolation=Isolation.PLUGIN,
            protections=self._protections,
            limits=self._job.limits,
        )
        return replace(result, meta=mine)

    async def _in_time(self) -> Result:
        """Return its result. Raises TimeoutError where it is not over although its time is up, or it was stopped."""
        running = spawn("a run of a package's sandbox", self._run.finished())
        asked = spawn("asked to stop", self._asked.wait())
        running.add_done_callback(_looked_at)
        most = self._job.limits.seconds + END_SECONDS
        try:
            await asyncio.wait({running, asked}, timeout=most, return_when=asyncio.FIRST_COMPLETED)
            if not running.done() and not asked.done():
                self._stopping.ask("Its time is up")
            return await _in(END_SECONDS, running)
        finally:
            asked.cancel()


async def _awaited(call: Awaitable[T]) -> T:
    return await call


async def _in(seconds: float, task: asyncio.Task[T]) -> T:
    """Return what comes of `task`. Raises TimeoutError where it takes longer, also where it cannot be cancelled."""
    task.add_done_callback(_looked_at)
    try:
        await asyncio.wait({task}, timeout=seconds)
        if not task.done():
            raise TimeoutError
    finally:
        task.cancel()
    return task.result()


def _whole(result: Result, limits: Limits) -> Result:
    """Return a result of which every part is what it says it is, and within its bounds. Raises TypeError."""
    parts: dict[str, tuple[type, ...]] = {
        **dict.fromkeys(("stdout", "stderr", "error", "files_left_out"), (str,)),
        "outcome": (Outcome,),
        "exit_code": (int,),
        "duration": (int, float),
        "peak_memory": (int, NoneType),
        "contacts_left_out": (int,),
        "order": (OutputOrder, NoneType),
        "observed": (Behaviour, NoneType),
    }
    lists = {"curve": Usage, "files": CapturedFile, "contacts": Contact}
    wrong = [name for name, kinds in parts.items() if not isinstance(getattr(result, name), kinds)]
    wrong += [
        name
        for name, kind in lists.items()
        if not isinstance(held := getattr(result, name), tuple) or not all(isinstance(one, kind) for one in held)
    ]
    if wrong:
        raise TypeError(f"its Result has something else for {wrong[0]}")
    if max(len(result.stdout), len(result.stderr)) > limits.output_bytes + LONGEST:
        raise TypeError("its Result has more output than the job allows")
    json.dumps(result.value)
    return result


def _looked_at(task: asyncio.Task[T]) -> None:
    """Look at how it ended, so that nobody is warned about what comes too late."""
    if not task.cancelled():
        task.exception()


def _lines(said: object) -> tuple[str, ...]:
    return tuple(map(line, tuple(said)[:MOST_LINES])) if isinstance(said, list | tuple) else ()
