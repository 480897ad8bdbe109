"""Walks the whole ledger and names the first entry that is not as it was written."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from runner.audit.chain import stored_row
from runner.audit.entry import GENESIS, KEY, NOTHING_BEFORE, SEALED, Entry, fingerprint
from runner.audit.row import COLUMNS, PHASES, Row, advance
from runner.audit.seal import genuine
from runner.audit.tables import DAMAGE, altered, connect_to_read, explained
from runner.errors import KnownError
from runner.lifecycle import IllegalMove, Phase

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator
    from pathlib import Path

PROGRESS_EVERY = 1000

_ALL = (
    "SELECT seq, at, kind, request_id, body_sha256, prev, hash, data"
    " FROM entries LEFT JOIN bodies USING (seq) WHERE seq > ? ORDER BY seq"
)
_STRAY_BODY = "SELECT min(seq) FROM bodies WHERE NOT EXISTS (SELECT 1 FROM entries WHERE entries.seq = bodies.seq)"
_STRAY_ROW = (
    "SELECT id FROM requests WHERE NOT EXISTS (SELECT 1 FROM entries"
    " WHERE entries.seq = requests.seq AND kind = 'arrived' AND request_id = id) LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What `verify` found."""

    ok: bool
    entries: int
    """Entries found good, from the first on without a gap."""
    first_broken: int | None
    """Number of the first entry that is wrong or missing; None where no single entry is to blame."""
    what: str
    """One sentence."""
    seals: int = 0
    signed_to: int = 0
    """Entries up to this number are covered by a signature; 0 where nothing is signed."""
    keys: tuple[str, ...] = ()
    """Public keys (hex) that signed, in order."""


def verify(path: Path, public_key: str = "", progress: Callable[[int], None] = lambda entries: None) -> Verdict:
    """Check every entry, body, seal, the list of requests and the guards of the ledger at `path`.

    Reads one consistent state while others go on writing; memory does not grow with the ledger. With `public_key`
    (hex, from the keyring) the last key must be that one. `progress` gets the number of entries checked, now and
    then; it may raise to stop. Raises KnownError where there is no ledger to be read at all.
    """
    connection = connect_to_read(path)
    walk = _Walk()
    try:
        connection.execute("BEGIN")
        if difference := altered(connection):
            raise _Broken(None, f"The ledger's tables were altered: {difference}.")
        for entry, body in walk.chain(connection):
            walk.take_in(connection, entry, body)
            if entry.seq % PROGRESS_EVERY == 0:
                progress(entry.seq)
        walk.check_end(connection)
        walk.check_rest(connection, public_key)
    except _Broken as broken:
        return walk.verdict(broken)
    except DAMAGE as error:
        return walk.verdict(_Broken(walk.last_seq + 1, explained(error, path).what))
    finally:
        connection.close()
    return walk.verdict(None)


def broken_tail(connection: sqlite3.Connection, path: Path, count: int) -> str:
    """What is wrong with the last `count` entries, in words; empty when they form a chain to the end."""
    try:
        (first,) = connection.execute("SELECT coalesce(max(seq), 0) - ? FROM entries", (count,)).fetchone()
        walk = _Walk()
        if first > 0:
            before = connection.execute("SELECT hash FROM entries WHERE seq = ?", (first,)).fetchone()
            if before is None:
                return f"Entry {first} is missing."
            walk = _Walk(first, before[0])
        for _ in walk.chain(connection):
            pass
        walk.check_end(connection)
    except _Broken as broken:
        return broken.what
    except DAMAGE as error:
        return explained(error, path).what
    return ""


class _Broken(Exception):
    """The walk ends here."""

    def __init__(self, seq: int | None, what: str) -> None:
        super().__init__(what)
        self.seq = seq
        self.what = what


@dataclass(slots=True)
class _Walk:
    """What is known on the way through the entries. Of requests only the open ones are held, so it stays small."""

    last_seq: int = 0
    last_hash: str = NOTHING_BEFORE
    seals: int = 0
    signed_to: int = 0
    keys: list[str] = field(default_factory=list)
    rows: dict[str, Row] = field(default_factory=dict)

    def verdict(self, broken: _Broken | None) -> Verdict:
        good = self.last_seq
        if broken and broken.seq is not None:
            good = min(good, broken.seq - 1)
        return Verdict(
            ok=broken is None,
            entries=good,
            first_broken=broken.seq if broken else None,
            what=broken.what if broken else f"All {good:,} entries are as they were written.",
            seals=self.seals,
            signed_to=min(good, self.signed_to),
            keys=tuple(self.keys),
        )

    def chain(self, connection: sqlite3.Connection) -> Iterator[tuple[Entry, dict[str, Any]]]:
        """Each entry with its body, once it is known to be whole and to follow from the one before."""
        for *columns, data in connection.execute(_ALL, (self.last_seq,)):
            entry = Entry(*columns)
            self._check_link(entry)
            body = _body(entry, data)
            yield entry, body
            self.last_seq, self.last_hash = entry.seq, entry.hash

    def _check_link(self, entry: Entry) -> None:
        wanted = self.last_seq + 1
        if entry.seq != wanted:
            raise _Broken(wanted, f"Entry {wanted} is missing; the next one is {entry.seq}.")
        own = fingerprint(entry.seq, entry.at, entry.kind, entry.request_id, entry.body_sha256, entry.prev)
        if entry.hash != own:
            raise _Broken(wanted, f"Entry {wanted} was changed: its hash does not fit what it says.")
        if entry.prev == self.last_hash:
            return
        if wanted == 1:
            raise _Broken(1, "Entry 1 is not the first: it names another before it.")
        # This entry is whole and remembers another hash of the one before, so it is that one that was rewritten.
        raise _Broken(self.last_seq, f"Entry {self.last_seq} was replaced: entry {wanted} follows from another one.")

    def take_in(self, connection: sqlite3.Connection, entry: Entry, body: dict[str, Any]) -> None:
        """Check what `entry` means: the beginning, a key, a seal, or a step of a request."""
        if (entry.kind == GENESIS) != (entry.seq == 1):
            raise _Broken(entry.seq, f"Entry {entry.seq} is not where a {entry.kind} entry belongs.")
        if entry.kind == KEY:
            self.keys.append(str(body.get("public", "")))
        elif entry.kind == SEALED:
            self._check_seal(entry, body)
        elif entry.kind in PHASES:
            self._follow(connection, entry, body)

    def _check_seal(self, entry: Entry, body: dict[str, Any]) -> None:
        key, signature = str(body.get("key", "")), str(body.get("signature", ""))
        if not self.keys or key != self.keys[-1]:
            raise _Broken(entry.seq, f"Entry {entry.seq} is a seal by a key that was not recorded before.")
        if not genuine(key, self.last_seq, self.last_hash, signature):
            raise _Broken(entry.seq, f"Entry {entry.seq} is a seal that does not fit the entries before it.")
        self.seals += 1
        self.signed_to = self.last_seq

    def _follow(self, connection: sqlite3.Connection, entry: Entry, body: dict[str, Any]) -> None:
        try:
            row = advance(self.rows.get(entry.request_id), entry, body)
        except IllegalMove as error:
            raise _Broken(entry.seq, f"Entry {entry.seq} is a step that cannot be: {error}.") from error
        except (ValueError, KnownError) as error:
            raise _Broken(entry.seq, f"Entry {entry.seq} makes no sense: {error}") from error
        assert row is not None, "every phase has a row"
        if row.phase is Phase.CLOSED:
            self.rows.pop(entry.request_id, None)
            _compare(connection, row)
        else:
            self.rows[entry.request_id] = row

    def check_end(self, connection: sqlite3.Connection) -> None:
        """The last entry must be the one that was written last."""
        found = connection.execute("SELECT seq, hash, key, signature FROM head").fetchone()
        if found is None:
            raise _Broken(None, "The note of the last entry is missing.")
        seq, head, key, signature = found
        if seq > self.last_seq:
            raise _Broken(self.last_seq + 1, f"Entry {self.last_seq + 1} is missing: {seq:,} were written.")
        if seq < self.last_seq:
            raise _Broken(seq + 1, f"Entry {seq + 1} was not written by Assent.")
        if head != self.last_hash:
            raise _Broken(seq, f"Entry {seq} was replaced: its hash is not the one that was noted.")
        if key:
            if not genuine(key, seq, head, signature):
                raise _Broken(seq, f"Entry {seq}, the last, has a signature that does not fit.")
            self.signed_to = seq

    def check_rest(self, connection: sqlite3.Connection, public_key: str) -> None:
        """The requests that are still open, what belongs to no entry, the file's own order, and who signed."""
        for row in self.rows.values():
            _compare(connection, row)
        (stray,) = connection.execute(_STRAY_BODY).fetchone()
        if stray is not None:
            raise _Broken(stray, f"There is a body for entry {stray}, but no such entry.")
        if found := connection.execute(_STRAY_ROW).fetchone():
            raise _Broken(None, f"The list of requests names {found[0]}, which never arrived.")
        (order,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if order != "ok":
            raise _Broken(None, f"The file is damaged beside the entries: {order}.")
        (key,) = connection.execute("SELECT key FROM head").fetchone()
        if key and key not in self.keys:
            raise _Broken(self.last_seq, f"Entry {self.last_seq}, the last, is signed by a key that was not recorded.")
        if public_key and (not self.keys or self.keys[-1] != public_key):
            # Nobody can tell these two apart from here.
            told = "The ledger was last signed with another key than the key of this installation"
            raise _Broken(None, f"{told}: it was rewritten, or Assent was last started while its keyring was locked.")


def _body(entry: Entry, data: str | None) -> dict[str, Any]:
    if data is None:
        raise _Broken(entry.seq, f"The body of entry {entry.seq} is missing.")
    if hashlib.sha256(data.encode("utf-8", "replace")).hexdigest() != entry.body_sha256:
        raise _Broken(entry.seq, f"The body of entry {entry.seq} was changed.")
    body = json.loads(data)
    if not isinstance(body, dict):
        raise _Broken(entry.seq, f"The body of entry {entry.seq} is not a JSON object.")
    return body


def _compare(connection: sqlite3.Connection, row: Row) -> None:
    """The list of requests must say what the entries say. Raises _Broken."""
    try:
        listed = stored_row(connection, row.id)
    except KnownError as error:
        raise _Broken(row.seq, f"The list of requests is wrong about entry {row.seq}: {error.what}") from error
    if listed is None:
        raise _Broken(row.seq, f"The list of requests lacks {row.id}, which arrived with entry {row.seq}.")
    for name in COLUMNS:
        says, meant = getattr(listed, name), getattr(row, name)
        if says != meant:
            raise _Broken(
                row.seq,
                f"The list of requests was changed: it gives {name} {says} for {row.id} (entry {row.seq}),"
                f" the entries give {meant}.",
            )
