"""A package plan: exactly the files that would be installed, found before anybody is asked (spec N4)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum


class Registry(StrEnum):
    """The kinds of package registries. Their names are given (spec E3)."""

    PYPI = "pypi"
    NPM = "npm"


class ProgramKind(StrEnum):
    """What the text of a program is."""

    PYTHON = "python"
    JAVASCRIPT = "javascript"
    SHELL = "shell"
    TEXT = "text"


SHORT_PROGRAM = 300
"""Characters of a program's text that stands in its package's row."""


@dataclass(frozen=True, slots=True)
class OwnProgram:
    """A program of a package that runs while the package is installed."""

    name: str
    """What it is, e.g. `postinstall` or `setup.py`."""
    text: str
    """What runs: a shell line of package.json, a file of the package, or what names a program of another package."""
    kind: ProgramKind = ProgramKind.TEXT

    @property
    def is_short(self) -> bool:
        """Whether it is shown in its package's row; any other is a part of the request by itself."""
        is_line = self.kind in (ProgramKind.SHELL, ProgramKind.TEXT)
        return is_line and len(self.text) <= SHORT_PROGRAM and self.text.isprintable()


@dataclass(frozen=True, slots=True)
class BuildFile:
    """One package that a build needs: the file it comes from."""

    name: str
    version: str
    file: str
    sha256: str
    size: int
    url: str
    index: str = ""
    """As that of a package."""
    also_in: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Name and version."""
        return f"{self.name} {self.version}"


class Oddity(StrEnum):
    """What is odd about a package, what misleads most first."""

    LOOKS_LIKE = "looks like"
    AMBIGUOUS = "ambiguous"
    WITHDRAWN = "withdrawn"
    DEPRECATED = "deprecated"
    SCRIPTS = "scripts"


@dataclass(frozen=True, slots=True)
class PlannedPackage:
    """One package at one version: the file it comes from and what a person is shown of it."""

    name: str
    version: str
    file: str
    """Name of the wheel or tarball."""
    sha256: str
    """Hex digest of the file: what is installed has it."""
    size: int
    """Bytes of the file."""
    url: str
    place: str = ""
    """npm: the folder below the workspace's `node_modules`; packages of Python have none."""
    wanted_by: tuple[str, ...] = ()
    """Packages that need it; empty for one that the agent named."""
    released_at: float = 0.0
    """Seconds since the epoch; 0 where the registry does not say."""
    first_released_at: float = 0.0
    """Release of the first version, likewise."""
    versions: int = 0
    """How many versions the registry has; 0 where it does not say."""
    summary: str = ""
    yanked: str = ""
    """Why this version was withdrawn by its authors; empty where it was not."""
    scripts: tuple[str, ...] = ()
    """Install scripts (npm), by name; only those among `programs` are run."""
    mistaken_for: str = ""
    """A much used package whose name looks like this one's."""
    deprecated: str = ""
    """Why its authors advise against it (npm); empty where they do not."""
    index: str = ""
    """The index that it comes from, where this machine has several: the first in their order that has the name."""
    also_in: tuple[str, ...] = ()
    """The other indexes that have the name and not this very file."""
    programs: tuple[OwnProgram, ...] = ()
    """What of it runs while it is installed, in that order; nothing for a package that is only unpacked."""
    build_files: tuple[BuildFile, ...] = ()
    """The files that its build uses and that are gone afterwards: the only packages that the build finds."""
    optional: bool = False
    """npm: whether those that need it work without it, so that it may fail to be built."""

    @property
    def builds(self) -> bool:
        """Whether programs of its own run while it is installed."""
        return bool(self.programs)

    @property
    def title(self) -> str:
        """Name and version."""
        return f"{self.name} {self.version}"

    @property
    def oddities(self) -> dict[Oddity, str]:
        """What is odd about it, each in a sentence with the registry's own words in it, in the order of `Oddity`."""
        known, name = self.mistaken_for, self.name
        said = {
            Oddity.LOOKS_LIKE: known and f"The name looks like {known}, a much used package. Is {name} really meant?",
            Oddity.AMBIGUOUS: " ".join(filter(None, (_ambiguous(self), *map(_ambiguous, self.build_files)))),
            Oddity.WITHDRAWN: self.yanked and f"Its authors withdrew this version: {self.yanked.rstrip('.')}.",
            Oddity.DEPRECATED: self.deprecated and f"Its authors advise against it: {self.deprecated.rstrip('.')}.",
            Oddity.SCRIPTS: self.scripts
            and not self.builds
            and f"Has install scripts ({', '.join(self.scripts)}). They are not run, so it may not work.",
        }
        return {oddity: words for oddity, words in said.items() if words}


@dataclass(frozen=True, slots=True)
class Plan:
    """All packages of one request for one registry, in the order of their names."""

    registry: Registry
    hosts: tuple[str, ...]
    """Hosts that its files come from."""
    packages: tuple[PlannedPackage, ...]
    target: str = ""
    """The interpreter that it was planned for, e.g. `Python 3.13, x86_64`."""
    installed: tuple[str, ...] = ()
    """Names and versions that the kept sandbox had when it was planned: what is needed of those is not in the plan."""
    indexes: tuple[str, ...] = ()
    """The indexes of this machine in the order in which they count; none where there is only one."""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(package.size + sum(one.size for one in package.build_files) for package in self.packages)

    @property
    def built(self) -> tuple[PlannedPackage, ...]:
        """The packages of which programs run while they are installed."""
        return tuple(package for package in self.packages if package.builds)

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) over the files and where they go: equal for plans that install the same."""
        parts = [
            (one.name, one.version, one.file, one.sha256, one.place)
            + ((one.programs, one.build_files) if one.builds else ())
            for one in self.packages
        ]
        import hashlib  # which takes longer to load than all of the model

        return hashlib.sha256(repr((self.registry.value, parts)).encode()).hexdigest()

    @property
    def text(self) -> str:
        """All of it in words, a package after the other: what a person has on screen before it is approved."""
        count = "1 package" if len(self.packages) == 1 else f"{len(self.packages)} packages"
        lines = [f"{count} from {self.registry.value}, {self.size:,} bytes, for {self.target or 'any interpreter'}"]
        lines.append(f"Files come from {', '.join(self.hosts) or 'what was fetched before'}")
        if self.indexes:
            lines.append(
                f"All indexes were asked for each name; the first that has it counts: {', '.join(self.indexes)}"
            )
        if self.installed:
            lines.append(f"Installed already: {', '.join(self.installed)}")
        for package in self.packages:
            lines += ["", *_described(package)]
        return "\n".join(lines)


def _described(package: PlannedPackage) -> list[str]:
    """Return what is known of one package, a fact a line, whatever stands out first."""
    needed = f"needed by {', '.join(package.wanted_by)}" if package.wanted_by else "asked for"
    lines = [f"{package.title} ({needed})"]
    lines += [f"  ! {words}" for words in package.oddities.values()]
    for program in package.programs:
        shown = program.text if program.is_short else f"shown as {part_name(package, program)}"
        lines.append(f"  ! runs its own program while it is installed: {program.name}: {shown}")
    for file in package.build_files:
        lines.append(f"  built with {file.title}: {file.file}, {file.size:,} bytes, sha256 {file.sha256}")
    released = f"released {day(package.released_at)}" if package.released_at else "release date unknown"
    first = f" since {day(package.first_released_at)}" if package.first_released_at else ""
    known = f", one of {package.versions} versions{first}" if package.versions else ""
    lines.append(f"  {released}{known}")
    lines.append(f"  {package.file}, {package.size:,} bytes")
    if package.index:
        lines.append(f"  found in {package.index}")
    if package.place:
        lines.append(f"  goes to {package.place}")
    lines.append(f"  sha256 {package.sha256}")
    if package.summary:
        lines.append(f"  {package.summary}")
    return lines


def _ambiguous(file: PlannedPackage | BuildFile) -> str:
    """Return which other indexes have the name of a file, in a sentence; empty where none has."""
    if not file.also_in:
        return ""
    what = "Also" if isinstance(file, PlannedPackage) else f"{file.name}, which its build uses, is also"
    return f"{what} in {', '.join(file.also_in)}, with other files than in {file.index}: which one is meant?"


def part_name(package: PlannedPackage, program: OwnProgram) -> str:
    """Return the name of the part of a request that holds the text of a program."""
    return f"{program.name} of {package.place or package.name}"


def day(at: float) -> str:
    """Return the day (UTC) of seconds since the epoch."""
    return time.strftime("%Y-%m-%d", time.gmtime(at))
