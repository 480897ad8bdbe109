"""Packages on their way into a sandbox: archives that have been checked, and what goes where in the workspace."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PACKAGE_FOLDERS = "folders of packages"
"""What the folders of both are called where the files of a run are listed, which leave them out."""
PYTHON_FOLDER = ".packages"
"""Where packages of Python are, below the workspace."""
NODE_FOLDER = "node_modules"
"""Where packages of Node.js are, below the workspace: Node.js looks nowhere else."""


@dataclass(frozen=True, slots=True)
class Member:
    """One file of an archive that is installed."""

    name: str
    """In the archive."""
    place: str
    """Below the folder of the packages."""
    sha256: str
    executable: bool = False
    offset: int = 0
    """In the unpacked tarball."""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Archive:
    """A wheel (zip) or a tarball of npm, as it was fetched."""

    data: bytes
    sha256: str
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Bundle:
    """What is unpacked into a workspace before code runs in it."""

    folder: str
    """Below the workspace."""
    archives: tuple[Archive, ...]
    commands: tuple[tuple[str, str], ...] = ()
    """Programs that are made for the packages' entry points: place and text."""
    clean: bool = True
    """Whether what is in the folder is removed first: nothing was installed there by Assent."""
    modules: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of each file that Python can import, by its place: those of earlier installations as well."""

    @property
    def size(self) -> int:
        """Bytes of all archives."""
        return sum(len(archive.data) for archive in self.archives)


@dataclass(frozen=True, slots=True)
class Installed:
    """The packages that a kept sandbox has, as a request in it relies on them."""

    packages: tuple[str, ...]
    """Names and versions."""
    modules: tuple[str, ...]
    """Names that code imports them by."""
    digest: str
    """SHA-256 over all files that can be imported."""
