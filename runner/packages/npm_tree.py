"""Chooses versions of npm packages and their folders: the highest that fits, as near to the top as it can stand."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from runner.packages.failures import NoPlan
from runner.packages.npm_registry import NpmVersion, fits
from runner.packages.semver import NotARange, range_of
from runner.packages.semver import version as version_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from runner.model.plan import PlannedPackage
    from runner.packages.npm_registry import Packument
    from runner.packages.requirements import NpmRequirement
    from runner.packages.target import NodeTarget

DEEPEST = 20
"""Folders `node_modules` within each other."""


class NpmSource(Protocol):
    """Where packuments come from. Blocks, and raises NoPlan."""

    def packument(self, name: str) -> Packument: ...

    def check(self) -> bool:
        """Return True. Raises NoPlan where no time is left."""
        ...

    def expect(self, names: Iterable[str]) -> None:
        """Note what will be asked for next, so that it can be fetched at once."""
        ...


@dataclass(eq=False)
class PackageFolder:
    """A folder of a package, with the packages in its own `node_modules`."""

    version: NpmVersion | None
    """None for the top."""
    parent: PackageFolder | None = None
    below: dict[str, PackageFolder] = field(default_factory=dict)
    wanted_by: set[str] = field(default_factory=set)
    asked: bool = False
    required: bool = False
    """Whether somebody does not work without it."""

    @property
    def place(self) -> str:
        """The folder, below the topmost `node_modules`."""
        if self.parent is None or self.version is None:
            return ""
        above = self.parent.place
        return f"{above}/node_modules/{self.version.name}" if above else self.version.name

    def holds(self, other: PackageFolder) -> bool:
        """Return whether `other` is this folder or below it."""
        one: PackageFolder | None = other
        while one is not None and one is not self:
            one = one.parent
        return one is self

    def find(self, name: str) -> PackageFolder | None:
        """Return the package that code in this folder gets for `name`: its own, else that of a folder above."""
        one: PackageFolder | None = self
        while one is not None:
            if name in one.below:
                return one.below[name]
            one = one.parent
        return None


@dataclass(frozen=True, slots=True)
class _Need:
    node: PackageFolder
    """Where it has to be found from."""
    name: str
    wanted: str
    by: NpmVersion | None = None
    """Who asks for it; None for the agent."""
    optional: bool = False


class Tree:
    """The folders of one plan."""

    def __init__(self, source: NpmSource, target: NodeTarget, most: int) -> None:
        self._source = source
        self._target = target
        self._most = most
        self._pending: deque[_Need] = deque()
        self._found: dict[str, list[tuple[PackageFolder, PackageFolder]]] = {}
        """By name: who found which package."""
        self._top = PackageFolder(None)
        self.nodes: list[PackageFolder] = []
        """What is new."""

    def add_installed(self, packages: Iterable[PlannedPackage]) -> None:
        """Note what is there already."""
        for package in sorted(packages, key=lambda one: one.place.count("/node_modules/")):
            *above, name = package.place.split("/node_modules/")
            parent = self._top
            for folder in above:
                parent = parent.below[folder]
            parent.below[name] = PackageFolder(installed(package), parent)

    def build(self, asked: Sequence[NpmRequirement]) -> None:
        """Place what is asked for and all that it needs. Raises NoPlan."""
        self._source.expect(one.name for one in asked)
        for one in asked:
            self._meet(_Need(self._top, one.name, one.range or "*"))
            self._top.below[one.name].asked = True
        # First come, first placed: what a package itself needs is placed before what that needs.
        while self._pending:
            self._meet(self._pending.popleft())

    def _meet(self, need: _Need) -> None:
        there = need.node.find(need.name)
        try:
            if there is not None and there.version is not None and range_of(need.wanted).allows(there.version.number):
                self._note(need, there)
                return
            version = self._chosen(need)
        except NotARange:
            who = f"{need.by.name} asks" if need.by is not None else "You ask"
            raise NoPlan(
                f"{who} for {need.name} by {need.wanted[:80]!a}, which is no range of versions of the registry.",
                "Addresses, tags, folders and other names are not taken.",
            ) from None
        if version is not None:
            self._place(need, version)

    def _note(self, need: _Need, there: PackageFolder) -> None:
        self._found.setdefault(need.name, []).append((need.node, there))
        there.required = there.required or not need.optional
        if need.by is not None:
            there.wanted_by.add(need.by.name)

    def _place(self, need: _Need, version: NpmVersion) -> None:
        parent = self._highest(need)
        node = PackageFolder(version, parent)
        parent.below[version.name] = node
        self.nodes.append(node)
        self._note(need, node)
        if len(self.nodes) > self._most:
            raise NoPlan(f"It needs more than {self._most} packages.", "Name fewer, or packages that need fewer.")
        if node.place.count("/node_modules/") > DEEPEST:
            raise NoPlan(f"{version.name} would be in too many folders.", "Name another version.")
        self._source.expect((*version.needs, *version.peers))
        for name, wanted in version.needs.items():
            self._pending.append(_Need(node, name, wanted, version, name in version.optional))
        for name, wanted in version.peers.items():
            if name not in version.needs:
                # It stands beside the package, so that both work with the same one.
                self._pending.append(_Need(parent, name, wanted, version))

    def _chosen(self, need: _Need) -> NpmVersion | None:
        """Return the version for a need; None for one that may be missing and does not fit. Raises NotARange."""
        try:
            packument = self._source.packument(need.name)
        except NoPlan:
            if need.optional:
                return None
            raise
        version, here = packument.best(need.wanted, self._source.check), self._target
        if version is None and not need.optional:
            who = f" (for {need.by.name})" if need.by is not None else ""
            known = ", ".join(one.text for one in packument.versions[:5]) or "none with a usable hash"
            what = f"No version fits {need.name}@{need.wanted[:80]}{who}. The registry has {known}."
            raise NoPlan(what, "Name another one.")
        if version is None:
            return None
        if version.problem:
            raise NoPlan(f"{need.name} {version.text} is not used: {version.problem}.", "Name another version.")
        if fits(version.os, here.os) and fits(version.cpu, here.cpu) and fits(version.libc, here.libc):
            return version
        if need.optional:
            return None
        raise NoPlan(f"{need.name} {version.text} is not for {here.label}.", "Name another package or version.")

    def _highest(self, need: _Need) -> PackageFolder:
        """Return the topmost folder where it is found by who needs it, and by nobody who has found another one."""
        if need.name in need.node.below:
            who = need.by.name if need.by is not None else "you"
            raise NoPlan(
                f"{who} and others need versions of {need.name} that do not fit together.", "Name other versions."
            )
        place = need.node
        while place.parent is not None and need.name not in place.parent.below:
            if self._taken_over(place.parent, need.name):
                break
            place = place.parent
        return place

    def _taken_over(self, place: PackageFolder, name: str) -> bool:
        """Return whether something at or below `place` has found the package further up, which it would lose."""
        return any(place.holds(by) and not place.holds(found) for by, found in self._found.get(name, ()))


def installed(package: PlannedPackage) -> NpmVersion:
    """Return a package that is there already, as far as others look at it."""
    number = version_of(package.version)
    assert number is not None
    nothing: dict[str, str] = {}
    return NpmVersion(
        package.name,
        package.version,
        number,
        package.url,
        b"",
        0.0,
        nothing,
        frozenset(),
        nothing,
        (),
        (),
        (),
        "",
        (),
        "",
    )
