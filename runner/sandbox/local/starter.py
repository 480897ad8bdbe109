"""The start of code as a process of this machine, by language: its files, its command, its environment."""

from __future__ import annotations

import json
import marshal
from pathlib import Path
from typing import TYPE_CHECKING

from runner.model.language_support import LANGUAGES
from runner.model.request import Language
from runner.sandbox import languages, programs, toolchain
from runner.sandbox import report as reports
from runner.sandbox.imports import hint
from runner.sandbox.local.bubblewrap_start import SYSTEM
from runner.sandbox.local.child import as_user

if TYPE_CHECKING:
    from runner.sandbox.contract import Job
    from runner.sandbox.local.child import View
    from runner.sandbox.local.interpreters import Interpreter


BASH = "/bin/bash"
START, BUILD = "start.sh", ".build"
"""Names of the text for Bash that compiles and runs code, and of the folder for what it compiles."""


def main_name(language: Language, view: View) -> str:
    """Return the name of the file with the code."""
    return f"{view.main}.{LANGUAGES[language].suffix}"


def files(
    job: Job, tool: Interpreter, view: View, report: int, identity: int | None, packages: int
) -> dict[str, bytes]:
    """Return what stands in the folder `inside`. `packages` is the descriptor of the archives. Raises BadContext."""
    match job.language:
        case Language.PYTHON:
            orders = _orders(job, tool, view, report, identity) | languages.installation(job, packages, view.workspace)
            return {"start.pyc": tool.starter, "orders": marshal.dumps(orders, 2)}  # read by any Python 3
        case Language.JAVASCRIPT:
            given = {
                "node.cjs": programs.inside("node.cjs").encode(),
                "context.json": json.dumps(languages.context(job)).encode(),
            }
            if (found := languages.loading(job, view.workspace)) is not None:
                given |= {
                    "loading.cjs": programs.inside("loading.cjs").encode(),
                    "loading.json": json.dumps(found).encode(),
                }
            if job.bundle is None:
                return given
            spec = {"bundle": languages.tarballs(job.bundle), "workspace": view.workspace, "source": packages}
            unpack = programs.inside("unpack.cjs").encode()
            return {**given, "unpack.cjs": unpack, "bundle.json": json.dumps(spec).encode()}
        case Language.SHELL:
            return {}
        case _:
            return {START: toolchain.of(job.language).start.encode()}


def command(job: Job, tool: Interpreter, view: View, identity: int | None) -> tuple[str, ...]:
    """Return the command line; the code is always in a file, never an argument."""
    main = f"{view.code_folder}/{main_name(job.language, view)}"
    match job.language:
        case Language.PYTHON:
            flags = ("-I", "-S", "-B", "-X", "utf8")
            return (tool.path, *flags, f"{view.inside}/start.pyc", f"{view.inside}/orders")
        case Language.JAVASCRIPT:
            heap = f"--max-old-space-size={int(job.limits.memory_mb * languages.HEAP_SHARE)}"
            return (*as_user(identity), tool.path, heap, "--require", f"{view.inside}/node.cjs", main)
        case Language.SHELL:
            return (*as_user(identity), tool.path, "--noprofile", "--norc", main)
        case _:
            # Not where the workspace is: what is compiled is none of the files that the code leaves.
            folder = f"{view.inside if view.temporary == view.workspace else view.temporary}/{BUILD}"
            words = (tool.path, main, folder, str(job.limits.memory_mb))
            made = 'rm -rf -- "$3" && mkdir -m 700 -- "$3" && . "$0"'
            return (*as_user(identity), BASH, "--noprofile", "--norc", "-c", made, f"{view.inside}/{START}", *words)


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
    given |= languages.guards(job)
    return given if job.language in (Language.PYTHON, Language.JAVASCRIPT) else {**given, **languages.variables(job)}


def _orders(job: Job, tool: Interpreter, view: View, report: int, identity: int | None) -> dict[str, object]:
    allowed = job.imports.allowed
    return {
        "main": f"{view.code_folder}/{main_name(job.language, view)}",
        "workspace": view.workspace,
        "report": report,
        "identity": identity,
        "own_modules": job.own_modules,
        "modules": languages.known_modules(job),
        "path": list(tool.search),
        "prefix": tool.prefix,
        "executable": tool.executable,
        "context": languages.context(job),
        "limit": reports.limit(job),
        "tables": programs.inside("tables.py") if job.tables else "",
        "allowed": None if allowed is None else list(allowed),
        "blocked": list(job.imports.blocked),
        "hint": hint(job.imports),
        "trusted": [
            *languages.trusted_packages(job, view.workspace),
            *(f"{folder}/" for folder in (*SYSTEM, *tool.folders)),
        ],
    }
