"""The walk through a ledger, entry by entry, that finds the first one that is not as it was written."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, NoReturn

from runner.audit.ledger.bodies import parsed
from runner.audit.ledger.entry import (
    GENESIS,
    KEY,
    NOTHING_BEFORE,
    REMOVED,
    SEALED,
    UPGRADED,
    Entry,
    fingerprint,
    quick_fingerprint,
    stored_entry,
)
from runner.audit.ledger.following import Broken, Following
from runner.audit.ledger.removal import Removals, wrong_removal
from runner.audit.ledger.row import PHASE_KINDS
from runner.audit.ledger.seal import genuine
from runner.model.lifecycle import Phase

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from runner.audit.files.evidence import Evidence
    from runner.audit.ledger.anchor import Anchor

LOOK_EVERY = 100  # entries between two looks at the clock
UNSIGNED_AT_MOST = 1000
"""Most entries that a session may have written without a signature: those between two seals."""
SESSION = "opened"
"""Kind of the first entry of a console, written before its key is available."""
NO_KEY = (
    "The signing key is not available, so a complete rewrite of the history, or an older copy in its place, could not"
    " be detected."
)


_ALL = (
    "SELECT seq, at, kind, request_id, body_sha256, prev, hash, data"
    " FROM entries LEFT JOIN bodies USING (seq) WHERE seq > ? ORDER BY seq"
)
# The entries have every number from 1 to the last, so that any other body has none.
_BODY_BEFORE = "SELECT min(seq) FROM bodies WHERE seq < 1"
_BODY_AFTER = "SELECT min(seq) FROM bodies WHERE seq > ?"
_STRAY_ROW = (
    "SELECT id FROM requests WHERE NOT EXISTS (SELECT 1 FROM entries"
    " WHERE entries.seq = requests.seq AND kind = 'arrived' AND request_id = id) LIMIT 1"
)


@dataclass(slots=True)
class Walk:
    """The state of a verification, apart from the requests."""

    last_seq: int = 0
    last_hash: str = NOTHING_BEFORE
    seals: int = 0
    signed_to: int = 0
    keys: list[str] = field(default_factory=list)
    own: str = ""
    """The public key of this installation; without it every recorded key counts."""
    anchor: Anchor | None = None
    evidence: Evidence | None = None
    vouched: int = 0
    """Number of the last entry that a signature or the anchor covers."""
    in_session: bool = False
    """Whether a key was available in the session of the last entry, so that each of its heads was signed."""
    tail_kind: str = ""
    """Kind of the first entry after those covered by a signature or the anchor."""
    last_kind: str = ""
    at_end: bool = False
    """Whether the last look reached the last entry."""
    removals: Removals | None = None
    removed: int = 0
    """Requests whose content was removed."""
    removed_by_others: int = 0
    """Of these, the ones whose removal another key signed than the own one."""

    @property
    def altered(self) -> str:
        return self.evidence.summary if self.evidence else ""

    @property
    def what(self) -> str:
        """The result in words, where nothing is broken."""
        whole = f"All {self.last_seq:,} entries are as they were written."
        if self.unsure:
            # Without signatures the hashes prove no more than this.
            whole = f"All {self.last_seq:,} entries fit together."
        if self.removed:
            who = "1 request" if self.removed == 1 else f"{self.removed:,} requests"
            whole += f" The content of {who} was removed, as signed entries say."
        return f"{whole} {self.altered}".strip()

    @property
    def unsure(self) -> str:
        if not self.own:
            return NO_KEY
        if self.removed_by_others:
            return (
                f"The content of {self.removed_by_others:,} requests was removed under another key than that of this"
                " installation: by Assent before its key was replaced, or by somebody else."
            )
        if self.vouched == self.last_seq:
            return ""
        first = self.vouched + 1
        return (
            f"Entry {first:,} is the first that cannot be vouched for: from there on nothing is signed. Assent has not"
            " had its signing key since, or somebody else wrote these entries."
        )

    def chain(self, connection: sqlite3.Connection, ends: float = inf) -> Iterator[tuple[int, int, str, str, Any]]:
        """Number, time, kind, request and body of each entry, once it is known to be whole and to follow the last.

        The body is None where it was removed, if a later entry says so. At `ends`, by `time.monotonic`, it stops;
        `at_end` tells whether it came to the last entry.
        """
        self.at_end = False
        anchored = {1, self.anchor.seq} if self.anchor else ()
        if self.removals is None:
            self.removals = Removals(connection)
        else:  # some may have been removed since the last look
            self.removals.read()
        removals = self.removals
        for found in connection.execute(_ALL, (self.last_seq,)):
            seq, at, kind, request_id, body_sha256, prev, own, data = found
            # That an entry says that the body was removed is checked at that entry.
            gone = bool(removals) and removals.covers(seq, kind, request_id)
            if (
                seq != self.last_seq + 1
                or prev != self.last_hash
                or (data is not None if gone else not _fits(data, body_sha256))
                or own != quick_fingerprint(seq, at, kind, request_id, body_sha256, prev)
            ):
                self._refuse(stored_entry(found[:-1]), data, gone=gone)
            if seq in anchored:
                self._check_anchor(seq, own)
            yield seq, at, kind, request_id, data
            self.last_seq, self.last_hash = seq, own
            if seq % LOOK_EVERY == 0 and monotonic() >= ends:
                return
        self.at_end = True

    def _refuse(self, entry: Entry, data: object, *, gone: bool) -> NoReturn:
        """Raise Broken for an entry that is not whole, or does not follow from the one before."""
        wanted = self.last_seq + 1
        if entry.seq != wanted:
            raise Broken(wanted, f"Entry {wanted} is missing; the next one is {entry.seq}.")
        own = fingerprint(entry.seq, entry.at, entry.kind, entry.request_id, entry.body_sha256, entry.prev)
        if entry.hash != own:
            raise Broken(wanted, f"Entry {wanted} was changed: its hash does not fit what it says.")
        if entry.prev != self.last_hash and wanted == 1:
            raise Broken(1, "Entry 1 is not the first: it names another before it.")
        if entry.prev != self.last_hash:
            # This entry is whole and remembers another hash of the one before, so it is that one that was rewritten.
            raise Broken(self.last_seq, f"Entry {self.last_seq} was replaced: entry {wanted} follows from another one.")
        if gone:
            raise Broken(wanted, f"The body of entry {wanted} was removed, and somebody put one in its place.")
        if data is None:
            raise Broken(wanted, f"The body of entry {wanted} is missing.")
        how = "changed" if type(data) is str else "damaged"
        raise Broken(wanted, f"The body of entry {wanted} was {how}.")

    def take_in(self, connection: sqlite3.Connection, seq: int, kind: str, data: str | None) -> None:
        """Check what an entry says about the ledger itself, and the files of a run."""
        if (kind == GENESIS) != (seq == 1):
            raise Broken(seq, f"Entry {seq} is not where a {kind} entry belongs.")
        if data is None:
            pass
        elif kind in PHASE_KINDS:
            if kind == Phase.FINISHED and self.evidence:
                self.evidence.check(seq, parsed(data))
        else:
            self._take_in_own(connection, seq, kind, _body(seq, data))
        self.last_kind = kind
        if seq == self.vouched + 1:
            self.tail_kind = kind

    def _take_in_own(self, connection: sqlite3.Connection, seq: int, kind: str, body: dict[str, Any]) -> None:
        if kind == KEY:
            self.keys.append(str(body.get("public", "")))
            self.in_session = self.keys[-1] == self.own
        elif kind == SEALED:
            self._check_seal(seq, body)
        elif kind in (SESSION, UPGRADED):
            self.in_session = False
        elif kind == REMOVED:
            self._check_removal(connection, seq, body)

    def _check_removal(self, connection: sqlite3.Connection, seq: int, body: dict[str, Any]) -> None:
        key = self.keys[-1] if self.keys else ""
        assert self.removals is not None
        if wrong := wrong_removal(connection, self.removals.listed(seq), seq, self.last_hash, body, key):
            raise Broken(seq, f"Entry {seq}, which says that content was removed, {wrong}.")
        self.removals.confirm(seq)
        count = int(body["requests_removed"])
        self.removed += count
        self.removed_by_others += count if key != self.own else 0

    def check_removed(self) -> None:
        """Raise Broken where content is missing that no entry removed."""
        first = self.removals.unconfirmed if self.removals else None
        if first is not None:
            raise Broken(first, f"The body of entry {first} is missing: no entry says that it was removed.")

    def _check_anchor(self, seq: int, own: str) -> None:
        """Raise Broken unless the entry is the one that the anchor beside the key names."""
        assert self.anchor is not None
        if seq == 1 and own != self.anchor.ledger:
            raise Broken(1, "This is not the history that Assent last signed here: that one was removed or replaced.")
        if seq != self.anchor.seq:
            return
        if own != self.anchor.hash:
            first = self.vouched + 1
            what = f"Entry {seq:,} is not the one that Assent signed: the history was rewritten."
            raise Broken(first, f"{what} Entry {first:,} is the first that cannot be vouched for.")
        self.vouched = max(self.vouched, seq)

    def _check_seal(self, seq: int, body: dict[str, Any]) -> None:
        key, signature = str(body.get("key", "")), str(body.get("signature", ""))
        if not self.keys or key != self.keys[-1]:
            raise Broken(seq, f"Entry {seq} is a seal by a key that was not recorded before.")
        if not genuine(key, self.last_seq, self.last_hash, signature):
            raise Broken(seq, f"Entry {seq} is a seal that does not fit the entries before it.")
        self.seals += 1
        self._signed(key, self.last_seq)
        if key == self.own:
            # Its own signature is in it, and what it signs is the entry before.
            self.vouched = seq
            self.in_session = True

    def _signed(self, key: str, seq: int) -> None:
        if not self.own or key == self.own:
            self.signed_to = seq
            self.vouched = max(self.vouched, seq)

    def check_end(self, connection: sqlite3.Connection) -> None:
        """Raise Broken unless the last entry is the one that was written last."""
        found = connection.execute("SELECT seq, hash, key, signature FROM head").fetchone()
        if found is None:
            raise Broken(None, "The note of the last entry is missing.")
        seq, head, key, signature = found
        if type(seq) is not int or not all(type(text) is str for text in (head, key, signature)):
            raise Broken(None, "The note of the last entry is damaged.")
        if seq > self.last_seq:
            raise Broken(self.last_seq + 1, f"Entry {self.last_seq + 1} is missing: {seq:,} were written.")
        if seq < self.last_seq:
            raise Broken(seq + 1, f"Entry {seq + 1} was not written by Assent.")
        if head != self.last_hash:
            raise Broken(seq, f"Entry {seq} was replaced: its hash is not the one that was noted.")
        if key:
            if not genuine(key, seq, head, signature):
                raise Broken(seq, f"Entry {seq}, the last, has a signature that does not fit.")
            self._signed(key, seq)

    def check_rest(self, connection: sqlite3.Connection, following: Following) -> None:
        """Check open requests, rows without an entry, the file's integrity, and the signatures."""
        following.compare_open(self.last_seq)
        strays = [
            connection.execute(_BODY_BEFORE).fetchone(),
            connection.execute(_BODY_AFTER, (self.last_seq,)).fetchone(),
        ]
        for (stray,) in strays:
            if stray is not None:
                raise Broken(stray, f"There is a body for entry {stray}, but no such entry.")
        (listed,) = connection.execute("SELECT count(*) FROM requests").fetchone()
        if listed != following.arrived and (found := connection.execute(_STRAY_ROW).fetchone()):
            raise Broken(None, f"The list of requests names {found[0]}, which never arrived.")
        (order,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if order != "ok":
            raise Broken(None, f"The file is damaged beside the entries: {order}.")
        (key,) = connection.execute("SELECT key FROM head").fetchone()
        if key and key not in self.keys:
            raise Broken(self.last_seq, f"Entry {self.last_seq}, the last, is signed by a key that was not recorded.")

    def check_signed(self) -> None:
        """With a key, raise Broken where entries are unsigned that the key was available to sign."""
        if not self.own:
            return
        if self.anchor is not None and self.last_seq < self.anchor.seq:
            first = self.last_seq + 1
            what = f"Entry {first:,} is missing: entries up to {self.anchor.seq:,} were signed."
            raise Broken(first, f"{what} This is an older copy, or its end was removed.")
        first = self.vouched + 1
        begin = f"Entry {first:,} is the first that cannot be vouched for"
        if not self.keys or self.keys[-1] != self.own:
            # The two cases cannot be distinguished here.
            what = f"{begin}: from there on another key signed than the key of this installation"
            raise Broken(first, f"{what}. It was rewritten, or Assent was last started while its keyring was locked.")
        unsigned = self.last_seq - self.vouched
        # A console that was killed while it recorded its key: earlier versions signed from the next entry on.
        must_sign = self.in_session and self.last_kind != KEY
        if unsigned and (must_sign or unsigned >= UNSIGNED_AT_MOST or not self._may_be_unsigned()):
            raise Broken(first, f"{begin}: signatures that must be there are missing, so it was rewritten or added.")

    def _may_be_unsigned(self) -> bool:
        """Return whether the entries after the last signature begin as a session does before its key is available."""
        return self.tail_kind in (SESSION, UPGRADED, GENESIS)


def _fits(data: object, body_sha256: str) -> bool:
    return type(data) is str and sha256(data.encode("utf-8", "replace")).hexdigest() == body_sha256


def _body(seq: int, data: str) -> dict[str, Any]:
    try:
        body = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Broken(seq, f"The body of entry {seq} is not JSON.") from error
    if not isinstance(body, dict):
        raise Broken(seq, f"The body of entry {seq} is not a JSON object.")
    return body
