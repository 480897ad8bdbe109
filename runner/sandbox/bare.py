"""Starts programs without namespaces, below a reaper that leaves none of their processes behind."""

from __future__ import annotations

import os
import signal
import subprocess
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from runner.sandbox import tree
from runner.sandbox.child import Child, Program, View, rlimits
from runner.sandbox.leftovers import remove

if TYPE_CHECKING:
    from runner.sandbox.interpreters import Interpreter

REAPER = Path(__file__).with_name("inside") / "reaper.py"


class Bare:
    """No walls: for machines without bubblewrap. The reaper needs `python`, whatever the code's language."""

    def __init__(self, root: Path, python: Interpreter, why: str) -> None:
        self._root = root
        self._python = python
        self._why = why

    @property
    def protections(self) -> tuple[str, ...]:
        limited = () if os.geteuid() == 0 else ("number of processes limited",)
        return (*limited, "detached processes are found and ended")

    @property
    def missing(self) -> tuple[str, ...]:
        return (
            f"network namespace: {self._why}",
            f"read-only system and hidden files: {self._why}",
            f"own process namespace: {self._why}",
        )

    @property
    def identity(self) -> int | None:
        return None

    def view(self, name: str) -> View:
        workspace = str(self._root / name / "workspace")
        return View(workspace, str(self._root / name / "inside"), workspace)

    def start(self, program: Program) -> Child:
        """Raises OSError."""
        folder = self._root / program.name
        _lay_out(folder, program)
        bounds = rlimits(program.limits)
        if os.geteuid() != 0:  # root is never bound by it; the watch over the tree is
            bounds["NPROC"] = tree.own_threads() + program.limits.processes
        limits = ",".join(f"{name}={value}" for name, value in bounds.items())
        workspace = folder / "workspace"
        process = subprocess.Popen(
            [self._python.path, "-I", "-S", "-B", str(REAPER), limits, *program.command],
            stdin=program.stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=program.environment,
            cwd=workspace,
            pass_fds=(program.report,),
            start_new_session=True,
        )
        return Child(process, process.pid, signal.SIGTERM, str(workspace), partial(remove, folder))


def _lay_out(folder: Path, program: Program) -> None:
    """A fresh 0700 folder with the code in `workspace` and what starts it in `inside`."""
    folder.mkdir(mode=0o700)
    for part, files in (("inside", program.inside), ("workspace", dict([program.code]))):
        (folder / part).mkdir(mode=0o700)
        for name, data in files.items():
            (folder / part / name).write_bytes(data)
            (folder / part / name).chmod(0o400)
