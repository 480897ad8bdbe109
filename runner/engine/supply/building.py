"""Builds packages of an approved plan: each in a sandbox of its own that holds nothing of the agent's."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.model.events import RunMeasured
from runner.model.language_support import packages_of
from runner.model.request import NetworkMode, Tool
from runner.model.result import Outcome
from runner.packages.building import OUT, asked_for
from runner.packages.failures import Unusable
from runner.sandbox.contract import Bounds, Collect, Job
from runner.sandbox.programs import inside
from runner.system.plain_file import read_file
from runner.system.private_folder import make_folder

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from runner.engine.supply.networking import Networking
    from runner.model.plan import PlannedPackage
    from runner.model.record import Record
    from runner.model.request import Request
    from runner.model.result import Result, Usage
    from runner.network.gate import Gate
    from runner.packages.building import BuildWork, PlanBuild
    from runner.packages.installing import Built
    from runner.packages.target import NodeTarget, PythonTarget
    from runner.settings.loading import Settings
    from runner.system.places import Places

    Target = PythonTarget | NodeTarget
    RunJob = Callable[[str, Job], Awaitable[Result]]

BUILT = "package-built"
"""Kind of ledger entries: which package was built, and the hash of what was made."""
MOST_FILES = 20
"""Files that a build may leave: what it was made for is one."""
LONGEST_END = 1_500
"""Characters of the end of a failed build's output that its error repeats."""
MOST_HOSTS = 8
NOTHING = "Nothing was installed."


class BuildFailed(KnownError):
    """A package could not be built; `result` is the run that failed."""

    def __init__(self, package: PlannedPackage, why: str, result: Result) -> None:
        what = f"{package.title} could not be built: {why}."
        end = "\n".join(filter(None, (_end(result), _hosts(result))))
        super().__init__(what, f"{NOTHING}\n{end}" if end else NOTHING)
        outcome = Outcome.FAILED if result.outcome is Outcome.OK else result.outcome
        self.result = replace(result, outcome=outcome, error=f"{what} {NOTHING}", exit_code=result.exit_code or 1)


class PackageBuilder:
    """Builds packages. Every method is called on the engine's loop."""

    def __init__(
        self, places: Places, settings: Callable[[], Settings], networking: Networking, record: Record
    ) -> None:
        self._folder = places.state / "building"
        self._settings = settings
        self._networking = networking
        self._record = record
        self._results: dict[str, Result] = {}
        self._begun: dict[str, float] = {}
        """When the first build of a request has begun, by `time.monotonic`."""
        self._swept = False

    async def build(self, request: Request, building: PlanBuild, target: Target, run: RunJob) -> dict[str, Built]:
        """Return what was built for the plan of `request`, by the places of its packages.

        `run` runs the build of the package that it names in a sandbox that is made for it, so that a person can see and
        stop it. Raises KnownError, which is
        BuildFailed for a package that cannot be built.
        """
        self._begun[request.id] = time.monotonic()
        try:
            order = await asyncio.to_thread(building.order)
            gate = await self._networking.open_to_build(request)
            for package in order:
                try:
                    built = await self._built(request, building, package, target, gate, run)
                except BuildFailed as failure:
                    # What works without it is installed without it, as npm does.
                    if not package.optional or failure.result.outcome is Outcome.KILLED:
                        raise
                    body = {"package": package.title, "problem": failure.what}
                else:
                    body = {"package": package.title, "file": built.file, "sha256": built.sha256}
                await self._record.note(BUILT, request.id, body)
        except Unusable as error:
            raise KnownError(f"The packages cannot be built: {error}.", NOTHING) from error
        finally:
            del self._begun[request.id]
            if request.tool is not Tool.CODE_EXECUTE:
                self._networking.close(request.id)
        return building.built

    def measured(self, request: Request, usage: Usage) -> None:
        """Take a reading of a build; that ends the hosts of grants whose time is over, too."""
        usage = self._networking.reading(request.id, usage)
        begun = self._begun.get(request.id)
        if begun is not None and request.tool is not Tool.CODE_EXECUTE:
            at = round(time.monotonic() - begun, 3)
            self._record.publish(RunMeasured(request.id, replace(usage, at=at)))

    def taken(self, request_id: str) -> Result | None:
        """Return the latest build of a request that runs no code, once; None where there was none."""
        return self._results.pop(request_id, None)

    async def _built(
        self,
        request: Request,
        building: PlanBuild,
        package: PlannedPackage,
        target: Target,
        gate: Gate,
        run: RunJob,
    ) -> Built:
        """Raises BuildFailed, KnownError and Unusable."""
        work = await asyncio.to_thread(building.work, package)
        try:
            folder = await asyncio.to_thread(self._draft)
        except OSError as error:
            raise KnownError(f"There is no folder for what is built: {error}.", "Free disk space.") from error
        try:
            result = await run(package.title, self._job(request, work, gate, folder))
            result = self._networking.finished(request.id, result)
            files = await asyncio.to_thread(_left, folder, result)
            result = replace(result, files=(), files_left_out="", value=None)
            try:
                if why := _why(result, files, self._settings().package_build_seconds):
                    raise BuildFailed(package, why, result)
                built = await asyncio.to_thread(building.accept, package, files, target)
            except Unusable as error:
                raise BuildFailed(package, str(error), result) from error
            self._note(request, result)
            return built
        except BuildFailed as failure:
            self._note(request, failure.result)
            raise
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    def _note(self, request: Request, result: Result) -> None:
        if request.tool is not Tool.CODE_EXECUTE:
            self._results[request.id] = result

    def _job(self, request: Request, work: BuildWork, gate: Gate, folder: Path) -> Job:
        settings, support = self._settings(), packages_of(work.language)
        assert support is not None
        most = settings.package_file_mb << 20
        return Job(
            agent=request.agent,
            id=request.id,
            language=work.language,
            code=inside(support.builder),
            limits=replace(request.limits, seconds=settings.package_build_seconds),
            context=json.dumps({"build": dict(work.values)}),
            own_modules=False,
            bundle=work.bundle,
            packages=work.modules,
            network=NetworkMode.DOMAINS,
            gate=gate,
            image=request.image,
            collect=Collect(folder, Bounds(MOST_FILES, most, most)),
        )

    def _draft(self) -> Path:
        """Create and return a folder for what is built. Raises OSError."""
        if not self._swept:  # what a console that was killed has left
            shutil.rmtree(self._folder, ignore_errors=True)
            self._swept = True
        make_folder(self._folder)
        return Path(tempfile.mkdtemp(dir=self._folder))


def _left(folder: Path, result: Result) -> dict[str, bytes]:
    """Return what a build has left in its folder for that, by name; the rest is of no interest."""
    found = {}
    for file in result.files:
        above, _, name = file.path.rpartition("/")
        if above != OUT:
            continue
        try:
            data = read_file(folder / file.sha256, file.size)
        except OSError:
            continue
        if hashlib.sha256(data).hexdigest() == file.sha256:
            found[name] = data
    return found


def _why(result: Result, files: Mapping[str, bytes], seconds: float) -> str:
    """Return why a build has failed, as the end of a sentence; empty where it has not."""
    match result.outcome:
        case Outcome.OK:
            return ""
        case Outcome.TIMED_OUT:
            return f"it took longer than {seconds:g} s"
        case Outcome.FAILED if missing := asked_for(files):
            return f"its build asks for {', '.join(missing)}, which was not listed before, so it was not approved"
        case Outcome.FAILED:
            return f"its build ended with exit code {result.exit_code}"
        case other:
            return result.error.rstrip(".") or other.value


def _end(result: Result) -> str:
    """Return the end of what a build has written, errors last."""
    written = "\n".join(filter(None, (result.stdout.strip(), result.stderr.strip())))
    return f"The end of its output:\n{written[-LONGEST_END:]}" if written else ""


def _hosts(result: Result) -> str:
    """Return which hosts a build was refused, and how they can be had."""
    refused = [f"{one.host}:{one.port}" for one in result.contacts if one.allowed is False][:MOST_HOSTS]
    if not refused:
        return ""
    how = "ask again with network_enabled, and allowed_domains for other hosts than the package registries"
    return f"It was refused {', '.join(refused)}. If it needs them, {how}."
