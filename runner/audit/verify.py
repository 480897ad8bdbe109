"""Verifies the whole ledger and names the first entry that is not as it was written."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from math import inf
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NoReturn

from runner.audit.bodies import parsed
from runner.audit.entry import (
    GENESIS,
    KEY,
    NOTHING_BEFORE,
    SEALED,
    UPGRADED,
    DamagedEntry,
    Entry,
    fingerprint,
    plain_fingerprint,
    stored_entry,
)
from runner.audit.following import Broken, Following, read_body
from runner.audit.formats import altered
from runner.audit.row import PHASES
from runner.audit.seal import genuine
from runner.audit.tables import DAMAGE, connect_to_read, explained
from runner.model.lifecycle import Phase

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from runner.audit.anchor import Anchor
    from runner.audit.evidence import Evidence

PROGRESS_EVERY = 1000
LOOK_EVERY = 100  # entries between two looks at the clock
READ_SECONDS = 2.0
"""Longest look at one state of the ledger: while it lasts, SQLite cannot begin its journal again, which grows."""
PAUSE_SECONDS = 0.05
"""Between two looks; after two commits in it the journal begins again."""
CACHE_KIB = 32 * 1024
"""Memory for pages of the file, so that the integrity check does not read each many times."""
UNSIGNED_AT_MOST = 1000
"""Most entries that a session may have written without a signature: those between two seals."""
SESSION = "opened"
"""Kind of the first entry of a console, written before its key is available."""
FORGED = (TypeError, AttributeError, ValueError, OverflowError, RecursionError)
"""Errors that damaged or forged content may raise in the checks."""
NO_KEY = (
    "The signing key is not at hand, so a history that was rewritten from end to end, or rolled back to an older copy,"
    " would not be noticed."
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
_PHASES = frozenset(phase.value for phase in PHASES)


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of `verify`."""

    ok: bool
    entries: int
    """Number of valid entries, from the first on without a gap."""
    first_broken: int | None
    """Number of the first entry that is wrong or missing; None where no single entry is to blame."""
    what: str
    """The result in one sentence."""
    seals: int = 0
    signed_to: int = 0
    """Entries up to this number are covered by a signature; 0 where nothing is signed."""
    keys: tuple[str, ...] = ()
    """Public keys (hex) that signed, in order."""
    unsure: str = ""
    """What could not be verified, in one or two sentences; empty where all was checked against the key."""
    altered: str = ""
    """Files beside the ledger that are not as they were stored, in a sentence."""


def verify(
    path: Path,
    public_key: str = "",
    progress: Callable[[int], None] = lambda entries: None,
    *,
    anchor: Anchor | None = None,
    evidence: Evidence | None = None,
) -> Verification:
    """Check every entry, body, seal, the list of requests and the guards of the ledger at `path`.

    Others may write meanwhile: entries are only ever added, and what is compared with the last one is read in one state
    with it. Memory does not grow with the ledger, nor does its journal for as long as this takes. With `public_key`
    (hex, from the keyring) the last key must be that one, and only its signatures and `anchor`, read before, vouch
    for anything. `evidence` looks at the files of finished runs. `progress` gets the number of entries checked, now
    and then; it may raise to stop. Raises KnownError where there is no ledger to be read at all.
    """
    connection = connect_to_read(path)
    # Damaged text is an error here, whose entry is known: it is the next one.
    connection.text_factory = str
    walk = _Walk(own=public_key, anchor=anchor, evidence=evidence)
    following = Following(connection)
    try:
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        _follow(connection, walk, following, progress)
        walk.check_end(connection)
        walk.check_rest(connection, following)
        walk.check_signed()
    except Broken as broken:
        return walk.verdict(broken)
    except DamagedEntry as damaged:
        return walk.verdict(Broken(walk.last_seq + 1, damaged.what))
    except DAMAGE as error:
        return walk.verdict(Broken(walk.last_seq + 1, explained(error, path).what))
    except FORGED as error:
        first = walk.last_seq + 1
        return walk.verdict(Broken(first, f"Entry {first} cannot be read ({type(error).__name__}): it was altered."))
    finally:
        connection.close()
    return walk.verdict(None)


def _follow(connection: sqlite3.Connection, walk: _Walk, following: Following, progress: Callable[[int], None]) -> None:
    """Check all entries, in several looks; the last of them is open on return. Raises Broken and DamagedEntry."""
    (last,) = connection.execute("SELECT coalesce(max(seq), 0) FROM entries").fetchone()
    while True:
        connection.execute("BEGIN")
        if difference := altered(connection):
            raise Broken(None, f"The ledger's tables were altered: {difference}.")
        # The last look takes in whatever has come since: else a busy writer would keep this from its end.
        ends = inf if walk.last_seq >= last else monotonic() + READ_SECONDS
        for seq, at, kind, request_id, data in walk.chain(connection, ends):
            if kind in _PHASES:
                following.step(kind, seq, at, request_id, data)
            walk.take_in(seq, kind, data)
            if seq % PROGRESS_EVERY == 0:
                progress(seq)
        if walk.at_end:
            return
        connection.execute("ROLLBACK")
        sleep(PAUSE_SECONDS)


def broken_tail(connection: sqlite3.Connection, path: Path, count: int) -> str:
    """Return what is wrong with the last `count` entries, in words; empty when they form a chain to the end."""
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
    except (Broken, DamagedEntry) as broken:
        return broken.what
    except FORGED as error:
        return f"Entry {walk.last_seq + 1} is damaged ({type(error).__name__})."
    except DAMAGE as error:
        return explained(error, path).what
    return ""


@dataclass(slots=True)
class _Walk:
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

    def verdict(self, broken: Broken | None) -> Verification:
        good = self.last_seq
        if broken and broken.seq is not None:
            good = min(good, broken.seq - 1)
        return Verification(
            ok=broken is None and not self._altered,
            entries=good,
            first_broken=broken.seq if broken else None,
            what=self._what(broken),
            seals=self.seals,
            signed_to=min(good, self.signed_to),
            keys=tuple(self.keys),
            unsure="" if broken else self._unsure,
            altered=self._altered,
        )

    @property
    def _altered(self) -> str:
        return self.evidence.summary if self.evidence else ""

    def _what(self, broken: Broken | None) -> str:
        if broken:
            return broken.what
        whole = f"All {self.last_seq:,} entries are as they were written."
        if self._unsure:
            # Without signatures the hashes prove no more than this.
            whole = f"All {self.last_seq:,} entries fit together."
        return f"{whole} {self._altered}".strip()

    @property
    def _unsure(self) -> str:
        if not self.own:
            return NO_KEY
        if self.vouched == self.last_seq:
            return ""
        first = self.vouched + 1
        return (
            f"Entry {first:,} is the first that cannot be vouched for: from there on nothing is signed. Assent has not"
            " had its signing key since, or somebody else wrote these entries."
        )

    def chain(self, connection: sqlite3.Connection, ends: float = inf) -> Iterator[tuple[int, int, str, str, str]]:
        """Number, time, kind, request and body of each entry, once it is known to be whole and to follow the last.

        At `ends`, by `time.monotonic`, it stops; `at_end` tells whether there may be more.
        """
        self.at_end = False
        anchored = {1, self.anchor.seq} if self.anchor else ()
        for found in connection.execute(_ALL, (self.last_seq,)):
            seq, at, kind, request_id, body_sha256, prev, own, data = found
            if (
                seq != self.last_seq + 1
                or prev != self.last_hash
                or type(data) is not str
                or sha256(data.encode("utf-8", "replace")).hexdigest() != body_sha256
                or own != plain_fingerprint(seq, at, kind, request_id, body_sha256, prev)
            ):
                self._refuse(stored_entry(found[:-1]), data)
            if seq in anchored:
                self._check_anchor(seq, own)
            yield seq, at, kind, request_id, data
            self.last_seq, self.last_hash = seq, own
            if seq % LOOK_EVERY == 0 and monotonic() >= ends:
                return
        self.at_end = True

    def _refuse(self, entry: Entry, data: object) -> NoReturn:
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
        if data is None:
            raise Broken(wanted, f"The body of entry {wanted} is missing.")
        how = "changed" if type(data) is str else "damaged"
        raise Broken(wanted, f"The body of entry {wanted} was {how}.")

    def take_in(self, seq: int, kind: str, data: str) -> None:
        """Check what an entry says about the ledger itself, and the files of a run."""
        if (kind == GENESIS) != (seq == 1):
            raise Broken(seq, f"Entry {seq} is not where a {kind} entry belongs.")
        if kind in _PHASES:
            if kind == Phase.FINISHED and self.evidence:
                self.evidence.check(seq, parsed(data))
        else:
            self._take_in_own(seq, kind, read_body(seq, data))
        self.last_kind = kind
        if seq == self.vouched + 1:
            self.tail_kind = kind

    def _take_in_own(self, seq: int, kind: str, body: dict[str, Any]) -> None:
        if kind == KEY:
            self.keys.append(str(body.get("public", "")))
            self.in_session = self.keys[-1] == self.own
        elif kind == SEALED:
            self._check_seal(seq, body)
        elif kind in (SESSION, UPGRADED):
            self.in_session = False

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
