"""Finds versions of Python packages that fit together, as pip does, without running anything of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import resolvelib
from packaging.markers import UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from runner.packages.failures import NoPlan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from packaging.specifiers import SpecifierSet
    from packaging.version import Version
    from resolvelib.resolvers import RequirementInformation

    from runner.packages.index import ProjectFile
    from runner.packages.python_project import Project
    from runner.packages.target import PythonTarget

MOST_ROUNDS = 2_000
Identifier = tuple[str, frozenset[str]]
"""Name and extras."""


class PackageSource(Protocol):
    """Where projects and their requirements come from. Everything blocks, and raises NoPlan."""

    def project(self, name: str) -> Project: ...

    def needs(self, candidate: Candidate) -> tuple[Requirement, ...]:
        """Return all requirements of a candidate, whatever their conditions."""
        ...

    def check(self) -> bool:
        """Return True; raise NoPlan where the time is over, also without anything to wait for."""
        ...

    def expect(self, requirements: Sequence[Requirement]) -> None:
        """Note what will be asked for next, so that it can be fetched at once."""
        ...


@dataclass(frozen=True)
class Candidate:
    """One version of a package, with extras; without a file where it is installed already."""

    name: str
    version: Version
    extras: frozenset[str] = frozenset()
    file: ProjectFile | None = None


class _Provider(resolvelib.AbstractProvider[Requirement, Candidate, Identifier]):
    def __init__(self, source: PackageSource, target: PythonTarget, installed: Mapping[str, Version]) -> None:
        self._source = source
        self._target = target
        self._installed = installed

    def identify(self, requirement_or_candidate: Requirement | Candidate) -> Identifier:
        return canonicalize_name(requirement_or_candidate.name), frozenset(requirement_or_candidate.extras)

    def get_preference(
        self,
        identifier: Identifier,
        resolutions: Mapping[Identifier, Candidate],
        candidates: Mapping[Identifier, Iterator[Candidate]],
        information: Mapping[Identifier, Iterator[RequirementInformation[Requirement, Candidate]]],
        backtrack_causes: Sequence[RequirementInformation[Requirement, Candidate]],
    ) -> Any:
        # What has caused a conflict first: otherwise the same one is found again behind every other choice.
        causes = {self.identify(one.requirement) for one in backtrack_causes}
        pinned = any(
            clause.operator in ("==", "===") for one in information[identifier] for clause in one.requirement.specifier
        )
        return identifier not in causes, not pinned, identifier[0], sorted(identifier[1])

    def find_matches(
        self,
        identifier: Identifier,
        requirements: Mapping[Identifier, Iterator[Requirement]],
        incompatibilities: Mapping[Identifier, Iterator[Candidate]],
    ) -> Iterable[Candidate]:
        name, extras = identifier
        wanted = [one.specifier for one in requirements[identifier]]
        bad = {one.version for one in incompatibilities[identifier]}
        if name in self._installed:
            version = self._installed[name]
            return [] if version in bad or not _fits(version, wanted) else [Candidate(name, version, extras)]
        found = self._source.project(name)
        exact = any(clause.operator in ("==", "===") and "*" not in clause.version for one in wanted for clause in one)
        early = any(one.prereleases for one in wanted) or all(one.version.is_prerelease for one in found.releases)
        return [
            Candidate(name, one.version, extras, one.file)
            for one in found.releases
            # One that was withdrawn counts for whoever names it exactly (PEP 592).
            if self._source.check()
            and one.version not in bad
            and (exact or not one.file.yanked)
            and (early or not one.version.is_prerelease)
            if _fits(one.version, wanted)
        ]

    def is_satisfied_by(self, requirement: Requirement, candidate: Candidate) -> bool:
        return _fits(candidate.version, [requirement.specifier])

    def get_dependencies(self, candidate: Candidate) -> Iterable[Requirement]:
        found = [one for one in self._source.needs(candidate) if self._counts(one, candidate)]
        if refused := next((one for one in found if one.url is not None), None):
            raise NoPlan(
                f"{candidate.name} {candidate.version} asks for {refused.name} from an address of its own.",
                "Only packages of the registry are installed.",
            )
        self._source.expect(found)
        base = [Requirement(f"{candidate.name}=={candidate.version}")] if candidate.extras else []
        return [*base, *found]

    def _counts(self, need: Requirement, candidate: Candidate) -> bool:
        if need.marker is None:
            return True
        environment: dict[str, str] = dict(self._target.environment)
        try:
            # `extra` is compared by itself for each; without extras it is the empty text.
            return any(need.marker.evaluate({**environment, "extra": one}) for one in candidate.extras or {""})
        except (UndefinedComparison, UndefinedEnvironmentName, ValueError, RecursionError):
            raise NoPlan(
                f"{candidate.name} {candidate.version} asks for {need.name} on a condition that cannot be read.",
                "Name another version.",
            ) from None


def _fits(version: Version, wanted: Iterable[SpecifierSet]) -> bool:
    return all(one.contains(version, prereleases=True) for one in wanted)


@dataclass(frozen=True, slots=True)
class Resolved:
    """What was found for one package."""

    candidate: Candidate
    wanted_by: tuple[str, ...]
    """Packages that need it; empty for one that was asked for."""


def resolve(
    asked: Sequence[Requirement], source: PackageSource, target: PythonTarget, installed: Mapping[str, Version]
) -> tuple[Resolved, ...]:
    """Return the packages that `asked` needs, by name; what is `installed` stays and is not among them. Raises NoPlan.

    Blocks for as long as `source` does.
    """
    provider = _Provider(source, target, installed)
    resolver = resolvelib.Resolver(provider, resolvelib.BaseReporter[Requirement, Candidate, Identifier]())
    source.expect(asked)
    try:
        result = resolver.resolve(asked, max_rounds=MOST_ROUNDS)
    except resolvelib.ResolutionImpossible as failure:
        raise NoPlan(_explained(failure.causes, source, installed), "Name other versions.") from failure
    except resolvelib.ResolutionTooDeep as failure:
        raise NoPlan("No versions were found that fit together.", "Name versions.") from failure
    found: dict[str, Resolved] = {}
    for identifier, candidate in result.mapping.items():
        if candidate.file is None:
            continue
        parents = {one.parent for one in result.criteria[identifier].information}
        wanted_by = () if None in parents else tuple(sorted({one.name for one in parents if one is not None}))
        name = identifier[0]
        before = found.get(name)
        # The same package once for itself and once with extras, which need the one without.
        others = before.wanted_by if before is not None else wanted_by
        direct = not wanted_by or not others
        both = () if direct else tuple(sorted({*others, *wanted_by} - {name}))
        found[name] = Resolved(candidate, both)
    return tuple(found[name] for name in sorted(found))


def _explained(
    causes: Iterable[RequirementInformation[Requirement, Candidate]],
    source: PackageSource,
    installed: Mapping[str, Version],
) -> str:
    """Return why there is no answer, naming who asks for what."""
    listed = list(causes)
    said = sorted({f"{one.requirement}" + (f" (for {one.parent.name})" if one.parent else "") for one in listed})
    names = {canonicalize_name(one.requirement.name) for one in listed}
    here = [f"{name} {installed[name]}" for name in sorted(names) if name in installed]
    if here:
        return f"{' and '.join(said[:6])}: the sandbox has {', '.join(here)} already."
    if len(names) == 1 and (len(said) == 1 or not source.project(min(names)).releases):
        project = source.project(names.pop())
        asked = f" {project.index} is the first index of this machine that has it, and the one that counts."
        return _absent(project, said) + (asked if project.index else "")
    return f"These do not fit together: {', '.join(said[:6])}."


def _absent(project: Project, said: list[str]) -> str:
    wanted = ", ".join(said[:6])
    if project.releases and all(one.file.yanked for one in project.releases):
        return f"Every version of {project.name} for this sandbox was withdrawn by its authors."
    if project.releases:
        latest = ", ".join(str(one.version) for one in project.releases[:5])
        return f"No version fits {wanted}. For this sandbox there are {latest}."
    if project.unhashed:
        return f"The registry names no hashes for {project.name}."
    if project.unfit:
        return (
            f"{project.name} has no wheel for this sandbox, and no source archive that could be built: version "
            f"{project.unfit[0]} is for others."
        )
    return f"The registry has no files of {project.name}."
