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
from tests import container_engine as engine


@pytest.mark.parametrize("killed", [False, True])
def test_nothing_is_left_of_an_engine_with_running_containers(killed: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="assent-") as parent:
        folder = Path(parent) / "e"
        at = engine.started(folder)
        try:
            engine.fill(at, ("shell",))
            network = _docker(at, "network", "create", "--internal", "one")
            pids = [_sleeper(at, runtime) for runtime in ("runc", "runsc")]
            assert engine.started(folder) == at
            assert _processes(folder)
            assert all(_runs(pid) for pid in pids)
            outside = _outside(folder, network, pids)
            assert all(path.exists() for path in outside)
            if killed:
                os.kill(int((folder / "docker.pid").read_text()), signal.SIGKILL)
        finally:
            engine.stopped(folder)
        assert not folder.exists()
        assert not [path for path in outside if path.exists()]
        assert not _processes(folder)
        assert not [pid for pid in pids if _runs(pid)]
        assert str(folder) not in Path("/proc/self/mountinfo").read_text()


def _docker(at: str, *command: str) -> str:
    done = subprocess.run(["docker", "--host", at, *command], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _sleeper(at: str, runtime: str) -> str:
    """Start a container that would stay; its process id on this machine."""
    start = ("run", "--detach", "--network=none", f"--runtime={runtime}")
    id = _docker(at, *start, recipe("shell").tag, "sleep", "1000")
    return _docker(at, "inspect", "--format", "{{.State.Pid}}", id)


def _outside(folder: Path, network: str, pids: list[str]) -> list[Path]:
    """What the engine has elsewhere than in its folder: a network bridge, sockets, control groups."""
    sockets = [Path(path.read_text().removeprefix("unix://")) for path in folder.glob("exec/**/moby/*/address")]
    groups = {
        path
        for pid in pids
        for line in Path("/proc", pid, "cgroup").read_text().splitlines()
        for path in _groups(line.split("/")[1])
        if line.split("/")[1].startswith("assent-engine-")
    }
    assert len(sockets) == len(pids)
    assert groups
    return [Path("/sys/class/net", f"br-{network[:12]}"), *sockets, *groups]


def _groups(name: str) -> list[Path]:
    """Control groups of that name in every hierarchy; others may come and go meanwhile, at which Path.glob fails."""
    return [Path(folder, name) for folder, below, _ in os.walk("/sys/fs/cgroup") if name in below]


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
