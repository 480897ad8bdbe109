"""Makes the plan for Python packages: resolves, fetches and looks into every file that would be installed."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from packaging.utils import canonicalize_name

from runner.model.plan import Plan, PlannedPackage, Registry
from runner.packages import index
from runner.packages.build_plan import plan_build
from runner.packages.client import origin_of
from runner.packages.failures import NoPlan, Unusable
from runner.packages.fetching import PlanFetching, together
from runner.packages.python_project import is_source, project
from runner.packages.python_resolver import Candidate, resolve
from runner.packages.sdist import Sdist
from runner.packages.wheel import Wheel, metadata
from runner.risk.rules.packages import mistaken_for

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping, Sequence

    from packaging.requirements import Requirement
    from packaging.version import Version

    from runner.model.plan import BuildFile, OwnProgram
    from runner.packages.cache import FileCache
    from runner.packages.client import RegistryClient
    from runner.packages.deadline import PlanDeadline
    from runner.packages.index import ProjectFile
    from runner.packages.limits import PlanLimits
    from runner.packages.python_project import Project
    from runner.packages.python_resolver import Resolved
    from runner.packages.target import PythonTarget
    from runner.packages.wheel import Metadata

EXPECTED_BYTES = 8 << 20
"""Size up to which a wheel is fetched before it is certain that it will be needed."""


class PythonSource:
    """Projects and wheels of one registry, for one plan. Blocks; used on one thread, whose loop `runner` drives."""

    def __init__(
        self,
        indexes: Sequence[str],
        client: RegistryClient,
        cache: FileCache,
        target: PythonTarget,
        limits: PlanLimits,
        deadline: PlanDeadline,
        runner: asyncio.Runner,
        known: Mapping[str, tuple[Requirement, ...]],
    ) -> None:
        """`indexes` count in their order; `known` are the requirements of what is installed already, by name."""
        self._indexes = _labels(indexes)
        self._client = client
        self._cache = cache
        self._target = target
        self._limits = limits
        self._deadline = deadline
        self._files = PlanFetching(client, cache, limits, deadline, runner)
        self._known = known
        self._projects: dict[str, Project | NoPlan] = {}
        self._metadata: dict[str, Metadata | NoPlan] = {}

    @property
    def indexes(self) -> tuple[str, ...]:
        """The indexes by name, in the order in which they count; none where there is only one."""
        return tuple(self._indexes.values()) if len(self._indexes) > 1 else ()

    # ---- for the resolver ----

    def project(self, name: str) -> Project:
        if name not in self._projects:
            self._files.complete(self._look_up([name]))
        found = self._projects[name]
        if isinstance(found, NoPlan):
            raise found
        return found

    def needs(self, candidate: Candidate) -> tuple[Requirement, ...]:
        if candidate.file is None:
            return self._known.get(candidate.name, ())
        return self.metadata(candidate.name, candidate.file).needs

    def check(self) -> bool:
        return self._deadline.check()

    def expect(self, requirements: Sequence[Requirement]) -> None:
        names = {canonicalize_name(one.name): one for one in requirements}
        fresh = [name for name in names if name not in self._projects and name not in self._known]
        if fresh:
            self._files.complete(self._look_up(fresh))
        likely = [file for name in fresh if (file := self._likely(name, names[name])) is not None]
        if likely:
            self._files.complete(self._describe(likely, only_small=True))

    def metadata(self, name: str, file: ProjectFile) -> Metadata:
        """Return what the wheel, or the source archive, `file` says of itself. Raises NoPlan."""
        if file.sha256 not in self._metadata:
            self._files.complete(self._describe([(name, file)]))
        found = self._metadata[file.sha256]
        if isinstance(found, NoPlan):
            raise found
        return found

    def wheel(self, name: str, file: ProjectFile) -> bytes:
        """Return the bytes of a file, which have the announced hash. Raises NoPlan."""
        data = self._cache.find(file.sha256)
        if data is None:
            holder: list[bytes] = []

            async def fetch() -> None:
                holder.append(await self._fetch(name, file))

            self._files.complete(fetch())
            data = holder[0]
        return data

    # ---- on its loop ----

    async def _look_up(self, names: Sequence[str]) -> None:
        if len(self._projects) + len(names) > self._limits.packages:
            raise NoPlan(
                f"It needs more than {self._limits.packages} packages.", "Name fewer, or packages that need fewer."
            )
        await together(self._look_up_one(name) for name in names)

    async def _look_up_one(self, name: str) -> None:
        # What one index has is taken from there alone, and one that does not answer is not passed over: otherwise
        # whoever takes the name of a company's package in a public index would be installed in its place. All are
        # asked, so that a name which several have is noticed.
        found: dict[str, tuple[ProjectFile, ...]] = {}

        async def ask(url: str) -> None:
            if (page := await self._client.get(f"{url}{name}/", accept=index.ACCEPT)) is not None:
                found[url] = index.files(page.data, page.kind, page.url)

        try:
            await together(ask(url) for url in self._indexes)
        except Unusable as error:
            all_count = " All indexes of this machine have to answer." if self.indexes else ""
            self._projects[name] = NoPlan(f"{name} cannot be looked up: {error}.{all_count}", "Nothing was installed.")
            return
        having = [url for url in self._indexes if url in found]
        if not having:
            none = f"{' and '.join(self._indexes.values())} {'have' if self.indexes else 'has'} no package {name}."
            self._projects[name] = NoPlan(none, "Check the name.")
            return
        first, *others = having
        known = project(name, found[first], self._target)
        hashes = tuple((self._indexes[url], frozenset(one.sha256 for one in found[url])) for url in others)
        self._projects[name] = replace(known, index=self._indexes[first] if self.indexes else "", others=hashes)

    async def _describe(self, files: Sequence[tuple[str, ProjectFile]], *, only_small: bool = False) -> None:
        """Find the metadata of files: beside wheels where the registry announces it, else in them."""
        await together(self._describe_one(name, file, only_small) for name, file in files)

    async def _describe_one(self, name: str, file: ProjectFile, only_small: bool) -> None:
        try:
            if is_source(file):
                # What its registry announces beside it is for its builders to know, and not what is built of it.
                archive = self._cache.find(file.sha256)
                if archive is not None or not only_small:
                    self._metadata[file.sha256] = Sdist(file.name, archive or await self._fetch(name, file)).metadata()
                return
            data = self._cache.find(file.metadata) if file.metadata else None
            if file.metadata and data is None:
                page = await self._client.get(f"{file.url}.metadata", accept="*/*", most=4 << 20)
                if page is not None and hashlib.sha256(page.data).hexdigest() == file.metadata:
                    data = page.data
                    self._cache.put(data)
            if data is not None:
                self._metadata[file.sha256] = metadata(data)
                return
            wheel = self._cache.find(file.sha256)
            if wheel is None and only_small and not file.size:
                try:
                    wheel = await self._fetch(name, file, EXPECTED_BYTES)
                except NoPlan:
                    return  # larger than that, or faulty: found out when it is needed
            self._metadata[file.sha256] = Wheel(file.name, wheel or await self._fetch(name, file)).metadata()
        except Unusable as error:
            self._metadata[file.sha256] = NoPlan(f"{file.name} is not used: {error}.", "Nothing was installed.")
        except NoPlan as error:
            self._metadata[file.sha256] = error

    async def _fetch(self, name: str, file: ProjectFile, bound: int = 1 << 40) -> bytes:
        """Fetch a wheel of at most `bound` bytes and keep it. Raises NoPlan."""
        most = min(bound, self._files.room)
        if file.size > self._limits.file_bytes:
            raise NoPlan(
                f"{file.name} has {file.size >> 20:,} MB; at most {self._limits.file_bytes >> 20:,} are fetched.",
                "A person can allow more in the settings.",
            )
        try:
            if max(most, 0) < file.size or most <= 0:
                raise NoPlan(
                    f"The files of this plan have more than {self._limits.plan_bytes >> 20:,} MB.",
                    "A person can allow more in the settings.",
                )
            return await self._files.fetch(file.url, most, lambda data: hashlib.sha256(data).hexdigest() == file.sha256)
        except Unusable as error:
            raise NoPlan(f"{file.name} is not used: {error}.", "Nothing was installed.") from error
        except OSError as error:
            raise NoPlan(f"{name} cannot be stored: {error.strerror}.", "Free disk space.") from error

    def _likely(self, name: str, need: Requirement) -> tuple[str, ProjectFile] | None:
        """Return the wheel that will most likely be taken, where it is small."""
        found = self._projects.get(name)
        if found is None or isinstance(found, NoPlan):
            return None
        for one in found.releases:
            if need.specifier.contains(one.version) and not one.file.yanked:
                fits = one.file.metadata or one.file.size <= EXPECTED_BYTES
                return (name, one.file) if fits and one.file.sha256 not in self._metadata else None
        return None


def make_plan(
    asked: Sequence[Requirement], source: PythonSource, target: PythonTarget, installed: dict[str, Version]
) -> Plan:
    """Return the plan. Raises NoPlan. Blocks."""
    found = resolve(asked, source, target, installed)
    planned = tuple(_planned(one, source, target) for one in found)
    urls = {package.url for package in planned} | {one.url for package in planned for one in package.build_files}
    hosts = {origin_of(url)[1] for url in urls}
    return Plan(Registry.PYPI, tuple(sorted(hosts)), planned, target.label, indexes=source.indexes)


def _labels(indexes: Sequence[str]) -> dict[str, str]:
    """Return the names of indexes by their URLs: the host, with the path where a host has several."""
    places = {url: urlsplit(url).netloc for url in indexes}
    hosts = Counter(places.values())
    return {url: host if hosts[host] == 1 else host + urlsplit(url).path.rstrip("/") for url, host in places.items()}


def _planned(one: Resolved, source: PythonSource, target: PythonTarget) -> PlannedPackage:
    """Return what is known of one package, its file fetched and looked into. Raises NoPlan."""
    candidate, file = one.candidate, one.candidate.file
    assert file is not None
    data = source.wheel(candidate.name, file)
    programs: tuple[OwnProgram, ...] = ()
    build_files: tuple[BuildFile, ...] = ()
    try:
        if is_source(file):
            programs, build_files = plan_build(file.name, data, source, target)
            said = source.metadata(candidate.name, file)
        else:
            said = _looked_into(file, data, source.metadata(candidate.name, file))
    except Unusable as error:
        raise NoPlan(f"{file.name} is not used: {error}.", "Nothing was installed.") from error
    project = source.project(candidate.name)
    return PlannedPackage(
        name=candidate.name,
        version=str(candidate.version),
        file=file.name,
        sha256=file.sha256,
        size=len(data),
        url=file.url,
        wanted_by=one.wanted_by,
        released_at=file.released_at,
        first_released_at=project.first_released_at,
        versions=project.versions,
        summary=said.summary,
        yanked=file.yanked,
        index=project.index,
        also_in=project.also_in(file),
        mistaken_for=mistaken_for(candidate.name, "python"),
        programs=programs,
        build_files=build_files,
    )


def _looked_into(file: ProjectFile, data: bytes, announced: Metadata) -> Metadata:
    """Return what a wheel says of itself, which is what its registry `announced`. Raises Unusable."""
    wheel = Wheel(file.name, data)
    said = wheel.metadata()
    if tuple(map(str, said.needs)) != tuple(map(str, announced.needs)):
        raise Unusable("it needs other packages than its registry says")
    wheel.contents()
    return said
