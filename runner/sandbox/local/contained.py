"""A program of the person's own, in bubblewrap and on a terminal of its own: it sees the system and one folder.

The system is read-only and the home folder an empty one. There is no network, or the hosts that a gate lets through.
What it prints reaches the caller's terminal through a filter; without a terminal its streams are the caller's.
"""

from __future__ import annotations

import contextlib
import functools
import os
import resource
import select
import signal
import stat
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from runner.model.errors import KnownError
from runner.model.request import Limits
from runner.sandbox.local import leftovers, own_terminal, syscalls, trusted
from runner.sandbox.local.attended import KEYS, AttendedProgram
from runner.sandbox.local.bubblewrap_start import (
    REMEDY,
    closed_to_others,
    first_process,
    in_memory,
    pipe,
    system_folders,
)
from runner.sandbox.local.control_groups import ControlGroups
from runner.sandbox.local.name_files import FILES
from runner.sandbox.local.piped import PipedStreams
from runner.sandbox.local.printed import NOTHING, Dropped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from runner.network.gate import Gate
    from runner.sandbox.local.group import ControlGroup
    from runner.sandbox.local.listeners import LocalDoors

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
MEMORY_BYTES = 1 << 30
"""Of what it writes into the home folder that it sees, and into each other folder that is in memory."""
IN_MEMORY = ("/run", "/var/tmp", "/dev/shm")
FOR_ROOT = ("/etc", "/opt", "/usr/local")
"""Folders of the system in which files may be that only root reads."""
TO_BE_ITSELF = "CAP_SETFCAP"
"""What root needs to be root in a namespace that it makes (Linux 5.12)."""
FOR_A_RING = ("CAP_SYS_ADMIN", "CAP_SETPCAP", TO_BE_ITSELF)
"""What root needs to make a further ring inside, and to give these up."""
LEAST_FREE = 1 << 30
"""Bytes of disk that stay free: a program that would take more is ended."""
LEAST_FILES = 50_000
"""The same in files, of which a disk holds so many, however small they are. Some 20,000 are made in a second."""
NOT_FOUND, NOT_STARTED = 127, 125
ENV = "/usr/bin/env"
AS_WORDS = ("/bin/sh", "-c", 'exec "$@"', "assent")
"""Starts the words that follow, whatever is in them."""


class Bind(NamedTuple):
    """A folder or file that the program sees."""

    source: str
    place: str
    is_writable: bool = False


def _nothing(_process: int) -> None:
    """Do nothing when it begins."""


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
    binds: tuple[Bind, ...] = ()
    """Further folders and files."""
    variables: Mapping[str, str] | None = None
    """Further variables."""
    gate: Gate | None = None
    """Its only way out; None for none. Whoever made it closes it."""
    least_free: int = LEAST_FREE
    memory: int = 0
    """Bytes, of all its processes together where the machine can bound that; 0 for half of the machine's."""
    hostname: str = "assent-try"
    filters_itself: bool = False
    """Whether the program takes the filter on system calls itself, and gives up its power.

    It is the first process then: the one that bubblewrap makes otherwise would be without.
    """
    has_own_kernel: bool = False
    """Whether the program is a kernel (gVisor), which makes namespaces and filters what it calls itself.

    Then no filter is laid over it, and root is put into a namespace too, in which it may make further ones.
    """
    files: Mapping[str, bytes] | None = None
    """Further files, read-only, by their places."""
    passed: tuple[int, ...] = ()
    """Further descriptors that it gets."""
    began: Callable[[int], None] = _nothing
    """Called once with its first process, as soon as it runs. May raise KnownError: it is ended then."""


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """How it ended."""

    code: int
    """As a shell says it: 128 and the number of the signal where one ended it."""
    why: str = ""
    """Why Assent ended it; '' where it ended by itself."""
    told: int = 0
    """The signal by which Assent itself was told to end; 0 for none."""
    dropped: Dropped = NOTHING
    """What it printed for more than the screen, and was kept from the terminal."""


def run(what: Contained, wrap: Callable[[tuple[str, ...]], tuple[str, ...]]) -> ProgramEnd:
    """Run the program to its end, from the caller's terminal. Blocks the main thread. Raises KnownError and OSError.

    `wrap` makes the command that starts another one where the folder can be seen.
    """
    bubblewrap = trusted.find("bwrap")
    if not bubblewrap:
        raise KnownError(f"bubblewrap is not installed. {trusted.elsewhere('bwrap')}".rstrip(), REMEDY)
    if not (refused := syscalls.program()):
        raise KnownError("System calls cannot be filtered on this machine, so nothing is contained here.")
    if full := _is_full(what):
        raise KnownError(f"It was not started: {full} is left.", "Free disk space, then try again.")
    with contextlib.ExitStack() as kept:
        doors = None if what.gate is None else open_doors(what.gate, kept)
        group = _group(what, kept)
        terminal = own_terminal.found()
        attended = AttendedProgram(terminal)
        kept.enter_context(attended.heard(ignoring=_resets_signals()))
        kept.enter_context(terminal or contextlib.nullcontext())
        given = () if terminal is None else terminal.passed
        streams = PipedStreams(kept, {} if terminal is None else terminal.streams, apart=what.has_own_kernel)
        with contextlib.ExitStack() as handed:
            reader, writer = pipe(kept, handed)
            hold, release = pipe(handed, kept)
            calls = () if what.filters_itself or what.has_own_kernel else (in_memory(refused, handed),)
            files = {place: in_memory(data, handed) for place, data in _files(what).items()}
            options = _options(what, files)
            filtered = ("--seccomp", *calls) if calls else ()
            channels = ("--info-fd", writer, "--block-fd", hold, "--sync-fd", release, *filtered)
            words = (bubblewrap, *options, *map(str, channels), "--", *_started(what.program))
            words = (*(() if group is None else group.entry), *wrap(words))
            process = subprocess.Popen(
                words if terminal is None else terminal.command(words),
                env=environment(what.variables or {}),
                pass_fds=(writer, hold, release, *calls, *files.values(), *given, *what.passed),
                process_group=0 if terminal is None else None,
                **streams.handed,
            )
        kept.callback(_ended, process)
        streams.close()
        own_group = process.pid if terminal is None else terminal.begin(process.pid)
        root = first_process(reader, process)
        inside = os.pidfd_open(root)
        kept.callback(os.close, inside)
        # Also where it is not started after all: it would wait for that for ever, with the streams open.
        kept.callback(_all_ended, inside)
        _limit(root, limits(what))
        if doors is not None:
            doors.open(root)
        if terminal is not None:
            terminal.watch(root)
        attended.begin(own_group)
        os.write(release, b"go")
        what.began(root)
        full = ""

        def is_full() -> bool:
            nonlocal full
            full = full or _is_full(what)
            return bool(full)

        code = attended.wait(process, is_full)
    dropped = NOTHING if terminal is None else terminal.dropped
    why = _why(full, attended.told)
    return ProgramEnd(code if code >= 0 else 128 - code, why, attended.told, dropped)


def _files(what: Contained) -> dict[str, bytes]:
    return {**(FILES if what.gate is not None else {}), **(what.files or {})}


def _started(program: tuple[str, ...]) -> tuple[str, ...]:
    """Return the program with what lets it hear the keys again, which bubblewrap itself ignores."""
    if not _resets_signals():
        return program
    if "=" in program[0]:  # else taken for a variable
        program = (*AS_WORDS, *program)
    return (ENV, f"--default-signal={','.join(one.name.removeprefix('SIG') for one in KEYS)}", "--", *program)


@functools.cache
def _resets_signals() -> bool:
    """Return whether the system's `env` can do that. Without it bubblewrap ends at Ctrl+C, and all inside with it."""
    try:
        words = (ENV, "--default-signal=INT", "--", "/bin/true")
        return subprocess.run(words, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _options(what: Contained, files: Mapping[str, int]) -> list[str]:
    home = os.path.expanduser("~")
    is_root, nests = os.geteuid() == 0, what.has_own_kernel
    user = ("--unshare-user", "--uid", str(os.geteuid()), "--gid", str(os.getegid()))
    unshared = user if nests or not is_root else ()
    keeps_proc = what.filters_itself or nests
    options = [
        *("--unshare-pid", "--unshare-ipc", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"),
        *unshared,
        *("--cap-drop", "ALL", "--die-with-parent", "--hostname", what.hostname),
        *(("--as-pid-1",) if what.filters_itself else ()),
        *(word for name in FOR_A_RING if what.filters_itself and not unshared for word in ("--cap-add", name)),
        *(("--cap-add", TO_BE_ITSELF) if nests and is_root else ()),
        *system_folders(),
        *(etc := _etc(files)),
        *("--ro-bind-try", "/opt", "/opt"),
        *(word for top in FOR_ROOT for word in closed_to_others(top)),
        # Root may write to /proc/sys without any capability: what stands there is the machine's.
        *("--proc", "/proc", *(() if keeps_proc else ("--remount-ro", "/proc")), "--dev", "/dev"),
        *(word for folder in IN_MEMORY for word in memory_folder(folder, "1777" if folder != "/run" else "0755")),
        *("--bind", str(what.temporary), "/tmp", *(memory_folder(home, permissions(home)) if home.strip("/") else ())),
    ]
    for bind in what.binds:
        options += ["--bind" if bind.is_writable else "--ro-bind", bind.source, bind.place]
    for place, descriptor in files.items():
        options += ["--ro-bind-data", str(descriptor), os.path.realpath(place)]
    options += [*folders_above(what.project), "--bind", str(what.shown), str(what.project)]
    closed = ("/dev", *(("/etc",) if "--tmpfs" in etc else ()), "/")
    return [*options, *(word for one in closed for word in ("--remount-ro", one)), "--chdir", os.getcwd()]


def _etc(files: Iterable[str]) -> list[str]:
    """Return the options that show the system's /etc.

    Where one of `files` is not there, as in a bare system, no place can be made for it in that folder: then it is
    another one, with everything in it that is in the system's.
    """
    places = [place for place in map(os.path.realpath, files) if place.startswith("/etc/")]
    if all(map(os.path.exists, places)):
        return ["--ro-bind", "/etc", "/etc"]
    options = ["--tmpfs", "/etc"]
    with os.scandir("/etc") as entries:
        for one in entries:
            shown = ("--symlink", os.readlink(one.path)) if one.is_symlink() else ("--ro-bind", one.path)
            options += [*shown, one.path]
    return options


def memory_folder(path: str, mode: str) -> tuple[str, ...]:
    return ("--perms", mode, "--size", str(MEMORY_BYTES), "--tmpfs", path)


def folders_above(project: Path) -> list[str]:
    """Return the options by which the folders above a project are made with their own permissions.

    bubblewrap makes what is missing with those of its own, and a program would see others than it does outside.
    """
    above = map(str, reversed(project.parents[:-1]))
    return [word for one in above for word in ("--perms", permissions(one), "--dir", one)]


def permissions(folder: str) -> str:
    """Return those of a folder, in octal, as a folder in its place is to have them: its owner may always use it."""
    return f"{stat.S_IMODE(os.stat(folder).st_mode) | stat.S_IRWXU:04o}"


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that the program gets."""
    own = os.environ
    passed = {name: own[name] for name in own if name in PASSED or name.startswith("LC_")}
    return {**passed, "HOME": os.path.expanduser("~"), **more}


def open_doors(gate: Gate, kept: contextlib.ExitStack) -> LocalDoors:
    """Return a way to a gate, which is prepared, and closed with `kept`. Raises KnownError."""
    # Loaded here: what needs no network needs no loop.
    from runner.network.loop import NetworkLoop
    from runner.sandbox.local.listeners import LocalDoors

    network = NetworkLoop()
    kept.callback(network.close)
    doors = LocalDoors(gate, network)
    kept.callback(doors.close)
    doors.prepare()
    return doors


def _group(what: Contained, kept: contextlib.ExitStack) -> ControlGroup | None:
    """Return a control group that bounds memory and processes of all together; None where none can be made here."""
    try:
        groups = ControlGroups.found()
        group = groups.new(leftovers.new_name(), Limits(memory_mb=_memory(what) >> 20, processes=MOST_PROCESSES))
    except (KnownError, OSError):
        return None
    kept.callback(group.remove)
    return group


def _memory(what: Contained) -> int:
    """Return the bytes that it may use."""
    return what.memory or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def limits(what: Contained) -> dict[str, int]:
    """Return the limits of each process, by their names in setrlimit(2)."""
    return {"CORE": 0, "DATA": _memory(what), "NPROC": MOST_PROCESSES}


def _limit(root: int, bounds: Mapping[str, int]) -> None:
    """Set the limits of each process, before it starts."""
    for name, value in bounds.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        _, hard = resource.getrlimit(kind)
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with contextlib.suppress(ProcessLookupError):  # it has failed: its exit tells
            resource.prlimit(root, kind, (bound, bound))


def _why(full: str, told: int) -> str:
    """Return why it was ended; '' where it ended by itself."""
    if full:
        return f"It was ended: {full} was left."
    return f"It was ended, as Assent was ({signal.Signals(told).name})." if told else ""


def _is_full(what: Contained) -> str:
    """Return what of the disk is used up, in words; '' for nothing."""
    found = os.statvfs(what.temporary)
    if found.f_bavail * found.f_frsize < what.least_free:
        return f"less than {what.least_free / (1 << 30):.2g} GB of the disk"
    # File systems without a bound of their own say 0.
    if found.f_files > 0 and found.f_favail < LEAST_FILES:
        return f"room for less than {LEAST_FILES:,} files on the disk"
    return ""


def _all_ended(inside: int) -> None:
    """End everything inside, by the descriptor of its first process, which ends last.

    Bubblewrap does so too, but does not wait for it: what is left would write while the changes are read.
    """
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(inside, signal.SIGKILL)
    waiting = select.poll()
    waiting.register(inside, select.POLLIN)
    waiting.poll()


def _ended(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.kill()
        process.wait()
