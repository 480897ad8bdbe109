"""Opens the ledger's file: created atomically, locked, checked, and moved aside when broken."""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING

from runner.audit.ledger.entry import GENESIS, NewEntry
from runner.audit.ledger.formats import altered, lay_out
from runner.audit.ledger.tables import (
    DAMAGE,
    SET_ASIDE,
    SIDECARS,
    LedgerDamaged,
    connect_to_write,
    explained,
    has_journal,
    known_version,
    present,
)
from runner.model.errors import KnownError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ASIDE = "ledger-corrupt-"
FORMAT = 1
"""Version of the form of entries and bodies, recorded in the first entry; that of the tables is in `formats`."""


class Lock:
    """A lock against a second process, which ends with this one however that ends.

    On a file of its own: closing any descriptor of the ledger itself would drop SQLite's locks on it.
    """

    def __init__(self, ledger: Path) -> None:
        """Take the lock. Raises KnownError where another process holds it, or where no lock file can be made."""
        path = ledger.with_name(ledger.name + ".lock")
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise unusable(ledger, error) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._file, 20, 0).decode("ascii", "replace").strip()
            os.close(self._file)
            raise KnownError(
                f"Another Assent (process {holder or 'unknown'}) has the ledger {ledger} open.",
                "Use that one, or quit it first.",
            ) from None
        self._sign()

    def _sign(self) -> None:
        """Write this process's id for the message of another one; on a full disk the lock holds without it."""
        try:
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, str(os.getpid()).encode(), 0)
        except OSError:
            pass

    def release(self) -> None:
        os.close(self._file)


def open_or_begin(path: Path, now: float, begin: Callable[[sqlite3.Connection, NewEntry], None]) -> sqlite3.Connection:
    """Return a connection for writing to the ledger at `path`; the caller holds the lock.

    Where nothing is there yet, `begin` writes the first entry into a new file, which gets its name only when it is
    complete. Raises KnownError with a remedy for whatever is wrong with the file or its folder.
    """
    if not path.exists() and not path.is_symlink():
        _begin(path, now, begin)
    present(path)
    try:
        connection = connect_to_write(path)
    except DAMAGE as error:
        raise explained(error, path) from error
    try:
        _fit(connection, path)
    except BaseException:
        connection.close()
        raise
    path.chmod(0o600)
    return connection


def set_aside(path: Path) -> Path:
    """Move the ledger at `path` and SQLite's files beside it to `ledger-corrupt-<time>.sqlite3`; return that path.

    The next ledger begun in this folder names it in its first entry. Raises KnownError where another process has the
    ledger open or the folder may not be written.
    """
    lock = Lock(path)
    try:
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
        target = path.with_name(f"{ASIDE}{stamp}.sqlite3")
        count = 1
        while target.exists():
            count += 1
            target = path.with_name(f"{ASIDE}{stamp}-{count}.sqlite3")
        for suffix in ("", *SIDECARS):
            part = path.with_name(path.name + suffix)
            if part.exists():
                part.rename(target.with_name(target.name + suffix))
        return target
    except OSError as error:
        raise unusable(path, error) from error
    finally:
        lock.release()


def unusable(path: Path, error: OSError) -> KnownError:
    return KnownError(
        f"The ledger cannot be kept in {path.parent}: {error.strerror or error}.",
        f"Make sure that the folder {path.parent} exists, that you may write to it, and that its disk has room.",
    )


def _begin(path: Path, now: float, begin: Callable[[sqlite3.Connection, NewEntry], None]) -> None:
    if has_journal(path):
        # SQLite would read the old file's journal into the new file.
        what = f"The ledger {path} is gone, but its journal {path.name}-wal is still there."
        raise LedgerDamaged(what, f"Put it back, or {SET_ASIDE[0].lower()}{SET_ASIDE[1:]}")
    draft = path.with_name(path.name + ".new")
    try:
        for suffix in ("", *SIDECARS):
            draft.with_name(draft.name + suffix).unlink(missing_ok=True)
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        genesis: dict[str, object] = {"format": FORMAT, "nonce": secrets.token_hex(16), "after": _left_aside(path)}
        connection = connect_to_write(draft)
        try:
            lay_out(connection)
            begin(connection, NewEntry(int(now * 1_000_000), GENESIS, "", genesis))
            # Closing does the same and is silent where it fails; the file gets its name without its journal.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.close()
        draft.rename(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise unusable(path, error) from error
    except DAMAGE as error:
        raise explained(error, path) from error


def give_space_back(path: Path) -> None:
    """Make the file as small as it can be, after content was removed.

    The caller holds the lock. Takes some seconds for each GB and as much free space again. Raises sqlite3.Error.
    """
    with closing(sqlite3.connect(path, isolation_level=None, timeout=5.0)) as connection:
        connection.execute("VACUUM")


def _left_aside(path: Path) -> dict[str, object] | None:
    """Return name, size and SHA-256 of the ledger that was last moved aside in this folder, if any."""
    old = max(path.parent.glob(f"{ASIDE}*.sqlite3"), key=lambda file: file.stat().st_mtime, default=None)
    if old is None:
        return None
    if not old.is_file():
        return {"file": old.name, "bytes": 0, "sha256": ""}
    with old.open("rb") as file:
        return {
            "file": old.name,
            "bytes": old.stat().st_size,
            "sha256": hashlib.file_digest(file, "sha256").hexdigest(),
        }


def _fit(connection: sqlite3.Connection, path: Path) -> None:
    """Raise KnownError unless this is a ledger with all its tables and triggers."""
    try:
        known_version(connection, path)
        difference = altered(connection)
    except DAMAGE as error:
        raise explained(error, path) from error
    if difference:
        raise LedgerDamaged(f"The ledger {path} was altered: {difference}.")
