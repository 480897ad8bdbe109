"""Starts programs behind bubblewrap: own namespaces, a read-only system, nothing of the host's besides."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import resource
import secrets
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from runner.errors import KnownError
from runner.request import Limits
from runner.sandbox.child import Child, Program, View, rlimits
from runner.sandbox.folder import prepare
from runner.sandbox.interpreters import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Iterable

REMEDY = "Install bubblewrap (package `bubblewrap`) and allow unprivileged user namespaces."
SHOWN_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "mime.types")
"""The only files of the host's /etc that are shown: what the loader and common libraries need."""
TEMPORARY_BYTES = 64 << 20
"""Size of /tmp and of /dev/shm; what is large belongs in the workspace."""
FIRST_IDENTITY = 700_000_000
IDENTITIES = 10_000_000
"""A console that runs as root gives each run a user id of its own from a range nobody uses."""
USER_INSIDE = 1000
TRY_SECONDS = 10.0
VIEW = View("/workspace", "/run/assent", "/tmp")  # noqa: S108 - inside


class Walls:
    """Bubblewrap on this machine."""

    def __init__(self, program: str) -> None:
        self._program = program
        self._as_root = os.geteuid() == 0 and shutil.which("setpriv") is not None
        self._number = itertools.count(secrets.randbelow(IDENTITIES))
        self._no_nesting: tuple[str, ...] = ("--disable-userns",)

    @classmethod
    def raised(cls) -> Walls:
        """Find bubblewrap and try it with everything it will be used with. Raises KnownError."""
        program = shutil.which("bwrap")
        if program is None:
            raise KnownError("bubblewrap is not installed.", REMEDY)
        walls = cls(program)
        problem = walls._tried()
        if problem and not walls._as_root:
            walls._no_nesting = ()  # bubblewrap before 0.8
            problem = walls._tried()
        if problem:
            raise KnownError(f"bubblewrap does not work here: {problem}.", REMEDY)
        return walls

    def version(self) -> str:
        told = subprocess.run([self._program, "--version"], capture_output=True, text=True, check=False).stdout
        return told.strip().rpartition(" ")[2]

    @property
    def protections(self) -> tuple[str, ...]:
        who = "own user id for each run" if self._as_root else "own user namespace"
        return (
            "no network (namespace)",
            "sees no processes but its own (namespace)",
            f"{who}, no privileges",
            "read-only system, no home folders",
            "private /workspace and /tmp in memory, limited in size",
            "number of processes limited",
        )

    @property
    def missing(self) -> tuple[str, ...]:
        return ()

    @property
    def identity(self) -> int | None:
        return FIRST_IDENTITY + next(self._number) % IDENTITIES if self._as_root else None

    def view(self, _folder: Path) -> View:
        return VIEW

    def start(self, program: Program) -> Child:
        """Raises KnownError where bubblewrap fails and OSError where it cannot be started."""
        told, tell = os.pipe()
        hold, release = os.pipe()
        try:
            process = self._popen(program, tell, hold)
            os.close(tell)
            tell = -1
            root = _first_process(told, process)
            self._limit(root, program.limits)
            os.write(release, b"go")
        finally:
            for fd in (told, tell, hold, release):
                if fd >= 0:
                    os.close(fd)
        return Child(process, root, signal.SIGKILL, "/proc/{pid}/root" + VIEW.workspace)

    def _popen(self, program: Program, tell: int, hold: int) -> subprocess.Popen[bytes]:
        descriptors = ["--info-fd", str(tell), "--block-fd", str(hold)]
        return subprocess.Popen(
            [*self._command(program), *descriptors, "--", *program.command],
            stdin=program.stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=program.environment,
            cwd="/",
            pass_fds=(program.report, tell, hold),
            start_new_session=True,
        )

    def _limit(self, root: int, limits: Limits) -> None:
        """Bind what the code will inherit, before it starts. One process more is bubblewrap's own."""
        bounds = {**rlimits(limits), "NPROC": limits.processes + (not self._as_root)}
        for name, value in bounds.items():
            kind = getattr(resource, f"RLIMIT_{name}")
            _, hard = resource.getrlimit(kind)
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            with contextlib.suppress(ProcessLookupError):  # failed already: its pipes will tell
                resource.prlimit(root, kind, (bound, bound))

    def _command(self, program: Program) -> list[str]:
        size = program.limits.disk_mb << 20
        small = min(size, TEMPORARY_BYTES)
        return [
            *(self._program, *self._namespaces(), "--die-with-parent", "--new-session", "--hostname", "sandbox"),
            *_system(),
            *("--proc", "/proc", "--dev", "/dev"),
            *_in_memory("/dev/shm", small),  # noqa: S108 - inside
            *_in_memory("/tmp", small),  # noqa: S108 - inside
            *_in_memory(VIEW.workspace, size),
            *_parents((*program.folders, "/etc/passwd", VIEW.inside)),
            *_shown((path, path) for path in program.folders),
            *self._own_files(program),
            *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", VIEW.workspace),
        ]

    def _namespaces(self) -> tuple[str, ...]:
        kinds = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try")
        if self._as_root:
            return (*kinds, "--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
        user = str(USER_INSIDE)
        return (*kinds, "--unshare-user", *self._no_nesting, "--uid", user, "--gid", user, "--cap-drop", "ALL")

    def _own_files(self, program: Program) -> list[str]:
        """The run's own files, and accounts that name nobody but root and the code's user."""
        inside = program.folder / "inside"
        user = program.identity or USER_INSIDE
        passwd = f"root:x:0:0::/:/bin/false\nsandbox:x:{user}:{user}::{VIEW.workspace}:/bin/sh\n"
        (inside / "passwd").write_text(passwd)
        (inside / "group").write_text(f"root:x:0:\nsandbox:x:{user}:\n")
        main = next((program.folder / "workspace").iterdir())
        libraries = [word for name in SHOWN_ETC for word in ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")]
        return libraries + _shown(
            (
                (str(inside), VIEW.inside),
                (str(inside / "passwd"), "/etc/passwd"),
                (str(inside / "group"), "/etc/group"),
                (str(main), f"{VIEW.workspace}/{main.name}"),
            )
        )

    def _tried(self) -> str:
        """What bubblewrap says against running `true` with everything a run uses; '' when it works."""
        with tempfile.TemporaryDirectory(prefix="assent-try-") as name:
            folder = Path(name)
            prepare(folder, {}, "main.sh", b"")
            program = Program(folder, ("/bin/true",), {}, Limits(), subprocess.DEVNULL, 2, self.identity, ())
            try:
                child = self.start(program)
            except (KnownError, OSError) as error:
                return str(error)
            _, told = child.process.communicate(timeout=TRY_SECONDS)
            return told.decode("utf-8", "replace").strip() if child.process.returncode else ""


def _first_process(told: int, process: subprocess.Popen[bytes]) -> int:
    """Id of the first process inside, as bubblewrap tells it. Raises KnownError when it fails first."""
    text = b""
    while piece := os.read(told, 4096):
        text += piece
        if b"}" in text:
            return int(json.loads(text)["child-pid"])
    _, complaint = process.communicate()
    raise KnownError(f"bubblewrap failed: {complaint.decode('utf-8', 'replace').strip()}.", REMEDY)


def _system() -> list[str]:
    """The system's folders, read-only, with the links that stand for them where /usr is merged."""
    options: list[str] = []
    for path in SYSTEM:
        if os.path.islink(path):
            options += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            options += ["--ro-bind", path, path]
    return options


def _parents(paths: Iterable[str]) -> list[str]:
    """The folders above `paths`, open to everybody: those bubblewrap makes by itself are open to root alone."""
    above = {str(parent) for path in paths for parent in Path(path).parents}
    return [word for parent in sorted(above - {"/", *SYSTEM}) for word in ("--perms", "0755", "--dir", parent)]


def _in_memory(path: str, size: int) -> tuple[str, ...]:
    return ("--perms", "1777", "--size", str(size), "--tmpfs", path)


def _shown(pairs: Iterable[tuple[str, str]]) -> list[str]:
    return [word for source, place in pairs for word in ("--ro-bind", source, place)]
