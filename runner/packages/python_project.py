"""The versions of one project that an interpreter can use, from what its registry lists."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from runner.packages.sdist import ENDING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from packaging.tags import Tag

    from runner.packages.index import ProjectFile
    from runner.packages.target import PythonTarget

MOST_TAGS = 500
"""Combinations of tags in the name of one wheel; those of honest ones are below fifty."""
_LONG_NUMBER = re.compile(r"[0-9]{19,}")
"""Numbers that no version has; each comparison of such ones would take long."""


@dataclass(frozen=True, slots=True)
class Release:
    """The wheel of one version that fits best, else its source archive."""

    version: Version
    file: ProjectFile

    @property
    def is_source(self) -> bool:
        """Whether it has to be built."""
        return is_source(self.file)


@dataclass(frozen=True, slots=True)
class Project:
    """What is known of a project."""

    name: str
    releases: tuple[Release, ...]
    """Those with a wheel that fits, the latest first, then those that can only be built, likewise."""
    versions: int
    """How many versions there are, whatever they are good for."""
    first_released_at: float
    unfit: tuple[Version, ...]
    """Versions without a wheel that fits and without sources, the latest first."""
    unhashed: bool
    """Whether there were files for which the registry has no hash."""
    index: str = ""
    """The index that it is taken from, where there are several."""
    others: tuple[tuple[str, frozenset[str]], ...] = ()
    """The other indexes that have the name, each with the hashes of its files."""

    def also_in(self, file: ProjectFile) -> tuple[str, ...]:
        """Return the other indexes that have the name and not this very file."""
        return tuple(index for index, hashes in self.others if file.sha256 not in hashes)


def project(name: str, files: Iterable[ProjectFile], target: PythonTarget) -> Project:
    """Return the versions of the project `name` for `target`."""
    best: dict[Version, tuple[int, ProjectFile]] = {}
    sources: dict[Version, ProjectFile] = {}
    versions: set[Version] = set()
    first, unhashed = 0.0, False
    requires: dict[str, bool] = {}
    for file in files:
        if (known := _parsed(name, file)) is None:
            continue
        version, wheel_tags = known
        versions.add(version)
        first = min(filter(None, (first, file.released_at)), default=0.0)
        places = [target.ranks[tag] for tag in wheel_tags if tag in target.ranks]
        if not (places or is_source(file)) or not _takes(file.requires_python, target, requires):
            continue
        if not file.sha256:
            unhashed = True
            continue
        if not places:
            sources.setdefault(version, file)
        elif version not in best or min(places) < best[version][0]:
            best[version] = min(places), file
    # What is ready comes first, also where it is older: a build runs code of strangers.
    ready = [Release(version, best[version][1]) for version in sorted(best, reverse=True)]
    built = [Release(version, sources[version]) for version in sorted(sources.keys() - best.keys(), reverse=True)]
    releases = (*ready, *built)
    unfit = tuple(sorted(versions - best.keys() - sources.keys(), reverse=True))
    return Project(name, releases, len(versions), first, unfit, unhashed)


def is_source(file: ProjectFile) -> bool:
    """Return whether a file is a source archive that can be read."""
    return file.name.endswith(ENDING)


def _parsed(name: str, file: ProjectFile) -> tuple[Version, frozenset[Tag]] | None:
    """Return version and tags of a file of the project; no tags for one that is no wheel."""
    # Tags are multiplied with each other: `a.b.c-a.b.c-a.b.c` is 27 of them.
    tags = math.prod(part.count(".") + 1 for part in file.name.removesuffix(".whl").split("-")[-3:])
    if _LONG_NUMBER.search(file.name) or (file.name.endswith(".whl") and tags > MOST_TAGS):
        return None
    try:
        if file.name.endswith(".whl"):
            found, version, _, wheel_tags = parse_wheel_filename(file.name)
        else:
            (found, version), wheel_tags = parse_sdist_filename(file.name), frozenset()
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion, ValueError):
        return None
    return (version, wheel_tags) if found == name else None


def _takes(requires_python: str, target: PythonTarget, known: dict[str, bool]) -> bool:
    """Return whether a file is for this Python; one whose condition cannot be read is not."""
    if not requires_python:
        return True
    if requires_python not in known:
        try:
            known[requires_python] = SpecifierSet(requires_python).contains(
                target.environment["python_full_version"], prereleases=True
            )
        except (InvalidSpecifier, ValueError):
            known[requires_python] = False
    return known[requires_python]
