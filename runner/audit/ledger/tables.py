"""Connections to the ledger's file, and explanations of SQLite's errors."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass
from operator import methodcaller
from typing import TYPE_CHECKING

from runner.audit.ledger.formats import APPLICATION, NEWEST, version_of
from runner.model.errors import KnownError

if TYPE_CHECKING:
    from pathlib import Path

SIDECARS = ("-wal", "-shm", "-journal")
"""Endings of the files that SQLite may have beside its own."""
SET_ASIDE = "Set this file aside and begin a new ledger; the old file is kept for inspection."


DAMAGE = (sqlite3.Error, UnicodeDecodeError)
"""Errors of an unusable file; the second where SQLite's message quotes damaged text from the file."""


class LedgerDamaged(KnownError):
    """The file is not a whole ledger. Nothing that a person does brings it back: only a new one helps."""

    def __init__(self, what: str, remedy: str = SET_ASIDE) -> None:
        super().__init__(what, remedy)


@dataclass(frozen=True, slots=True)
class Tidying:
    """Work on the file after content was removed."""

    swept: tuple[tuple[str, str], ...] = ()
    """Leftovers that are gone, by place and name."""


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
        # What is removed is overwritten, as is the row of a request before each of its steps.
        connection.execute("PRAGMA secure_delete = ON")
    except DAMAGE:
        connection.close()
        raise
    return connection


def tidied(connection: sqlite3.Connection) -> bool:
    """Write the journal into the file and empty it; return False where another program reads it. Raises sqlite3.Error.

    Free pages stay in the file, overwritten, for what is recorded next: moving others into them takes minutes.
    """
    try:
        # The writer must not wait for a reader: it may be asked to write a decision.
        connection.execute("PRAGMA busy_timeout = 0")
        (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.execute("PRAGMA busy_timeout = 5000")
    return not busy


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
        raise LedgerDamaged(f"{path} is not a file, so it cannot be the ledger.")
    for suffix in SIDECARS:
        # A pipe there would hold SQLite for ever.
        beside = path.with_name(path.name + suffix)
        if beside.exists() and not beside.is_file():
            raise LedgerDamaged(f"{beside} is not a file, so the ledger cannot be read.")
    if path.stat().st_size == 0:
        raise LedgerDamaged(f"The ledger {path} is empty; a ledger never is.")


def known_version(connection: sqlite3.Connection, path: Path) -> None:
    """Raise KnownError where this is no ledger, or one of a newer format."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    version = version_of(connection)
    if application != APPLICATION:
        raise LedgerDamaged(f"{path} is a database, but not a ledger of Assent.")
    if version > NEWEST:
        raise KnownError(
            f"The ledger {path} was written by a newer Assent: it has format {version}, this one reads up to {NEWEST}.",
            "Update Assent. The history stays as it is meanwhile.",
        )
    if version < 1:
        raise LedgerDamaged(f"The ledger {path} was altered: it names no format.")


def explained(error: Exception, path: Path) -> KnownError:
    """Return the error to raise for one of SQLite while reading or opening, with a remedy."""
    if isinstance(error, UnicodeDecodeError):
        return LedgerDamaged(f"The ledger {path} is damaged.")
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_NOTADB:
            return LedgerDamaged(f"The ledger {path} is not a database: its beginning was overwritten.")
        case sqlite3.SQLITE_CORRUPT:
            return LedgerDamaged(f"The ledger {path} is damaged ({error}).")
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
    connection.text_factory = methodcaller("decode", "utf-8", "replace")


def _reading(path: Path) -> str:
    """Return the URI for reading; a closed ledger in a read-only folder has to be opened as immutable."""
    frozen = not os.access(path.parent, os.W_OK) and not has_journal(path)
    return f"{path.absolute().as_uri()}?{'immutable=1' if frozen else 'mode=ro'}"


def has_journal(path: Path) -> bool:
    """Return whether committed entries may still be in the journal. Readers leave an empty journal behind."""
    journal = path.with_name(path.name + "-wal")
    return journal.exists() and journal.stat().st_size > 0
