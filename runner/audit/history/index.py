"""The search index: a file beside the ledger that can be thrown away at any time and is made from the ledger again.

It holds which groups of characters and which facets each closed request has, counters of closed requests, and up to
which entry it has come. It is no evidence and holds no text; every request that it names is looked at in the ledger
before it is shown.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from runner.audit.history.counting import COUNTERS
from runner.audit.history.terms import quoted
from runner.audit.ledger.tables import DAMAGE, SIDECARS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from runner.audit.history.filter import Facet

APPLICATION = 0x41534E49
"""`ASNI`, so that file(1) and we know an index."""
VERSION = 3
"""Number of the form of the index; one of another form is made again."""
TABLES = (
    """
CREATE TABLE state (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    ledger TEXT NOT NULL,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL
) STRICT;
CREATE TABLE pending (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE facets (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    requests INTEGER NOT NULL,
    UNIQUE (name, value)
) STRICT;
CREATE INDEX facets_by_use ON facets (name, requests, value);
CREATE VIRTUAL TABLE texts USING fts5(
    text, content='', columnsize=0, detail=none, tokenize='trigram case_sensitive 1'
);
"""
    + COUNTERS
)
_MARK, _FIRST, _RADIX = chr(0x3400), 0x4E00, 4096
"""A facet is a group of three characters as well: the mark, and its number in two digits. No text has these."""
MOST_FACETS = _RADIX * _RADIX
NO_FILE = (0, 0)
MOST_CHOICES = 200
_UP_TO = "SELECT ledger, seq, hash FROM state"
_CANDIDATES = "SELECT rowid FROM texts WHERE texts MATCH ? AND rowid < ? ORDER BY rowid DESC"
_CHOICES = "SELECT value FROM facets WHERE name = ? ORDER BY requests DESC, value DESC LIMIT ?"


class IndexUnusable(Exception):
    """There is no index that fits the ledger; it has to be made again."""


def path_of(ledger: Path) -> Path:
    """Return the file of the index of `ledger`."""
    return ledger.with_name(f"{ledger.stem}-index{ledger.suffix}")


def discard(ledger: Path) -> None:
    """Remove the index of `ledger`: the whole of it, and all that it knows. Raises OSError.

    Whoever removes content from a ledger calls this afterwards; the index is then made from what is left.
    """
    path = path_of(ledger)
    for suffix in ("", *SIDECARS):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def identity(path: Path) -> tuple[int, int]:
    """Return what tells a file from one that took its place; zeros where there is none."""
    try:
        found = path.stat()
    except OSError:
        return NO_FILE
    return found.st_dev, found.st_ino


def connect(path: Path, *, write: bool = False) -> sqlite3.Connection:
    """Return a connection to an index that is there. Raises sqlite3.Error."""
    mode = "rw" if write else "ro"
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=5.0)
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        if write:
            # What is lost in a power cut is made again, and the file is whole in any case.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA journal_size_limit = 16777216")
    except BaseException:
        connection.close()
        raise
    return connection


def begin(ledger: Path, name: str) -> None:
    """Make an empty index for the ledger called `name`, readable by its owner alone. Raises OSError, sqlite3.Error."""
    discard(ledger)
    path = path_of(ledger)
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600))
    connection = connect(path, write=True)
    try:
        connection.executescript(f"BEGIN; PRAGMA application_id = {APPLICATION}; {TABLES}")
        connection.execute("INSERT INTO state VALUES (1, ?, 0, '')", (name,))
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    finally:
        connection.close()


def up_to(index: sqlite3.Connection, ledger: sqlite3.Connection) -> int:
    """Return the number of the entry that the index has come to. Raises IndexUnusable where it is not of this ledger.

    An index of a ledger that was rewritten, rolled back or replaced is noticed by the hash of that entry.
    """
    try:
        (application,) = index.execute("PRAGMA application_id").fetchone()
        (version,) = index.execute("PRAGMA user_version").fetchone()
        if (application, version) != (APPLICATION, VERSION) or _layout(index) != _model():
            raise IndexUnusable
        found = index.execute(_UP_TO).fetchone()
    except DAMAGE as error:
        raise IndexUnusable from error
    if found is None or [type(value) for value in found] != [str, int, str]:
        raise IndexUnusable
    name, seq, last = found
    hashes = dict(ledger.execute("SELECT seq, hash FROM entries WHERE seq IN (1, ?)", (seq,)).fetchall())
    if hashes.get(1) != name or (seq and hashes.get(seq) != last):
        raise IndexUnusable
    return int(seq)


def facet_group(number: int) -> str:
    """Return the group of characters that stands for the facet with this number."""
    high, low = divmod(number, _RADIX)
    return _MARK + chr(_FIRST + high) + chr(_FIRST + low)


class SearchIndex:
    """A reader of the index of one ledger, for one thread at a time."""

    def __init__(self, ledger: Path, connection: sqlite3.Connection) -> None:
        """Open it for the ledger that `connection` reads. Raises IndexUnusable."""
        self.path = path_of(ledger)
        self.file = identity(self.path)
        try:
            self._index = connect(self.path)
        except DAMAGE as error:
            raise IndexUnusable from error
        try:
            self.seq = up_to(self._index, connection)
        except BaseException:
            self._index.close()
            raise

    def close(self) -> None:
        self._index.close()

    def interrupt(self) -> None:
        """End a query that runs in another thread."""
        with suppress(sqlite3.ProgrammingError):
            self._index.interrupt()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Within this the index stays as it is; `seq` is the entry that it has come to."""
        try:
            with _explained():
                self._end()
                self._index.execute("BEGIN")
                _, self.seq, _ = self._index.execute(_UP_TO).fetchone()
            yield
        finally:
            # An interrupt may end this as well; the next one to read does it then.
            with suppress(sqlite3.Error):
                self._end()

    def _end(self) -> None:
        if self._index.in_transaction:
            self._index.execute("ROLLBACK")

    @property
    def pending(self) -> tuple[int, ...]:
        """Requests that arrived before `seq` and were still open then, so that they are not in the index."""
        with _explained():
            return tuple(seq for (seq,) in self._index.execute("SELECT seq FROM pending ORDER BY seq"))

    def condition(self, facets: Iterable[Facet]) -> str | None:
        """Return the condition for these facets, None where one of them never occurred."""
        groups = []
        with _explained():
            for facet in facets:
                found = self._index.execute("SELECT number FROM facets WHERE name = ? AND value = ?", facet).fetchone()
                if found is None:
                    return None
                groups.append(quoted(facet_group(found[0])))
        return " AND ".join(groups)

    def candidates(self, expression: str, before: int) -> Iterator[int]:
        """Yield the requests below `before` that may fit, by the entry with which they arrived, newest first."""
        with _explained():
            for (seq,) in self._index.execute(_CANDIDATES, (expression, before)):
                yield seq

    def choices(self, name: str) -> tuple[str, ...]:
        """Return the values of a facet, most frequent first, at most `MOST_CHOICES`."""
        with _explained():
            return tuple(value for (value,) in self._index.execute(_CHOICES, (name, MOST_CHOICES)))

    def select(self, statement: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        """Return the rows of a statement about the counters."""
        with _explained():
            return self._index.execute(statement, values).fetchall()


@contextmanager
def _explained() -> Iterator[None]:
    """Raise IndexUnusable for damage of the index; what ends a query passes."""
    try:
        yield
    except DAMAGE as error:
        code = getattr(error, "sqlite_errorcode", 0)
        if code == sqlite3.SQLITE_INTERRUPT or isinstance(error, sqlite3.ProgrammingError):
            raise
        raise IndexUnusable from error


def _layout(connection: sqlite3.Connection) -> dict[str, str]:
    return dict(connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"))


@cache
def _model() -> dict[str, str]:
    model = sqlite3.connect(":memory:")
    try:
        model.executescript(TABLES)
        return _layout(model)
    finally:
        model.close()
