"""The door file: where the running console listens. Standard library only: the stdio bridge reads it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from runner.places import Places

LISTENING = "0A"
"""State of a listening socket in /proc/net/tcp (include/net/tcp_states.h)."""


class Door(NamedTuple):
    host: str
    port: int
    pid: int
    started: float
    """Seconds since the epoch."""


class Holder(NamedTuple):
    """A process that has a port."""

    pid: int
    name: str


def write(places: Places, door: Door) -> None:
    """Tell where the console listens; readable by its owner alone. Raises OSError."""
    places.door.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = places.door.with_name(f"{places.door.name}.{door.pid}.new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        json.dump(door._asdict(), out)
    os.replace(temporary, places.door)


def read(places: Places) -> Door | None:
    """Where a console listens or last listened; None where nothing readable is written."""
    try:
        data = json.loads(places.door.read_text("utf-8"))
        return Door(str(data["host"]), int(data["port"]), int(data["pid"]), float(data["started"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def remove(places: Places, pid: int) -> None:
    """Take the file away if it is still that of process `pid`: a second console may have written its own."""
    if (door := read(places)) is not None and door.pid == pid:
        places.door.unlink(missing_ok=True)


def foreign(port: int) -> bool:
    """Whether somebody else listens on 127.0.0.1:`port`: a token must not be sent there.

    The port outlives the console and any account of this machine may take it. Where the kernel does
    not tell who listens (no /proc), nobody is taken to be foreign.
    """
    try:
        rows = Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]
    except OSError:
        return False
    wanted = f":{port:04X}"
    for row in rows:
        fields = row.split()
        if fields[3] == LISTENING and fields[1].endswith(wanted) and int(fields[7]) != os.getuid():
            return True
    return False


def holder(port: int) -> Holder | None:
    """The process that listens on `port` of this machine; None where it is not ours to see."""
    # Imported here: it is needed when something has gone wrong, and the bridge must start fast.
    import psutil

    try:
        for connection in psutil.net_connections("tcp"):
            local = connection.laddr
            if connection.status == psutil.CONN_LISTEN and local and local.port == port and connection.pid:
                return Holder(connection.pid, psutil.Process(connection.pid).name())
    except psutil.Error:
        return None
    return None
