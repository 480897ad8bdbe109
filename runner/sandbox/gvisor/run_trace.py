"""Separates what the code of a run did from what Assent's own programs did, by who started whom."""

from __future__ import annotations

import errno
import ipaddress
import os
import posixpath
import signal
import threading
from typing import TYPE_CHECKING, assert_never

from runner.model.behaviour import A_NAME, OWN_FILE, UNIX, DeedKind
from runner.model.workspace import WORKSPACE
from runner.sandbox.behaviour import command_line, shown
from runner.sandbox.container.frames import MARK
from runner.sandbox.gvisor.trace_messages import Called, Cloned, Executed, Exited, Opened, Reached
from runner.sandbox.networked import NAME_PORT, PROXY_PORT, WEB_PORTS

if TYPE_CHECKING:
    from runner.sandbox.behaviour import BehaviourBook, Key
    from runner.sandbox.gvisor.trace_messages import Message

NAME_SERVICE = f"{UNIX}/var/run/nscd/socket"
"""What the C library looks for whenever a name is wanted, and never finds here."""
QUIET = frozenset({b"/dev/null", b"/dev/tty"})
"""Files that are opened for writing by what has nothing to say."""
OWN_INPUT = b"/tmp/.stdin"
PACKAGES = (f"{WORKSPACE}/.packages/".encode(), f"{WORKSPACE}/node_modules/".encode())
PROGRAM_FOLDERS = (b"/usr/", b"/bin/", b"/sbin/", *PACKAGES)
"""Folders of programs that a run does not make itself."""
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
CALLS = {
    "x86_64": {
        90: ("chmod", 1),
        91: ("fchmod", 1),
        92: ("chown", -1),
        93: ("fchown", -1),
        94: ("lchown", -1),
        260: ("fchownat", -1),
        268: ("fchmodat", 2),
    },
    "aarch64": {52: ("fchmod", 1), 53: ("fchmodat", 2), 54: ("fchownat", -1), 55: ("fchown", -1)},
}
"""Calls that change rights, by machine and number, with which argument says the new ones; -1 for none."""
RIGHTS = CALLS.get(os.uname().machine, {})
MOST_PROCESSES = 1 << 16
"""Numbers that are remembered; gVisor gives no higher ones."""
MOST_TRIES = 1000
_LEFT = "ended with the run"
PROBLEMS = {errno.ENOENT: "not found", errno.EACCES: "not allowed", errno.EPERM: "not allowed", errno.EROFS: "refused"}


class RunTrace:
    """One container's. Messages come on one thread at a time; everything may be called on any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._book: BehaviourBook | None = None
        self._root = 0
        """The interpreter of the last run."""
        self._main = b""
        """The file that it runs."""
        self._mine: set[int] = set()
        """The processes in which that run's code is."""
        self._programs: dict[int, Key | None] = {}
        self._tried: dict[int, Executed] = {}
        self._awaited = self._networked = False
        self.over = False
        """Whether the interpreter has ended."""

    def begin(self, book: BehaviourBook, *, shell: bool, networked: bool) -> None:
        """Put what the code does from now on into `book`. Code of a shell begins when the shell becomes another one.

        Where there is a network, the gate reports what goes through it.
        """
        with self._lock:
            self._book, self._awaited, self._networked, self.over = book, shell, networked, False

    @property
    def begun(self) -> bool:
        """Whether the code was seen to start."""
        return self._root > 0 and not self._awaited

    def stop(self) -> None:
        """Note that the run is over: what still comes is not its own."""
        with self._lock:
            for process in list(self._tried):
                self._give_up(process)
            self._book = None
            self._mine.clear()
            self._programs.clear()

    def take(self, message: Message) -> None:
        """Take what happened next."""
        with self._lock:
            # The first of a container is Assent's own, as nothing else starts code.
            ours = self._book is None or self._root == 0
            if ours and isinstance(message, Executed) and message.last[0] == MARK:
                self._root, self._main = message.process, message.last[1]
                self._mine = {message.process}
            elif message.process in self._mine:
                self._take(message)

    def _take(self, message: Message) -> None:
        match message:
            case Cloned():
                if len(self._mine) < MOST_PROCESSES:
                    self._mine.add(message.child)
            case Exited():
                self._ended(message)
            case Executed() if self._awaited:
                self._awaited = message.process != self._root or message.last != (b"--norc", self._main)
            case _ if self._book is None or self._awaited:
                return
            case Executed():
                self._executed(message, self._book)
            case Opened():
                self._opened(message, self._book)
            case Reached():
                self._connected(message, self._book)
            case Called():
                self._called(message, self._book)
            case _:
                assert_never(message)

    def _executed(self, message: Executed, book: BehaviourBook) -> None:
        before = self._tried.get(message.process)
        if message.error:
            if before is not None and before.words != message.words:
                self._give_up(message.process)
            if len(self._tried) < MOST_TRIES:
                self._tried[message.process] = message
            return
        if before is not None and before.words == message.words:  # along PATH
            del self._tried[message.process]
        line = command_line(message.words, more=message.more)
        self._programs[message.process] = book.add(DeedKind.PROGRAM, line, name=_name(message.path))

    def _give_up(self, process: int) -> None:
        """Count a program that could not be started."""
        tried = self._tried.pop(process)
        if self._book is not None:
            line = command_line(tried.words, more=tried.more)
            self._book.add(DeedKind.PROGRAM, line, name=_name(tried.path), problem=_problem(tried.error))

    def _ended(self, message: Exited) -> None:
        process = message.process
        if process in self._tried:
            self._give_up(process)
        key = self._programs.pop(process, None)
        self._mine.discard(process)
        if process == self._root:
            self.over = True
        elif self._book is not None:
            self._book.ended()
        if self._book is not None and message.status:
            self._book.failed(key, _LEFT if self.over and message.status == signal.SIGKILL else _end(message.status))

    def _opened(self, message: Opened, book: BehaviourBook) -> None:
        if not message.flags & WRITING:
            return
        path = posixpath.normpath(posixpath.join(message.folder, message.path))
        if path in QUIET or path in (self._main, OWN_INPUT):
            return
        folder = next((one for one in PACKAGES if path.startswith(one)), b"")
        text = shown(folder or path).removeprefix(f"{WORKSPACE}/")
        book.add(DeedKind.FILE, text, problem=_problem(message.error) if message.error else "")

    def _connected(self, message: Reached, book: BehaviourBook) -> None:
        host, port = shown(message.host.encode("utf-8", "replace")), message.port
        if host == NAME_SERVICE or (self._networked and _is_door(host, port)):
            return
        if port == NAME_PORT and _is_loopback(host):
            book.add(DeedKind.CONNECTION, A_NAME)
        elif port:
            book.add(DeedKind.CONNECTION, f"[{host}]:{port}" if ":" in host else f"{host}:{port}", name=host)
        else:
            book.add(DeedKind.CONNECTION, host)

    def _called(self, message: Called, book: BehaviourBook) -> None:
        name, place = RIGHTS.get(message.number, ("", -1))
        if name:
            book.add(DeedKind.RIGHTS, f"{name} {message.arguments[place] & 0o7777:o}" if place >= 0 else name)


def _name(path: bytes) -> str:
    """Return the name of a program's file, marked where it is not in a folder of the system or of packages."""
    file = shown(path.rpartition(b"/")[2])
    return file if posixpath.normpath(path).startswith(PROGRAM_FOLDERS) else OWN_FILE + file


def _problem(error: int) -> str:
    return PROBLEMS.get(error, f"error {error}")


def _end(status: int) -> str:
    """Return how a process ended in a few words; `status` is as wait(2) has it."""
    return f"signal {status & 0x7F}" if status & 0x7F else f"exit {status >> 8 & 0xFF}"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_door(host: str, port: int) -> bool:
    """Return whether a connection ends at the relay, whose gate reports where it goes."""
    doors = (NAME_PORT, PROXY_PORT, *WEB_PORTS)
    return port in doors and _is_loopback(host)
