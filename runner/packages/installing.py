"""Turns an approved plan into what is unpacked in a sandbox, every file held against its hash once more."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from packaging.version import Version

from runner.model.bundle import Archive, Bundle, Installed, Member
from runner.model.errors import KnownError
from runner.model.language_support import language_of, packages_of
from runner.model.plan import Registry
from runner.packages.failures import Unusable
from runner.packages.places import TakenPlaces
from runner.packages.tarball import Tarball
from runner.packages.wheel import IMPORTED, Wheel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from packaging.requirements import Requirement

    from runner.model.plan import Plan, PlannedPackage


@dataclass(frozen=True, slots=True)
class PackageSet:
    """The packages of one sandbox."""

    registry: Registry
    packages: tuple[PlannedPackage, ...] = ()
    needs: Mapping[str, tuple[Requirement, ...]] = field(default_factory=dict)
    """What each of them needs (Python)."""
    files: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of every file, by its place below the folder of the packages."""
    names: tuple[str, ...] = ()
    """Names that code imports them by."""

    @property
    def versions(self) -> dict[str, Version]:
        """The version of each package of Python."""
        return {one.name: Version(one.version) for one in self.packages}

    @property
    def titles(self) -> tuple[str, ...]:
        return tuple(sorted(one.title for one in self.packages))

    @property
    def modules(self) -> dict[str, str]:
        """SHA-256 of each file that Python can import."""
        return {place: sha256 for place, sha256 in self.files.items() if place.endswith(IMPORTED)}

    @property
    def seen(self) -> Installed | None:
        """What a request in the sandbox relies on; None without packages."""
        if not self.packages:
            return None
        lines = "".join(f"{sha256} {place}\n" for place, sha256 in sorted(self.files.items()))
        return Installed(self.titles, self.names, hashlib.sha256(lines.encode()).hexdigest())


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is to be unpacked, and what the sandbox has afterwards."""

    bundle: Bundle
    after: PackageSet
    before: tuple[str, ...]
    """Names and versions that it must have until then."""
    left_out: tuple[str, ...] = ()
    """Files of the packages that are not installed."""
    built: tuple[str, ...] = ()
    """Names and versions of what was built."""


@dataclass(frozen=True, slots=True)
class Built:
    """What the build of a package has made: a wheel, or the tarball of npm after its scripts have run."""

    file: str
    data: bytes
    sha256: str


def place_of(package: PlannedPackage) -> str:
    """Return what tells a package from the others of its plan."""
    return package.place or package.name


class Stale(KnownError):
    """The sandbox has other packages than when the plan was made."""


def prepare(
    plan: Plan,
    before: PackageSet,
    load: Callable[[PlannedPackage], bytes],
    built: Mapping[str, Built] | None = None,
) -> Prepared:
    """Return what `plan` installs beside what is there `before`. `load` returns the file of a package.

    `built` is installed in place of the files of packages that had to be built. Blocks. Raises Stale, and Unusable for
    a file that is not what was planned.
    """
    if plan.installed != before.titles:
        raise Stale("The sandbox has other packages by now than when this was planned.", "Ask again.")
    work = _Preparing(before)
    for package in plan.packages:
        made = (built or {}).get(place_of(package))
        work.add(package, made or _approved(package, load(package)), plan.registry)
    after = PackageSet(
        plan.registry,
        (*before.packages, *plan.packages),
        {**before.needs, **work.needs},
        work.files,
        tuple(dict.fromkeys((*before.names, *work.names))),
    )
    support = packages_of(language_of(plan.registry))
    assert support is not None
    bundle = Bundle(support.folder, tuple(work.archives), tuple(work.commands), not before.packages, after.modules)
    titles = tuple(package.title for package in plan.packages if place_of(package) in (built or {}))
    return Prepared(bundle, after, before.titles, tuple(work.left_out), titles)


def _approved(package: PlannedPackage, data: bytes) -> Built:
    """Return the file of a package as it was approved. Raises Unusable for another one."""
    if hashlib.sha256(data).hexdigest() != package.sha256:
        raise Unusable(f"{package.file} has not the hash that was approved")
    return Built(package.file, data, package.sha256)


class _Preparing:
    def __init__(self, before: PackageSet) -> None:
        self.files = dict(before.files)
        self.archives: list[Archive] = []
        self.commands: list[tuple[str, str]] = []
        self.needs: dict[str, tuple[Requirement, ...]] = {}
        self.names: list[str] = []
        self.left_out: list[str] = []
        self._taken = TakenPlaces()
        for place in before.files:
            self._taken.take(place)

    def add(self, package: PlannedPackage, file: Built, registry: Registry) -> None:
        """Raises Unusable."""
        try:
            members = self._python(package, file) if registry is Registry.PYPI else self._npm(package, file.data)
        except Unusable as error:
            raise Unusable(f"{file.file} is not installed: {error}") from error
        self.archives.append(Archive(file.data, file.sha256, members))

    def _python(self, package: PlannedPackage, file: Built) -> tuple[Member, ...]:
        wheel = Wheel(file.file, file.data)
        contents = wheel.contents()
        self.needs[package.name] = wheel.metadata().needs
        self.names += contents.modules
        self.left_out += contents.left_out
        members = self._placed(contents.members)
        for place, text in contents.commands:
            sha256 = hashlib.sha256(text.encode()).hexdigest()
            if self._is_new(place, sha256):
                self.commands.append((place, text))
        return members

    def _npm(self, package: PlannedPackage, data: bytes) -> tuple[Member, ...]:
        self.names.append(package.name)
        return self._placed(Tarball(data).members(package.place))

    def _placed(self, members: tuple[Member, ...]) -> tuple[Member, ...]:
        return tuple(member for member in members if self._is_new(member.place, member.sha256))

    def _is_new(self, place: str, sha256: str) -> bool:
        """Note a file; return whether it is not there already, the same. Raises Unusable for another one."""
        if self.files.get(place) == sha256:
            return False
        self._taken.take(place)
        self.files[place] = sha256
        return True
