"""The events of a program at work, one JSON line each, in the folder of its working copy.

Written by the process that runs the program and read by the console, which may be opened later or not at all. What a
line says comes from a process of this account; texts in it come from the program and are shown as plain text.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from runner.model.codec import decode, encode
from runner.model.errors import KnownError
from runner.model.work import (
    AsItGoes,
    CommandAnswered,
    CommandSeen,
    HostOpened,
    HostSeen,
    PortsSeen,
    StandingSeen,
    WorkDone,
    WorkEnded,
    WorkStarted,
)

if TYPE_CHECKING:
    from pathlib import Path

    from runner.model.work import WorkEvent

NAME = "events.jsonl"
KINDS: dict[str, type[Any]] = {
    "started": WorkStarted,
    "standing": StandingSeen,
    "command": CommandSeen,
    "answered": CommandAnswered,
    "host": HostSeen,
    "opened": HostOpened,
    "as-it-goes": AsItGoes,
    "ports": PortsSeen,
    "ended": WorkEnded,
    "done": WorkDone,
}
_NAMES = {kind: name for name, kind in KINDS.items()}
LONGEST_LINE = 1 << 20
"""Bytes; a longer one is damage."""
MOST_READ = 4 << 20
"""Bytes that are read at once."""
LAST_BYTES = 1 << 16
"""At the end of a log, in which its last line is."""
MOST_BYTES = 1 << 28
"""Of a log, so that a program cannot fill the disk by it: from here on its commands are refused."""
MOST_OF_HOSTS = MOST_BYTES // 4
"""From here on hosts and ports are left out, so that they do not use up the room for commands."""


class WorkLog:
    """The writing end. Used by one thread."""

    def __init__(self, folder: Path) -> None:
        """Raises OSError."""
        self._file = os.open(folder / NAME, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._size = os.fstat(self._file).st_size

    def add(self, event: WorkEvent) -> bool:
        """Append an event; return False where it was left out, as the log is full. Raises OSError."""
        most = MOST_OF_HOSTS if isinstance(event, HostSeen | PortsSeen) else MOST_BYTES
        if self._size > most and not isinstance(event, WorkEnded | WorkDone):
            return False
        line = json.dumps({"kind": _NAMES[type(event)], **_said(event)}, separators=(",", ":")).encode() + b"\n"
        self._size += os.write(self._file, line)
        return True

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def _said(event: WorkEvent) -> dict[str, Any]:
    # It has a kind of its own.
    return {"said": encode(event)} if isinstance(event, WorkDone) else encode(event)


class WorkReading:
    """The reading end: remembers how far it has read."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self.at = 0
        """Bytes that were read."""
        self.more = False
        """Whether there was more than is read at once."""

    def new(self) -> list[WorkEvent]:
        """Return the events that were written since; lines that cannot be understood are left out. Raises OSError."""
        return [event for _, event in self.placed()]

    def placed(self) -> list[tuple[int, WorkEvent]]:
        """Return the same, each with the place in the file at which its line ends. Raises OSError."""
        try:
            with self._path.open("rb") as file:
                file.seek(self.at)
                data = file.read(MOST_READ)
        except FileNotFoundError:
            return []
        self.more = len(data) == MOST_READ
        lines = data.split(b"\n")
        if self.more and len(lines) == 1:
            self.at += len(data)  # of a line that is damage whatever follows
        found = []
        for line in lines[:-1]:
            self.at += len(line) + 1
            if (event := _event(line)) is not None:
                found.append((self.at, event))
        return found


def end_of(folder: Path) -> WorkEnded | None:
    """Return the end that a log tells of, as its last event; None for none. Raises OSError."""
    try:
        with (folder / NAME).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - LAST_BYTES))
            lines = file.read(LAST_BYTES).splitlines()
    except FileNotFoundError:
        return None
    event = _event(lines[-1]) if lines else None
    return event if isinstance(event, WorkEnded) else None


def _event(line: bytes) -> WorkEvent | None:
    if len(line) > LONGEST_LINE:
        return None
    try:
        said = json.loads(line)
        kind = KINDS[said["kind"]]
        event: WorkEvent = decode(kind, said["said"] if kind is WorkDone else said)
    except (ValueError, KeyError, TypeError, RecursionError, KnownError):
        return None
    return event
