"""The last signed head, stored outside the ledger: a ledger without it was rolled back, cut or replaced."""

from __future__ import annotations

import json
import logging
import threading
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from runner.audit.ledger.tables import DAMAGE, connect_to_read, explained
from runner.model.errors import KnownError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

log = logging.getLogger("assent.ledger")

EVERY = 30.0
"""Shortest interval between two writes in seconds: a keyring is too slow for one per entry."""
CLOSING = 0.5
"""Seconds that `close` waits for the last write. If that is lost the ledger is ahead, which is valid."""
MISMATCH = (
    "If you did not restore a backup yourself, treat this history as rewritten: keep the file for inspection and begin"
    " a new history. Nothing is signed until then."
)


@dataclass(frozen=True, slots=True)
class Anchor:
    """A signed head of one ledger. The ledger may be ahead of it, never behind."""

    ledger: str
    """Hash of the first entry, which holds a random number: it identifies the ledger."""
    seq: int
    hash: str

    def text(self) -> str:
        """Return the text that is stored beside the key."""
        return json.dumps(asdict(self))


def parsed(text: str | None) -> Anchor | None:
    """Return the anchor that `text` holds, None where there is none. Raises KnownError where it is damaged."""
    if not text:
        return None
    try:
        data = json.loads(text)
        anchor = Anchor(data["ledger"], data["seq"], data["hash"])
    except (ValueError, TypeError, KeyError, RecursionError):
        anchor = None
    if anchor and type(anchor.seq) is int and isinstance(anchor.ledger, str) and isinstance(anchor.hash, str):
        return anchor
    raise KnownError(
        "What is kept beside the signing key about the end of the history cannot be read.",
        "Begin a new history; until then a history that was rolled back would not be noticed.",
    )


def difference(path: Path, anchor: Anchor) -> KnownError | None:
    """Return why the ledger at `path` is not the one that `anchor` was taken from, or None where it is.

    Reads two entries only; `verify` checks everything between them.
    """
    connection = connect_to_read(path)
    try:
        found = dict(
            connection.execute("SELECT seq, hash FROM entries WHERE seq IN (1, ?)", (anchor.seq,)).fetchall(),
        )
        (last,) = connection.execute("SELECT coalesce(max(seq), 0) FROM entries").fetchone()
    except DAMAGE as error:
        raise explained(error, path) from error
    finally:
        connection.close()
    if found.get(1) != anchor.ledger:
        what = "This is not the history that Assent last signed here: that one was removed or replaced."
    elif anchor.seq not in found:
        what = (
            f"The history ends with entry {last:,}, but entries up to {anchor.seq:,} were signed: it is an older copy,"
            " or its end was removed."
        )
    elif found[anchor.seq] != anchor.hash:
        what = f"The history was rewritten: entry {anchor.seq:,} is not the one that was signed."
    else:
        return None
    return KnownError(what, MISMATCH)


class AnchorKeeper:
    """Writer of the newest anchor, on a thread of its own, at most once in `every` seconds and once at the end."""

    def __init__(
        self,
        write: Callable[[Anchor], object],
        every: float = EVERY,
        done: Callable[[KnownError | None], None] = lambda error: None,
    ) -> None:
        """`write` may block and may raise KnownError; `done` gets that, or None after it worked, in the thread."""
        self._write = write
        self._every = every
        self._done = done
        self._newest: Anchor | None = None
        self._written: Anchor | None = None
        self._closing = threading.Event()
        self._dropped = threading.Event()
        self._writing = threading.Lock()
        """Held while an anchor is written: once `drop` had it, nothing more is."""
        self._news = threading.Condition()
        # A daemon: a keyring that does not answer must not keep the process alive.
        self._thread = threading.Thread(target=self._run, name="ledger-anchor", daemon=True)
        self._thread.start()

    def signed(self, anchor: Anchor) -> None:
        """Set a newer signed head to be written. May be called on any thread; does not wait for the write."""
        with self._news:
            self._newest = anchor
            self._news.notify()

    def close(self, timeout: float = CLOSING) -> bool:
        """Write the newest and end; False where that took longer than `timeout` seconds."""
        with self._news:
            self._closing.set()
            self._news.notify()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def drop(self) -> None:
        """End without a further write: the ledger is given up. Blocks until a write under way is over."""
        self._dropped.set()
        self.close(0.0)
        with self._writing:
            return

    def _run(self) -> None:
        while True:
            with self._news:
                while self._newest == self._written and not self._closing.is_set():
                    self._news.wait()
                newest, last = self._newest, self._closing.is_set()
            if newest is not None and newest != self._written:
                self._keep(newest)
            if last:
                return
            self._closing.wait(self._every)

    def _keep(self, anchor: Anchor) -> None:
        with self._writing:
            if self._dropped.is_set():
                return
            try:
                self._write(anchor)
            except KnownError as error:
                log.warning("the end of the history could not be noted outside of it: %s", error)
                self._done(error)
            else:
                self._done(None)
        # Also after a failure: the next signed head is the next attempt.
        self._written = anchor
