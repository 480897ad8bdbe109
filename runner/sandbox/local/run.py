"""One run on the local sandbox: its folder, its thread, its result."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import subprocess
import threading
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.model.request import Language
from runner.sandbox import files, languages, networked, report, verdict
from runner.sandbox.file_collector import FileCollector
from runner.sandbox.local import leftovers, starter
from runner.sandbox.local.child import Program
from runner.sandbox.local.listeners import CERTIFICATES
from runner.sandbox.local.watch import StopSignal, Watch
from runner.sandbox.output import Transcript
from runner.system import installed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runner.model.bundle import Bundle
    from runner.model.result import Result, Usage
    from runner.sandbox.contract import Job, ProjectLayer
    from runner.sandbox.local.child import Child, Launcher, View
    from runner.sandbox.local.interpreters import Interpreter
    from runner.sandbox.local.listeners import LocalDoors
    from runner.sandbox.verdict import Setting


SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL


@dataclass(frozen=True, slots=True)
class LastingWorkspace:
    """A workspace that outlives the run: of a kept sandbox, or a project with its layer."""

    workspace: str
    """Folder of this machine, as this process gets to it."""
    identity: int | None
    """User id that owns it, where the code runs under one of its own."""
    layer: ProjectLayer | None = None
    """The project with its layer that it is; None for a folder of Assent's own."""


class LocalRun:
    """A run in its own thread, where everything that may block happens."""

    def __init__(
        self,
        job: Job,
        tool: Interpreter,
        launcher: Launcher,
        setting: Setting,
        measured: Callable[[Usage], None],
        place: LastingWorkspace | None = None,
        doors: LocalDoors | None = None,
    ) -> None:
        """`place` is the workspace that is kept; None for one that goes with the run. `doors` lead to the gate."""
        self._doors = doors
        self._place = place
        self._job = job
        self._tool = tool
        self._launcher = launcher
        self._setting = setting
        self._measured = measured
        self._loop = asyncio.get_running_loop()
        self._begun: asyncio.Future[None] = self._loop.create_future()
        self._result: asyncio.Future[Result] = self._loop.create_future()
        self._asked = StopSignal()
        self._transcript = Transcript(job.limits.output_bytes, budget=job.budget)
        # Not a daemon: a thread that ends takes bubblewrap along, and nothing is left half removed.
        self._thread = threading.Thread(target=self._work, name=f"run {job.id}")

    @property
    def transcript(self) -> Transcript:
        return self._transcript

    async def begin(self) -> None:
        """Start the thread and wait until the code runs or has failed to start. Raises KnownError."""
        self._thread.start()
        await asyncio.shield(self._begun)

    async def finished(self) -> Result:
        return await asyncio.shield(self._result)

    async def ended(self) -> None:
        """Wait for the end of the run, whatever its result."""
        await asyncio.wait({self._result})

    def on_end(self, function: Callable[[LocalRun], object]) -> None:
        """Call `function` on the loop when the run is over."""
        self._result.add_done_callback(lambda _: function(self))

    def stop(self, why: str) -> None:
        self._asked.give(why)

    # ---- in the thread ----

    def _work(self) -> None:
        result: Result | BaseException
        try:
            result = verdict.refused(self._job, self._setting) or self._ran()
        except BaseException as error:  # handed over, never lost
            result = error
        # First of all: whoever hears that the run is over finds nothing of it.
        self._transcript.end()
        self._asked.close()
        if isinstance(result, BaseException):
            self._post(_fail, self._begun, result)
            self._post(_fail, self._result, result)
        else:
            self._post(_settle, self._begun, None)
            self._post(_settle, self._result, result)

    def _ran(self) -> Result:
        name = leftovers.new_name()
        channel = report.open_channel(report.limit(self._job))
        try:
            child = self._start(name, channel)
        except languages.BadContext as error:
            os.close(channel)
            return verdict.not_run(self._job, self._setting, f"{error}\n", str(error))
        except (OSError, KnownError) as error:
            os.close(channel)
            self._close_doors()
            if isinstance(error, KnownError):
                raise
            if installed.replaced():
                why, remedy = "Assent was removed or updated while it was open", "Quit it, and start it again."
            else:
                why, remedy = str(error), "Free memory or disk space."
            raise KnownError(f"The run could not be started: {why}.", remedy) from error
        began = time.time()
        try:
            self._post(_settle, self._begun, None)
            ended = Watch(child, self._job.limits, self._transcript, self._asked, self._publish).run()
            result = verdict.result(
                self._job, self._setting, self._transcript, ended, report.read(channel, report.limit(self._job))
            )
            return self._with_files(result, child, began)
        finally:
            os.close(channel)
            if child.left is not None:
                child.left.close()
            child.clean()
            self._close_doors()
            self._tidy(name)

    def _start(self, name: str, channel: int) -> Child:
        """Start the program. Raises KnownError, OSError, and BadContext for variables that the language cannot take."""
        job, tool, place = self._job, self._tool, self._place
        identity = self._launcher.identity if place is None else place.identity
        view = self._view(name)
        certificates, network = self._network(view)
        with _input(job.stdin) as stdin, _archives(job.bundle) as packages:
            program = Program(
                name=name,
                code=(starter.main_name(job.language, view), job.code.encode("utf-8", "surrogatepass")),
                inside=starter.files(job, tool, view, channel, identity, packages) | certificates,
                command=starter.command(job, tool, view, identity),
                environment=starter.environment(job, tool, view) | network | {leftovers.MARKER: name},
                limits=job.limits,
                stdin=stdin,
                inherited=(
                    *((channel,) if job.language is Language.PYTHON else ()),
                    *((packages,) if job.bundle is not None else ()),
                ),
                identity=identity,
                folders=tool.folders,
                collected=job.collect is not None,
                kept="" if place is None else place.workspace if place.layer is None else place.layer.path,
                layer=None if place is None else place.layer,
                code_folder=view.code,
                doors=self._doors,
                unused=tool.unused,
            )
            return self._launcher.start(program)

    def _network(self, view: View) -> tuple[dict[str, bytes], dict[str, str]]:
        """Return the file with certificates and the variables that lead to the gate; nothing without network."""
        if self._doors is None:
            return {}, {}
        bundle = networked.bundle()
        path = f"{view.inside}/{CERTIFICATES}" if bundle else ""
        return ({CERTIFICATES: bundle} if bundle else {}), networked.variables(path)

    def _view(self, name: str) -> View:
        """In a workspace that is kept the code stands under a name that nothing in there can have taken before."""
        view = self._launcher.view(name)
        if self._place is None:
            return view
        if self._place.layer is not None:
            # Files of a project such as `.bash_profile` and `.curlrc` are nobody's settings.
            view = replace(view, own_home=view.temporary)
        if self._place.layer is not None and self._job.language is not Language.JAVASCRIPT:
            return replace(view, code=view.inside)
        # JavaScript finds modules from where it stands itself.
        return replace(view, main=f".{name}")

    def _tidy(self, name: str) -> None:
        if self._place is not None and not self._view(name).code:
            files.remove(self._place.workspace, starter.main_name(self._job.language, self._view(name)))

    def _with_files(self, result: Result, child: Child, began: float) -> Result:
        """With what the run, which began then, has created, now that nothing of it is alive."""
        if self._job.collect is None or child.left is None:
            return result
        collector = FileCollector(self._job.collect)
        collector.began = began
        child.left.collect(collector)
        return replace(result, files=collector.files, files_left_out=collector.left_out)

    def _close_doors(self) -> None:
        if self._doors is not None:
            self._doors.close()

    def _publish(self, usage: Usage) -> None:
        self._post(self._measured, usage)

    def _post(self, function: Callable[..., object], *arguments: object) -> None:
        """Call `function` on the loop; nothing where the loop is closed."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function, *arguments)


def _settle(future: asyncio.Future[object], value: object) -> None:
    if not future.done():
        future.set_result(value)


def _fail(future: asyncio.Future[object], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
        future.exception()  # looked at: whoever waits still gets it, and nobody is warned about the other one


@contextlib.contextmanager
def _archives(bundle: Bundle | None) -> Iterator[int]:
    """The archives of `bundle` one after the other as a descriptor; nothing can be written to it."""
    if bundle is None:
        yield -1
        return
    with open(os.memfd_create("packages", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING), "w+b") as file:
        for archive in bundle.archives:
            file.write(archive.data)
        file.seek(0)
        fcntl.fcntl(file, fcntl.F_ADD_SEALS, SEALS)
        yield file.fileno()


@contextlib.contextmanager
def _input(text: str) -> Iterator[int]:
    """Standard input as a descriptor: a file in memory, so nobody has to feed it.

    Nothing can be written to it: what code put there would count for no limit of the run.
    """
    if not text:
        yield subprocess.DEVNULL
        return
    with open(os.memfd_create("stdin", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING), "w+b") as file:
        file.write(text.encode("utf-8", "replace"))
        file.seek(0)
        fcntl.fcntl(file, fcntl.F_ADD_SEALS, SEALS)
        yield file.fileno()
