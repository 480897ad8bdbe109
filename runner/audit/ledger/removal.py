"""Entries on removed content: of which requests it was, by whose order it went, and which key signed that.

The content of a request is the body of each of its entries and the title in the list. Its entries stay in the chain
with the hash of each body, and the list keeps agent, times, level, decision and outcome: the entry that says what was
removed holds the hash of these facts.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from runner.audit.ledger.formats import version_of
from runner.audit.ledger.row import COLUMNS
from runner.audit.ledger.seal import genuine_removal
from runner.model.errors import KnownError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from runner.audit.ledger.entry import Entry
    from runner.audit.ledger.row import Row

Ranges = tuple[tuple[int, int], ...]
"""Requests by the entries with which they arrived: every one from the first number to the second."""

SINCE = 3
"""The first format in which content can be removed."""
_RANGES = "SELECT first, last, seq FROM removed ORDER BY first"
_OF = "SELECT last, seq FROM removed WHERE first <= ? ORDER BY first DESC LIMIT 1"
_FACTS = f"SELECT {', '.join(COLUMNS)} FROM requests WHERE seq BETWEEN ? AND ? ORDER BY seq"
_ARRIVAL = "SELECT seq FROM entries WHERE request_id = ? AND request_id <> '' AND kind = 'arrived' ORDER BY seq LIMIT 1"
_ENTRY = "SELECT at, data FROM entries JOIN bodies USING (seq) WHERE seq = ?"
_encoded = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class RemovedContent:
    """When, why and by whom the content of a request was removed."""

    seq: int
    """Number of the entry that says so."""
    at: float
    """Seconds since the epoch."""
    rule: dict[str, Any]
    """As `retention.RetentionRule.recorded` writes it."""
    requests: int = 0
    """How many requests that entry names."""
    key: str = ""
    """Public key (hex) that signed it. Only `verify` checks the signature."""

    @property
    def words(self) -> str:
        """What happened, in a sentence."""
        moment = datetime.fromtimestamp(self.at, UTC).strftime("%Y-%m-%d %H:%M UTC")
        who = "the settings had it removed" if self.rule.get("by") == "setting" else "a person had it removed"
        reasons = []
        if isinstance(days := self.rule.get("older_than_days"), int | float):
            reasons.append(f"older than {days:g} days")
        if isinstance(size := self.rule.get("keep_bytes"), int):
            reasons.append(f"beyond the newest {size:,} bytes")
        reason = f", as {' or '.join(reasons)}" if reasons else ""
        return f"Its content was removed on {moment}: {who}{reason}, and entry {self.seq:,} says so."


class ContentRemoved(KnownError):
    """The content of a request was asked for, and is no longer there; with what the history still has of it."""

    def __init__(self, removed: RemovedContent, row: Row, entries: tuple[Entry, ...]) -> None:
        super().__init__(removed.words, "Its entries are still in the history, each with the hash of its content.")
        self.removed = removed
        self.row = row
        self.entries = entries


def facts_of(connection: sqlite3.Connection, ranges: Ranges) -> tuple[str, int]:
    """Return the SHA-256 (hex) of what the list keeps about these requests, and how many there are."""
    digest, count = sha256(), 0
    for first, last in ranges:
        for columns in connection.execute(_FACTS, (first, last)):
            digest.update(_encoded(columns).encode("ascii"))
            digest.update(b"\n")
            count += 1
    return digest.hexdigest(), count


def wrong_removal(
    connection: sqlite3.Connection, listed: Ranges, seq: int, prev: str, body: Mapping[str, Any], key: str
) -> str:
    """Return what is wrong with entry `seq`, which says that content was removed; empty where nothing is.

    `listed` is what the list of removed content says of it, `prev` the hash of the entry before, `key` the public key
    that was recorded last.
    """
    said = {name: value for name, value in body.items() if name != "signature"}
    if not key or said.get("key") != key:
        return "was signed by a key that was not recorded before"
    if not genuine_removal(key, seq, prev, said, str(body.get("signature", ""))):
        return "has a signature that does not fit"
    ranges = ranges_in(body)
    if ranges is None:
        return "does not say of which requests"
    if listed != ranges:
        return "names other requests than the list of removed content"
    if facts_of(connection, ranges) != (body.get("facts"), body.get("requests_removed")):
        return "names requests of which the list says something else now"
    return ""


def ranges_in(body: Mapping[str, Any]) -> Ranges | None:
    """Return the requests that an entry names; None where it does not name them in rising order."""
    found, last = [], 0
    named = body.get("requests")
    for pair in named if isinstance(named, list) else ():
        if not (isinstance(pair, list) and [type(one) for one in pair] == [int, int] and last < pair[0] <= pair[1]):
            return None
        last = pair[1]
        found.append((pair[0], pair[1]))
    return tuple(found) or None


def removed_content(connection: sqlite3.Connection, arrival: int) -> RemovedContent | None:
    """Return how the content of the request that arrived with entry `arrival` was removed; None where it was not."""
    if version_of(connection) < SINCE:
        return None
    found = connection.execute(_OF, (arrival,)).fetchone()
    if found is None or found[0] < arrival:
        return None
    entry = connection.execute(_ENTRY, (found[1],)).fetchone()
    try:
        at, body = entry[0], json.loads(entry[1])
        count, key = body.get("requests_removed"), body.get("key")
        return RemovedContent(
            found[1],
            at / 1_000_000,
            dict(body["rule"]),
            count if type(count) is int else 0,
            key if isinstance(key, str) else "",
        )
    except (TypeError, ValueError, KeyError, RecursionError):
        # Verify says what is wrong with that entry.
        return None


class Removals:
    """The list of removed content of one ledger, while its entries are read in order."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._firsts: list[int] = []
        self._lasts: list[int] = []
        self._by: list[int] = []
        self._ranges: dict[int, list[tuple[int, int]]] = {}
        self._said: set[int] = set()
        """Entries that were found to say what the list says."""
        self._passing: dict[str, int] = {}
        """Requests that are open at the present entry, and the entry with which they arrived."""
        self.read()

    def read(self) -> None:
        """Take the list as it is now; what was confirmed before stays so, as content is only ever removed."""
        connection = self._connection
        known = connection.execute(_RANGES).fetchall() if version_of(connection) >= SINCE else []
        self._firsts = [first for first, _, _ in known]
        self._lasts = [last for _, last, _ in known]
        self._by = [seq for _, _, seq in known]
        self._ranges = {}
        for first, last, seq in known:
            self._ranges.setdefault(seq, []).append((first, last))

    def __bool__(self) -> bool:
        return bool(self._firsts)

    def by(self, arrival: int) -> int:
        """Return the entry that removed the content of the request that arrived with this entry; 0 for none."""
        place = bisect_right(self._firsts, arrival) - 1
        return self._by[place] if place >= 0 and arrival <= self._lasts[place] else 0

    def covers(self, seq: int, kind: str, request_id: str) -> bool:
        """Return whether a later entry removed the body of this one, as the list has it."""
        if not request_id:
            return False
        arrival = self._passing.get(request_id)
        if kind == "arrived":
            arrival = self._passing[request_id] = seq
        elif arrival is None:
            found = self._connection.execute(_ARRIVAL, (request_id,)).fetchone()
            arrival = found[0] if found else 0
        elif kind == "closed":
            del self._passing[request_id]
        return self.by(arrival) > seq

    def listed(self, seq: int) -> Ranges:
        """Return the requests of which the list says that entry `seq` removed the content."""
        return tuple(self._ranges.get(seq, ()))

    def confirm(self, seq: int) -> None:
        """Take note that entry `seq` is whole, signed, and says what the list says about it."""
        self._said.add(seq)

    @property
    def unconfirmed(self) -> int | None:
        """The first request whose content no entry says to be removed; None where each is accounted for."""
        return next((first for first, by in zip(self._firsts, self._by, strict=True) if by not in self._said), None)
