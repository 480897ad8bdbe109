"""The surroundings of code by language as it starts, in any sandbox: variables, packages, modules."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from runner.model.bundle import PYTHON_FOLDER
from runner.model.modules import modules
from runner.model.variables import NAMES, is_harmless
from runner.sandbox import programs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.model.bundle import Bundle
    from runner.sandbox.contract import Job

HEAP_SHARE = 0.75
"""Part of the memory limit that V8's old generation may take; the rest is for buffers, stacks and V8 itself."""


class BadContext(ValueError):
    """The variables handed in cannot be given to this language; the text says why."""


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


def guards(job: Job) -> dict[str, str]:
    """Return what keeps a Python that the code starts from modules of the workspace, where the code has none."""
    names = ("PYTHONSAFEPATH", "PYTHONNOUSERSITE", "PYTHONDONTWRITEBYTECODE")
    return {} if job.own_modules else dict.fromkeys(names, "1")


def known_modules(job: Job) -> dict[str, tuple[str, bool, str]]:
    """Return the modules that come with the code, by name: the path, whether it is a package, and the text."""
    return {name: (one.file.path, one.is_package, one.file.text) for name, one in modules(job.known).items()}


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
