"""The ledger's tables, connections to them, and explanations of SQLite's errors."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING

from runner.model.errors import KnownError

if TYPE_CHECKING:
    from pathlib import Path

APPLICATION = 0x41534E54
"""`ASNT`, so that file(1) and we know a ledger from any other database."""
SCHEMA = 1

TABLES = """
CREATE TABLE entries (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    request_id TEXT NOT NULL,
    body_sha256 TEXT NOT NULL,
    prev TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT;
CREATE TABLE bodies (seq INTEGER PRIMARY KEY, data TEXT NOT NULL) STRICT;
CREATE TABLE head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    key TEXT NOT NULL,
    signature TEXT NOT NULL
) STRICT;
CREATE TABLE requests (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL,
    tool TEXT NOT NULL,
    language TEXT,
    title TEXT NOT NULL,
    digest TEXT NOT NULL,
    phase TEXT NOT NULL,
    arrived_at REAL NOT NULL,
    level INTEGER,
    asked_at REAL,
    verdict TEXT,
    decider TEXT,
    rule TEXT NOT NULL,
    decided_at REAL,
    waited REAL,
    started_at REAL,
    outcome TEXT,
    exit_code INTEGER,
    duration REAL,
    finished_at REAL,
    finished_seq INTEGER
) STRICT;
CREATE INDEX entries_of_request ON entries (request_id, seq) WHERE request_id <> '';
CREATE INDEX entries_of_the_house ON entries (kind, seq) WHERE request_id = '';
CREATE INDEX requests_by_agent ON requests (agent, seq);
CREATE INDEX requests_by_level ON requests (level, seq);
CREATE INDEX requests_by_verdict ON requests (verdict, seq);
CREATE INDEX requests_by_outcome ON requests (outcome, seq);
CREATE INDEX requests_open ON requests (seq) WHERE phase <> 'closed';
CREATE TRIGGER entries_in_order BEFORE INSERT ON entries
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM entries)
BEGIN SELECT RAISE(ABORT, 'entries are only added at the end'); END;
CREATE TRIGGER entries_stay BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END;
CREATE TRIGGER entries_remain BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are never removed'); END;
CREATE TRIGGER bodies_once BEFORE INSERT ON bodies
WHEN EXISTS (SELECT 1 FROM bodies WHERE seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'bodies are never replaced'); END;
CREATE TRIGGER bodies_stay BEFORE UPDATE ON bodies
BEGIN SELECT RAISE(ABORT, 'bodies are never changed'); END;
CREATE TRIGGER bodies_remain BEFORE DELETE ON bodies
BEGIN SELECT RAISE(ABORT, 'bodies are never removed'); END;
"""

SET_ASIDE = "Set this file aside and begin a new ledger; the old file is kept for inspection."


DAMAGE = (sqlite3.Error, UnicodeDecodeError)
"""Errors of an unusable file; the second where SQLite's message quotes damaged text from the file."""


def lay_out(connection: sqlite3.Connection) -> None:
    """Create the tables in an empty database."""
    connection.executescript(f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {SCHEMA}; {TABLES}")


def connect_to_write(path: Path) -> sqlite3.Connection:
    """Return a connection that is durable at every commit. Transactions are the caller's. Raises sqlite3.Error."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, check_same_thread=False, timeout=5.0
    )
    try:
        _guard(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA journal_size_limit = 67108864")
    except DAMAGE:
        connection.close()
        raise
    return connection


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Return a connection that cannot write, usable from any thread (one at a time). Raises KnownError."""
    present(path)
    try:
        connection = sqlite3.connect(_reading(path), uri=True, isolation_level=None, check_same_thread=False)
    except DAMAGE as error:
        raise explained(error, path) from error
    try:
        _guard(connection)
        known_version(connection, path)
    except DAMAGE as error:
        connection.close()
        raise explained(error, path) from error
    except KnownError:
        connection.close()
        raise
    return connection


def present(path: Path) -> None:
    """Raise KnownError unless `path` is a file that is not empty."""
    if not path.exists():
        raise KnownError(f"There is no ledger at {path}.", "Check the path; a new ledger begins when Assent starts.")
    if not path.is_file():
        raise KnownError(f"{path} is not a file, so it cannot be the ledger.", SET_ASIDE)
    if path.stat().st_size == 0:
        raise KnownError(f"The ledger {path} is empty; a ledger never is.", SET_ASIDE)


def known_version(connection: sqlite3.Connection, path: Path) -> None:
    """Raise KnownError where this is no ledger, or one of a newer version."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise KnownError(f"{path} is a database, but not a ledger of Assent.", SET_ASIDE)
    if version > SCHEMA:
        raise KnownError(f"The ledger {path} was written by a newer Assent (format {version}).", "Update Assent.")


def altered(connection: sqlite3.Connection) -> str:
    """Return the differences from the expected tables, in words; empty where there are none."""
    model = sqlite3.connect(":memory:")
    try:
        lay_out(model)
        wanted, found = _layout(model), _layout(connection)
    finally:
        model.close()
    for name in sorted(wanted.keys() | found.keys()):
        if wanted.get(name) != found.get(name):
            how = "missing" if name not in found else "not part of a ledger" if name not in wanted else "altered"
            return f"the {name} is {how}"
    return ""


def explained(error: Exception, path: Path) -> KnownError:
    """Return the error to raise for one of SQLite while reading or opening, with a remedy."""
    if isinstance(error, UnicodeDecodeError):
        return KnownError(f"The ledger {path} is damaged.", SET_ASIDE)
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_NOTADB:
            return KnownError(f"The ledger {path} is not a database: its beginning was overwritten.", SET_ASIDE)
        case sqlite3.SQLITE_CORRUPT:
            return KnownError(f"The ledger {path} is damaged ({error}).", SET_ASIDE)
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return KnownError(
                f"The ledger {path} cannot be opened ({error}).",
                f"Make sure that you may read and write the folder {path.parent}.",
            )
        case sqlite3.SQLITE_FULL:
            return KnownError("The disk is full.", f"Free some space on the disk that holds {path.parent}.")
        case sqlite3.SQLITE_BUSY:
            return KnownError(f"Another program is using the ledger {path}.", "Close it and try again.")
        case sqlite3.SQLITE_IOERR:
            return KnownError(
                f"The disk reports an error on the ledger {path} ({error}).",
                f"Check free space and health of the disk that holds {path.parent}.",
            )
        case _:
            return KnownError(f"The ledger {path} cannot be read ({error}).", "Run `assent verify` on it.")


def _guard(connection: sqlite3.Connection) -> None:
    """Set the connection to distrust what a forged file may contain."""
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    # Damaged text must reach the check that names its entry, not fail on the way there.
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")


def _reading(path: Path) -> str:
    """Return the URI for reading; a closed ledger in a read-only folder has to be opened as immutable."""
    frozen = not os.access(path.parent, os.W_OK) and not has_journal(path)
    return f"{path.absolute().as_uri()}?{'immutable=1' if frozen else 'mode=ro'}"


def has_journal(path: Path) -> bool:
    """Return whether committed entries may still be in the journal. Readers leave an empty journal behind."""
    journal = path.with_name(path.name + "-wal")
    return journal.exists() and journal.stat().st_size > 0


def _layout(connection: sqlite3.Connection) -> dict[str, str]:
    objects = connection.execute("SELECT type || ' ' || name, sql FROM sqlite_schema")
    return {name: sql for name, sql in objects if sql is not None}
