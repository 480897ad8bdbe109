"""Starts programs without namespaces, below a reaper that leaves none of their processes behind."""

from __future__ import annotations

import os
import signal
import subprocess
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.model.request import Isolation
from runner.sandbox.local import tree
from runner.sandbox.local.child import Child, Identities, Program, View, rlimits
from runner.sandbox.local.collect import Left
from runner.sandbox.local.group import GROUPED
from runner.sandbox.local.syscalls import FILTERED
from runner.sandbox.programs import inside
from runner.system.removal import remove

if TYPE_CHECKING:
    from runner.sandbox.local.interpreters import Interpreter


class PlainProcesses:
    """The launcher without bubblewrap: nothing keeps code from files and network, only its limits are enforced.

    The reaper needs `python`, whatever the code's language.

    A console that runs as root hands the code to a user id of its own here as well: no limit on processes
    holds for root, and nothing else would keep a fork bomb from taking the whole machine.
    """

    def __init__(self, root: Path, python: Interpreter, why: str) -> None:
        self._root = root
        self._python = python
        self._why = why
        self._identities = Identities() if os.geteuid() == 0 else None

    @property
    def isolation(self) -> Isolation:
        return Isolation.PROCESS

    @property
    def protections(self) -> tuple[str, ...]:
        user = ("own user id, no privileges",) if self._identities else ()
        return (*user, "limited number of processes", "detached processes are found and ended")

    @property
    def missing(self) -> tuple[str, ...]:
        return (
            f"no network (namespace): {self._why}",
            f"read-only system, no home folders: {self._why}",
            f"sees no processes but its own: {self._why}",
            f"{FILTERED}: {self._why}",
            f"{GROUPED}: code could leave it, as {self._why}",
        )

    @property
    def identity(self) -> int | None:
        return self._identities.new() if self._identities else None

    def refusal(self, tool: Interpreter) -> KnownError | None:
        closed = [folder for folder in tool.folders if not _open_to_all(folder)] if self._identities else []
        if not closed:
            return None
        return KnownError(
            f"{closed[0]} is open to root alone, and without bubblewrap code is not run as root.",
            "Install bubblewrap, run Assent as an ordinary user, or name another interpreter in the settings.",
        )

    def view(self, name: str) -> View:
        workspace = str(self._root / name / "workspace")
        return View(workspace, str(self._root / name / "inside"), workspace)

    def start(self, program: Program) -> Child:
        """Start `program`. Raises OSError."""
        folder = self._root / program.name
        clean = partial(remove, folder)
        left = None
        try:
            _lay_out(folder, program)
            left = Left.of(str(folder / "workspace"), program.code[0]) if program.collected else None
            process = self._popen(program, folder / "workspace")
        except OSError:
            if left is not None:
                left.close()
            clean()
            raise
        return Child(process, process.pid, signal.SIGTERM, str(folder / "workspace"), clean, left)

    def _popen(self, program: Program, workspace: Path) -> subprocess.Popen[bytes]:
        others = tree.own_threads() if program.identity is None else 0
        bounds = {**rlimits(program.limits, program.unused), "NPROC": others + program.limits.processes}
        limits = ",".join(f"{name}={value}" for name, value in bounds.items())
        return subprocess.Popen(
            [self._python.path, "-I", "-S", "-B", "-c", inside("reaper.py"), limits, *program.command],
            stdin=program.stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=program.environment,
            cwd=workspace,
            pass_fds=program.inherited,
            start_new_session=True,
        )


def _lay_out(folder: Path, program: Program) -> None:
    """A fresh 0700 folder of the code's user, with the code in `workspace` and what starts it in `inside`."""
    folder.mkdir(mode=0o700)
    made = [folder]
    for part, files in (("inside", program.inside), ("workspace", dict([program.code]))):
        (folder / part).mkdir(mode=0o700)
        made.append(folder / part)
        for name, data in files.items():
            path = folder / part / name
            path.write_bytes(data)
            path.chmod(0o400)
            made.append(path)
    if program.identity is not None:
        for path in made:
            os.chown(path, program.identity, program.identity)


def _open_to_all(path: str) -> bool:
    """Return whether any user gets to `path`."""
    return all(place.stat().st_mode & 0o001 for place in (Path(path), *Path(path).parents))
