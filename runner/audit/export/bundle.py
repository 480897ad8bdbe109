"""Every entry of the ledger with its hashes and signatures, for `resources/assent_verify.py`."""

from __future__ import annotations

from contextlib import closing
from json.encoder import encode_basestring_ascii as quoted
from typing import TYPE_CHECKING

from runner.audit.history.finding import Interrupted
from runner.audit.ledger.entry import Entry, stored_entry
from runner.audit.ledger.tables import DAMAGE, LedgerDamaged, connect_to_read, explained
from runner.model.request import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

FORMAT = 2
"""Version of the form of the lines; the verifier names it too. From the second on, bodies may have been removed."""
PROGRESS_EVERY = 1000
_ALL = (
    "SELECT seq, at, kind, request_id, body_sha256, prev, hash, data"
    " FROM entries LEFT JOIN bodies USING (seq) ORDER BY seq"
)


class EntryBundle:
    """The entries of the ledger at `path`, as they are when it is read. Any thread may call `stop`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stopped = False
        self.head: dict[str, object] = {}
        """Number, hash, key and signature of the last entry, once all were read."""

    def stop(self) -> None:
        self._stopped = True

    def lines(self, progress: Callable[[int], None] = lambda count: None) -> Generator[str, None, None]:
        """Yield a line that names the form, one per entry, and the signed head. Raises KnownError."""
        with closing(connect_to_read(self._path)) as connection:
            try:
                # One state of the file, while others write.
                connection.execute("BEGIN")
                yield _line({"assent": "entries", "format": FORMAT})
                last: Entry | None = None
                for *columns, data in connection.execute(_ALL):
                    if self._stopped:
                        raise Interrupted("The export was stopped.")
                    last = stored_entry(columns)
                    yield _entry_line(last, data)
                    if last.seq % PROGRESS_EVERY == 0:
                        progress(last.seq)
                head = connection.execute("SELECT seq, hash, key, signature FROM head").fetchone()
            except DAMAGE as error:
                raise explained(error, self._path) from error
        if head is None or last is None:
            raise LedgerDamaged(f"The ledger {self._path} is damaged: the note of its last entry is missing.")
        self.head = dict(zip(("seq", "hash", "key", "signature"), head, strict=True))
        yield _line({"head": self.head})


def _entry_line(entry: Entry, data: object) -> str:
    """Return what `canonical` makes of the entry with its body, in a third of the time."""
    body = quoted(data) if isinstance(data, str) else "null"
    return (
        f'{{"at":{entry.at},"body":{body},"body_sha256":{quoted(entry.body_sha256)},"hash":{quoted(entry.hash)},'
        f'"kind":{quoted(entry.kind)},"prev":{quoted(entry.prev)},"request_id":{quoted(entry.request_id)},'
        f'"seq":{entry.seq}}}\n'
    )


def _line(fields: dict[str, object]) -> str:
    return canonical(fields).decode("ascii") + "\n"
