"""Sends each entry of the history once it is durable, on a thread of its own, from where the last one ended."""

from __future__ import annotations

import json
import logging
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple, Protocol

from runner.audit.ledger.tables import DAMAGE, connect_to_read, explained
from runner.audit.telemetry.recorded import BODIES, RecordedEntry, facts_of
from runner.model.errors import KnownError
from runner.system.durable import replace_file
from runner.system.plain_file import read_file

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence
    from pathlib import Path

log = logging.getLogger("assent.telemetry")

BATCH = 200
"""Entries that are sent together."""
PAUSE = 30.0
"""Seconds before the next attempt after a failure."""
CLOSING = 2.0
"""Seconds that the end of the console waits for what was recorded last; the next start sends what is left."""
LONGEST_POSITION = 1 << 12
_ABOUT = ("agent", "tool", "language", "digest")
_NEXT = (
    "SELECT entries.seq, at, kind, entries.hash, entries.request_id,"
    f" CASE WHEN request_id = '' OR kind IN ({', '.join('?' * len(BODIES))}) THEN data END, {', '.join(_ABOUT)}"
    " FROM entries LEFT JOIN bodies ON bodies.seq = entries.seq LEFT JOIN requests ON requests.id = request_id"
    " WHERE entries.seq > ? ORDER BY entries.seq LIMIT ?"
)
_LAST = "SELECT coalesce(max(seq), 0) FROM entries"
_ID = "SELECT hash FROM entries WHERE seq = 1"


class LogStore(Protocol):
    """What gets the entries."""

    def send(self, entries: Sequence[RecordedEntry]) -> None:
        """Send entries; on return the store has them. Blocks for some seconds at most. Raises KnownError."""
        ...

    def close(self) -> None:
        """Close its connections."""
        ...


class SentUpTo(NamedTuple):
    """The last entry that the store has."""

    ledger: str
    """Hash of the first entry of the history."""
    seq: int


class TelemetryFeed:
    """A thread that sends whenever the ledger has grown. What cannot be sent waits in the ledger and nowhere else.

    An entry may be sent twice, after a crash, and none is left out: the store knows it by history and number.
    """

    def __init__(
        self,
        ledger: Path,
        position: Path,
        connect: Callable[[], LogStore],
        done: Callable[[KnownError | None], None] = lambda error: None,
        pause: float = PAUSE,
    ) -> None:
        """`connect` is called on the thread, and again after a failure of its own; it may raise KnownError.

        `position` is the file that says up to where the store has the entries; without it, the present end is taken.
        `done` gets the error of an attempt, or None after one that worked, in the thread.
        """
        self._ledger = ledger
        self._file = position
        self._connect = connect
        self._done = done
        self._pause = pause
        self._store: LogStore | None = None
        self._grown = threading.Event()
        self._grown.set()
        self._closing = threading.Event()
        self._until = float("inf")
        self._position = self._begin()
        # A daemon: a store that does not answer must not keep the process alive.
        self._thread = threading.Thread(target=self._run, name="telemetry", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Send what is new. May be called on any thread; does not wait."""
        self._grown.set()

    def close(self, timeout: float = CLOSING) -> None:
        """Send what is left, for `timeout` seconds at most, and end."""
        self._until = time.monotonic() + timeout
        self._closing.set()
        self._grown.set()
        self._thread.join(timeout)

    def _begin(self) -> SentUpTo:
        """Return where to begin. Raises KnownError where the ledger cannot be read."""
        try:
            with closing(connect_to_read(self._ledger)) as connection:
                (own,) = connection.execute(_ID).fetchone()
                (last,) = connection.execute(_LAST).fetchone()
        except DAMAGE as error:
            raise explained(error, self._ledger) from error
        noted = _noted(self._file)
        if noted is None:
            # Switched on just now: what was recorded before that is not sent.
            position = SentUpTo(own, last)
        else:
            # A new history is sent whole; of one that became shorter, what follows its end.
            position = SentUpTo(own, min(noted.seq, last) if noted.ledger == own else 0)
        if position != noted:
            self._note(position)
        return position

    def _run(self) -> None:
        while True:
            self._grown.wait()
            self._grown.clear()
            closing_now = self._closing.is_set()
            try:
                self._catch_up()
            except KnownError as error:
                log.warning("what is recorded could not be sent: %s", error)
                self._done(error)
                self._closing.wait(self._pause)
                self._grown.set()
            if closing_now:
                break
        if self._store is not None:
            self._store.close()

    def _catch_up(self) -> None:
        """Send everything that is not sent yet. Raises KnownError."""
        try:
            with closing(connect_to_read(self._ledger)) as connection:
                while time.monotonic() < self._until and (entries := self._next(connection)):
                    if self._store is None:
                        self._store = self._connect()
                    self._store.send(entries)
                    self._position = SentUpTo(self._position.ledger, entries[-1].seq)
                    self._note(self._position)
                    self._done(None)
        except DAMAGE as error:
            raise explained(error, self._ledger) from error

    def _next(self, connection: sqlite3.Connection) -> list[RecordedEntry]:
        found: list[RecordedEntry] = []
        # One body at a time: that of a run may hold a megabyte, and a few words of it are sent.
        for seq, at, kind, own, request_id, data, *about in connection.execute(
            _NEXT, (*BODIES, self._position.seq, BATCH)
        ):
            facts = facts_of(kind, dict(zip(_ABOUT, about, strict=True)), data)
            found.append(RecordedEntry(self._position.ledger, seq, at, kind, own, request_id, facts))
        return found

    def _note(self, position: SentUpTo) -> None:
        try:
            replace_file(self._file, json.dumps(position._asdict()))
        except OSError as error:
            # Then the next start sends some entries again.
            log.warning("up to where entries were sent could not be noted: %s", error)


def _noted(path: Path) -> SentUpTo | None:
    """Return what the file says; None where there is none that can be read."""
    try:
        data = json.loads(read_file(path, LONGEST_POSITION))
        found = SentUpTo(data["ledger"], data["seq"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return found if type(found.ledger) is str and type(found.seq) is int and found.seq >= 0 else None
