"""The feeds of gVisor's containers in the container engine of this machine, which all report to one socket.

An administrator gives the engine further runtimes of gVisor, each of which reports to a folder of one account. A
console takes one that is free for as long as it lives: the socket is its own, only the engine can reach it, and each
line belongs to the container whose start it reports first, before any code runs in it.
"""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import socket
import struct
import threading
import time
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.sandbox.container.runtimes import REPORTS_TO
from runner.sandbox.gvisor.feed import SESSION, SOCKET, KernelFeed, introduced, opened, session, wake
from runner.sandbox.gvisor.program import NAME
from runner.sandbox.gvisor.trace_messages import LARGEST, BadMessage, container_of
from runner.system.places import Places
from runner.system.private_folder import make_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

FREE_FOR = 2
"""Runtimes that are offered to an account: as many programs may have containers that report at the same time."""
MOST_LINES = 256
"""At once; of the containers of one console there are fewer."""
WAITING = 64
START_SECONDS = 60.0
"""From the making of a container to its start, on a busy machine."""
AGAIN_SECONDS = 0.05
NO_RUNTIME = "the engine has no runtime for that"
NONE_FREE = "other programs use all of the engine's runtimes for that"
SILENT = "the engine's runtime for that reports nothing"
_PEER = struct.Struct("3i")


class EngineFeeds:
    """The runtime that is this console's for now. Everything may be called on any thread."""

    def __init__(self, folder: Path | None = None) -> None:
        """`folder` is where runtimes report to that are for this account; None for the standard one."""
        self._folder = folder or standard_folder()
        self._runtime = ""
        self.why = NO_RUNTIME
        """Why no runtime reports to this console, a clause; '' where one does."""
        self._lock = threading.Lock()
        self._held: int | None = None
        """The lock on the folder of the runtime."""
        self._door: socket.socket | None = None
        self._feeds: weakref.WeakValueDictionary[str, KernelFeed] = weakref.WeakValueDictionary()
        """By container: those with a line, which its thread holds, and those that somebody waits for."""
        self._lines: set[socket.socket] = set()
        self._threads: set[threading.Thread] = set()

    def take(self, runtimes: Mapping[str, Any]) -> str:
        """Return the name of a runtime of the engine that reports to this console from now on; '' for none."""
        offered = offered_to(self._folder, runtimes)
        if self._runtime not in offered:
            self.close()
            self.why = NONE_FREE if offered else NO_RUNTIME
            for name, folder in offered.items():
                try:
                    self._open(folder)
                except BlockingIOError:  # another console has it
                    continue
                except OSError as error:
                    self.why = f"{folder} cannot be used for that ({error.strerror or error})"
                    continue
                self._runtime, self.why = name, ""
                break
        return self._runtime

    def give_back(self) -> None:
        """Give back the runtime that was taken, as it reports nothing."""
        self.close()
        self.why = SILENT

    def feed(self, container: str) -> KernelFeed | None:
        """Return what the kernel of a container reports, now or later; None where no runtime reports to here."""
        if not self._runtime:
            return None
        with self._lock:
            return self._feeds.setdefault(container, KernelFeed())

    def close(self) -> None:
        """Give the runtime back; what its containers still report is lost."""
        self._runtime = ""
        with self._lock:
            door, self._door = self._door, None
            held, self._held = self._held, None
            ends, feeds, threads = [door, *self._lines], list(self._feeds.values()), list(self._threads)
        for feed in feeds:
            feed.break_off()
        for end in ends:
            wake(end)
        for thread in threads:
            thread.join()
        if door is not None:
            door.close()
        if held is not None:
            os.close(held)

    # ---- the socket ----

    def _open(self, folder: Path) -> None:
        """Raises OSError where another console has the runtime."""
        for each in (folder.parent, folder):
            make_folder(each)
            if each.is_symlink() or each.stat().st_uid != os.geteuid():
                raise PermissionError(f"{each} belongs to somebody else")
            each.chmod(0o700)
        held = os.open(folder / "lock", os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            (folder / f"{SESSION}.new").write_text(json.dumps(session(folder, shared=True)))
            os.replace(folder / f"{SESSION}.new", folder / SESSION)
            (folder / SOCKET).unlink(missing_ok=True)
            door = opened(folder, WAITING)
        except BaseException:
            os.close(held)
            raise
        with self._lock:
            self._held, self._door = held, door
            self._start(self._serve, door)

    def _start(self, work: Any, end: socket.socket) -> None:
        """Start a thread that `close` waits for; the lock is held."""
        thread = threading.Thread(target=work, args=(end,), name="gVisor feeds", daemon=True)
        self._threads.add(thread)
        thread.start()

    # ---- on threads ----

    def _serve(self, door: socket.socket) -> None:
        while self._door is door:
            try:
                line, _ = door.accept()
            except OSError:  # closed, or no more files can be opened
                if self._door is door:
                    time.sleep(AGAIN_SECONDS)
                continue
            with self._lock:
                if self._door is door and len(self._lines) < MOST_LINES and _is_of_engine(line):
                    self._lines.add(line)
                    self._start(self._carry, line)
                else:
                    line.close()
        with self._lock:
            self._threads.discard(threading.current_thread())

    def _carry(self, line: socket.socket) -> None:
        """Find the container that a line is of, and take what it reports."""
        try:
            if introduced(line):
                line.settimeout(START_SECONDS)
                feed = self.feed(container_of(line.recv(LARGEST)))
                if feed is not None and not feed.followed:  # no container starts twice
                    feed.follow(line)
        except (OSError, BadMessage):
            pass
        finally:
            line.close()
            with self._lock:
                self._lines.discard(line)
                self._threads.discard(threading.current_thread())


def standard_folder() -> Path:
    """Return the folder to which runtimes report that are for the consoles of this account."""
    return Places.standard().state / "feed"


def offered_to(folder: Path, runtimes: Mapping[str, Any]) -> dict[str, Path]:
    """Return the runtimes that report to folders in `folder`, by their names, with these folders."""
    found = {}
    for name, one in sorted(runtimes.items()):
        words = [str(word) for word in one.get("runtimeArgs") or ()]
        path = next((Path(word.removeprefix(REPORTS_TO)) for word in words if word.startswith(REPORTS_TO)), None)
        if path is not None and path.name == SESSION and path.parent.parent == folder:
            found[name] = path.parent
    return found


def command(runsc: str) -> str:
    """Return what puts runtimes that report to this account into the configuration of Docker; for an administrator.

    `runsc` is the path of gVisor's program. Docker has to read its configuration again afterwards.
    """
    to = f"{REPORTS_TO}{shlex.quote(str(standard_folder()))}/$n/{SESSION}"
    install = f"sudo {shlex.quote(runsc)} install --runtime={NAME}-{os.getuid()}-$n -- --network=none {to}"
    numbers = " ".join(str(number + 1) for number in range(FREE_FOR))
    return f"for n in {numbers}; do {install}; done"


def _is_of_engine(line: socket.socket) -> bool:
    """Return whether root or this account is at the other end: the engine, whoever it belongs to."""
    _, user, _ = _PEER.unpack(line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
    return user in (0, os.geteuid())
