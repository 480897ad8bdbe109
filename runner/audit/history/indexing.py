"""Brings the search index up to the ledger, in the background and in batches, from where it was left."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from runner.audit.history.counting import Tally
from runner.audit.history.filter import KINDS, content_of, facets_of
from runner.audit.history.index import MOST_FACETS, IndexUnusable, begin, connect, facet_group, identity, path_of, up_to
from runner.audit.history.terms import folded
from runner.audit.ledger.row import COLUMNS, from_columns
from runner.audit.ledger.tables import DAMAGE, connect_to_read
from runner.model.errors import KnownError
from runner.model.file_changes import FILES_CHANGED

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from runner.audit.history.filter import Content, Facet
    from runner.audit.ledger.row import Row

log = logging.getLogger("assent.index")

BATCH = 4000
"""Entries in one transaction: what a kill loses, and what a search holds memory for."""
MOST_HELD = 8_000_000
"""Most characters of texts that are held before they are put down."""
REST = 1.0
"""Seconds between being woken and beginning, so that a request is indexed once and not at each of its steps."""
PAUSE = 60.0
"""Seconds before the next attempt after a failure, a full disk mostly."""

_NEXT = "SELECT seq, kind, request_id, hash FROM entries WHERE seq > ? ORDER BY seq LIMIT ?"
_ROW = f"SELECT {', '.join(COLUMNS)} FROM requests WHERE id = ?"
_BODIES = (
    "SELECT kind, data FROM entries JOIN bodies USING (seq)"
    f" WHERE request_id = ? AND seq <= ? AND kind IN ({', '.join('?' * len(KINDS))}) ORDER BY seq"
)
_FACET = (
    "INSERT INTO facets (name, value, requests) VALUES (?, ?, 1)"
    " ON CONFLICT (name, value) DO UPDATE SET requests = requests + 1 RETURNING number"
)


class Indexing:
    """The writer of the index of one ledger, on one thread; the ledger's lock keeps other processes away."""

    def __init__(self, ledger: Path) -> None:
        """Open the index, or begin it. Raises KnownError where the ledger cannot be read, sqlite3.Error, OSError."""
        self._path = path_of(ledger)
        self._ledger = connect_to_read(ledger)
        self._tally = Tally()
        """What the batch under way adds to the counters."""
        try:
            self._index = self._opened(ledger)
            self._file = identity(self._path)
        except BaseException:
            self._ledger.close()
            raise

    def _opened(self, ledger: Path) -> sqlite3.Connection:
        try:
            index = connect(self._path, write=True)
            try:
                self.seq = up_to(index, self._ledger)
                self._path.chmod(0o600)
            except BaseException:
                index.close()
                raise
            return index
        except (IndexUnusable, FileNotFoundError, *DAMAGE):
            # Not there, of another ledger, or thrown away in this moment.
            (name,) = self._ledger.execute("SELECT hash FROM entries WHERE seq = 1").fetchone()
            begin(ledger, name)
            self.seq = 0
            return connect(self._path, write=True)

    def close(self) -> None:
        self._index.close()
        self._ledger.close()

    @property
    def replaced(self) -> bool:
        """Whether the file was removed or replaced since it was opened."""
        return identity(self._path) != self._file

    def advance(self, most: int = BATCH, stop: Callable[[], bool] = lambda: False) -> bool:
        """Take in the next entries, in one transaction; return whether there were any. Raises sqlite3.Error."""
        found = self._ledger.execute(_NEXT, (self.seq, most)).fetchall()
        if not found:
            return False
        self._index.execute("BEGIN IMMEDIATE")
        try:
            arrived = [(seq, name) for seq, kind, name, _ in found if kind == "arrived"]
            self._index.executemany("INSERT OR REPLACE INTO pending (seq, id) VALUES (?, ?)", arrived)
            self._tally = Tally()
            last, *_, final = found[-1]
            closed = [name for _, kind, name, _ in found if kind == "closed"]
            self._add(closed, last, stop)
            self._tally.put_down(self._index)
            for seq, kind, name, _ in found:
                if kind == FILES_CHANGED and name not in closed:
                    self._add_later(seq, name)
            self._index.execute("UPDATE state SET seq = ?, hash = ? WHERE one = 1", (last, final))
            self._index.execute("COMMIT")
        except BaseException:
            if self._index.in_transaction:
                self._index.execute("ROLLBACK")
            raise
        self.seq = last
        return True

    def _add_later(self, seq: int, name: str) -> None:
        """Add the facets that entry `seq` brings to a request that was closed before, and is in the index."""
        columns = self._ledger.execute(_ROW, (name,)).fetchone()
        if columns is None or self._index.execute("SELECT 1 FROM pending WHERE id = ?", (name,)).fetchone():
            return
        with suppress(KnownError):  # as in `_document`
            row: Row = from_columns(columns)
            new = self._content(name, seq).facets - self._content(name, seq - 1).facets
            if new:
                # These groups alone: the table holds no text, and all else that it has of this request stays.
                values = (row.seq, "".join(map(self._group, sorted(new))))
                self._index.execute("INSERT INTO texts (rowid, text) VALUES (?, ?)", values)

    def _content(self, name: str, last: int) -> Content:
        """Return what the entries of a request hold, up to entry `last`."""
        return content_of(self._ledger.execute(_BODIES, (name, last, *KINDS)).fetchall())

    def _add(self, names: Iterable[str], last: int, stop: Callable[[], bool]) -> None:
        """Add closed requests to the index, as they are at entry `last`."""
        documents: list[tuple[int, str]] = []
        length = 0
        for name in names:
            if stop():
                raise Stopped
            self._index.execute("DELETE FROM pending WHERE id = ?", (name,))
            columns = self._ledger.execute(_ROW, (name,)).fetchone()
            if columns is not None and (document := self._document(columns, last)) is not None:
                documents.append(document)
                length += len(document[1])
            if length > MOST_HELD:
                self._put_down(documents)
                documents, length = [], 0
        self._put_down(documents)

    def _put_down(self, documents: list[tuple[int, str]]) -> None:
        # In their own order: the index would write a segment of its own for each one that comes out of turn.
        self._index.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", sorted(documents))

    def _document(self, columns: tuple[object, ...], last: int) -> tuple[int, str] | None:
        try:
            row: Row = from_columns(columns)
        except KnownError:
            # Damaged, or of a newer version: the list shows it, and no search finds it.
            return None
        content = self._content(row.id, last)
        self._tally.add(row, content.stopped)
        groups = "".join(map(self._group, (*facets_of(row), *sorted(content.facets))))
        return row.seq, f"{folded(content.texts)}{groups}"

    def _group(self, facet: Facet) -> str:
        (number,) = self._index.execute(_FACET, facet).fetchone()
        return facet_group(number) if number < MOST_FACETS else ""


class Stopped(Exception):
    """Indexing was asked to end in the middle of a batch, which is then not written."""


class Indexer:
    """A thread that indexes whenever the ledger has grown; it works at most half of the time."""

    def __init__(self, ledger: Path, rest: float = REST) -> None:
        self._ledger = ledger
        self._rest = rest
        self._grown = threading.Event()
        self._grown.set()
        self._closing = threading.Event()
        # A daemon: what is not indexed when the process ends is indexed by the next one.
        self._thread = threading.Thread(target=self._run, name="search-index", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Index what is new, soon. May be called on any thread."""
        self._grown.set()

    def close(self) -> None:
        """End; blocks for some milliseconds. The batch under way is given up."""
        self._closing.set()
        self._grown.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._closing.is_set():
            self._grown.wait()
            self._closing.wait(self._rest)
            self._grown.clear()
            try:
                self._catch_up()
            except Stopped:
                return
            except (KnownError, OSError, *DAMAGE) as error:
                # Searching works without, only slower.
                log.warning("The search index could not be written: %s", error)
                self._closing.wait(PAUSE)

    def _catch_up(self) -> None:
        if self._closing.is_set():
            return
        with closing(Indexing(self._ledger)) as indexing:
            while not self._closing.is_set() and not indexing.replaced:
                began = time.monotonic()
                if not indexing.advance(stop=self._closing.is_set):
                    return
                self._closing.wait(time.monotonic() - began)
        # The file was removed while it was written: from the beginning.
        self._grown.set()
