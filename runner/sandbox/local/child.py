"""A started program for the watcher: its pipes, its processes, and the two ways to end it."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from runner.model.errors import KnownError
from runner.sandbox.local import tree, trusted

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Mapping

    from runner.model.request import Isolation, Limits
    from runner.sandbox.contract import ProjectLayer
    from runner.sandbox.local.collect import Left
    from runner.sandbox.local.group import ControlGroup
    from runner.sandbox.local.interpreters import Interpreter
    from runner.sandbox.local.listeners import LocalDoors


@dataclass(frozen=True, slots=True)
class View:
    """Paths as the code sees them."""

    workspace: str
    inside: str
    """Folder with what starts the code."""
    temporary: str
    code: str = ""
    """Folder with the code; '' for the workspace."""
    main: str = "main"
    """Name of the file with the code, without its ending."""
    own_home: str = ""
    """The home folder, where the workspace is not to be it: a file there such as `.bashrc` is obeyed by programs."""

    @property
    def home(self) -> str:
        return self.own_home or self.workspace

    @property
    def code_folder(self) -> str:
        return self.code or self.workspace


@dataclass(frozen=True, slots=True)
class Program:
    """What is to be started."""

    name: str
    """The run's name, as `leftovers.new_name` makes it."""
    code: tuple[str, bytes]
    """Name and content of the file with the code."""
    inside: Mapping[str, bytes]
    """The files that start the code."""
    command: tuple[str, ...]
    environment: Mapping[str, str]
    limits: Limits
    stdin: int
    inherited: tuple[int, ...]
    """Descriptors that it gets besides its three standard streams: the one for its report, if it makes any."""
    identity: int | None
    """User id that the program takes on by itself as it starts."""
    folders: tuple[str, ...]
    """To be shown read-only besides the system's own."""
    collected: bool = False
    """Whether what it leaves in its workspace is wanted."""
    kept: str = ""
    """Folder of the host that is the workspace; '' for one that is made for this run and goes with it."""
    layer: ProjectLayer | None = None
    """The project that is the workspace."""
    code_folder: str = ""
    """Where the file with the code stands; '' for the workspace."""
    doors: LocalDoors | None = None
    """The way to the gate, opened before the program starts; None for a run without network."""
    unused: int = 0
    """Bytes that it makes writable as it starts and does not fill."""


@dataclass(frozen=True, slots=True)
class Child:
    process: subprocess.Popen[bytes]
    root: int
    """Process below which everything the code starts stands, itself not the code's."""
    final: signal.Signals
    """Sent to `root`, it takes everything below along."""
    workspace: str
    """Where the host can look at the workspace, with `{pid}` for any process of the code; '' where nobody counts it."""
    clean: Callable[[], object]
    """Remove what was laid out on the host, once everything has ended."""
    left: Left | None = None
    """What it leaves in its workspace, where that is wanted."""
    others: tuple[str, ...] = ()
    """Its other file systems in memory, named like `workspace`."""
    own_network: bool = False
    """Whether all sockets of its network namespace are its own."""
    group: ControlGroup | None = None
    """The control group that it is alone in."""

    def processes(self) -> list[int]:
        return tree.descendants(self.root)

    def ask_to_end(self) -> None:
        """Send SIGTERM to every process of the code."""
        for pid in self.processes():
            send(pid, signal.SIGTERM)

    def end(self) -> None:
        """Kill every process below `root`."""
        send(self.root, self.final)

    def give_up(self) -> None:
        """Kill the launcher itself, where `root` does not end."""
        send(self.process.pid, signal.SIGKILL)


class Launcher(Protocol):
    """A way to start programs: in bubblewrap or as plain processes."""

    @property
    def isolation(self) -> Isolation: ...

    @property
    def protections(self) -> tuple[str, ...]: ...

    @property
    def missing(self) -> tuple[str, ...]: ...

    @property
    def identity(self) -> int | None:
        """User id the program has to take on itself; a new one at each call."""
        ...

    def refusal(self, tool: Interpreter) -> KnownError | None:
        """Return why `tool` cannot be started this way; None when it can."""
        ...

    def view(self, name: str) -> View: ...

    def start(self, program: Program) -> Child:
        """Start it; it runs under its limits from its first instruction. Raises KnownError and OSError."""
        ...


FIRST_IDENTITY = 700_000_000
IDENTITIES = 10_000_000


def as_user(identity: int | None) -> tuple[str, ...]:
    """Return the command that gives up root before the program after it starts; nothing where there is no `identity`.

    Raises KnownError where there is none.
    """
    if identity is None:
        return ()
    if not (setpriv := trusted.find("setpriv")):
        raise KnownError("setpriv was not found.", "Install util-linux, or run Assent as an ordinary user.")
    return (setpriv, f"--reuid={identity}", f"--regid={identity}", "--clear-groups")


class Identities:
    """User ids for a console that runs as root: each run gets one of its own, from a range nobody uses."""

    def __init__(self) -> None:
        self._number = itertools.count(secrets.randbelow(IDENTITIES))

    def new(self) -> int:
        return FIRST_IDENTITY + next(self._number) % IDENTITIES


def send(pid: int, signum: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signum)


def rlimits(limits: Limits, unused: int = 0) -> dict[str, int]:
    """Limits of each single process by the names of the `resource` module without `RLIMIT_`; `unused` as in `Program`.

    DATA and not AS: what a process may write to counts, not what it reserves; Node.js reserves gigabytes.
    Files are bound by FSIZE as well as by the size of the workspace.
    """
    return {
        "CORE": 0,
        "DATA": (limits.memory_mb << 20) + unused,
        "FSIZE": limits.disk_mb << 20,
        "NOFILE": 1024,
    }
