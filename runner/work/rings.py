"""The two rings of a program at work, in bubblewrap: the program itself in the outer one, its shells in the inner one.

| | outer | inner |
|---|---|---|
| who | the client: `claude`, `codex` | every shell that it starts, and what that starts |
| project | the working copy, at the project's own path | the same |
| home | the client's own state, what it is installed in | an empty one, what tools are installed in |
| network | its service, and what a person opened | what a person opened |
| `/tmp` | one for both | |

A shell gets into the inner ring by `nsenter` (`shells.py`), and stays the child of whoever started it. It brings the
filter of the outer ring along, so that is the strict one, but for the call by which it enters.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.sandbox.local import syscalls, trusted
from runner.sandbox.local.bubblewrap_start import in_memory, system_folders
from runner.sandbox.local.contained import IN_MEMORY, Bind, Contained, folders_above, memory_folder, permissions
from runner.sandbox.local.name_files import FILES
from runner.sandbox.programs import inside
from runner.system.private_folder import make_folder
from runner.work import shells

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Callable, Mapping

    from runner.network.gate import Gate
    from runner.workspace.working_copy import WorkingCopy

HOME = "/run/assent/home"
HOSTNAME = "assent-work"
"""Of the inner ring. The outer one has the machine's own: clients encrypt what they store by it."""
START_SECONDS = 20.0
NO_NEWS = {"NPM_CONFIG_UPDATE_NOTIFIER": "false", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
"""Keeps tools from looking for newer versions of themselves, which would ask a person for a host that nobody wants."""
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")


@dataclass(frozen=True, slots=True)
class InRings:
    """What is to run, and what each ring sees besides the system and the project."""

    program: tuple[str, ...]
    copy: WorkingCopy
    state: tuple[Bind, ...] = ()
    """The program's own: in the outer ring alone."""
    shown: tuple[str, ...] = ()
    """Folders and files that both see, read-only: what is installed in the home folder."""
    shared: tuple[str, ...] = ()
    """Folders of the state that the shells need."""
    variables: Mapping[str, str] | None = None
    secret: tuple[str, ...] = ()
    """Names of variables that the shells do not get: keys of the program's service."""
    names_shell: bool = False
    """Whether the program starts its shell by the name alone."""
    memory: int = 0


def contained(what: InRings, gate: Gate, entered: Callable[[int], None], kept: contextlib.ExitStack) -> Contained:
    """Return how the outer ring is started. Raises KnownError and OSError.

    `entered` is called with the first process of the inner ring before the program starts. `kept` closes what is needed
    until the program has ended.
    """
    folder = what.copy.folder
    is_root = os.geteuid() == 0
    make_folder(folder / "home")
    (folder / "home").chmod(int(permissions(os.path.expanduser("~")), 8))
    covers = shells.covers(folder, what.secret, gives_up=is_root, by_name=what.names_shell)
    ring_interpreter, shown_for_it = interpreter()
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    kept.callback(here.close)
    kept.callback(there.close)
    strict, entering = (in_memory(data, kept) for data in (_filter(), _filter(syscalls.ENTERING)))
    plan = {
        "control": there.fileno(),
        "place": shells.RING,
        "is_root": is_root,
        "filter": entering,
        "strict": strict,
        "inner": _inner(what, strict, is_root=is_root),
        "program": what.program,
    }
    orders = in_memory(json.dumps(plan).encode(), kept)

    def began(_process: int) -> None:
        there.close()
        entered(_met(here, kept))
        here.send(b"g")

    binds = (
        *covers,
        Bind(str(folder / "home"), HOME, is_writable=True),
        # The state may be a whole home folder, so that it comes before what is shown of the real one.
        *what.state,
        *(Bind(path, path) for path in (*what.shown, *shown_for_it)),
    )
    return Contained(
        (ring_interpreter, "-I", "-S", "-c", inside("two_rings.py"), str(orders)),
        what.copy.project,
        what.copy.shown,
        folder / "tmp",
        binds,
        variables={**NO_NEWS, **(what.variables or {})},
        gate=gate,
        memory=what.memory,
        hostname=socket.gethostname(),
        filters_itself=True,
        passed=(there.fileno(), orders, strict, entering),
        began=began,
    )


def _inner(what: InRings, filter_: int, *, is_root: bool) -> list[str]:
    """Return the command that makes the inner ring, as it is started in the outer one."""
    home, project = os.path.expanduser("~"), str(what.copy.project)
    options = [
        *("--unshare-user", "--uid", str(os.geteuid()), "--gid", str(os.getegid())),
        *("--unshare-pid", "--unshare-ipc", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"),
        *("--cap-drop", "ALL", "--hostname", HOSTNAME, "--seccomp", str(filter_)),
        *system_folders(),
        *("--ro-bind", "/etc", "/etc", "--ro-bind-try", "/opt", "/opt"),
        *(word for shell in shells.of_system() for word in ("--ro-bind", f"{shells.REAL}{shell}", shell)),
        *("--proc", "/proc", *(("--remount-ro", "/proc") if is_root else ())),
        # Not --dev: for that bubblewrap makes a second namespace, which nobody could enter.
        *("--tmpfs", "/dev", *(word for one in DEVICES for word in _device(one))),
        *("--dev-bind", "/dev/pts", "/dev/pts", "--symlink", "pts/ptmx", "/dev/ptmx"),
        *("--symlink", "/proc/self/fd", "/dev/fd", "--symlink", "/proc/self/fd/0", "/dev/stdin"),
        *("--symlink", "/proc/self/fd/1", "/dev/stdout", "--symlink", "/proc/self/fd/2", "/dev/stderr"),
        *(word for one in IN_MEMORY for word in memory_folder(one, "0755" if one == "/run" else "1777")),
        *("--bind", "/tmp", "/tmp", "--bind", HOME, home),
    ]
    for path in what.shown:
        options += ["--ro-bind", path, path]
    for path in what.shared:
        options += ["--bind", path, path]
    for place in map(os.path.realpath, FILES):
        if not place.startswith("/etc/"):
            options += ["--ro-bind", place, place]
    options += [
        *folders_above(what.copy.project),
        "--bind",
        project,
        project,
        "--remount-ro",
        "/dev",
        "--remount-ro",
        "/",
        "--chdir",
        project,
    ]
    return [trusted.need("bwrap"), *options]


def _device(name: str) -> tuple[str, str, str]:
    return "--dev-bind", f"/dev/{name}", f"/dev/{name}"


def _met(control: socket.socket, kept: contextlib.ExitStack) -> int:
    """Return the first process of the inner ring, as this process counts. Raises KnownError."""
    control.settimeout(START_SECONDS)
    try:
        said, files, *_ = socket.recv_fds(control, 16, 1)
    except TimeoutError as error:
        raise KnownError("The rings could not be made in time.", "Try again when the machine is less busy.") from error
    if not said or not files:
        raise KnownError("The rings could not be made.", "What it printed above says why; `assent doctor` looks too.")
    kept.callback(os.close, files[0])
    with open(f"/proc/self/fdinfo/{files[0]}", encoding="ascii") as about:
        return next(int(line.split()[1]) for line in about if line.startswith("Pid:"))


def _filter(without: frozenset[str] = frozenset()) -> bytes:
    found = syscalls.program(without=without)
    if not found:
        raise KnownError("System calls cannot be filtered on this machine, so nothing is contained here.")
    return found


def interpreter() -> tuple[str, tuple[str, ...]]:
    """Return the Python that starts the rings, and what has to be shown for it."""
    for path in (os.path.realpath(sys.executable), "/usr/bin/python3"):
        if path.startswith("/usr/") and trusted.is_taken(path):
            return path, ()
    return os.path.realpath(sys.executable), (os.path.realpath(sys.base_prefix),)
