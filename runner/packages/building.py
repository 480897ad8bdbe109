"""The input of a package's build in a sandbox, and the checks of what comes back."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from packaging.markers import UndefinedComparison, UndefinedEnvironmentName
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from runner.model.bundle import PYTHON_FOLDER
from runner.model.plan import Plan, PlannedPackage, Registry
from runner.model.request import Language
from runner.model.workspace import WORKSPACE
from runner.packages.failures import Unusable
from runner.packages.installing import Built, PackageSet, place_of, prepare
from runner.packages.npm_scripts import bins, in_order, lines, resolved
from runner.packages.sdist import SOURCE, Sdist
from runner.packages.tarball import Tarball
from runner.packages.target import PythonTarget
from runner.packages.wheel import Wheel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from packaging.requirements import Requirement

    from runner.model.bundle import Bundle
    from runner.packages.target import NodeTarget

OUT = "built"
"""Folder of the workspace that holds what was built, and nothing else."""
TARBALL = "package.tgz"
ASKED = "requires.json"
"""File with what the backend asks for when the build has begun."""


@dataclass(frozen=True, slots=True)
class BuildWork:
    """One package to be built, in a sandbox that holds nothing but what is named here."""

    package: PlannedPackage
    language: Language
    bundle: Bundle
    values: Mapping[str, Any]
    """What the program that drives the build is given."""
    modules: Mapping[str, str] | None = field(default=None)
    """Python: SHA-256 of each file that the backend may be imported from."""


class PlanBuild:
    """The builds of one plan, one after the other. Everything blocks."""

    def __init__(self, plan: Plan, before: PackageSet, files: Mapping[str, bytes]) -> None:
        """`files` are those of the plan, of its builds and of what is there `before`, by their hashes."""
        self._plan = plan
        self._before = before
        self._files = files
        self.built: dict[str, Built] = {}
        """What came back, by the places of the packages."""
        self._manifests: dict[str, Mapping[str, Any]] = {}

    def order(self) -> list[PlannedPackage]:
        """Return the packages to be built, each behind those that it needs. Raises Unusable."""
        if self._plan.registry is Registry.PYPI:
            return list(self._plan.built)
        for package in (*self._before.packages, *self._plan.packages):
            self._manifests[package.place] = Tarball(self._files[package.sha256]).manifest()
        needs = {place: _needed(manifest) for place, manifest in self._manifests.items()}
        return in_order(self._plan.built, needs)

    def work(self, package: PlannedPackage) -> BuildWork:
        """Return what is handed to the sandbox for `package`. Raises Unusable."""
        return self._python(package) if self._plan.registry is Registry.PYPI else self._npm(package)

    def accept(self, package: PlannedPackage, files: Mapping[str, bytes], target: PythonTarget | NodeTarget) -> Built:
        """Take in what the sandbox has left, by its paths below `OUT`, and return it. Raises Unusable."""
        built = self._wheel(package, files, target) if isinstance(target, PythonTarget) else _scripted(package, files)
        self.built[place_of(package)] = built
        return built

    # ---- Python ----

    def _python(self, package: PlannedPackage) -> BuildWork:
        archive = Sdist(package.file, self._files[package.sha256])
        tools = tuple(
            PlannedPackage(one.name, one.version, one.file, one.sha256, one.size, one.url)
            for one in package.build_files
        )
        prepared = prepare(Plan(Registry.PYPI, (), tools), PackageSet(Registry.PYPI), self._load)
        bundle = replace(prepared.bundle, archives=(*prepared.bundle.archives, archive.archive()))
        values = {
            "source": f"{WORKSPACE}/{PYTHON_FOLDER}/{SOURCE}",
            "backend": archive.system.backend,
            "path": list(archive.system.path),
            "planned": [canonicalize_name(one.name) for one in package.build_files],
            "out": f"{WORKSPACE}/{OUT}",
            "asked": ASKED,
        }
        return BuildWork(package, Language.PYTHON, bundle, values, prepared.bundle.modules)

    def _wheel(self, package: PlannedPackage, files: Mapping[str, bytes], target: PythonTarget) -> Built:
        wheels = [name for name in files if name.endswith(".whl")]
        if len(wheels) != 1:
            raise Unusable("its build has not left the one wheel that a build makes")
        name = wheels[0]
        try:
            said, version, _, tags = parse_wheel_filename(name)
        except InvalidWheelFilename as error:
            raise Unusable("its build has left a wheel without a proper name") from error
        if (said, version) != (canonicalize_name(package.name), Version(package.version)):
            raise Unusable(f"its build has made {name[:100]!a}, which is another package or version")
        if not any(tag in target.ranks for tag in tags):
            raise Unusable(f"its build has made {name[:100]!a}, which is for another interpreter")
        wheel = Wheel(name, files[name])
        self._check_needs(wheel.metadata().needs, target)
        wheel.contents()
        return _of(name, files[name])

    def _check_needs(self, needs: tuple[Requirement, ...], target: PythonTarget) -> None:
        """Raise Unusable where what was built needs a package that is not there."""
        there = self._before.versions | {one.name: Version(one.version) for one in self._plan.packages}
        for need in needs:
            try:
                counts = need.marker is None or need.marker.evaluate({**target.environment, "extra": ""})
            except (UndefinedComparison, UndefinedEnvironmentName, ValueError, RecursionError) as error:
                raise Unusable(f"what was built asks for {need.name} on a condition that cannot be read") from error
            version = there.get(canonicalize_name(need.name))
            if counts and (version is None or not need.specifier.contains(version, prereleases=True)):
                raise Unusable(
                    f"what was built needs {need.name}{need.specifier}, which its sources did not say and the plan "
                    "does not have; install that first, or name it as well"
                )

    # ---- npm ----

    def _npm(self, package: PlannedPackage) -> BuildWork:
        there = (*self._before.packages, *self._plan.packages)
        whole = replace(self._plan, packages=there, installed=())
        bundle = prepare(whole, PackageSet(Registry.NPM), self._load, self.built).bundle
        values = {
            "place": package.place,
            "name": package.name,
            "version": package.version,
            "scripts": [list(pair) for pair in lines(package)],
            "others": [
                one.place.removeprefix(f"{package.place}/")
                for one in there
                if one.place.startswith(f"{package.place}/node_modules/")
            ],
            "commands": self._commands(package),
            "out": f"{WORKSPACE}/{OUT}",
            "tarball": TARBALL,
        }
        return BuildWork(package, Language.JAVASCRIPT, bundle, values)

    def _commands(self, package: PlannedPackage) -> dict[str, str]:
        """Return the commands of what a package needs, by their names: the file of each, below `node_modules`."""
        found: dict[str, str] = {}
        needed = [resolved(package.place, name, self._manifests) for name in _needed(self._manifests[package.place])]
        for place in (*filter(None, needed), package.place):
            found |= {name: f"{place}/{path}" for name, path in bins(self._manifests[place]).items()}
        return found

    def _load(self, package: PlannedPackage) -> bytes:
        return self._files[package.sha256]


def _needed(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for kind in ("dependencies", "optionalDependencies", "peerDependencies"):
        if isinstance(named := manifest.get(kind), dict):
            found |= dict.fromkeys(one for one in named if isinstance(one, str))
    return tuple(found)


def _scripted(package: PlannedPackage, files: Mapping[str, bytes]) -> Built:
    """Return a package of npm as its scripts have left it. Raises Unusable."""
    data = files.get(TARBALL)
    if data is None:
        raise Unusable("its scripts have left nothing")
    tarball = Tarball(data)
    said = tarball.manifest()
    if (said.get("name"), said.get("version")) != (package.name, package.version):
        raise Unusable("its scripts have made another package or version of it")
    tarball.members(package.place)
    return _of(package.file, data)


def _of(file: str, data: bytes) -> Built:
    return Built(file, data, hashlib.sha256(data).hexdigest())


def asked_for(files: Mapping[str, bytes], load: Callable[[bytes], Any] = json.loads) -> tuple[str, ...]:
    """Return the requirements that a backend asks for when the build has begun, as far as they can be shown."""
    try:
        found = load(files.get(ASKED, b"[]"))
    except (ValueError, RecursionError):
        return ()
    named = found if isinstance(found, list) else []
    return tuple(one[:100] for one in named[:10] if isinstance(one, str) and one.isprintable())
