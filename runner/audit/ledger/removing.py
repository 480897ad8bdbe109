"""Removes the content of closed requests, in one transaction with the signed entry that says so.

What is removed is checked first, as `verify` would: a history that was altered keeps its evidence.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from runner.audit.files.captures import SHA256
from runner.audit.ledger.entry import quick_fingerprint
from runner.audit.ledger.following import Broken, Following
from runner.audit.ledger.removal import Ranges, facts_of
from runner.audit.ledger.row import PHASE_KINDS
from runner.model.lifecycle import Phase

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

INDEX = ("index", "")
JOURNAL = ("journal", "")
ARTIFACT = "artifact"
CAPTURE = "capture"
"""Places of leftovers."""
OF_FILES = ('"artifact":"/', '"sha256":"')
"""One of these is in the body of every run that left files."""
MOST_AT_ONCE = 200
"""Most requests in one transaction, so that the next decision waits for some tenths of a second and not for all."""
_LISTED = "SELECT seq, id, phase FROM requests WHERE seq BETWEEN ? AND ? ORDER BY seq"
_STEPS = (
    "SELECT seq, at, kind, body_sha256, prev, hash, data FROM entries LEFT JOIN bodies USING (seq)"
    " WHERE request_id = ? AND request_id <> '' ORDER BY seq"
)
_CLEAR = "UPDATE requests SET title = '' WHERE seq BETWEEN ? AND ?"
_NAME = "INSERT INTO removed (first, last, seq) VALUES (?, ?, ?)"
_LEAVE = "INSERT OR IGNORE INTO leftovers (place, name) VALUES (?, ?)"
_DELETE = "DELETE FROM bodies WHERE seq = ?"


Leftover = tuple[str, str]
"""A place and a name."""


def files_named(data: str) -> set[Leftover]:
    """Return the files that a finished run left, by the body of its entry. Names alone: they point nowhere else."""
    found: set[Leftover] = set()
    if not any(part in data for part in OF_FILES):
        return found
    body = json.loads(data)
    if not isinstance(body, dict):
        return found
    if isinstance(artifact := body.get("artifact"), str) and (name := PurePath(artifact).name) not in ("", ".."):
        found.add((ARTIFACT, name))
    files = body.get("files")
    for file in files if isinstance(files, list) else ():
        if isinstance(file, dict) and isinstance(digest := file.get("sha256"), str) and SHA256.fullmatch(digest):
            found.add((CAPTURE, digest))
    return found


@dataclass(slots=True)
class ContentRemoval:
    """An order to remove the content of requests, and what came of it."""

    requests: Sequence[int]
    """The entries with which they arrived, rising; at most `MOST_AT_ONCE`."""
    rule: Mapping[str, object]
    """Why, as `retention.RetentionRule.recorded` writes it."""
    removed: int = 0
    """Requests without content now."""
    bytes: int = 0
    """Bytes of the bodies that were removed."""
    refused: list[str] = field(default_factory=list)
    """Why requests were left as they are, in a sentence each."""
    _bodies: list[tuple[int]] = field(default_factory=list)
    _files: set[Leftover] = field(default_factory=set)
    _ranges: Ranges = ()

    def look(self, connection: sqlite3.Connection) -> dict[str, Any] | None:
        """Check the requests and clear their titles; return the body of the entry, None where nothing is removed.

        Raises sqlite3.Error. The transaction is the caller's.
        """
        self.removed, self.bytes, self.refused = 0, 0, []
        self._bodies, self._files = [], {INDEX, JOURNAL}
        if not self.requests:
            return None
        wanted = set(self.requests)
        taken: list[bool] = []
        listed = connection.execute(_LISTED, (self.requests[0], self.requests[-1])).fetchall()
        for seq, name, phase in listed:
            taken.append(seq in wanted and self._take(connection, name, phase))
        self._ranges = _runs([seq for seq, _, _ in listed], taken)
        if not self._ranges:
            return None
        connection.executemany(_CLEAR, self._ranges)
        facts, self.removed = facts_of(connection, self._ranges)
        return {
            "requests": [list(pair) for pair in self._ranges],
            "requests_removed": self.removed,
            "entries_removed": len(self._bodies),
            "bytes_removed": self.bytes,
            "facts": facts,
            "rule": dict(self.rule),
        }

    def carry_out(self, connection: sqlite3.Connection, seq: int) -> None:
        """Remove what `look` found, once entry `seq` says so. Raises sqlite3.Error."""
        connection.executemany(_NAME, [(*pair, seq) for pair in self._ranges])
        connection.executemany(_LEAVE, sorted(self._files))
        connection.executemany(_DELETE, self._bodies)

    def _take(self, connection: sqlite3.Connection, name: str, phase: str) -> bool:
        """Take note of what is removed of a request; return False where it stays as it is."""
        if phase != Phase.CLOSED:
            self.refused.append(f"Request {name} is still open.")
            return False
        following = Following(connection)
        bodies: list[tuple[int]] = []
        files: set[Leftover] = set()
        size = 0
        try:
            for seq, at, kind, body_sha256, prev, own, data in connection.execute(_STEPS, (name,)):
                whole = type(data) is str and sha256(data.encode("utf-8", "replace")).hexdigest() == body_sha256
                if not whole or own != quick_fingerprint(seq, at, kind, name, body_sha256, prev):
                    raise Broken(seq, f"Entry {seq} is not as it was written.")
                if kind in PHASE_KINDS:
                    following.step(kind, seq, at, name, data)
                if kind == Phase.FINISHED:
                    files |= files_named(data)
                bodies.append((seq,))
                size += len(data)
        except Broken as broken:
            self.refused.append(f"Request {name} was left as it is: {broken.what}")
            return False
        self._bodies += bodies
        self._files |= files
        self.bytes += size
        return True


def _runs(listed: list[int], taken: list[bool]) -> Ranges:
    """Return the requests that are taken as ranges within the list, so that none in between is meant as well."""
    edges = [place for place, (one, two) in enumerate(pairwise([False, *taken, False])) if one != two]
    return tuple((listed[begin], listed[end - 1]) for begin, end in zip(edges[::2], edges[1::2], strict=True))
