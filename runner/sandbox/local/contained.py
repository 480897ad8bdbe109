"""A program of the person's own, in bubblewrap on the terminal it was started from: it sees the system and one folder.

The system is read-only and the home folder an empty one. There is no network, or the hosts that a gate lets through.
The terminal is the caller's, job control included; the filter on system calls keeps the program from typing into it.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import stat
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.model.request import Limits
from runner.network.gate import Gate
from runner.network.loop import NetworkLoop
from runner.sandbox import leftovers
from runner.sandbox.local import syscalls, trusted
from runner.sandbox.local.bubblewrap import REMEDY, first_process, in_memory, pipe, system_folders
from runner.sandbox.local.control_groups import ControlGroups
from runner.sandbox.local.doors import FILES, LocalDoors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from runner.model.network import Contact, Destination
    from runner.sandbox.local.group import ControlGroup

PASSED = (
    "PATH",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "LANG",
    "LANGUAGE",
    "TZ",
    "COLUMNS",
    "LINES",
)
"""Variables that the program gets; others may hold secrets."""
MOST_PROCESSES = 4_096
HOME_BYTES = 1 << 30
"""Of what it writes into the home folder that it sees."""
LEAST_FREE = 1 << 30
"""Bytes of disk that stay free: a program that would take more is ended."""
LOOK_SECONDS = 0.5
NOT_STARTED = 125


@dataclass(frozen=True, slots=True)
class Contained:
    """What is to run, and what it may see."""

    program: tuple[str, ...]
    project: Path
    """Path of the folder, as the program sees it and outside."""
    shown: Path
    """Where that folder's content is, in the namespace that `wrap` makes."""
    temporary: Path
    """Folder that becomes /tmp."""
    folders: tuple[str, ...] = ()
    """Further folders and files, read-only."""
    variables: Mapping[str, str] | None = None
    """Further variables."""
    hosts: tuple[Destination, ...] = ()
    """Hosts that it may reach."""


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """How it ended."""

    code: int
    """As a shell says it: 128 and the number of the signal where one ended it."""
    why: str = ""
    """Why Assent ended it; '' where it ended by itself."""
    contacts: tuple[Contact, ...] = ()


def run(what: Contained, wrap: Callable[[tuple[str, ...]], tuple[str, ...]]) -> ProgramEnd:
    """Run the program to its end, on the caller's terminal. Blocks. Raises KnownError and OSError.

    `wrap` makes the command that starts another one where the folder can be seen.
    """
    bubblewrap = trusted.find("bwrap")
    if not bubblewrap:
        raise KnownError(f"bubblewrap is not installed. {trusted.elsewhere('bwrap')}".rstrip(), REMEDY)
    if not (refused := syscalls.program()):
        raise KnownError("System calls cannot be filtered on this machine, so nothing is contained here.")
    contacts: dict[tuple[str, int, bool | None], Contact] = {}
    with contextlib.ExitStack() as kept:
        doors = _doors(what.hosts, lambda one: contacts.__setitem__((one.host, one.port, one.allowed), one), kept)
        group = _group(kept)
        with contextlib.ExitStack() as handed:
            reader, writer = pipe(kept, handed)
            hold, release = pipe(handed, kept)
            calls = in_memory(refused, handed)
            files = {place: in_memory(data, handed) for place, data in (FILES if what.hosts else {}).items()}
            options = _options(what, files)
            channels = ("--info-fd", writer, "--block-fd", hold, "--sync-fd", release, "--seccomp", calls)
            words = (bubblewrap, *options, *map(str, channels), "--", *what.program)
            process = subprocess.Popen(
                (*(() if group is None else group.entry), *wrap(words)),
                env=_environment(what.variables or {}),
                pass_fds=(writer, hold, release, calls, *files.values()),
            )
        kept.callback(_ended, process)
        root = first_process(reader, process)
        _limit(root)
        if doors is not None:
            doors.open(root)
        os.write(release, b"go")
        code, why = _waited(process, what.temporary)
    return ProgramEnd(code if code >= 0 else 128 - code, why, tuple(contacts.values()))


def _options(what: Contained, files: Mapping[str, int]) -> list[str]:
    home = os.path.expanduser("~")
    unshared = ("--unshare-user", "--uid", str(os.geteuid()), "--gid", str(os.getegid()))
    options = [
        *("--unshare-pid", "--unshare-ipc", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"),
        *(unshared if os.geteuid() else ()),
        *("--cap-drop", "ALL", "--die-with-parent", "--hostname", "assent-try"),
        *system_folders(),
        *("--ro-bind", "/etc", "/etc", "--ro-bind-try", "/opt", "/opt"),
        *_closed_to_others("/etc"),
        *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/run", "--perms", "1777", "--tmpfs", "/var/tmp"),
        *("--perms", "0700", "--size", str(HOME_BYTES), "--tmpfs", home),
        *("--bind", str(what.temporary), "/tmp"),
    ]
    for folder in what.folders:
        options += ["--ro-bind", folder, folder]
    for place, descriptor in files.items():
        options += ["--ro-bind-data", str(descriptor), os.path.realpath(place)]
    return [*options, "--bind", str(what.shown), str(what.project), "--chdir", os.getcwd()]


def _closed_to_others(top: str) -> list[str]:
    """Return the options that hide what only root may read, from a program that is started by root."""
    options: list[str] = []
    for folder, folders, names in os.walk(top) if os.geteuid() == 0 else ():
        for name in tuple(folders):
            path = os.path.join(folder, name)
            if not os.path.islink(path) and not os.lstat(path).st_mode & stat.S_IROTH:
                options += ["--tmpfs", path]
                folders.remove(name)
        for name in names:
            path = os.path.join(folder, name)
            if stat.S_ISREG(os.lstat(path).st_mode) and not os.lstat(path).st_mode & stat.S_IROTH:
                options += ["--ro-bind", "/dev/null", path]
    return options


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    own = os.environ
    passed = {name: own[name] for name in own if name in PASSED or name.startswith("LC_")}
    return {**passed, "HOME": os.path.expanduser("~"), **more}


def _doors(
    hosts: Sequence[Destination], report: Callable[[Contact], None], kept: contextlib.ExitStack
) -> LocalDoors | None:
    """Return the way to the hosts that may be reached, closed with `kept`; None where there are none."""
    if not hosts:
        return None
    network = NetworkLoop()
    kept.callback(network.close)
    gate = Gate(hosts, report=report)
    kept.callback(gate.close)
    doors = LocalDoors(gate, network)
    kept.callback(doors.close)
    return doors


def _group(kept: contextlib.ExitStack) -> ControlGroup | None:
    """Return a control group that bounds memory and processes of all together; None where none can be made here."""
    try:
        groups = ControlGroups.found()
        group = groups.new(leftovers.new_name(), Limits(memory_mb=_memory() >> 20, processes=MOST_PROCESSES))
    except (KnownError, OSError):
        return None
    kept.callback(group.remove)
    return group


def _memory() -> int:
    """Return half of the machine's memory in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def _limit(root: int) -> None:
    """Set the limits of each process, before it starts."""
    for name, value in (("CORE", 0), ("DATA", _memory()), ("NPROC", MOST_PROCESSES)):
        kind = getattr(resource, f"RLIMIT_{name}")
        _, hard = resource.getrlimit(kind)
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with contextlib.suppress(ProcessLookupError):  # it has failed: its exit tells
            resource.prlimit(root, kind, (bound, bound))


def _waited(process: subprocess.Popen[bytes], folder: Path) -> tuple[int, str]:
    """Wait for the end; return the exit code, and why it was ended."""
    ignored = signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is the program's: both are of one terminal
    try:
        while True:
            try:
                return process.wait(LOOK_SECONDS), ""
            except subprocess.TimeoutExpired:
                if shutil.disk_usage(folder).free < LEAST_FREE:
                    process.kill()
                    return process.wait(), "It was ended: less than 1 GB of the disk was left."
    finally:
        signal.signal(signal.SIGINT, ignored)


def _ended(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.kill()
        process.wait()
