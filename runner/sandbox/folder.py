"""The folder of one run on the host, and the removal of what a killed console left behind."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MARKER = "ASSENT_RUN"
"""Environment variable that every process of a run starts with: the name of the run's folder."""


def standard_root() -> Path:
    """`assent-sandbox-<user id>` below the system's folder for temporary files."""
    return Path(tempfile.gettempdir()) / f"assent-sandbox-{os.getuid()}"


def make_root(root: Path) -> None:
    """Create `root` for this user alone. Raises OSError, also when it is somebody else's."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    there = root.lstat()
    if there.st_uid != os.getuid() or not root.is_dir() or root.is_symlink():
        raise PermissionError(f"{root} belongs to somebody else")
    root.chmod(0o700)


def make_folder(root: Path) -> Path:
    """A fresh 0700 folder whose name says which process it belongs to."""
    pid = os.getpid()
    folder = root / f"run-{pid}-{started_at(pid)}-{secrets.token_hex(6)}"
    folder.mkdir(mode=0o700)
    return folder


def prepare(folder: Path, inside: Mapping[str, bytes], name: str, code: bytes) -> None:
    """Lay out a run: `workspace/` with the code, `inside/` with what starts it.

    What is in the folder may be read by any user who gets to see it; the folder itself keeps them out.
    """
    for part, files in (("inside", inside), ("workspace", {name: code})):
        (folder / part).mkdir()
        for file, data in files.items():
            path = folder / part / file
            path.write_bytes(data)
            path.chmod(0o444)
        (folder / part).chmod(0o755)


def remove(folder: Path) -> None:
    """Remove it whatever its permissions were turned into."""

    def allow_and_retry(function: object, path: str, _error: object) -> None:
        parent = os.path.dirname(path)
        try:
            os.chmod(parent, 0o700)
            if not os.path.islink(path):
                os.chmod(path, 0o700)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)
            else:
                os.unlink(path)
        except OSError:
            return

    shutil.rmtree(folder, onerror=allow_and_retry)


def sweep(root: Path) -> tuple[str, ...]:
    """End processes and remove folders of consoles that are gone; the names of the folders removed."""
    if not root.is_dir() or root.is_symlink() or root.lstat().st_uid != os.getuid():
        return ()
    orphans = [folder for folder in root.glob("run-*") if not _owner_lives(folder.name)]
    if orphans:
        _kill_marked({folder.name for folder in orphans})
    for folder in orphans:
        remove(folder)
    return tuple(folder.name for folder in orphans)


def started_at(pid: int) -> str:
    """Start of process `pid` in clock ticks since boot, '' when there is none: tells a reused id from the first."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]


def kill_marked(name: str) -> None:
    """End every process of this user that carries the marker of the run's folder `name`."""
    _kill_marked({name})


def _owner_lives(name: str) -> bool:
    _, pid, started, _ = (name.split("-") + ["", "", ""])[:4]
    return pid.isdigit() and bool(started) and started_at(int(pid)) == started


def _kill_marked(names: set[str]) -> None:
    wanted = {f"{MARKER}={name}".encode() for name in names}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                if wanted & set(file.read().split(b"\0")):
                    os.kill(int(entry), signal.SIGKILL)
        except OSError:
            continue
