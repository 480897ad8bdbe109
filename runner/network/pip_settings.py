"""The package indexes that pip of this machine is configured with, read without running it.

What counts, in pip's order (its documentation, "Configuration"): files for everybody, of the user, of the
interpreter, the one that PIP_CONFIG_FILE names, and the variables PIP_INDEX_URL, PIP_EXTRA_INDEX_URL, PIP_NO_INDEX
and PIP_CERT.
"""

from __future__ import annotations

import ast
import configparser
import io
import os
import sys
import sysconfig
import zipfile
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from runner.network.authorities import Authorities
from runner.system.syntax_trees import syntax_tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.network.config_files import Surroundings

FILE = "pip.conf"
_SECTIONS = ("global", "install")
_SOURCE = "pip/_internal/models/index.py"
_WHEELS = "pip-*.whl"
SYSTEM_WHEELS = Path("/usr/share/python-wheels")
"""Where Debian keeps the pip that it puts into virtual environments, also where no other is installed."""
_TRUE = frozenset({"y", "yes", "t", "true", "on", "1"})


def indexes(around: Surroundings) -> tuple[str, ...]:
    """Return the URLs of pip's indexes, the further ones before the main one, as they are written down.

    So with credentials. Where no main one is written down, it is the one that the installed pip has by default.
    """
    found = _settings(around)
    if found.get("no-index", "").lower() in _TRUE:
        return ()
    default = built_in(around)
    main = found.get("index-url") or (default[0] if default else "")
    return tuple(dict.fromkeys(url for url in (*found.get("extra-index-url", "").split(), main) if url))


def authorities(around: Surroundings) -> Authorities:
    """Return what pip trusts: its setting `cert`, else what the library that it uses takes from variables."""
    environ = around.environ
    named = _settings(around).get("cert") or environ.get("REQUESTS_CA_BUNDLE") or environ.get("CURL_CA_BUNDLE")
    return Authorities((around.path(named),)) if named else Authorities()


def built_in(around: Surroundings) -> tuple[str, str] | None:
    """Return the index and the host of files that an installed pip has by default; None without a pip."""
    for text in _sources(around):
        if (found := _package_index(text)) is not None:
            return found
    return None


def _settings(around: Surroundings) -> dict[str, str]:
    """Return the settings as they count in the end, by name."""
    found: dict[str, str] = {}
    for path in _files(around):
        parser = configparser.RawConfigParser()
        try:
            parser.read_string(around.text(path))
        except configparser.Error as error:
            around.problems.append(f"{path} cannot be understood: {type(error).__name__}.")
            continue
        for section in _SECTIONS:
            if parser.has_section(section):
                found |= {_option(name, section): value for name, value in parser.items(section)}
    # A section for a command outweighs `global`, also that of a later file.
    settings = {name: value for name, value in found.items() if "." not in name}
    settings |= {name.partition(".")[2]: value for name, value in found.items() if "." in name}
    for name, value in around.environ.items():
        if name.startswith("PIP_") and value:
            settings[name.removeprefix("PIP_").lower().replace("_", "-")] = value
    return settings


def _option(name: str, section: str) -> str:
    plain = name.lower().replace("_", "-").removeprefix("--")
    return plain if section == _SECTIONS[0] else f"{section}.{plain}"


def _files(around: Surroundings) -> Iterator[Path]:
    """The files that count, the strongest last."""
    environ = around.environ
    named = environ.get("PIP_CONFIG_FILE", "")
    if named == os.devnull:
        return
    for folder in (environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(os.pathsep):
        yield Path(folder) / "pip" / FILE
    yield Path("/etc") / FILE
    if not (named and Path(named).exists()):
        yield around.home / ".pip" / FILE
        yield Path(environ.get("XDG_CONFIG_HOME") or around.home / ".config") / "pip" / FILE
    yield from (prefix / FILE for prefix in _prefixes(around)[:1])
    if named:
        yield Path(named)


def _prefixes(around: Surroundings) -> list[Path]:
    """Folders that hold an interpreter: that of the active environment, and those of the programs on PATH."""
    active = around.environ.get("VIRTUAL_ENV")
    found = [Path(active)] if active else []
    for name in ("pip3", "pip", "python3", "python"):
        if (program := around.program(name)) is not None:
            found += [program.parent.parent, program.resolve().parent.parent]
    return list(dict.fromkeys(found))


def _sources(around: Surroundings) -> Iterator[str]:
    """The file of an installed pip that names its index: of each that is found, then those that Python carries."""
    for prefix in [*_prefixes(around), Path(sys.prefix), Path(sys.base_prefix)]:
        for path in sorted(prefix.glob(f"lib/python3*/*-packages/{_SOURCE}"), reverse=True):
            yield around.text(path)
    bundled = [place for prefix in _prefixes(around) for place in prefix.glob("lib/python3*/ensurepip/_bundled")]
    bundled += [Path(sysconfig.get_path("stdlib")) / "ensurepip" / "_bundled", SYSTEM_WHEELS]
    if folder := sysconfig.get_config_var("WHEEL_PKG_DIR"):
        bundled.append(Path(str(folder)))
    for folder in bundled:
        for wheel in sorted(folder.glob(_WHEELS), reverse=True):
            yield _inside(wheel)


def _inside(wheel: Path) -> str:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(_SOURCE) as file:
            return io.TextIOWrapper(file, "utf-8", "replace").read(1 << 20)
    except (OSError, KeyError, zipfile.BadZipFile):
        return ""


@lru_cache(maxsize=8)
def _package_index(source: str) -> tuple[str, str] | None:
    """Return the arguments of `PyPI = PackageIndex(url, file_storage_domain=...)` in pip's source."""
    try:
        tree = syntax_tree(source)
    except (SyntaxError, ValueError):
        return None
    for node in tree.body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id="PyPI")],
                value=ast.Call(args=[ast.Constant(value=str() as url), *others], keywords=keywords),
            ):
                given = [one.value for one in (*others, *(word.value for word in keywords))
                         if isinstance(one, ast.Constant)]  # fmt: skip
                files = given[0] if given and isinstance(given[0], str) else ""
                return f"{url.rstrip('/')}/simple", files
    return None
