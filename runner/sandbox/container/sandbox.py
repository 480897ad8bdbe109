"""The container sandbox: one for gVisor (runsc) and for Docker (runc), whose difference is a field (spec X1, X3)."""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from runner.model.behaviour import NEVER_REPORTED
from runner.model.errors import KnownError
from runner.model.request import ALL_LIMITS, Isolation, Language, Limits
from runner.model.result import Outcome
from runner.network.loop import NetworkLoop
from runner.sandbox import languages, networked, verdict
from runner.sandbox.container import needed_images, over_project, starter, trial
from runner.sandbox.container.container import Container, remove
from runner.sandbox.container.exec import ExecContainer
from runner.sandbox.container.failures import Denied, EngineGone, EngineHangs
from runner.sandbox.container.own_profiles import OwnProfiles
from runner.sandbox.container.pool import Pool
from runner.sandbox.container.relay import CERTIFICATES, relayed
from runner.sandbox.container.run import LOST_SECONDS, ContainerRun, SettledRun, not_started
from runner.sandbox.container.runtimes import runtimes
from runner.sandbox.container.session import ContainerSession
from runner.sandbox.container.shape import HOST_LABEL, RUN_LABEL, ContainerProfiles, Shape, host
from runner.sandbox.contract import Bounds, Job, Readiness
from runner.sandbox.local import leftovers
from runner.sandbox.local.session import gone
from runner.sandbox.verdict import Setting
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence

    from runner.model.result import Usage
    from runner.sandbox.container.engine import ContainerEngine
    from runner.sandbox.container.pool import Warmth
    from runner.sandbox.contract import ProjectLayer, Run

PROTECTIONS = {
    Isolation.GVISOR: ("kernel of its own (gVisor)",),
    Isolation.GVISOR_DIRECT: ("kernel of its own (gVisor, without a container engine)",),
    Isolation.DOCKER: ("system calls filtered (seccomp)",),
}
NO_NETWORK = "no network"
ALWAYS = (
    "container of its own, removed afterwards",
    NO_NETWORK,
    over_project.NO_HOST,
    over_project.ORDINARY,
    over_project.IN_MEMORY,
    ALL_LIMITS,
)
WATCHED_LIMITS = "time, process and output limits, memory watched: a run above its limit is ended"
"""In place of ALL_LIMITS where the kernel does not hold a container to all of them."""
UNREPORTED = "a report of what code does: {}"
OF_PODMAN = "BuildahVersion"
"""What only Podman says of itself, where it answers in place of Docker."""
PODMAN = (
    "What answers in place of Docker is Podman: its interface takes neither a filter of system calls nor an owner for "
    "a workspace in memory (tried with Podman 4.3), and without them no code is run.",
    "Start the Docker daemon, install runsc, or set SANDBOX_TYPE=local.",
)
PING_SECONDS = 2.0
"""An engine that takes longer to say that it is there counts as hanging."""
TRIAL_SECONDS = 20.0
CLOSING_SECONDS = 0.7
"""For stopped runs to be over at the end; the whole way out has 2 s."""
CLOSING = "Stopped: the console is closing"


class FindEngine(Protocol):
    """A way to find the engine again."""

    def __call__(self, before: ContainerEngine | None, /) -> ContainerEngine:
        """Return the engine, `before` where that is still the one. Raises KnownError where none can be named."""
        ...


class ContainerSandbox:
    """Runs code in containers of an engine, which it is given or finds.

    `images` names one for each language. Nothing here is bound to a loop between two runs.
    """

    def __init__(
        self,
        isolation: Isolation,
        images: Mapping[Language, str],
        engine: ContainerEngine | FindEngine,
        *,
        own: bool = False,
        profiles: OwnProfiles | None = None,
    ) -> None:
        """`engine` is closed by whoever made it unless it is this one's `own`; one that is found is its own.

        Nothing is run where `profiles` has one for these containers that cannot be enforced.
        """
        self._find = engine if callable(engine) else None
        self._isolation = isolation
        self._images = dict(images)
        self._given = None if callable(engine) else engine
        self._own = own or callable(engine)
        self._runtime = ""
        self._own_profiles = profiles or OwnProfiles()
        self._profiles = ContainerProfiles()
        self._readiness: Readiness | None = None
        self._runs: set[ContainerRun] = set()
        self._pool: Pool | None = None
        self._sessions: weakref.WeakSet[ContainerSession] = weakref.WeakSet()
        self._network = NetworkLoop()
        self._left: set[str] = set()
        """Containers that could not be removed while the engine was away."""
        self.listeners: set[Callable[[], None]] = set()

    @property
    def isolation(self) -> Isolation:
        return self._isolation

    async def check(self) -> Readiness:
        """Find engine, runtime and images, and run a test. The result is remembered once it works."""
        ready = self._readiness or await self.examine()
        news = await self._own_profiles.news(self._isolation) if ready.ready else ""
        return replace(ready, missing=(news, *ready.missing)) if news else ready

    async def examine(self) -> Readiness:
        """Return the same, examined now whatever was found before; runs use the earlier result meanwhile."""
        try:
            await self._follow_engine()
            self._readiness = await self._examine()
        except KnownError as error:
            self._readiness = None
            hangs = isinstance(error, EngineHangs)
            return Readiness(False, problem=error.what, remedy=error.remedy, unanswered=hangs)
        except Denied as error:
            self._readiness = None
            who = "gVisor" if self._isolation is Isolation.GVISOR_DIRECT else "The container engine"
            return Readiness(False, problem=f"{who} refuses: {error.message}", remedy="Open Doctor.")
        return self._readiness

    async def start(self, job: Job, measured: Callable[[Usage], None]) -> ContainerRun | SettledRun:
        return await self._started(job, await self._checked(), measured)

    async def protections_over(self, *, mounted: bool) -> tuple[str, ...]:
        ready = await self._checked()
        return over_project.protections(self._isolation, self._client(), ready.protections, mounted=mounted)

    async def start_over(self, job: Job, layer: ProjectLayer, measured: Callable[[Usage], None]) -> Run:
        protections = await self.protections_over(mounted=layer.mounts is not None)
        ready = replace(await self._checked(), protections=protections)
        run = await self._started(job, ready, measured, layer=layer)
        if isinstance(run, ContainerRun):
            run.on_end(lambda _: over_project.tidy(layer, job))
        return run

    async def open(self, language: Language, limits: Limits, image: str, agent: str = "") -> ContainerSession:
        """Create a kept container. Raises KnownError."""
        ready = await self._checked()
        job = Job("", language, "", limits, image=image)
        shape = self._shape(self._setting(job, ready).image, language, limits)
        session = ContainerSession(self._client(), shape.container, self._started_in, ready.protections)
        try:
            await session.open()
        except BaseException:
            self._left.add(session.name)  # an engine that was slow to make it may still do so
            raise
        self._sessions.add(session)
        return session

    async def _started_in(
        self, job: Job, measured: Callable[[Usage], None], session: ContainerSession
    ) -> ContainerRun | SettledRun:
        """Raises KnownError."""
        job = replace(job, image=session.shape.image)
        return await self._started(job, await self._checked(), measured, session)

    async def _checked(self) -> Readiness:
        """Raises KnownError where the sandbox does not work."""
        ready = await self.check()
        if not ready.ready:
            raise KnownError(ready.problem, ready.remedy)
        return ready

    async def _started(
        self,
        job: Job,
        ready: Readiness,
        measured: Callable[[Usage], None],
        session: ContainerSession | None = None,
        layer: ProjectLayer | None = None,
    ) -> ContainerRun | SettledRun:
        """Raises KnownError."""
        networked.check(job)
        client, setting = self._client(), self._setting(job, ready)
        if result := verdict.refused(job, setting):
            return SettledRun(job, result)
        try:
            certificates = networked.bundle() if job.gate is not None else b""
            path = CERTIFICATES if certificates else ""
            orders = starter.orders(job, reserved=self._isolation.is_gvisor, certificates=path)
        except languages.BadContext as error:
            return SettledRun(job, verdict.not_run(job, setting, f"{error}\n", str(error)))
        self._tidy_up()
        bounds = None if job.collect is None or session is not None else job.collect.bounds
        shape = self._shape(setting.image, job.language, job.limits, bounds).container
        if layer is not None:
            shape = replace(shape, project=over_project.bound(layer), main=over_project.main(job))
        container = await (self._container(shape) if session is None else self._executed(shape, session))
        try:
            if layer is not None:
                await over_project.require_shown(client, container.id, layer)
            relay = await relayed(job, client, container, self._network, certificates)
        except BaseException:
            self._forget(container, await container.remove())
            raise
        run = ContainerRun(job, orders, container, client, setting, measured, self._forget, relay)
        self._runs.add(run)
        self._count()
        run.on_end(self._over)
        return run

    async def warm(
        self, languages: Iterable[Language], limits: Limits, size: int, bounds: Bounds | None = None
    ) -> None:
        """Keep `size` containers ready for each of `languages` from now on; runs with other limits start cold.

        `bounds` are those of the files that runs leave; None where none are collected.

        Does nothing where the sandbox does not work. Belongs to the loop it is called on.
        """
        ready = await self.check()
        if self._pool is None:
            self._pool = Pool(self._waiting, self._forget)
        there = [(language, ready.images[language]) for language in languages if language in ready.images]
        shapes = [self._shape(image, language, limits, bounds) for language, image in there]
        self._pool.keep([shape.container for shape in shapes], size)

    def cool(self) -> None:
        """Stop keeping containers ready."""
        if self._pool is not None:
            self._pool.keep((), 0)

    @property
    def warmth(self) -> Warmth | None:
        """The state of the warm pool; None without one."""
        return None if self._pool is None else self._pool.warmth

    async def sweep(self) -> tuple[str, ...]:
        """Remove the containers of consoles that are gone, and what was left when the engine went away."""
        try:
            return await self._sweep(self._client())
        except (KnownError, Denied):
            return ()

    async def close(self) -> None:
        """Stop every run. An engine that does not answer causes no wait: leftovers are removed at the next start."""
        runs = list(self._runs)
        for run in runs:
            run.stop(CLOSING)
        ends: list[Coroutine[Any, Any, object]] = [run.finished() for run in runs]
        ends += [session.close() for session in self._sessions]
        if self._pool is not None:
            ends.append(self._pool.close())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_SECONDS):
                await asyncio.gather(*ends, return_exceptions=True)
        for run in list(self._runs):
            run.abandon()
            await run.finished()
        self._network = await networked.ended(self._network)
        if self._own and self._given is not None:
            await self._given.close()

    # ---- examination of this machine ----

    def _client(self) -> ContainerEngine:
        """Return the client of the engine. Raises KnownError where its address cannot be found."""
        if self._given is None:
            assert self._find is not None
            self._given = self._find(None)
        self._given.listeners.update(self.listeners)
        return self._given

    async def _follow_engine(self) -> None:
        """Let go of the client of an engine that did not work, where the engine is to be found elsewhere now.

        One without root has a socket of its own only once it has been started. Raises KnownError.
        """
        busy = self._readiness is not None or self._runs or any(session.alive for session in self._sessions)
        client = self._given
        if self._find is None or client is None or busy:
            return
        self._given = self._find(client)
        if self._given is not client:
            await client.close()

    async def _examine(self) -> Readiness:
        """Examine engine, runtime and images. Raises KnownError and Denied."""
        client = self._client()
        info = await client.call(lambda api: api.info(), PING_SECONDS)
        if OF_PODMAN in info:
            raise KnownError(*PODMAN)
        named = await runtimes(client, self._isolation, info.get("Runtimes") or {})
        ids, absent = await needed_images.find(client, self._images)
        command = needed_images.remedy(
            self._isolation, (name for language, name in self._images.items() if language not in ids)
        )
        if not ids:
            problem = f"There is no image to run code in: {absent[0]}."
            return Readiness(False, problem=problem, remedy=command)
        direct = self._isolation is Isolation.GVISOR_DIRECT
        versions = {"runsc" if direct else "engine": str(info.get("ServerVersion", ""))}
        limits = WATCHED_LIMITS if client.unbound else ALL_LIMITS
        protections = (*PROTECTIONS[self._isolation], *(limits if one is ALL_LIMITS else one for one in ALWAYS))
        protections, inactive = await self._enforced(info, protections)
        packages = f"What the image {self._images[Language.PYTHON]} holds." if Language.PYTHON in ids else ""
        ready = Readiness(True, protections, (), versions, packages, remedy=command, images=ids)
        versions |= await self._tried_with(named, ready, client)
        silent = self._isolation is Isolation.GVISOR and client.unreported
        silence = (UNREPORTED.format(client.unreported),) if silent else ()
        return replace(ready, missing=(*absent, *client.unbound, *silence, *inactive))

    async def _enforced(
        self, info: Mapping[str, Any], protections: tuple[str, ...]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Take up the person's profiles; return what protects with them, and which say nothing here.

        Raises KnownError where one cannot be enforced.
        """
        self._profiles, more = await self._own_profiles.taken(self._isolation, info)
        inactive = self._own_profiles.inactive(self._isolation)
        first = PROTECTIONS[self._isolation]
        return (*more(first[0]), *(one for one in protections if one not in first)), inactive

    async def _tried_with(self, named: Sequence[str], ready: Readiness, client: ContainerEngine) -> dict[str, str]:
        """Settle on the first of these runtimes with which a trial works; as `_tried`."""
        for name in named[:-1]:
            self._runtime = name
            try:
                return await self._tried(ready, reports=True)
            except EngineHangs:
                raise
            except KnownError:
                await client.report_no_more()
        self._runtime = named[-1]
        return await self._tried(ready)

    async def _tried(self, ready: Readiness, *, reports: bool = False) -> dict[str, str]:
        """Return the version of one interpreter, found by running something in it. Raises KnownError.

        It is raised also where the runtime is one that `reports` what code does, and says nothing.
        """
        language = next(language for language in Language if language in ready.images)
        job = Job("trial", language, trial.code(language), Limits(seconds=TRIAL_SECONDS))
        result = await (await self._started(job, ready, lambda _usage: None)).finished()
        if result.outcome is not Outcome.OK:
            # An engine that was lost in the middle may be back in a moment: that says nothing of the sandbox.
            failure = EngineHangs if result.outcome is Outcome.ENGINE_LOST else KnownError
            what, remedy = trial.problem(self._isolation, result)
            raise failure(f"{self._own_profiles.during(self._profiles)}{what}", remedy)
        if reports and (result.observed is None or result.observed.gap == NEVER_REPORTED):
            raise KnownError("The runtime does not report what code does.", "Open Doctor.")
        return {language.value: result.meta.versions.get(language.value, "")}

    def _shape(self, image: str, language: Language, limits: Limits, bounds: Bounds | None = None) -> Shape:
        return Shape(self._isolation, self._runtime, image, language, limits, bounds, profiles=self._profiles)

    def _setting(self, job: Job, ready: Readiness) -> Setting:
        """Raises KnownError where there is no image for the language."""
        if not (image := job.image or ready.images.get(job.language, "")):
            name = self._images.get(job.language, job.language.value)
            raise KnownError(
                f"The image {name} is not there.", f"Get it with: {needed_images.remedy(self._isolation, [name])}"
            )
        return Setting(networked.protections(ready.protections, job, NO_NETWORK), {}, self._isolation, image)

    # ---- containers ----

    async def _container(self, shape: Shape) -> Container:
        """Return one that waits, else a new one. Raises KnownError."""
        warm = self._pool.take(shape) if self._pool is not None else None
        return warm or await self._opened(shape)

    async def _executed(self, shape: Shape, session: ContainerSession) -> ExecContainer:
        """In the container of `session`. Raises KnownError."""
        container = ExecContainer(self._client(), shape, session.id)
        try:
            await container.open()
        except Denied as error:
            raise gone() from error
        session.holds(container)
        return container

    async def _waiting(self, shape: Shape) -> Container:
        """Return a new one, once its interpreter waits. Raises KnownError."""
        container = await self._opened(shape)
        try:
            await container.ready()
            await container.pid()  # asked now, as the question would slow the run
        except (EOFError, OSError, Denied) as error:
            self._forget(container, await container.remove())
            raise KnownError(f"A container did not start: {error}.", "Open Doctor.") from error
        except BaseException:
            self._forget(container, await container.remove(LOST_SECONDS))
            raise
        return container

    async def _opened(self, shape: Shape) -> Container:
        """Raises KnownError."""
        container = Container(self._client(), shape)
        try:
            await container.open()
        except Denied as error:
            raise not_started(error, shape.image) from error
        except (EngineGone, asyncio.CancelledError):
            self._forget(container, False)  # an engine that did not answer may still make it
            raise
        return container

    def _over(self, run: ContainerRun) -> None:
        self._runs.discard(run)
        self._count()

    def _count(self) -> None:
        if self._pool is not None:
            self._pool.runs(len(self._runs))

    def _forget(self, container: Container, gone: bool) -> None:
        if not gone:
            self._left.add(container.name)

    def _tidy_up(self) -> None:
        """The engine is back: remove what could not be removed while it was away."""
        if self._left:
            spawn("sweep", self.sweep())

    async def _sweep(self, client: ContainerEngine) -> tuple[str, ...]:
        wanted = {"label": [f"{HOST_LABEL}={host()}"]}
        listed = await client.call(lambda api: api.containers(all=True, filters=wanted), PING_SECONDS)
        removed: list[str] = []
        for one in listed:
            name = _run_of(one)
            if (name in self._left or not leftovers.owner_lives(name)) and await remove(client, str(one["Id"])):
                removed.append(name)
        self._left &= set(map(_run_of, listed)) - set(removed)
        return tuple(sorted(removed))


def _run_of(listed: Mapping[str, Any]) -> str:
    return str(listed["Labels"].get(RUN_LABEL, ""))
