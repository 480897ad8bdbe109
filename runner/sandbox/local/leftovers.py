"""Names of runs, and the removal of processes and folders that a killed console left behind."""

from __future__ import annotations

import functools
import os
import secrets
import signal
import tempfile
from pathlib import Path

from runner.model.errors import KnownError
from runner.sandbox.local import tree
from runner.system.private_folder import make_folder
from runner.system.process_stat import STARTED, fields_of, read_proc
from runner.system.removal import remove

MARKER = "ASSENT_RUN"
"""Environment variable that every process of a run starts with: the run's name."""


def standard_root() -> Path:
    """`assent-sandbox-<user id>` below the system's folder for temporary files."""
    return Path(tempfile.gettempdir()) / f"assent-sandbox-{os.getuid()}"


def make_root(root: Path) -> None:
    """Create `root` so that nobody else can list it. Raises OSError, also when it is somebody else's.

    For root it can be passed through: the code's own users have their folders below it.
    """
    make_folder(root)
    if not _is_own_folder(root):
        raise PermissionError(f"{root} belongs to somebody else")
    root.chmod(0o711 if os.geteuid() == 0 else 0o700)


def new_name() -> str:
    """Return a name for a run, which says what process it belongs to: `run-<pid>-<start of the process>-<random>`."""
    return f"{own_prefix()}{secrets.token_hex(6)}"


def own_prefix() -> str:
    """Return how the names of all runs of this process begin."""
    pid = os.getpid()
    return f"run-{pid}-{_own_start(pid)}-"


@functools.cache
def _own_start(pid: int) -> str:
    return started_at(pid)


def sweep(root: Path) -> tuple[str, ...]:
    """End the processes and remove the folders of consoles that are gone; names of the runs.

    Raises KnownError, once all else is done, for folders that cannot be removed.
    """
    names = _kill_orphans()
    folders = [folder for folder in root.glob("run-*") if not owner_lives(folder.name)] if _is_own_folder(root) else []
    failed = {folder: problem for folder in folders if (problem := remove(folder))}
    if failed:
        folder, problem = next(iter(failed.items()))
        more = f", and {len(failed) - 1} more" if len(failed) > 1 else ""
        raise KnownError(
            f"What an earlier run left could not be removed: {folder} ({problem}){more}.",
            "It takes disk space and nothing else. Remove it by hand, and start Assent again.",
        )
    return tuple(sorted(names | {folder.name for folder in folders}))


def started_at(pid: int) -> str:
    """Start of process `pid` in clock ticks since boot, '' when there is none: tells a reused id from the first."""
    fields = fields_of(pid)
    return fields[STARTED].decode("ascii") if fields else ""


def owner_lives(name: str) -> bool:
    """Return whether the process that made up the run's `name` is still there."""
    _, pid, started, _ = [*name.split("-"), "", "", ""][:4]
    return pid.isdigit() and bool(started) and started_at(int(pid)) == started


def _kill_orphans() -> set[str]:
    """End every process of this user whose marker names a console that is gone."""
    names: set[str] = set()
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (name := _run_of(entry)) and not owner_lives(name):
            try:
                os.kill(int(entry), signal.SIGKILL)
            except OSError:
                continue
            names.add(name)
    return names


def _run_of(pid: str) -> str:
    """Return the name in the marker of a process of this user, '' without one."""
    try:
        if os.stat(f"/proc/{pid}").st_uid != os.getuid():
            return ""
    except OSError:
        return ""
    words = read_proc(f"/proc/{tree.alive(int(pid))}/environ").split(b"\0")
    prefix = f"{MARKER}=run-".encode()
    found = next((word for word in words if word.startswith(prefix)), b"")
    return found.partition(b"=")[2].decode("ascii", "replace")


def _is_own_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and path.lstat().st_uid == os.getuid()
