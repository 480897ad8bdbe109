"""How code of each language is started: its files, its command, its environment."""

from __future__ import annotations

import json
import marshal
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from runner.model.bundle import PYTHON_FOLDER
from runner.model.modules import modules
from runner.model.request import Language
from runner.model.variables import NAMES, is_harmless
from runner.sandbox import programs
from runner.sandbox import report as reports
from runner.sandbox.imports import hint
from runner.sandbox.local.bubblewrap_start import SYSTEM
from runner.sandbox.local.child import as_user

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.model.bundle import Bundle
    from runner.sandbox.contract import Job
    from runner.sandbox.local.child import View
    from runner.sandbox.local.interpreters import Interpreter

SUFFIXES = {Language.PYTHON: "py", Language.JAVASCRIPT: "js", Language.SHELL: "sh"}
HEAP_SHARE = 0.75
"""Part of the memory limit that V8's old generation may take; the rest is for buffers, stacks and V8 itself."""


class BadContext(ValueError):
    """The variables handed in cannot be given to this language; the text says why."""


def main_name(language: Language, view: View) -> str:
    """Return the name of the file with the code."""
    return f"{view.main}.{SUFFIXES[language]}"


def files(
    job: Job, tool: Interpreter, view: View, report: int, identity: int | None, packages: int
) -> dict[str, bytes]:
    """Return what stands in the folder `inside`. `packages` is the descriptor of the archives. Raises BadContext."""
    match job.language:
        case Language.PYTHON:
            orders = _orders(job, tool, view, report, identity) | installation(job, packages, view.workspace)
            return {"start.pyc": tool.starter, "orders": marshal.dumps(orders, 2)}  # read by any Python 3
        case Language.JAVASCRIPT:
            given = {
                "node.cjs": programs.inside("node.cjs").encode(),
                "context.json": json.dumps(context(job)).encode(),
            }
            if (found := loading(job, view.workspace)) is not None:
                given |= {
                    "loading.cjs": programs.inside("loading.cjs").encode(),
                    "loading.json": json.dumps(found).encode(),
                }
            if job.bundle is None:
                return given
            spec = {"bundle": tarballs(job.bundle), "workspace": view.workspace, "source": packages}
            unpack = programs.inside("unpack.cjs").encode()
            return {**given, "unpack.cjs": unpack, "bundle.json": json.dumps(spec).encode()}
        case Language.SHELL:
            return {}
        case _:
            assert_never(job.language)


def installation(job: Job, source: int, workspace: str) -> dict[str, object]:
    """Return the orders about packages for Python; `source` is where the archives can be read, one after the other."""
    found: dict[str, object] = {"bundle": None, "hashes": None}
    if job.bundle is not None:
        spec = {
            "folder": job.bundle.folder,
            "clean": job.bundle.clean,
            "commands": list(job.bundle.commands),
            "archives": [
                (len(one.data), one.sha256, [(each.name, each.place, each.executable) for each in one.members])
                for one in job.bundle.archives
            ],
            "source": source,
        }
        found |= {"bundle": spec, "unpacking": programs.inside("unpacking.py")}
    if job.packages is not None:
        folder = f"{workspace}/{PYTHON_FOLDER}"
        found |= {"hashes": dict(job.packages), "packages": folder, "installed": programs.inside("installed.py")}
    return found


def loading(job: Job, workspace: str) -> dict[str, object] | None:
    """Return what JavaScript code loads of its kept sandbox and how; None where it is left to Node.js."""
    if not job.known and job.packages is None:
        return None
    hashes = None if job.packages is None else dict(job.packages)
    known = {file.path: file.text for file in job.known}
    return {"workspace": workspace, "known": known, "hashes": hashes, "own": job.own_modules}


def tarballs(bundle: Bundle) -> dict[str, object]:
    """Return what is to be unpacked for Node.js: each file by its place in the unpacked tarball."""
    archives = [
        (len(one.data), one.sha256, [(each.offset, each.size, each.place, each.executable) for each in one.members])
        for one in bundle.archives
    ]
    return {"folder": bundle.folder, "clean": bundle.clean, "archives": archives}


def command(job: Job, tool: Interpreter, view: View, identity: int | None) -> tuple[str, ...]:
    """Return the command line; the code is always in a file, never an argument."""
    main = f"{view.code_folder}/{main_name(job.language, view)}"
    match job.language:
        case Language.PYTHON:
            flags = ("-I", "-S", "-B", "-X", "utf8")
            return (tool.path, *flags, f"{view.inside}/start.pyc", f"{view.inside}/orders")
        case Language.JAVASCRIPT:
            heap = f"--max-old-space-size={int(job.limits.memory_mb * HEAP_SHARE)}"
            return (*as_user(identity), tool.path, heap, "--require", f"{view.inside}/node.cjs", main)
        case Language.SHELL:
            return (*as_user(identity), tool.path, "--noprofile", "--norc", main)
        case _:
            assert_never(job.language)


def environment(job: Job, tool: Interpreter, view: View) -> dict[str, str]:
    """Return everything the code finds in its environment; nothing is inherited. Raises BadContext."""
    paths = [str(Path(tool.path).parent), "/usr/local/bin", "/usr/bin", "/bin"]
    given = {
        "PATH": ":".join(dict.fromkeys(paths)),
        "HOME": view.home,
        "TMPDIR": view.temporary,
        "LANG": "C.UTF-8",
        "USER": "sandbox",
        "LOGNAME": "sandbox",
    }
    given |= guards(job)
    return {**given, **variables(job)} if job.language is Language.SHELL else given


def guards(job: Job) -> dict[str, str]:
    """Return what keeps a Python that the code starts from modules of the workspace, where the code has none."""
    names = ("PYTHONSAFEPATH", "PYTHONNOUSERSITE", "PYTHONDONTWRITEBYTECODE")
    return {} if job.own_modules else dict.fromkeys(names, "1")


def known_modules(job: Job) -> dict[str, tuple[str, bool, str]]:
    """Return the modules that come with the code, by name: the path, whether it is a package, and the text."""
    return {name: (one.file.path, one.is_package, one.file.text) for name, one in modules(job.known).items()}


def _orders(job: Job, tool: Interpreter, view: View, report: int, identity: int | None) -> dict[str, object]:
    allowed = job.imports.allowed
    return {
        "main": f"{view.code_folder}/{main_name(job.language, view)}",
        "workspace": view.workspace,
        "report": report,
        "identity": identity,
        "own_modules": job.own_modules,
        "modules": known_modules(job),
        "path": list(tool.search),
        "prefix": tool.prefix,
        "executable": tool.executable,
        "context": context(job),
        "limit": reports.limit(job),
        "tables": programs.inside("tables.py") if job.tables else "",
        "allowed": None if allowed is None else list(allowed),
        "blocked": list(job.imports.blocked),
        "hint": hint(job.imports),
        "trusted": [
            *trusted_packages(job, view.workspace),
            *(f"{folder}/" for folder in (*SYSTEM, *tool.folders)),
        ],
    }


def trusted_packages(job: Job, workspace: str) -> list[str]:
    """Return the folder of installed packages, whose own imports are their affair."""
    return [] if job.packages is None else [f"{workspace}/{PYTHON_FOLDER}/"]


def context(job: Job) -> dict[str, object]:
    """Return the variables handed in. Raises BadContext."""
    try:
        given = json.loads(job.context)
    except ValueError as error:
        raise BadContext(f"The context is not JSON: {error}.") from error
    if not isinstance(given, dict):
        raise BadContext("The context is not a JSON object.")
    return given


def variables(job: Job) -> Mapping[str, str]:
    """For an environment: strings as they are, everything else as JSON. Raises BadContext."""
    found: dict[str, str] = {}
    for name, value in context(job).items():
        text = value if isinstance(value, str) else json.dumps(value)
        if not is_harmless(name) or "\0" in text:
            raise BadContext(f"{name!r} of the context cannot be an environment variable. {NAMES}")
        found[name] = text
    return found
