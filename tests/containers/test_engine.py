"""The engine that tests bring up: it goes without a trace, also when it was killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from runner.sandbox.images.recipe import recipe
from tests import engine

SOCKETS = Path("/run/containerd/s")
"""The only place outside its folder where an engine has files."""


@pytest.mark.parametrize("killed", [False, True])
def test_nothing_is_left_of_an_engine_with_running_containers(killed: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="assent-") as parent:
        folder = Path(parent) / "e"
        sockets = set(SOCKETS.glob("*"))
        at = engine.started(folder)
        try:
            engine.fill(at, ("shell",))
            pids = [_sleeper(at, runtime) for runtime in ("runc", "runsc")]
            assert engine.started(folder) == at
            assert _processes(folder)
            assert all(_runs(pid) for pid in pids)
            if killed:
                os.kill(int((folder / "docker.pid").read_text()), signal.SIGKILL)
        finally:
            engine.stopped(folder)
        assert not folder.exists()
        assert not set(SOCKETS.glob("*")) - sockets
        assert not _processes(folder)
        assert not [pid for pid in pids if _runs(pid)]
        assert str(folder) not in Path("/proc/self/mountinfo").read_text()


def _sleeper(at: str, runtime: str) -> str:
    """Start a container that would stay; its process id on this machine."""
    docker = ["docker", "--host", at]
    start = [*docker, "run", "--detach", "--network=none", f"--runtime={runtime}", recipe("shell").tag, "sleep", "1000"]
    id = subprocess.run(start, capture_output=True, text=True, check=True).stdout.strip()
    told = subprocess.run([*docker, "inspect", "--format", "{{.State.Pid}}", id], capture_output=True, check=True)
    return told.stdout.decode().strip()


def _runs(pid: str) -> bool:
    """One that has ended may still wait for its parent to notice; its command line is empty then."""
    try:
        return Path("/proc", pid, "cmdline").read_text() != ""
    except OSError:
        return False


def _processes(folder: Path) -> list[str]:
    """Command lines with a path below `folder` in them."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            command = path.read_text(errors="replace").replace("\0", " ")
            if f"{folder}/" in command:
                found.append(command)
    return found
