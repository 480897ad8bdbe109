"""Finds the interpreters that run code, and what of the file system they need to be visible."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from glob import glob
from pathlib import Path

from runner.model.errors import KnownError
from runner.model.language_support import LANGUAGES
from runner.model.request import Language
from runner.sandbox import toolchain
from runner.sandbox.local import trusted
from runner.sandbox.local.bubblewrap_start import SYSTEM
from runner.sandbox.programs import inside
from runner.system import installed

PROBE_SECONDS = 20.0
OWN_PACKAGE = "cryptography"
"""A package that Assent needs; the others are installed beside it."""

_PYTHON_PROBE = """
import json, py_compile, sys
py_compile.compile(sys.argv[1], cfile=sys.argv[2], dfile="<assent>", doraise=True)
print(json.dumps([sys.executable, sys.prefix, sys.base_prefix, sys.path, "%d.%d.%d" % sys.version_info[:3]]))
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """One interpreter: the real file that is started, and what it needs."""

    language: Language
    path: str
    version: str
    folders: tuple[str, ...] = ()
    """Folders or files outside the system's own that must be visible, read-only."""
    executable: str = ""
    """Python: the name the code knows itself by (`sys.executable`); a virtual environment's."""
    prefix: str = ""
    search: tuple[str, ...] = ()
    """Python: where modules are found, in order."""
    starter: bytes = b""
    """Python: `inside/python.py`, compiled by this very interpreter."""
    packages: tuple[str, ...] = ()
    """Python: names of the packages that code can import besides the standard library."""

    @property
    def unused(self) -> int:
        """Bytes that it makes writable as it starts and does not fill: they count against what a process may write to.

        Node.js from 23 on does so with the 512 MB in which machine code may stand (seen in 23.11, 24.21 and 25.9).
        """
        return 512 << 20 if self.language is Language.JAVASCRIPT and not _older(self.version, (23, 0)) else 0


def find(language: Language, given: str) -> Interpreter:
    """Return the interpreter at the path `given`, or a found one where that is ''.

    Raises KnownError where there is none.
    """
    match language:
        case Language.PYTHON:
            return _find_python(given)
        case Language.JAVASCRIPT:
            return _find_node(given)
        case Language.SHELL:
            return _find_bash(given)
        case _:
            return _find_toolchain(language, given)


def _find_python(given: str) -> Interpreter:
    """Without a path: the interpreter below Assent's virtual environment, or the one that an installed Assent
    carries.

    Then the code sees the packages of that interpreter, and none of those that Assent itself needs.
    """
    path = given or _base_python()
    remedy = "Install Python 3.11 or later, or name its path in the settings."
    with tempfile.TemporaryDirectory(prefix="assent-try-") as scratch:
        source, compiled = Path(scratch, "start.py"), Path(scratch, "start.pyc")
        source.write_text(inside("python.py"), "utf-8")
        answer = _ask([path, "-I", "-c", _PYTHON_PROBE, str(source), str(compiled)], "Python", remedy)
        starter = compiled.read_bytes()
    executable, prefix, base, search, version = json.loads(answer)
    if _older(version, (3, 11)):
        raise KnownError(f"Python {version} is too old.", remedy)
    real = os.path.realpath(executable)
    folders = _outside_system(real, (prefix, base))
    left_out = () if given else _own_packages()
    visible = tuple(
        entry
        for entry in search
        if os.path.isdir(entry) and _below(entry, (*SYSTEM, *folders)) and os.path.realpath(entry) not in left_out
    )
    packages = _packages(visible)
    return Interpreter(Language.PYTHON, real, version, folders, executable, prefix, visible, starter, packages)


def _base_python() -> str:
    """Return the interpreter that Assent carries, or that its virtual environment was made of."""
    return installed.interpreter() or str(getattr(sys, "_base_executable", "") or sys.executable)


def _own_packages() -> tuple[str, ...]:
    """Return the folders of the packages that Assent needs."""
    found = importlib.util.find_spec(OWN_PACKAGE)
    return tuple(os.path.realpath(Path(place).parent) for place in (found and found.submodule_search_locations) or ())


def _packages(search: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the packages that are installed in `search`, in order of the alphabet."""
    names = {one.name for one in importlib.metadata.distributions(path=list(search))}
    return tuple(sorted(filter(None, names), key=str.lower))


def _find_node(given: str) -> Interpreter:
    remedy = f"{trusted.elsewhere('node')} Install Node.js 20 or later, or name its path in the settings.".strip()
    path = _real(given or trusted.find("node", "nodejs"))
    version = _ask([path, "--version"], "Node.js", remedy).strip().lstrip("v")
    if _older(version, (20, 0)):
        raise KnownError(f"Node.js {version} is too old.", remedy)
    return Interpreter(Language.JAVASCRIPT, path, version, _outside_system(path, (_prefix(path),)))


def _find_bash(given: str) -> Interpreter:
    remedy = "Install Bash 5.2 or later, or name its path in the settings."
    path = _real(given or trusted.find("bash"))
    first = _ask([path, "--version"], "Bash", remedy).partition("version ")[2]
    version = first.partition("(")[0].strip()
    if _older(version, (5, 0)):
        raise KnownError(f"Bash {version} is too old.", remedy)
    return Interpreter(Language.SHELL, path, version, _outside_system(path, (_prefix(path),)))


def _find_toolchain(language: Language, given: str) -> Interpreter:
    support, tools = LANGUAGES[language], toolchain.of(language)
    remedy = f"{trusted.elsewhere(tools.program)} Install {support.package}.".strip()
    path = given or trusted.find(tools.program)
    said = _ask([path, *tools.asks], support.title, remedy)
    version = toolchain.version(said)
    if _older(version, tools.least):
        raise KnownError(f"{support.title} {version} is too old.".replace("  ", " "), remedy)
    if not tools.root:
        real = _real(path)
        return Interpreter(language, real, version, (*_outside_system(real, (_prefix(real),)), *_patterns(tools.shown)))
    root = _real(_ask([path, *tools.root], support.title, remedy).strip())
    inner = os.path.join(root, "bin", tools.program)
    # A program that only starts the one that counts would look for it in a home folder, which no code sees.
    real = inner if os.access(inner, os.X_OK) else _real(path)
    return Interpreter(language, real, version, (*_outside_system(real, (root,)), *_patterns(tools.shown)))


def _patterns(patterns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(one for pattern in patterns for one in sorted(glob(pattern)) if not trusted.replaceable(one))


def _real(path: str) -> str:
    return os.path.realpath(path) if path else ""


def _ask(command: list[str], name: str, remedy: str) -> str:
    if not os.access(command[0], os.X_OK) or os.path.isdir(command[0]):
        raise KnownError(f"{name} was not found{f' at {command[0]}' if command[0] else ''}.", remedy)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PROBE_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise KnownError(f"{name} at {command[0]} does not start: {error}.", remedy) from error
    return done.stdout


def _older(version: str, least: tuple[int, int]) -> bool:
    """Return whether `version` is older; one that cannot be read is taken for too old."""
    try:
        major, minor = version.split(".")[:2]
        return (int(major), int(minor)) < least
    except ValueError:
        return True


def _prefix(path: str) -> str:
    """`/opt/node` for `/opt/node/bin/node`; the file itself where it stands in no `bin`."""
    parent = Path(path).parent
    return str(parent.parent) if parent.name == "bin" else path


def _outside_system(executable: str, prefixes: tuple[str, ...]) -> tuple[str, ...]:
    """Return what has to be shown besides the system's folders. A prefix that holds a home folder never is."""
    home = str(Path.home())
    wanted: list[str] = []
    for prefix in dict.fromkeys(prefixes):
        for path in dict.fromkeys((prefix, os.path.realpath(prefix))):
            if not _below(path, SYSTEM) and not _below(home, (path,)):
                wanted.append(path)
    if not _below(executable, (*SYSTEM, *wanted)):
        wanted.append(executable)
    return tuple(wanted)


def _below(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)
