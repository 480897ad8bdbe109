"""Makes the plan for packages of npm: chooses versions and folders, fetches and looks into every tarball."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING
from urllib.parse import quote

from runner.model.plan import Plan, PlannedPackage, Registry
from runner.packages import npm_registry
from runner.packages.client import origin_of
from runner.packages.failures import NoPlan, Unusable
from runner.packages.fetching import PlanFetching, together
from runner.packages.npm_scripts import programs
from runner.packages.npm_tree import Tree
from runner.packages.tarball import Tarball
from runner.risk.rules.packages import mistaken_for

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterable, Sequence

    from runner.packages.cache import FileCache
    from runner.packages.client import Access, RegistryClient
    from runner.packages.deadline import PlanDeadline
    from runner.packages.limits import PlanLimits
    from runner.packages.npm_registry import NpmVersion, Packument
    from runner.packages.npm_tree import PackageFolder
    from runner.packages.requirements import NpmRequirement
    from runner.packages.target import NodeTarget


class NpmFetching:
    """Packuments and tarballs of one registry, for one plan. Blocks; used on one thread, whose loop `runner` drives."""

    def __init__(
        self,
        access: Access,
        client: RegistryClient,
        cache: FileCache,
        limits: PlanLimits,
        deadline: PlanDeadline,
        runner: asyncio.Runner,
    ) -> None:
        self._access = access
        self._client = client
        self._limits = limits
        self._deadline = deadline
        self._files = PlanFetching(client, cache, limits, deadline, runner)
        self._known: dict[str, Packument | NoPlan] = {}

    def packument(self, name: str) -> Packument:
        """Raises NoPlan, also where the time is over without anything to wait for."""
        self.check()
        self.expect([name])
        found = self._known[name]
        if isinstance(found, NoPlan):
            raise found
        return found

    def check(self) -> bool:
        return self._deadline.check()

    def expect(self, names: Iterable[str]) -> None:
        fresh = [name for name in dict.fromkeys(names) if name not in self._known]
        if len(self._known) + len(fresh) > 2 * self._limits.packages:
            raise NoPlan(
                f"It needs more than {self._limits.packages} packages.", "Name fewer, or packages that need fewer."
            )
        if fresh:
            self._files.complete(self._look_up(fresh))

    def tarballs(self, versions: Sequence[NpmVersion]) -> dict[str, bytes]:
        """Return the tarballs of `versions` by their URLs, each with the announced hash. Raises NoPlan."""
        found: dict[str, bytes] = {}

        self._files.complete(together(self._fetch(one, found) for one in {one.url: one for one in versions}.values()))
        return found

    async def _look_up(self, names: Sequence[str]) -> None:
        await together(self._look_up_one(name) for name in names)

    async def _look_up_one(self, name: str) -> None:
        url = self._access.registry_of(name)
        try:
            page = await self._client.get(f"{url}{quote(name, safe='@')}", accept=npm_registry.ACCEPT)
            if page is None:
                self._known[name] = NoPlan(f"{origin_of(url)[1]} has no package {name}.", "Check the name.")
            else:
                self._known[name] = npm_registry.read(page.data, name, page.url)
        except Unusable as error:
            self._known[name] = NoPlan(f"{name} cannot be looked up: {error}.", "Nothing was installed.")

    async def _fetch(self, version: NpmVersion, found: dict[str, bytes]) -> None:
        try:
            if (most := self._files.room) <= 0:
                raise Unusable(self._files.too_much)
            found[version.url] = await self._files.fetch(
                version.url, most, lambda data: hashlib.sha512(data).digest() == version.sha512
            )
        except Unusable as error:
            raise NoPlan(f"{version.name} {version.text} is not used: {error}.", "Nothing was installed.") from error
        except OSError as error:
            raise NoPlan(f"{version.name} cannot be stored: {error.strerror}.", "Free disk space.") from error


def make_plan(
    asked: Sequence[NpmRequirement],
    source: NpmFetching,
    target: NodeTarget,
    limits: PlanLimits,
    before: Sequence[PlannedPackage],
) -> Plan:
    """Return the plan beside what is there `before`. Raises NoPlan. Blocks."""
    tree = Tree(source, target, limits.packages)
    tree.add_installed(before)
    tree.build(asked)
    versions = [node.version for node in tree.nodes if node.version is not None]
    data = source.tarballs(versions)
    planned = sorted((_planned(node, source, data) for node in tree.nodes), key=lambda one: (one.name, one.place))
    hosts = {origin_of(package.url)[1] for package in planned}
    return Plan(Registry.NPM, tuple(sorted(hosts)), tuple(planned), target.label)


def _planned(node: PackageFolder, source: NpmFetching, files: dict[str, bytes]) -> PlannedPackage:
    """Return what is known of one package, its tarball looked into. Raises NoPlan."""
    version = node.version
    assert version is not None
    data = files[version.url]
    try:
        tarball = Tarball(data)
        said = tarball.manifest()
        if (said.get("name"), said.get("version")) != (version.name, version.text):
            raise Unusable("it says that it is another package than the registry does")
        tarball.members(node.place)
        own = programs(tarball, said)
    except Unusable as error:
        raise NoPlan(f"{version.name} {version.text} is not used: {error}.", "Nothing was installed.") from error
    known = source.packument(version.name)
    return PlannedPackage(
        name=version.name,
        version=version.text,
        file=f"{version.name.rpartition('/')[2]}-{version.text}.tgz",
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
        url=version.url,
        place=node.place,
        wanted_by=() if node.asked else tuple(sorted(node.wanted_by)),
        released_at=version.released_at,
        first_released_at=known.first_released_at,
        versions=len(known.versions),
        summary=version.summary,
        deprecated=version.deprecated,
        scripts=tuple(
            dict.fromkeys((*version.scripts, *(one.name for one in own if one.name in npm_registry.SCRIPTS)))
        ),
        programs=own,
        optional=not node.required,
        mistaken_for=mistaken_for(version.name, "javascript"),
    )
