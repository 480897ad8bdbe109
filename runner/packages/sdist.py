"""Reads a source archive of a Python package without running anything of it (PEP 517, 518 and 625)."""

from __future__ import annotations

import hashlib
import io
import re
import tomllib
import zipfile
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidSdistFilename, canonicalize_name, parse_sdist_filename

from runner.model.bundle import Archive, Member
from runner.model.plan import OwnProgram, ProgramKind
from runner.packages.failures import Unusable
from runner.packages.tarball import Tarball
from runner.packages.wheel import metadata

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.packages.wheel import Metadata

ENDING = ".tar.gz"
SOURCE = ".source"
"""Folder of a source archive, below the folder of the packages, where it is unpacked for its build."""
LEGACY = "setuptools.build_meta:__legacy__"
"""What builds a package that names nothing (PEP 517)."""
LEGACY_NEEDS = ("setuptools>=40.8.0",)
BUILD = "build"
"""Name of the program that stands for the backend."""
SETUPTOOLS = ("setuptools.build_meta", LEGACY)
MOST_TOML = 1 << 20
LONGEST_PROGRAM = 200_000
"""Characters of a program that a person is shown."""
MOST_NEEDS = 50
"""Requirements that one build may name."""
_BACKEND = re.compile(r"[A-Za-z_][\w.]{0,200}(?::[A-Za-z_][\w.]{0,100})?", re.ASCII)
_FOLDER = re.compile(r"[\w][\w./-]{0,200}|\.", re.ASCII)
_SECTION = re.compile(r"\[(?P<extra>[^:\]]*)(?::(?P<marker>[^\]]*))?\]")


@dataclass(frozen=True, slots=True)
class BuildSystem:
    """What builds a package."""

    backend: str
    path: tuple[str, ...]
    """Folders of the archive in which the backend is; empty where it comes from another package."""
    needs: tuple[Requirement, ...]


class Sdist:
    """An opened source archive. `file` is its name, `data` its bytes, which are known to have the announced hash."""

    def __init__(self, file: str, data: bytes) -> None:
        """Raises Unusable."""
        try:
            self._name, self._version = parse_sdist_filename(file)
        except (InvalidSdistFilename, ValueError) as error:
            raise Unusable("it is not a source archive") from error
        if not file.endswith(ENDING):
            raise Unusable(f"source archives other than {ENDING} are not read")
        self._tarball = Tarball(data)
        self._paths = frozenset(self._tarball.paths)
        self.system = self._build_system()

    def metadata(self) -> Metadata:
        """Return what it says of itself; what is built of it may say something else. Raises Unusable."""
        text = self._text("PKG-INFO")
        if text is None:
            raise Unusable("it has no PKG-INFO")
        found = metadata(text.encode())
        if (found.name, found.version) != (self._name, str(self._version)):
            raise Unusable("it says that it is another package than its name does")
        return found if found.needs else replace(found, needs=tuple(self._listed_needs()))

    def programs(self) -> tuple[OwnProgram, ...]:
        """Return what runs while it is built, with the text of what comes with it. Raises Unusable."""
        system, found = self.system, []
        where = "a file of its own" if system.path else "of a package that it is built with"
        needs = ", ".join(map(str, system.needs)) or "nothing else"
        line = f"{system.backend}, {where}; needs {needs}"
        found.append(OwnProgram(BUILD, line))
        for folder in system.path:
            module = system.backend.partition(":")[0].replace(".", "/")
            for ending in (".py", "/__init__.py"):
                path = f"{folder}/{module}{ending}".removeprefix("./")
                found += self._program(path)
        if system.backend in SETUPTOOLS:
            found += self._program("setup.py")
        return tuple(found)

    def check(self) -> None:
        """Raise Unusable where its files cannot all be unpacked."""
        for _ in self._tarball.files():
            pass

    def archive(self) -> Archive:
        """Return its files as an archive for the unpacking inside, below `SOURCE`. Raises Unusable."""
        out, members = io.BytesIO(), []
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
            for path, executable, data in self._tarball.files():
                packed.writestr(zipfile.ZipInfo(path), data, zipfile.ZIP_DEFLATED)
                members.append(Member(path, f"{SOURCE}/{path}", hashlib.sha256(data).hexdigest(), executable))
        data = out.getvalue()
        return Archive(data, hashlib.sha256(data).hexdigest(), tuple(members))

    def _text(self, path: str, most: int = MOST_TOML) -> str | None:
        return self._tarball.text(path, most)

    def _program(self, path: str) -> Iterator[OwnProgram]:
        text = self._text(path, LONGEST_PROGRAM)
        if text is not None:
            yield OwnProgram(path, text, ProgramKind.PYTHON)

    def _build_system(self) -> BuildSystem:
        text = self._text("pyproject.toml")
        if text is None and "setup.py" not in self._paths:
            raise Unusable("it has neither pyproject.toml nor setup.py")
        said = _table(_parsed(text or ""), "build-system")
        written = said.get("requires", list(LEGACY_NEEDS) if "build-backend" not in said else [])
        backend, path = said.get("build-backend", LEGACY), said.get("backend-path", [])
        if not isinstance(backend, str) or _BACKEND.fullmatch(backend) is None:
            raise Unusable("its pyproject.toml names no backend that can be used")
        if not _are_texts(path) or not all(_FOLDER.fullmatch(one) and ".." not in one.split("/") for one in path):
            raise Unusable("its pyproject.toml names a folder for its backend that is not one of its own")
        if not _are_texts(written) or len(written) > MOST_NEEDS:
            raise Unusable(f"its pyproject.toml names more than {MOST_NEEDS} requirements, or none that can be read")
        try:
            needs = tuple(Requirement(one) for one in written)
        except (InvalidRequirement, RecursionError, ValueError) as error:
            raise Unusable("its pyproject.toml names a requirement that cannot be read") from error
        if refused := next((one for one in needs if one.url is not None), None):
            raise Unusable(f"its build asks for {refused.name} from an address of its own")
        for one in needs:
            one.name = canonicalize_name(one.name)
        return BuildSystem(backend, tuple(one.rstrip("/") for one in path), needs)

    def _listed_needs(self) -> Iterator[Requirement]:
        """Yield the requirements that setuptools has listed beside PKG-INFO, which older versions leave out there."""
        path = next((one for one in sorted(self._paths) if one.endswith(".egg-info/requires.txt")), "")
        condition = ""
        for line in (self._text(path) or "").splitlines() if path else ():
            written = line.strip()
            if match := _SECTION.fullmatch(written):
                parts = [match["marker"] or "", f"extra == {match['extra']!r}" if match["extra"] else ""]
                condition = " and ".join(f"({part})" for part in parts if part)
            elif written:
                try:
                    yield Requirement(f"{written} ; {condition}" if condition else written)
                except (InvalidRequirement, RecursionError, ValueError) as error:
                    raise Unusable("its list of requirements cannot be read") from error


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise Unusable("its pyproject.toml cannot be read") from error


def _table(said: dict[str, Any], name: str) -> dict[str, Any]:
    found = said.get(name, {})
    if not isinstance(found, dict):
        raise Unusable("its pyproject.toml cannot be read")
    return found


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) and len(one) <= 500 for one in value)
