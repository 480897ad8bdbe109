"""Plans what the build of a source archive needs: wheels alone, so that the build needs no network."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from packaging.markers import UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import Requirement
from packaging.version import Version

from runner.model.plan import BuildFile
from runner.packages.failures import NoPlan, Unusable
from runner.packages.python_resolver import PackageSource, resolve
from runner.packages.sdist import SETUPTOOLS, Sdist
from runner.packages.wheel import Wheel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.model.plan import OwnProgram
    from runner.packages.index import ProjectFile
    from runner.packages.python_project import Project
    from runner.packages.python_resolver import Candidate, Resolved
    from runner.packages.target import PythonTarget

OWN_WHEELS = Version("70.1")
"""Version from which setuptools makes wheels itself; earlier ones ask for `wheel` when the build has begun."""


class WheelSource(PackageSource, Protocol):
    """A source that also hands out the files."""

    def wheel(self, name: str, file: ProjectFile) -> bytes: ...


class _Ready:
    """What of a source is ready: a build that needs another build would have no end."""

    def __init__(self, source: WheelSource) -> None:
        self._source = source

    def project(self, name: str) -> Project:
        found = self._source.project(name)
        return replace(found, releases=tuple(one for one in found.releases if not one.is_source))

    def needs(self, candidate: Candidate) -> tuple[Requirement, ...]:
        return self._source.needs(candidate)

    def check(self) -> bool:
        return self._source.check()

    def expect(self, requirements: Sequence[Requirement]) -> None:
        self._source.expect(requirements)


def plan_build(
    file: str, data: bytes, source: WheelSource, target: PythonTarget
) -> tuple[tuple[OwnProgram, ...], tuple[BuildFile, ...]]:
    """Return what runs when `file` is built, and the files that this needs. Raises NoPlan and Unusable. Blocks."""
    archive = Sdist(file, data)
    needs = [one for one in archive.system.needs if _counts(one, target)]
    for one in needs:
        one.marker = None
    programs = archive.programs()
    archive.check()
    try:
        found = resolve(needs, _Ready(source), target, {})
        if archive.system.backend in SETUPTOOLS and _asks_for_wheel(found):
            found = resolve([*needs, Requirement("wheel")], _Ready(source), target, {})
    except NoPlan as error:
        raise NoPlan(
            f"{file} has to be built, and what its build needs cannot be planned: {error}",
            "Name a version that has a wheel, or another package.",
        ) from error
    return programs, tuple(_build_file(one, source) for one in found)


def _counts(need: Requirement, target: PythonTarget) -> bool:
    """Raises Unusable for a condition that cannot be read."""
    try:
        return need.marker is None or need.marker.evaluate(dict(target.environment))
    except (UndefinedComparison, UndefinedEnvironmentName, ValueError, RecursionError) as error:
        raise Unusable(f"its build asks for {need.name} on a condition that cannot be read") from error


def _asks_for_wheel(found: Sequence[Resolved]) -> bool:
    versions = {one.candidate.name: one.candidate.version for one in found}
    return "wheel" not in versions and versions.get("setuptools", OWN_WHEELS) < OWN_WHEELS


def _build_file(one: Resolved, source: WheelSource) -> BuildFile:
    candidate, file = one.candidate, one.candidate.file
    assert file is not None
    data = source.wheel(candidate.name, file)
    try:
        Wheel(file.name, data).contents()
    except Unusable as error:
        raise NoPlan(f"{file.name} is not used: {error}.", "Nothing was installed.") from error
    project = source.project(candidate.name)
    return BuildFile(
        candidate.name,
        str(candidate.version),
        file.name,
        file.sha256,
        len(data),
        file.url,
        project.index,
        project.also_in(file),
    )
