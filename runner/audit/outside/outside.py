"""Signed heads that are kept outside of the ledger where a person chose: in a file, in git, as time stamps.

Whoever rewrites the ledger with everything beside it, the key included, has to rewrite these as well. Nothing waits for
them: what cannot be written is said, and tried again with the next head.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import closing
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Protocol

from runner.audit.ledger.seal import genuine
from runner.audit.ledger.tables import DAMAGE, connect_to_read, explained
from runner.model.errors import KnownError
from runner.system.plain_file import open_file

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from runner.audit.ledger.anchor import Anchor
    from runner.audit.ledger.seal import Seal

LONGEST_LINE = 2000
_HASH = "SELECT hash FROM entries WHERE seq = ?"
_LAST = "SELECT coalesce(max(seq), 0) FROM entries"


@dataclass(frozen=True, slots=True)
class SignedHead:
    """The last entry of a ledger at some time, signed."""

    ledger: str
    """Hash of the first entry."""
    seq: int
    hash: str
    key: str
    """Public key, hex."""
    signature: str
    at: float
    """When it was noted, in seconds since the epoch. Only a time stamp proves it."""

    @classmethod
    def of(cls, head: Anchor, seal: Seal) -> SignedHead:
        """Return `head`, signed now."""
        return cls(head.ledger, head.seq, head.hash, seal.public, seal.sign(head.seq, head.hash), time.time())

    @classmethod
    def read(cls, line: str) -> SignedHead | None:
        """Return the head that a line holds; None where it holds none that was signed by the key it names."""
        try:
            data = json.loads(line)
            head = cls(**{field.name: data[field.name] for field in fields(cls)})
        except (ValueError, TypeError, KeyError, RecursionError):
            return None
        texts = (head.ledger, head.hash, head.key, head.signature)
        if type(head.seq) is not int or not all(type(text) is str for text in texts):
            return None
        return head if genuine(head.key, head.seq, head.hash, head.signature) else None

    @property
    def line(self) -> str:
        """The head as a line of JSON."""
        return json.dumps({"assent": "head", **asdict(self)}, sort_keys=True)

    @property
    def day(self) -> str:
        """When it was noted, for people."""
        try:
            return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(self.at))
        except (ValueError, OverflowError, OSError, TypeError):
            return "an unknown time"


class OutsideAnchor(Protocol):
    """A place outside of the ledger. Every method may block, for a minute at most, and raises KnownError."""

    every: float
    """Shortest time between two heads, in seconds."""

    @property
    def where(self) -> str:
        """The place, for people."""
        ...

    def note(self, head: SignedHead) -> None:
        """Add a head."""
        ...

    def heads(self) -> Iterator[SignedHead | None]:
        """Yield the heads, oldest first; None for what is not a signed head."""
        ...


class FileAnchor:
    """A file to which lines are only ever added."""

    every = 30.0

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def where(self) -> str:
        return str(self._path)

    def note(self, head: SignedHead) -> None:
        try:
            descriptor = open_file(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
            with os.fdopen(descriptor, "r+b", buffering=0) as file:
                size = file.seek(0, os.SEEK_END)
                # A line that was cut off by a full disk or a crash must not swallow this one.
                begin = b"" if not size or os.pread(file.fileno(), 1, size - 1) == b"\n" else b"\n"
                file.write(begin + head.line.encode("ascii") + b"\n")
                os.fsync(file.fileno())
        except OSError as error:
            raise _unreachable(self.where, error.strerror or str(error)) from error

    def heads(self) -> Iterator[SignedHead | None]:
        try:
            with os.fdopen(open_file(self._path, os.O_RDONLY), "rb") as file:
                while line := file.readline(LONGEST_LINE):
                    yield SignedHead.read(line.decode("ascii", "replace"))
        except FileNotFoundError:
            raise KnownError(
                f"There are no heads in {self.where}: the file is missing.",
                "It is made with the next signed head. If it was there before, somebody removed it.",
            ) from None
        except OSError as error:
            raise _unreachable(self.where, error.strerror or str(error)) from error


@dataclass(frozen=True, slots=True)
class OutsideVerdict:
    """What a place outside says about a ledger."""

    where: str
    same: int = 0
    """Heads of which the ledger has the entry."""
    newest: SignedHead | None = None
    """The last one of these."""
    broken: int | None = None
    """The first entry that is not what it was."""
    what: str = ""
    """In which way the ledger is another one than was noted, or why that could not be compared."""

    @property
    def words(self) -> str:
        """The result in a sentence."""
        if self.what:
            return self.what
        if self.newest is None:
            return f"No head of this history is in {self.where} yet."
        return f"{self.same:,} heads in {self.where} fit, the last one of entry {self.newest.seq:,}."


def compare(ledger: Path, anchors: Sequence[OutsideAnchor], key: str = "") -> list[OutsideVerdict]:
    """Compare the ledger with what was noted outside of it; memory does not grow with either. Raises KnownError.

    With `key` (hex) only heads that this key signed count.
    """
    try:
        with closing(connect_to_read(ledger)) as connection:
            return [_compared(connection, anchor, key) for anchor in anchors]
    except DAMAGE as error:
        raise explained(error, ledger) from error


def _compared(connection: sqlite3.Connection, anchor: OutsideAnchor, key: str) -> OutsideVerdict:
    found = OutsideVerdict(anchor.where)
    try:
        return _against(connection, anchor.where, anchor.heads(), key)
    except KnownError as error:
        return OutsideVerdict(found.where, what=f"{error.what} {error.remedy}".strip())


def _against(
    connection: sqlite3.Connection, where: str, heads: Iterable[SignedHead | None], key: str
) -> OutsideVerdict:
    (own,) = connection.execute(_HASH, (1,)).fetchone() or ("",)
    (last,) = connection.execute(_LAST).fetchone()
    same, unsigned, newest, other = 0, 0, None, None
    for head in heads:
        if head is None or (key and head.key != key):
            unsigned += 1
            continue
        if head.ledger != own:
            other = head
            continue
        other = None
        found = connection.execute(_HASH, (head.seq,)).fetchone()
        if found is None:
            what = (
                f"The history ends with entry {last:,}, but entry {head.seq:,} was noted in {where} on {head.day}: it"
                " is an older copy, or its end was removed."
            )
            return OutsideVerdict(where, same, newest, last + 1, what)
        if found[0] != head.hash:
            first = (newest.seq if newest else 0) + 1
            what = (
                f"Entry {head.seq:,} is not the one that was noted in {where} on {head.day}: the history was rewritten,"
                f" from an entry between {first:,} and {head.seq:,} on."
            )
            return OutsideVerdict(where, same, newest, head.seq, what)
        same, newest = same + 1, head
    if other is not None:
        what = f"The last head in {where}, of {other.day}, is of another history: that one was replaced by this one."
        return OutsideVerdict(where, same, newest, 1, what)
    if unsigned and not same:
        return OutsideVerdict(where, what=f"Nothing in {where} was signed by the key of this installation.")
    return OutsideVerdict(where, same, newest)


def _unreachable(where: str, why: str) -> KnownError:
    return KnownError(f"The end of the history cannot be noted in {where}: {why}.", "Check that place, or the setting.")
