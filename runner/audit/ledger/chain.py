"""Adds entries to the chain and updates the list of requests, each batch in one durable transaction.

The rules behind it:

- Entries are only added, numbered from 1 without gaps. Each holds the hash of the one before (`prev`), and its own hash
  covers all of its fields: whoever changes, removes or inserts one has to hash every later one again.
- The hash covers the hash of the body and not the body. Content can be removed later, and the chain still holds.
- The head, which is the hash of the last entry, is signed in the same transaction. Whoever hashes everything again has
  no signature for the new head, and whoever cuts entries off has none for the older one.
- The list of requests is brought up to date in the same transaction, from the stored bodies alone: it can be compared
  with them, and made again.
- An entry that is invalid is refused alone. A transaction that fails leaves the chain as it was; whether a COMMIT that
  failed has reached the disk nobody knows, so the file is read again before the next one.

Three entries and their head:

    seq  kind      prev    hash
    1    genesis   000...  a1...
    2    arrived   a1...   b2...    sha256 of seq, at, kind, request_id, body_sha256 and prev
    3    assessed  b2...   c3...    head: 3, c3..., signature

Somebody changes the body of 2: it does not fit its `body_sha256`. They put that right and hash 2 again, to b9...: the
`prev` of 3 does not fit. They hash 3 again, to c7...: the signature is of c3.... They bring back the file of yesterday,
where all fits: the head that is remembered beside the key (`anchor.py`) is a later one.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from runner.audit.ledger import formats
from runner.audit.ledger.anchor import Anchor
from runner.audit.ledger.entry import KEY, REMOVED, SEALED, UPGRADED, Entry, NewEntry, chained, stored_entry
from runner.audit.ledger.row import COLUMNS, Row, advance, from_columns, to_columns
from runner.model.errors import KnownError
from runner.model.request import canonical

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

    from runner.audit.ledger.seal import Seal


class Removing(Protocol):
    """What takes content out of the ledger; `removing.ContentRemoval` implements it."""

    def look(self, connection: sqlite3.Connection) -> dict[str, Any] | None:
        """Return the body of the entry that says what is removed; None where nothing is."""
        ...

    def carry_out(self, connection: sqlite3.Connection, seq: int) -> None:
        """Remove it, once entry `seq` says so."""
        ...


_ENTRY = "INSERT INTO entries (seq, at, kind, request_id, body_sha256, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?)"
_BODY = "INSERT INTO bodies (seq, data) VALUES (?, ?)"
_HEAD = "REPLACE INTO head (one, seq, hash, key, signature) VALUES (1, ?, ?, ?, ?)"
_GONE = "DELETE FROM leftovers WHERE place = ? AND name = ?"
_ROW = f"REPLACE INTO requests ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"


UNSIGNED = "Nothing was removed: the history is not signed now, so nothing would prove who removed it."


class Chain:
    """The writer of the chain, for one thread at a time."""

    def __init__(self, connection: sqlite3.Connection, seal_every: int) -> None:
        self._connection = connection
        self._seal_every = seal_every
        self._seal: Seal | None = None
        self._head: Entry | None = None
        self._since_seal = 0
        self.anchor: Anchor | None = None
        """The newest head that is signed and durable; None before the first signature of this process."""

    def write(self, drafts: Sequence[NewEntry]) -> list[int | Exception]:
        """Write entries; return for each its number, or the error that excluded it; durable on return.

        Raises sqlite3.Error when nothing at all could be written; the chain is then as it was.
        """
        with self._page() as page:
            outcomes = [page.add(draft) for draft in drafts]
            since_seal = self._since_seal + page.added
            if self._seal is not None and since_seal >= self._seal_every:
                page.add(sealing(self._seal, page.head, drafts[-1].at))
                since_seal = 0
            page.put_down(self._seal)
        self._since_seal = since_seal
        return outcomes

    def remove(self, removal: Removing, at: int) -> int:
        """Remove content, with a signed entry that says so; return its number, 0 where there was nothing to remove.

        Raises KnownError where nothing signs, and sqlite3.Error; everything is then as it was.
        """
        if (seal := self._seal) is None:
            raise KnownError(UNSIGNED, "Make the keyring available, or agree to a file for secrets in Settings.")
        with self._page() as page:
            body = removal.look(self._connection)
            if body is None or page.head is None:
                return 0
            body["key"] = seal.public
            body["signature"] = seal.sign_removal(page.head.seq + 1, page.head.hash, body)
            outcome = page.add(NewEntry(at, REMOVED, "", body))
            if isinstance(outcome, Exception):
                raise outcome
            page.put_down(seal)
            removal.carry_out(self._connection, outcome)
        return outcome

    def swept(self, leftovers: Sequence[tuple[str, str]]) -> None:
        """Forget leftovers of a removal that are gone. Raises sqlite3.Error."""
        with self._page():
            self._connection.executemany(_GONE, leftovers)

    @contextmanager
    def _page(self) -> Iterator[_Page]:
        """Give the additions of one transaction, which ends with the block: durable, or with nothing written."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            page = _Page(self._connection, self._head or last_entry(self._connection))
            yield page
            self._connection.execute("COMMIT")
        except BaseException:
            # A commit that failed may have reached the disk: the file is read again before the next one.
            self._head = None
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self._head = page.head
        if page.added:
            self._note_signed(page.head)

    def seal_with(self, seal: Seal, at: int) -> None:
        """From now on sign with `seal`; a key other than the last is recorded. Raises sqlite3.Error."""
        before, self._seal = self._seal, seal
        try:
            if seal.public != last_key(self._connection):
                # In one transaction with the head that it signs: a recorded key has always signed.
                (outcome,) = self.write([NewEntry(at, KEY, "", {"public": seal.public})])
                if isinstance(outcome, Exception):
                    raise outcome
            else:
                self._sign_head(seal)
        except BaseException:
            self._seal = before
            raise

    def _sign_head(self, seal: Seal) -> None:
        """Sign the entries that were written before the key was available."""
        head = self._head or last_entry(self._connection)
        if head is not None:
            self._connection.execute(_HEAD, (head.seq, head.hash, seal.public, seal.sign(head.seq, head.hash)))
            self._note_signed(head)

    def _note_signed(self, head: Entry | None) -> None:
        if self._seal is None or head is None:
            return
        if self.anchor is None:
            (ledger,) = self._connection.execute("SELECT hash FROM entries WHERE seq = 1").fetchone()
        else:
            ledger = self.anchor.ledger
        self.anchor = Anchor(ledger, head.seq, head.hash)

    def finish(self, at: int) -> None:
        """Sign the entries since the last seal. Raises sqlite3.Error."""
        head = self._head or last_entry(self._connection)
        if self._seal is not None and head is not None and head.kind != SEALED:
            self.write([sealing(self._seal, head, at)])
            self._since_seal = 0


class _Page:
    """The additions of one transaction."""

    def __init__(self, connection: sqlite3.Connection, head: Entry | None) -> None:
        self._connection = connection
        self._rows: dict[str, Row | None] = {}
        self._entries: list[tuple[object, ...]] = []
        self._bodies: list[tuple[int, str]] = []
        self.head = head

    @property
    def added(self) -> int:
        return len(self._entries)

    def add(self, draft: NewEntry) -> int | Exception:
        """Add an entry and return its number, or the error of an invalid one, which affects no other."""
        try:
            body = canonical(draft.body)
            entry = chained(self.head, draft, body)
            row = self._row(draft.request_id)
            # Through JSON and back: the list must follow from the stored body, not from the one passed in.
            self._rows[draft.request_id] = advance(row, entry, json.loads(body))
        except Exception as error:  # returned to its caller alone; the other entries are written
            return error
        self._entries.append(
            (entry.seq, entry.at, entry.kind, entry.request_id, entry.body_sha256, entry.prev, entry.hash)
        )
        self._bodies.append((entry.seq, body.decode("ascii")))
        self.head = entry
        return entry.seq

    def put_down(self, seal: Seal | None) -> None:
        self._connection.executemany(_ENTRY, self._entries)
        self._connection.executemany(_BODY, self._bodies)
        self._connection.executemany(_ROW, [to_columns(row) for row in self._rows.values() if row])
        if self.head is not None:
            signed = (seal.public, seal.sign(self.head.seq, self.head.hash)) if seal else ("", "")
            self._connection.execute(_HEAD, (self.head.seq, self.head.hash, *signed))

    def _row(self, request_id: str) -> Row | None:
        if not request_id:
            return None
        if request_id not in self._rows:
            self._rows[request_id] = stored_row(self._connection, request_id)
        return self._rows[request_id]


def upgrade(connection: sqlite3.Connection, at: int) -> None:
    """Bring the file to the newest format; each step is one transaction with the entry that names it.

    Raises sqlite3.Error where a step cannot be written; the file then has the format that it had before that step.
    """
    while (before := formats.version_of(connection)) < formats.NEWEST:
        connection.execute("BEGIN IMMEDIATE")
        try:
            formats.step(connection, before)
            page = _Page(connection, last_entry(connection))
            outcome = page.add(NewEntry(at, UPGRADED, "", {"from": before, "to": before + 1}))
            if isinstance(outcome, Exception):
                raise outcome
            # Not signed: the key may take its time, and signs this with the first entry after it.
            page.put_down(None)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def sealing(seal: Seal, head: Entry | None, at: int) -> NewEntry:
    """Return the entry that seals everything up to `head`."""
    assert head is not None, "a chain begins with its genesis entry"
    body: dict[str, object] = {
        "seq": head.seq,
        "head": head.hash,
        "key": seal.public,
        "signature": seal.sign(head.seq, head.hash),
    }
    return NewEntry(at, SEALED, "", body)


def last_entry(connection: sqlite3.Connection) -> Entry | None:
    found = connection.execute(
        "SELECT seq, at, kind, request_id, body_sha256, prev, hash FROM entries ORDER BY seq DESC LIMIT 1"
    ).fetchone()
    return stored_entry(found) if found else None


def last_key(connection: sqlite3.Connection) -> str:
    """Return the public key (hex) that was recorded last; empty where none was."""
    found = connection.execute(
        "SELECT data FROM entries JOIN bodies USING (seq) WHERE request_id = '' AND kind = ? ORDER BY seq DESC LIMIT 1",
        (KEY,),
    ).fetchone()
    try:
        body = json.loads(found[0]) if found else {}
    except (TypeError, ValueError, RecursionError):
        # `verify` reports damage; here an unreadable key is taken as not recorded.
        body = {}
    return str(body.get("public", "")) if isinstance(body, dict) else ""


def stored_row(connection: sqlite3.Connection, request_id: str) -> Row | None:
    found = connection.execute(f"SELECT {', '.join(COLUMNS)} FROM requests WHERE id = ?", (request_id,)).fetchone()
    return from_columns(found) if found else None
