"""The sandbox of a service that speaks E2B's API: containers of its engine, examined from inside."""

from __future__ import annotations

import asyncio
import contextlib
import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.model.request import PROMISED, Isolation, Language, Limits
from runner.model.result import Outcome
from runner.sandbox.container import copying
from runner.sandbox.container.container import create, remove
from runner.sandbox.container.run import SettledRun
from runner.sandbox.container.sandbox import NO_NETWORK, ContainerSandbox
from runner.sandbox.container.shape import Shape, config
from runner.sandbox.contract import Readiness
from runner.sandbox.local import leftovers
from runner.sandbox.remote.calls import LIFE_SECONDS
from runner.sandbox.remote.carried import CarriedRun
from runner.sandbox.remote.engine import E2BEngine
from runner.sandbox.remote.quota import Quota

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from pathlib import Path

    from runner.model.result import Result, Usage
    from runner.sandbox.container.run import ContainerRun
    from runner.sandbox.container.session import ContainerSession
    from runner.sandbox.contract import Bounds, Job, ProjectLayer
    from runner.sandbox.remote.calls import RemoteCalls
    from runner.sandbox.remote.service import Service
    from runner.sandbox.workspace_copy import WorkspaceCopy

LEAST = {Language.PYTHON: (3, 11), Language.JAVASCRIPT: (20, 0), Language.SHELL: (5, 0)}
"""Versions of interpreters, as everywhere else."""
VERSION = re.compile(r"v?([0-9]{1,4})\.([0-9]{1,4})[0-9A-Za-z.()+-]{0,60}")
LONGEST = 80
"""Characters that are shown of one thing that a sandbox says."""
AS_OTHER = "ordinary user without privileges, who cannot become root again"
MEMORY_FILES = "its files end with it"
CARRY_SECONDS = 300.0
"""For files to be sent, and for them to come back; a network may be slow."""
REMAINS = "{} did not answer when the sandbox was to be removed: it ends by itself within {} minutes."
INPUT_SECONDS = 8.0
"""For a word to come back from a program there."""
WORD = b"assent"
LEFT = "Of what it changed there some stays out: {}."
NOT_MOUNTED = (
    "The layer of this working copy is mounted for the program at work alone, so its files cannot be sent to E2B. "
    "Nothing was run.",
    "Run it in the program's own shell; a program that is started with `assent work --copy` works over a copy, which "
    "can be sent.",
)
LIMITS = "time, process and output limits, memory watched: a run above its limit is ended"


class E2BSandbox(ContainerSandbox):
    """Runs code in sandboxes of a service. Nothing is sent there before it is asked whether it works."""

    def __init__(self, service: Service, quota: Quota | None = None) -> None:
        """`quota` is what agents may use; by default there is no bound."""
        self.service = service
        self.quota = quota or Quota()
        self.engine = E2BEngine(service)
        images = dict.fromkeys(LEAST, service.template)
        super().__init__(Isolation.E2B, images, self.engine, own=True)

    async def warm(
        self, languages: Iterable[Language], limits: Limits, size: int, bounds: Bounds | None = None
    ) -> None:
        """Keep none ready: each costs from when it is made."""

    @property
    def remains(self) -> str:
        """Say of a sandbox that it was not removed."""
        return REMAINS.format(self.service.host, LIFE_SECONDS // 60)

    async def open(self, language: Language, limits: Limits, image: str, agent: str = "") -> ContainerSession:
        number = self.quota.begin(agent)
        try:
            session = await super().open(language, limits, image, agent)
        except BaseException:
            self.quota.end(number)
            raise
        session.costs(lambda: self.quota.end(number))
        return session

    async def carried(
        self,
        job: Job,
        files: WorkspaceCopy,
        folder: Path,
        left: tuple[str, ...],
        measured: Callable[[Usage], None],
        sent: Callable[[int, int], object] = lambda _done, _whole: None,
        taken: Callable[[CarriedRun, Result], Awaitable[Result]] | None = None,
    ) -> CarriedRun:
        """Start `job` over `files`, in a sandbox of its own that is removed afterwards. Raises KnownError.

        What is in the workspace at its end is copied to the disk of `folder`, without the folders `left` at its top.
        `sent` gets the bytes that have left and how many they are; `taken` as in `CarriedRun`.
        """
        session = await self.open(job.language, job.limits, job.image, job.agent)
        try:
            job.permit()  # it took a while, and now the files leave
            await copying.put_back(self.engine, session.id, folder, files, (), CARRY_SECONDS, sent)
            run = await session.start(job, measured)
        except BaseException:
            await asyncio.shield(session.close())
            raise

        async def fetched() -> WorkspaceCopy:
            return await copying.copy(self.engine, session.id, folder, left, CARRY_SECONDS)

        return CarriedRun(job.id, run, session, fetched, taken)

    async def protections_over(self, *, mounted: bool) -> tuple[str, ...]:
        if mounted:
            raise KnownError(*NOT_MOUNTED)
        return (await self._checked()).protections

    async def start_over(self, job: Job, layer: ProjectLayer, measured: Callable[[Usage], None]) -> CarriedRun:
        """As `start`. What is sent is what was asked about; what the code changes there is written into the layer."""
        protections = await self.protections_over(mounted=layer.mounts is not None)
        journey = layer.journey
        if journey is None:
            raise KnownError("Nobody has approved that files of the project are sent.", "Nothing was run. Ask again.")
        files = await asyncio.to_thread(journey.pack)

        async def taken(run: CarriedRun, result: Result) -> Result:
            said = run.lost
            with files, contextlib.nullcontext() if run.returned is None else run.returned as returned:
                try:
                    if returned is not None and (left := await asyncio.to_thread(journey.take_in, files, returned)):
                        said = LEFT.format(left)
                except KnownError as error:
                    said = error.what
            result = replace(result, meta=replace(result.meta, protections=protections))
            if run.remains:
                result = replace(result, stderr=f"{result.stderr}{self.remains}\n")
            return result if not said else _failed(result, said)

        try:
            return await self.carried(job, files, journey.folder, (), measured, taken=taken)
        except BaseException:
            files.close()
            raise

    async def _started(
        self,
        job: Job,
        ready: Readiness,
        measured: Callable[[Usage], None],
        session: ContainerSession | None = None,
        layer: ProjectLayer | None = None,
    ) -> ContainerRun | SettledRun:
        """As that of containers, within what the agent may use. One in a kept sandbox begins no other."""
        if session is not None:
            self.quota.check(job.agent)
            return await super()._started(job, ready, measured, session, layer)
        number = self.quota.begin(job.agent)
        try:
            run = await super()._started(job, ready, measured, None, layer)
        except BaseException:
            self.quota.end(number)
            raise
        if isinstance(run, SettledRun):
            self.quota.end(number)
        else:
            run.costs(lambda: self.quota.end(number))
        return run

    async def _examine(self) -> Readiness:
        """Raises KnownError and Denied."""
        await self.engine.asked(lambda api: api.info())
        image = str((await self.engine.asked(partial(_image, self.service.template)))["Id"])
        found = await self._probed(image)
        versions, missing = _interpreters(found, self.service.template)
        if not versions:
            raise KnownError(
                f"The template {self.service.template} at {self.service.host} has no interpreter that Assent can use.",
                "Name another one in e2b.template.",
            )
        if reached := [value for name, value in found if name == "reaches"]:
            raise KnownError(
                f"Sandboxes at {self.service.host} reach {', '.join(reached[:3])[:LONGEST]} although their network was "
                "asked to be off.",
                "Code is not sent there. Ask whoever runs the service, or take another sandbox.",
            )
        said = dict(found)
        if said.get("uid") != "0" or "leaves" not in said or "mounts" not in said:
            raise KnownError(
                f"Sandboxes of the template {self.service.template} at {self.service.host} cannot be prepared: "
                "programs there cannot be started as an ordinary user with a workspace of a limited size.",
                "It needs the programs of Debian's util-linux, and an account root that may mount.",
            )
        protections = (
            f"{PROMISED}{self.service.host}",
            NO_NETWORK,
            AS_OTHER,
            MEMORY_FILES,
            LIMITS,
        )
        if not self.engine.calls.tokens:
            missing.append("a token for each sandbox: the service gives none, so code may start programs as root there")
        of_template = f"What the template {self.service.template} holds."
        ready = Readiness(
            True,
            protections,
            (*missing, *self.engine.unbound),
            {"service": self.service.host, **{language.value: version for language, version in versions.items()}},
            of_template if Language.PYTHON in versions else "",
            images=dict.fromkeys(versions, image),
        )
        await self._tried(ready)
        return ready

    async def _require_input(self, id: str) -> None:
        """Raise KnownError where programs there get no input, so no code: finding that out by a run takes minutes."""
        said = b""
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(INPUT_SECONDS):
                said = await self.engine.echoed(id, WORD)
        if said != WORD:
            raise KnownError(
                f"{self.service.host} hands no input to programs in its sandboxes, so code cannot be sent there.",
                "Ask whoever runs the service: Assent needs SendInput of E2B's API.",
            )

    async def _probed(self, image: str) -> Sequence[tuple[str, str]]:
        """Return what a program of ours says of a sandbox from inside. Raises KnownError and Denied."""
        shape = Shape(Isolation.E2B, "", image, Language.SHELL, Limits(memory_mb=64, disk_mb=1)).container
        name = leftovers.new_name()
        id = ""
        try:
            id = await create(self.engine, config(shape, name), f"assent-{name}")
            found = await self.engine.asked(lambda api: api.probe(id))
            await self._require_input(id)
        finally:
            await asyncio.shield(remove(self.engine, id or f"assent-{name}"))
        if ("done", "yes") not in found:
            raise KnownError(
                f"The template {self.service.template} at {self.service.host} could not be examined.",
                "It needs sh, bash and the programs of Debian's util-linux and coreutils.",
            )
        return [(one, value[:LONGEST]) for one, value in found]


def _failed(result: Result, why: str) -> Result:
    """Return a result that says what did not come back: the agent must not count on it."""
    outcome = Outcome.FAILED if result.outcome is Outcome.OK else result.outcome
    error = f"{result.error.rstrip('.')}. {why}" if result.error else why
    return replace(result, outcome=outcome, error=error, stderr=f"{result.stderr}{why}\n")


def _image(name: str, api: RemoteCalls) -> dict[str, object]:
    return api.inspect_image(name)


def _interpreters(found: Sequence[tuple[str, str]], template: str) -> tuple[dict[Language, str], list[str]]:
    """Return the versions of those that can be used, and what is missing, in words."""
    versions: dict[Language, str] = {}
    missing: list[str] = []
    said = dict(found)
    for language, least in LEAST.items():
        match = VERSION.fullmatch(said.get(language.value, ""))
        if match is None:
            missing.append(f"{language.value}: the template {template} has none")
        elif (int(match[1]), int(match[2])) < least:
            missing.append(f"{language.value}: the template {template} has {match[0]}, too old")
        else:
            versions[language] = match[0].removeprefix("v")
    return versions, missing
