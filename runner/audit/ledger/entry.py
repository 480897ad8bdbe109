"""One entry of the ledger, its canonical form, and how each is chained to the one before."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii as quoted
from typing import TYPE_CHECKING, Any

from runner.model.errors import KnownError
from runner.model.request import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

GENESIS = "genesis"
KEY = "key"
SEALED = "sealed"
UPGRADED = "upgraded"
"""The file was brought to a newer format, before anything else in its session."""
REMOVED = "removed"
"""The content of requests was removed: it names which, and is signed by itself."""
RESERVED = frozenset({GENESIS, KEY, SEALED, UPGRADED, REMOVED})
"""Kinds that only the ledger itself writes."""

NOTHING_BEFORE = "0" * 64
"""The `prev` of the first entry."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the chain. The body is stored apart and bound by its hash, so that it can be removed later."""

    seq: int
    """Counts from 1 without gaps."""
    at: int
    """Microseconds since the epoch: whole numbers, so that every machine hashes the same bytes."""
    kind: str
    request_id: str
    """Empty where the entry is about no request."""
    body_sha256: str
    prev: str
    """Hash of the entry before."""
    hash: str
    """SHA-256 (hex) over the canonical JSON of all the fields above."""

    @property
    def seconds(self) -> float:
        """Seconds since the epoch."""
        return self.at / 1_000_000


@dataclass(frozen=True, slots=True)
class NewEntry:
    """An entry before it has its place in the chain."""

    at: int
    kind: str
    request_id: str
    body: Mapping[str, object]


class DamagedEntry(KnownError):
    """A stored entry whose columns are not of the types that were written."""


def stored_entry(columns: Iterable[Any]) -> Entry:
    """Return the entry that was read from the table. Raises DamagedEntry where a column has another type.

    STRICT tables only hold for what is written through SQLite; a damaged page can hold anything.
    """
    seq, at, *texts = columns
    if type(seq) is int and type(at) is int and all(type(text) is str for text in texts):
        return Entry(seq, at, *texts)
    raise DamagedEntry(f"Entry {seq!r} is damaged: a column has another type than was written.", "Run `assent verify`.")


def chained(before: Entry | None, draft: NewEntry, body: bytes) -> Entry:
    """Return the entry that `draft` becomes after `before`; `body` is the canonical JSON of its body."""
    seq, prev = (before.seq + 1, before.hash) if before else (1, NOTHING_BEFORE)
    body_sha256 = hashlib.sha256(body).hexdigest()
    return Entry(
        seq,
        draft.at,
        draft.kind,
        draft.request_id,
        body_sha256,
        prev,
        fingerprint(seq, draft.at, draft.kind, draft.request_id, body_sha256, prev),
    )


def fingerprint(seq: int, at: int, kind: str, request_id: str, body_sha256: str, prev: str) -> str:
    """Return SHA-256 (hex) over canonical JSON: sorted keys, no spaces, ASCII."""
    fields: dict[str, object] = {
        "seq": seq,
        "at": at,
        "kind": kind,
        "request_id": request_id,
        "body_sha256": body_sha256,
        "prev": prev,
    }
    return hashlib.sha256(canonical(fields)).hexdigest()


def quick_fingerprint(seq: int, at: int, kind: str, request_id: str, body_sha256: str, prev: str) -> str:
    """Return what `fingerprint` does, in a third of the time, where the two hashes are known to be such."""
    if type(seq) is not int or type(at) is not int:
        return ""
    fields = (
        f'{{"at":{at},"body_sha256":"{body_sha256}","kind":{quoted(kind)},"prev":"{prev}",'
        f'"request_id":{quoted(request_id)},"seq":{seq}}}'
    )
    return hashlib.sha256(fields.encode()).hexdigest()
