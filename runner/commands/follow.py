"""`assent history --follow`: prints each new entry of the history as a line of JSON, beside the open console."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
from json.encoder import encode_basestring_ascii as quoted
from typing import TYPE_CHECKING

from runner.audit.export.source import body_text
from runner.audit.ledger.tables import DAMAGE, connect_to_read, explained
from runner.model.errors import KnownError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

EVERY_MS = 250
"""Time between two looks at a history that has not grown."""
MOST_HELD = 1 << 20
"""Characters that are read before they are printed: a slow reader holds up neither memory nor the journal."""
_NEXT = (
    "SELECT seq, at, kind, request_id, hash, body_sha256, data FROM entries LEFT JOIN bodies USING (seq)"
    " WHERE seq > ? ORDER BY seq"
)
_LAST = "SELECT coalesce(max(seq), 0) FROM entries"
_ID = "SELECT hash FROM entries WHERE seq = 1"


class HistoryFeed:
    """The entries of the history at `path`, also of one that takes its place. Only reads."""

    def __init__(self, path: Path, after: int | None = None) -> None:
        """`after` is the entry to begin after; None begins with what is written from now on."""
        self._path = path
        self._after = after
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._id = ""

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def lines(self) -> list[str]:
        """Return the next entries as lines of JSON; none where there are none yet. Raises KnownError."""
        try:
            if not self._opened():
                return []
            return self._read()
        except DAMAGE as error:
            if getattr(error, "sqlite_errorname", "") in ("SQLITE_BUSY", "SQLITE_LOCKED"):
                return []
            raise explained(error, self._path) from error

    def _opened(self) -> bool:
        """Open the file that is there now; return False where there is none yet."""
        try:
            found = self._path.stat()
        except OSError:
            return self._connection is not None
        file = found.st_dev, found.st_ino
        if file == self._file:
            return True
        if self._connection is not None and self._unread():
            # The one that was set aside has entries that were not printed: these first.
            return True
        self.close()
        self._connection = connect_to_read(self._path)
        first = self._file is None
        self._file = file
        (self._id,) = self._connection.execute(_ID).fetchone()
        if not first:
            self._after = 0
        elif self._after is None:
            (self._after,) = self._connection.execute(_LAST).fetchone()
        return True

    def _unread(self) -> bool:
        assert self._connection is not None
        (last,) = self._connection.execute(_LAST).fetchone()
        return bool(last > (self._after or 0))

    def _read(self) -> list[str]:
        assert self._connection is not None
        found: list[str] = []
        held = 0
        with contextlib.closing(self._connection.execute(_NEXT, (self._after or 0,))) as rows:
            for seq, *columns in rows:
                found.append(self._line(seq, *columns))
                self._after = seq
                held += len(found[-1])
                if held > MOST_HELD:
                    break
        return found

    def _line(self, seq: int, at: int, kind: str, request_id: str, own: str, digest: str, data: object) -> str:
        # As `canonical` would write it, in half of the time: a body is canonical JSON already.
        body = body_text(data, digest)
        # Removed, or missing: `assent verify` says which.
        content = '"content":"gone",' if data is None else ""
        return (
            f'{{"at":{at},"body":{"null" if body is None else body},{content}"hash":{quoted(own)},'
            f'"kind":{quoted(kind)},"ledger":{quoted(self._id)},"request_id":{quoted(request_id)},"seq":{seq}}}\n'
        )


def follow(path: Path, after: int | None = None) -> int:
    """Print entries until this is interrupted or nobody reads any more; return the exit code. Raises KnownError."""
    if not path.exists():
        raise KnownError(f"There is no history at {path} yet.", "It begins with the first start of Assent.")
    feed = HistoryFeed(path, after)
    with _woken() as wake:
        try:
            for lines in _forever(feed, wake):
                sys.stdout.write("".join(lines))
                sys.stdout.flush()
        except BrokenPipeError:
            # Python would report it again when it flushes at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except KeyboardInterrupt:
            pass
        finally:
            feed.close()
    return 0


def _forever(feed: HistoryFeed, wake: int) -> Iterator[list[str]]:
    """Yield lines as they come, until a signal wakes or the reader of the output is gone."""
    poll = select.poll()
    poll.register(wake, select.POLLIN)
    # No event is asked for: that the other end was closed is reported in any case.
    poll.register(sys.stdout.fileno(), 0)
    while True:
        lines = feed.lines()
        if lines:
            yield lines
        if poll.poll(0 if lines else EVERY_MS):
            return


@contextlib.contextmanager
def _woken() -> Iterator[int]:
    """Give a descriptor that becomes readable when this process is asked to end."""
    reader, writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

    def wake(_number: int, _frame: object) -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(writer, b"x")

    before = {number: signal.signal(number, wake) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield reader
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(reader)
        os.close(writer)
