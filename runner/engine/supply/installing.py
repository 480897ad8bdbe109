"""Packages of approved requests: fetched, built where they have to be, and unpacked in the sandbox."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.engine.supply.planning import Planning
from runner.model.bundle import PYTHON_FOLDER
from runner.model.errors import KnownError
from runner.model.language_support import LANGUAGES, language_of
from runner.model.plan import Registry
from runner.model.result import Outcome
from runner.model.workspace import WORKSPACE
from runner.packages.building import PlanBuild
from runner.packages.installing import PackageSet
from runner.sandbox.contract import Job

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runner.engine.foundation.sandbox_choice import SandboxChoice
    from runner.engine.supply.building import PackageBuilder
    from runner.model.plan import Plan
    from runner.model.request import Language, Request
    from runner.model.result import Result, Usage
    from runner.packages.installing import Built, Prepared
    from runner.sandbox.contract import Run, Sandbox, Session
    from runner.sandbox.output import Transcript
    from runner.settings.loading import Settings
    from runner.system.places import Places

UNPACK_SECONDS = 120.0
"""For packages to be unpacked in a kept sandbox; in a run of its own that counts as the run's time."""
PARTLY = "Packages that were installed before have to be installed again."
UNTOUCHED = "Nothing was changed."
HOW = {
    Registry.PYPI: (
        f"Import them in Python code. Their commands are in {WORKSPACE}/{PYTHON_FOLDER}/bin. They are not found by "
        "other programs, such as a python3 that shell code starts."
    ),
    Registry.NPM: "Use require() or import in JavaScript code of this sandbox.",
}


def _unheard() -> None:
    """Take no notice that it begins."""


class Installing:
    """Prepares and unpacks packages. Every method is called on the engine's loop."""

    def __init__(
        self, places: Places, chosen: SandboxChoice, settings: Callable[[], Settings], builder: PackageBuilder
    ) -> None:
        self._builder = builder
        self.planning = Planning(places, lambda: chosen.sandbox, settings)
        self._stopped: dict[str, str] = {}
        """Requests that are installing, each with why it was stopped; '' where it was not."""
        self._unpacking: dict[str, Run] = {}
        self._builds: dict[str, tuple[str, Transcript]] = {}
        """Requests one of whose packages is being built: which one, and what its build writes."""

    async def prepared(self, request: Request, before: PackageSet | None, permit: Callable[[], None]) -> Prepared:
        """Return what the approved plan of `request` installs, held against its hashes, and built where it has to be.

        Call it inside `stoppable`. `permit` is called before anything is run. Raises KnownError.
        """
        plan = request.plan
        assert plan is not None
        before = before or PackageSet(plan.registry)
        built = await self._built(request, plan, before, permit) if plan.built else None
        return await self.planning.planner.prepare(request.agent, plan, before, built)

    async def _built(
        self, request: Request, plan: Plan, before: PackageSet, permit: Callable[[], None]
    ) -> dict[str, Built]:
        """Build what has to be built, in sandboxes that hold nothing of the agent's. Raises KnownError."""
        files = await self.planning.planner.files(request.agent, plan, before)
        target = await self.planning.target(request, language_of(plan.registry))

        async def run(title: str, job: Job) -> Result:
            sandbox = self.planning.sandbox(request)
            job = replace(job, permit=lambda: self._permit(request.id, permit))
            return await self._ran(request, sandbox, job, lambda usage: self._builder.measured(request, usage), title)

        return await self._builder.build(request, PlanBuild(plan, before, files), target, run)

    async def _ran(
        self, request: Request, place: Sandbox | Session, job: Job, measured: Callable[[Usage], None], built: str = ""
    ) -> Result:
        """Run a job so that `stop` reaches it; it builds the package `built`. Raises KnownError, also where stopped."""
        run = self._unpacking[request.id] = await place.start(job, measured)
        if built:
            self._builds[request.id] = built, run.transcript
        try:
            if why := self._stopped.get(request.id, ""):  # stopped while the sandbox started it
                run.stop(why)
            result = await run.finished()
        finally:
            del self._unpacking[request.id]
            self._builds.pop(request.id, None)
            run.transcript.release()
        if why := self._stopped.get(request.id, ""):
            raise KnownError(f"The installation was stopped: {why}", PARTLY)
        return result

    @contextmanager
    def stoppable(self, request: Request) -> Iterator[None]:
        """While `request` installs, `stop` reaches it."""
        self._stopped[request.id] = ""
        try:
            yield
        finally:
            del self._stopped[request.id]

    def stop(self, request_id: str, why: str) -> None:
        """Stop an installation, also one that has not come to its unpacking; nothing where there is none."""
        if request_id in self._stopped:
            self._stopped[request_id] = why
        if run := self._unpacking.get(request_id):
            run.stop(why)

    def build(self, request_id: str) -> tuple[str, Transcript] | None:
        """Return the package of a request that is being built, and the output of its build; None where none is.

        May be called on any thread.
        """
        return self._builds.get(request_id)

    @property
    def active(self) -> tuple[str, ...]:
        """Ids of the requests that are installing."""
        return tuple(self._stopped)

    @property
    def unpacking(self) -> tuple[Run, ...]:
        """What is unpacking now. May be read on any thread."""
        return tuple(self._unpacking.copy().values())

    async def unpack(
        self,
        session: Session,
        language: Language,
        request: Request,
        prepared: Prepared,
        permit: Callable[[], None],
        begins: Callable[[], None] = _unheard,
    ) -> None:
        """Unpack in a kept sandbox; `begins` is called before anything changes. Raises KnownError.

        Where that came after `begins`, nothing of it can be imported.
        """

        def permitted() -> None:
            self._permit(request.id, permit)
            begins()

        job = Job(
            id=request.id,
            language=language,
            code=LANGUAGES[language].idle,
            limits=replace(request.limits, seconds=UNPACK_SECONDS),
            own_modules=False,
            bundle=prepared.bundle,
            image=request.image,
            permit=permitted,
        )
        self._permit(request.id, permit)
        result = await self._ran(request, session, job, _unmeasured)
        if result.outcome is not Outcome.OK:
            said = " ".join(result.stderr.split())[-300:] or result.error
            raise KnownError(
                f"The packages could not be unpacked: {said}",
                PARTLY,
            )

    def _permit(self, request_id: str, permit: Callable[[], None]) -> None:
        """Raise NotPermitted where the approval counts no more, and KnownError where a person has stopped it."""
        permit()
        if why := self._stopped.get(request_id, ""):
            raise KnownError(f"The installation was stopped: {why}", UNTOUCHED)

    def facts(self, request: Request, prepared: Prepared) -> dict[str, object]:
        """Return the agent's answer about installed packages."""
        assert request.plan is not None
        found: dict[str, object] = {
            "sandbox_id": request.sandbox,
            "installed": {package.name: package.version for package in request.plan.packages},
            "import_names": list(prepared.after.names),
            "how_to_use": HOW[request.plan.registry],
        }
        if prepared.built:
            found["built"] = list(prepared.built)
        if unbuilt := [one.title for one in request.plan.built if one.title not in prepared.built]:
            found["could_not_be_built"] = unbuilt
        return {**found, "left_out": list(prepared.left_out[:20])} if prepared.left_out else found

    def close(self) -> None:
        self.planning.close()


def _unmeasured(_usage: Usage) -> None:
    """Take no notice of what it uses."""
