"""The formats of the ledger's file: the first one, and the steps that lead from each to the next.

To change the tables add a step to `STEPS`, and a ledger of the format before it to `tests/audit/ledgers`. A step that
was released is never changed. Readers cope with every format, as they open ledgers that nobody upgrades.
"""

from __future__ import annotations

import sqlite3

APPLICATION = 0x41534E54
"""`ASNT`, so that file(1) and we know a ledger from any other database."""

_FIRST = """
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

STEPS: tuple[tuple[str, ...], ...] = (
    # To format 2: an index that SQLite also uses where the request is a parameter, and one for periods.
    (
        "DROP INDEX entries_of_request",
        "CREATE INDEX entries_of_request ON entries (request_id, seq)",
        "CREATE INDEX requests_by_time ON requests (arrived_at, seq)",
    ),
    # To format 3: the content of requests can be removed, where an entry says so.
    (
        "CREATE TABLE removed (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, seq INTEGER NOT NULL) STRICT",
        "CREATE TABLE leftovers (place TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (place, name)) STRICT",
        "CREATE TRIGGER removed_by_an_entry BEFORE INSERT ON removed"
        " WHEN NOT EXISTS (SELECT 1 FROM entries WHERE seq = NEW.seq AND kind = 'removed')"
        " BEGIN SELECT RAISE(ABORT, 'an entry has to name what is removed'); END",
        "CREATE TRIGGER removed_stay BEFORE UPDATE ON removed"
        " BEGIN SELECT RAISE(ABORT, 'what was removed stays so'); END",
        "CREATE TRIGGER removed_remain BEFORE DELETE ON removed"
        " BEGIN SELECT RAISE(ABORT, 'what was removed stays so'); END",
        "DROP TRIGGER bodies_remain",
        "CREATE TRIGGER bodies_remain BEFORE DELETE ON bodies WHEN coalesce((SELECT"
        " (SELECT last >= requests.seq FROM removed WHERE first <= requests.seq ORDER BY first DESC LIMIT 1)"
        " FROM entries JOIN requests ON id = request_id WHERE entries.seq = OLD.seq), 0) = 0"
        " BEGIN SELECT RAISE(ABORT, 'bodies are removed only where an entry says so'); END",
    ),
)
"""Statements, one each, that make the next format of a file; run in one transaction with the entry that names it."""

NEWEST = 1 + len(STEPS)
"""The format that this version writes."""


def lay_out(connection: sqlite3.Connection, version: int = NEWEST) -> None:
    """Create the tables of a format in an empty database."""
    connection.executescript(f"PRAGMA application_id = {APPLICATION}; {_FIRST}")
    for number in range(1, version):
        step(connection, number)
    connection.execute(f"PRAGMA user_version = {version}")


def step(connection: sqlite3.Connection, before: int) -> None:
    """Change the tables of format `before` to those of the next one; the transaction is the caller's."""
    for statement in STEPS[before - 1]:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {before + 1}")


def version_of(connection: sqlite3.Connection) -> int:
    """Return the number of the format that the file names."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def altered(connection: sqlite3.Connection) -> str:
    """Return the differences from the tables of the file's own format, in words; empty where there are none."""
    model = sqlite3.connect(":memory:")
    try:
        lay_out(model, version_of(connection))
        wanted, found = _layout(model), _layout(connection)
    finally:
        model.close()
    for name in sorted(wanted.keys() | found.keys()):
        if wanted.get(name) != found.get(name):
            how = "missing" if name not in found else "not part of a ledger" if name not in wanted else "altered"
            return f"the {name} is {how}"
    return ""


def _layout(connection: sqlite3.Connection) -> dict[str, str]:
    objects = connection.execute("SELECT type || ' ' || name, sql FROM sqlite_schema")
    return {name: sql for name, sql in objects if sql is not None}
