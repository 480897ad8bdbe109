"""A package plan: exactly the files that would be installed, found before anybody is asked (spec N4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Registry(StrEnum):
    """The kinds of package registries. The names are those of the third source document."""

    PYPI = "pypi"
    NPM = "npm"


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
    """Install scripts (npm), by name. They are not run."""
    mistaken_for: str = ""
    """A much used package whose name looks like this one's."""
    build: bool = False
    """Whether there is no ready file for this sandbox, so that it would have to be built from source."""


@dataclass(frozen=True, slots=True)
class Plan:
    """All packages of one request for one registry, in the order of their names."""

    registry: Registry
    hosts: tuple[str, ...]
    """Hosts that its files come from."""
    packages: tuple[PlannedPackage, ...]
    target: str = ""
    """The interpreter that it was planned for, e.g. `Python 3.13, x86_64`."""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(package.size for package in self.packages)
