"""The address file, which names the address of the running console. Standard library only, for the stdio bridge."""

from __future__ import annotations

import contextlib
import json
import os

from runner.gateway import listeners
from runner.system.plain_file import open_file
from runner.system.private_folder import make_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from runner.system.places import Places

MOST_BYTES = 10_000
"""Largest size of a address file."""


class ConsoleAddress:
    """Where the console with process `pid` is reached. `started` is in seconds since the epoch."""

    __slots__ = ("host", "pid", "port", "started")

    def __init__(self, host: str, port: int, pid: int, started: float) -> None:
        self.host, self.port, self.pid, self.started = host, port, pid, started

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConsoleAddress) and self.fields() == other.fields()

    def __hash__(self) -> int:
        return hash((self.host, self.port, self.pid, self.started))

    def fields(self) -> dict[str, object]:
        """Return what the file holds."""
        return {"host": self.host, "port": self.port, "pid": self.pid, "started": self.started}


class Holder:
    """A process that listens on a port."""

    __slots__ = ("name", "pid")

    def __init__(self, pid: int, name: str) -> None:
        self.pid, self.name = pid, name


def write(places: Places, door: ConsoleAddress) -> None:
    """Write the console's address to files of mode 0600. Raises OSError where no path can be written."""
    failures = []
    for path in places.doors:
        try:
            _write(path, door)
        except OSError as failure:
            failures.append(failure)
    if len(failures) == len(places.doors):
        raise failures[0]


def read(places: Places) -> ConsoleAddress | None:
    """Return the address of a running console, else of the last one.

    None where there is no readable file.
    """
    return first(places.known_doors)


def first(files: Iterable[str | Path]) -> ConsoleAddress | None:
    """Return what `read` does, of these files."""
    found = [door for door in map(_read, files) if door is not None]
    return next(filter(_alive, found), found[0] if found else None)


def remove(places: Places, pid: int) -> None:
    """Remove the files if they are still those of process `pid`: a second console may have written its own."""
    for path in places.doors:
        if (door := _read(path)) is not None and door.pid == pid:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)


def foreign(port: int) -> bool:
    """Return whether another account listens on 127.0.0.1:`port`: a token must not be sent there.

    The port outlives the console and any account of this machine may take it. Where the kernel does
    not report who listens (no /proc), the answer is False.
    """
    return any(listener.user != os.getuid() for listener in listeners.reached(port))


def holder(port: int) -> Holder | None:
    """Return the process that listens on `port` of this machine; None where this account may not see it."""
    inodes = {listener.inode for listener in listeners.on_port(port)}
    if not inodes:
        return None
    for name in os.listdir("/proc"):
        if name.isdecimal() and not inodes.isdisjoint(_sockets(f"/proc/{name}")):
            with contextlib.suppress(OSError), open(f"/proc/{name}/comm", encoding="utf-8", errors="replace") as comm:
                return Holder(int(name), comm.read().strip())
    return None


def named(port: int) -> str:
    """Return who has `port`, in words."""
    if (found := holder(port)) is not None:
        return f"{found.name} (process {found.pid})"
    return "a program of another user" if foreign(port) else "another program of this account"


def running(places: Places) -> ConsoleAddress | None:
    """Return the address of the running console; None where none runs."""
    known = read(places)
    return known if known is not None and _alive(known) else None


def _write(path: Path, door: ConsoleAddress) -> None:
    make_folder(path.parent)
    temporary = path.with_name(f"{path.name}.{door.pid}.new")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            json.dump(door.fields(), out)
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def _read(path: str | Path) -> ConsoleAddress | None:
    """Return the content of `path`; None unless this account owns it and no other can write it."""
    try:
        descriptor = open_file(path, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            status = os.fstat(descriptor)
            if status.st_uid != os.getuid() or status.st_mode & 0o022:
                return None
            data = json.loads(os.read(descriptor, MOST_BYTES))
        finally:
            os.close(descriptor)
        return ConsoleAddress(str(data["host"]), int(data["port"]), int(data["pid"]), float(data["started"]))
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None


def _alive(door: ConsoleAddress) -> bool:
    """Return whether the process that wrote `door` listens there."""
    process = f"/proc/{door.pid}"
    ours = {listener.inode for listener in listeners.reached(door.port) if listener.user == os.getuid()}
    return bool(ours) and (_is_closed(process) or not ours.isdisjoint(_sockets(process)))


def _is_closed(process: str) -> bool:
    """Return whether a process of this account does not show what it has open, as the console does not.

    Then it can only be said that a process with the console's number runs, and that this account has the port.
    """
    try:
        return os.stat(process).st_uid == os.getuid() and not os.access(f"{process}/fd", os.R_OK)
    except OSError:
        return False


def _sockets(process: str) -> set[str]:
    """Return the inodes of the sockets that a process has open; none where it has ended or is another account's."""
    found = set()
    with contextlib.suppress(OSError):
        for number in os.listdir(f"{process}/fd"):
            with contextlib.suppress(OSError):
                target = os.readlink(f"{process}/fd/{number}")
                if target.startswith("socket:["):
                    found.add(target[8:-1])
    return found
