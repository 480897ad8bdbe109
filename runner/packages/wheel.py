"""Reads a wheel without running anything of it, and refuses one that is not what a wheel is (PEP 427)."""

from __future__ import annotations

import base64
import binascii
import configparser
import csv
import hashlib
import io
import re
import stat
import zipfile
import zlib
from dataclasses import dataclass
from email.parser import Parser
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from runner.model.bundle import PYTHON_FOLDER, Member
from runner.model.workspace import WORKSPACE
from runner.packages.failures import Unusable
from runner.packages.index import plain
from runner.packages.places import MOST_FILES, TakenPlaces, parts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_UNPACKED = 1 << 30
"""Bytes of all files of one wheel."""
MOST_METADATA = 4 << 20
MOST_NEEDS = 1_000
"""Requirements that one package may name."""
LONGEST_NEED = 1_000
CHUNK = 1 << 20
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED = 0x1
UNHASHED = ("RECORD", "RECORD.jws", "RECORD.p7s")
"""Files of the `.dist-info` folder that the list of files has no hash of."""
IMPORTED = (".py", ".so")
"""What Python imports of installed packages; compiled files (.pyc) are not installed."""
LEFT_OUT = (".pth", ".pyc")
"""Endings of files that are not installed: what Python would run at its start, and what hides behind a source."""
_COMMAND = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,80}")
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", re.ASCII)
_WRAPPER = """#!/usr/bin/env -S python3 -I
import sys
sys.path.insert(0, {folder!r})
from {module} import {root}
sys.exit({call}())
"""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a wheel says about itself."""

    name: str
    version: str
    needs: tuple[Requirement, ...]
    summary: str = ""
    requires_python: str = ""


@dataclass(frozen=True, slots=True)
class Contents:
    """The files of a wheel that are installed."""

    members: tuple[Member, ...]
    commands: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...]
    size: int
    """Bytes of all its files when unpacked."""

    @property
    def modules(self) -> tuple[str, ...]:
        """Names that code imports it by."""
        found: dict[str, None] = {}
        for member in self.members:
            first, _, rest = member.place.partition("/")
            if rest and member.place.endswith(IMPORTED) and first.isidentifier():
                found[first] = None
            elif not rest and member.place.endswith(IMPORTED):
                found[first.partition(".")[0]] = None
        return tuple(found)


def metadata(data: bytes) -> Metadata:
    """Return what the METADATA of a wheel says (core metadata). Raises Unusable."""
    if len(data) > MOST_METADATA:
        raise Unusable("its description is too long")
    try:
        said = Parser().parsestr(data.decode("utf-8", "replace"), headersonly=True)
        written = [str(one) for one in said.get_all("Requires-Dist", [])]
        if len(written) > MOST_NEEDS or any(len(one) > LONGEST_NEED for one in written):
            raise Unusable(f"it names more than {MOST_NEEDS:,} requirements, or one that is too long")
        return Metadata(
            name=canonicalize_name(str(said.get("Name", ""))),
            version=str(Version(str(said.get("Version", ""))[:200])),
            needs=tuple(Requirement(one) for one in written),
            summary=plain(str(said.get("Summary", "")))[:200],
            requires_python=str(said.get("Requires-Python", ""))[:500],
        )
    except (InvalidRequirement, InvalidVersion, RecursionError, ValueError) as error:
        raise Unusable(f"its description cannot be read: {plain(str(error))[:200]}") from error


class Wheel:
    """An opened wheel. `file` is its name, `data` its bytes, which are known to have the announced hash."""

    def __init__(self, file: str, data: bytes) -> None:
        """Raises Unusable."""
        try:
            name, version, _, _ = parse_wheel_filename(file)
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (InvalidWheelFilename, zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError) as error:
            raise Unusable("it is not a wheel") from error
        self._name, self._version = name, version
        self._entries = self._checked(self._zip.infolist())
        self._info = self._dist_info()

    def metadata(self) -> Metadata:
        """Return its metadata. Raises Unusable where that is of another package or version."""
        found = metadata(self._read(f"{self._info}/METADATA", MOST_METADATA))
        if (found.name, found.version) != (self._name, str(self._version)):
            raise Unusable("it says that it is another package than its name does")
        return found

    def contents(self) -> Contents:
        """Return what is installed of it, each file held against the wheel's own list. Raises Unusable."""
        record = self._record()
        taken, size = TakenPlaces(), 0
        members: list[Member] = []
        left_out: list[str] = []
        commands: tuple[tuple[str, str], ...] = ()
        for entry in self._entries:
            name = entry.filename
            sha256 = self._verified(entry, record)
            size += entry.file_size
            place = self._place(name)
            if not place or place.endswith(LEFT_OUT):
                left_out.append(name)
                continue
            taken.take(place)
            if name == f"{self._info}/entry_points.txt":
                commands = tuple(_commands(self._read(name, MOST_METADATA)))
            members.append(Member(name, place, sha256, bool((entry.external_attr >> 16) & 0o111)))
        if missing := sorted(record.keys() - {entry.filename for entry in self._entries}):
            raise Unusable(f"its list of files names one that it does not have: {missing[0][:100]!a}")
        for place, _ in commands:
            taken.take(place)
        return Contents(tuple(members), commands, tuple(left_out), size)

    def _checked(self, entries: list[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
        """Return the files of the archive, none of which leads out of it. Raises Unusable."""
        if len(entries) > 2 * MOST_FILES:
            raise Unusable(f"it holds more than {MOST_FILES:,} files")
        if sum(entry.file_size for entry in entries) > MOST_UNPACKED:
            raise Unusable(f"it would unpack to more than {MOST_UNPACKED >> 20:,} MB")
        taken, files = TakenPlaces(), []
        for entry in entries:
            kind = stat.S_IFMT(entry.external_attr >> 16)
            if entry.is_dir():
                parts_of(entry.filename.rstrip("/"))
                continue
            parts_of(entry.filename)
            if kind not in (0, stat.S_IFREG):
                raise Unusable(f"it holds a link or a device: {entry.filename[:100]!a}")
            if entry.flag_bits & ENCRYPTED or entry.compress_type not in METHODS:
                raise Unusable(f"it holds a file that cannot be unpacked: {entry.filename[:100]!a}")
            # What `zipfile` reads and what another program might read of the same entry would differ.
            if entry.orig_filename != entry.filename:
                raise Unusable(f"it holds a file with two names: {entry.filename[:100]!a}")
            taken.take(entry.filename)
            files.append(entry)
        return files

    def _dist_info(self) -> str:
        """Return the folder with its metadata. Raises Unusable where there is none, or several."""
        folders = {entry.filename.partition("/")[0] for entry in self._entries}
        found = [folder for folder in folders if folder.endswith(".dist-info")]
        if len(found) == 1:
            name, _, version = found[0].removesuffix(".dist-info").rpartition("-")
            try:
                if canonicalize_name(name) == self._name and Version(version) == self._version:
                    return found[0]
            except InvalidVersion:
                pass
        raise Unusable("it has not the one folder with metadata that a wheel has")

    def _read(self, name: str, most: int) -> bytes:
        try:
            if self._zip.getinfo(name).file_size > most:
                raise Unusable(f"{name[-60:]!a} in it is too long")
            return self._zip.read(name)
        except KeyError:
            raise Unusable(f"it has no {name.rpartition('/')[2]}") from None
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError) as error:
            raise Unusable("it is damaged") from error

    def _record(self) -> dict[str, str]:
        """Return the hash of each file by its name, as `RECORD` lists them. Raises Unusable."""
        text = self._read(f"{self._info}/RECORD", 8 * MOST_METADATA).decode("utf-8", "replace")
        found: dict[str, str] = {}
        try:
            for row in csv.reader(io.StringIO(text)):
                if row and not (row[0].startswith(f"{self._info}/") and row[0].rpartition("/")[2] in UNHASHED):
                    if row[0] in found or len(row) < 2:
                        raise Unusable(f"its list of files is not in order: {row[0][:100]!a}")
                    found[row[0]] = row[1]
        except csv.Error as error:
            raise Unusable("its list of files cannot be read") from error
        return found

    def _verified(self, entry: zipfile.ZipInfo, record: dict[str, str]) -> str:
        """Return the SHA-256 (hex) of a file that has the hash in the wheel's list. Raises Unusable."""
        name = entry.filename
        own = hashlib.sha256()
        own_files = name.startswith(f"{self._info}/") and name.rpartition("/")[2] in UNHASHED
        algorithm, _, wanted = record.get(name, "").partition("=")
        if not own_files and algorithm not in ("sha256", "sha384", "sha512"):
            raise Unusable(f"its list of files has no hash of {name[:100]!a}")
        listed = hashlib.new(algorithm if not own_files else "sha256")
        size = 0
        try:
            with self._zip.open(entry) as file:
                while piece := file.read(CHUNK):
                    size += len(piece)
                    own.update(piece)
                    listed.update(piece)
                    if size > entry.file_size:
                        raise Unusable(f"{name[:100]!a} in it is larger than it says")
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError) as error:
            raise Unusable(f"{name[:100]!a} in it is damaged") from error
        if not own_files and listed.digest() != _decoded(wanted):
            raise Unusable(f"{name[:100]!a} in it has another hash than its list of files says")
        return own.hexdigest()

    def _place(self, name: str) -> str:
        """Return where a file goes below the folder of the packages; '' for one that is left out."""
        parts = parts_of(name)
        if not parts[0].endswith(".data"):
            return name
        return "/".join(parts[2:]) if len(parts) > 2 and parts[1] in ("purelib", "platlib") else ""


def _decoded(digest: str) -> bytes:
    """Return a hash as `RECORD` writes it: base64 for addresses, without padding."""
    try:
        return base64.urlsafe_b64decode(digest + "=" * (-len(digest) % 4))
    except (binascii.Error, ValueError):
        return b""


def _commands(text: bytes) -> Iterator[tuple[str, str]]:
    """Yield place and text of a program for each entry point that is one; nothing for what is not plain."""
    points = configparser.ConfigParser(delimiters=("=",), interpolation=None, strict=False)
    points.optionxform = str  # type: ignore[assignment,method-assign]  # names of programs have capitals
    try:
        points.read_string(text.decode("utf-8", "replace"))
    except configparser.Error:
        return
    if not points.has_section("console_scripts"):
        return
    for name, target in points.items("console_scripts"):
        module, _, call = target.partition("[")[0].strip().partition(":")
        module, call = module.strip(), call.strip()
        if _COMMAND.fullmatch(name) and _NAME.fullmatch(module) and _NAME.fullmatch(call):
            folder, root = f"{WORKSPACE}/{PYTHON_FOLDER}", call.partition(".")[0]
            yield f"bin/{name}", _WRAPPER.format(folder=folder, module=module, root=root, call=call)
