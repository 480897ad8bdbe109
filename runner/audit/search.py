"""Reads the history: pages of requests, one request as values, and requests that were left open."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.audit.entry import Entry, stored_entry
from runner.audit.row import COLUMNS, Row, advance, from_columns
from runner.audit.tables import DAMAGE, connect_to_read, explained
from runner.model.assessment import Assessment, Level
from runner.model.codec import decode
from runner.model.decision import Decision, Verdict
from runner.model.errors import KnownError
from runner.model.lifecycle import IllegalMove, Phase
from runner.model.request import Request
from runner.model.result import Outcome, Result

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

DECIDED = (Phase.APPROVED, Phase.DENIED, Phase.EXPIRED, Phase.WITHDRAWN)

_ROW = f"SELECT {', '.join(COLUMNS)} FROM requests"
_BEGINNING = (
    "SELECT seq, CASE WHEN json_valid(data) THEN coalesce(substr(data ->> '$.code', 1, ?), '') ELSE '' END FROM bodies"
)
_ENTRIES = (
    "SELECT seq, at, kind, request_id, body_sha256, prev, hash, data"
    " FROM entries LEFT JOIN bodies USING (seq) WHERE request_id = ? ORDER BY seq"
)


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter for requests; fields that are not set have no effect."""

    agent: str = ""
    level: Level | None = None
    verdict: Verdict | None = None
    outcome: Outcome | None = None
    text: str = ""
    """Somewhere in title, code, output or error. Case does not matter for the letters a to z."""
    since: float | None = None
    """Seconds since the epoch, inclusive."""
    until: float | None = None
    """Seconds since the epoch, exclusive."""


ANYTHING = Filter()


@dataclass(frozen=True, slots=True)
class CaseStep:
    """One entry about a request, with its body."""

    entry: Entry
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CaseRecord:
    """Everything the ledger knows of one request."""

    row: Row
    request: Request
    assessment: Assessment | None
    decision: Decision | None
    result: Result | None
    steps: tuple[CaseStep, ...]
    """All its entries, oldest first; bodies of kinds without a value of their own are read here."""


@dataclass(frozen=True, slots=True)
class UnreadableRow:
    """A request in the list that is damaged, or that a newer version wrote."""

    seq: int
    id: str
    """Where that is damaged, the entry with which it arrived."""
    why: str


@dataclass(frozen=True, slots=True)
class LeftOpen:
    """The requests that were not closed, oldest first."""

    cases: tuple[CaseRecord, ...] = ()
    unreadable: tuple[UnreadableRow, ...] = ()


class History:
    """A reader with its own connection, for any thread; calls wait for each other.

    Every method raises KnownError where the ledger cannot be read. A reader that must not wait for another thread's
    search uses its own History.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection = connect_to_read(path)
        self._lock = threading.Lock()
        self._closed = False

    def close(self) -> None:
        """End a running query and release the file."""
        if not self._closed:
            self.interrupt()
        with self._lock:
            self._closed = True
            self._connection.close()

    def interrupt(self) -> None:
        """Make the query that runs in another thread end at once, with Interrupted."""
        # Another thread may have closed it just now.
        with contextlib.suppress(sqlite3.ProgrammingError):
            self._connection.interrupt()

    def page(self, wanted: Filter = ANYTHING, before: int | None = None, limit: int = 200) -> list[Row]:
        """Return the readable ones of `lines`."""
        return [line for line in self.lines(wanted, before, limit) if isinstance(line, Row)]

    def lines(
        self, wanted: Filter = ANYTHING, before: int | None = None, limit: int = 200
    ) -> list[Row | UnreadableRow]:
        """Return the newest requests that fit, newest first, also those that cannot be read.

        `before` is the `seq` of the last line of the page above.
        """
        where, values = _where(wanted, before)
        found = self._all(f"{_ROW}{where} ORDER BY seq DESC LIMIT ?", (*values, limit))
        return [_line(columns) for columns in found]

    def newest_cases(self, limit: int) -> list[CaseRecord]:
        """Return the newest requests as values; those that cannot be read are left out."""
        records = (self._readable(row) for row in self.page(limit=limit))
        return [record for record in records if isinstance(record, CaseRecord)]

    def beginnings(self, seqs: Iterable[int], length: int = 400) -> dict[int, str]:
        """Return the first `length` characters of code of requests, by the `seq` of their rows.

        Damaged rows are missing.
        """
        wanted = tuple(seqs)
        marks = ", ".join("?" * len(wanted))
        return dict(self._all(f"{_BEGINNING} WHERE seq IN ({marks})", (length, *wanted)))

    def count(self, wanted: Filter = ANYTHING) -> int:
        """Return how many requests fit."""
        where, values = _where(wanted, None)
        ((number,),) = self._all(f"SELECT count(*) FROM requests{where}", values)
        return int(number)

    def line(self, request_id: str) -> Row | UnreadableRow | None:
        """Return the line of one request, None where it never arrived."""
        found = self._all(f"{_ROW} WHERE id = ?", (request_id,))
        return _line(found[0]) if found else None

    def row(self, request_id: str) -> Row | None:
        """Return the row of one request, None where it never arrived."""
        line = self.line(request_id)
        if isinstance(line, UnreadableRow):
            raise KnownError(line.why, "Run `assent verify`.")
        return line

    def case(self, request_id: str) -> CaseRecord | None:
        """Return one request as values; None where it never arrived."""
        row = self.row(request_id)
        return None if row is None else self._record(row)

    def open_cases(self) -> LeftOpen:
        """Return the requests that were not closed: those that the previous session left."""
        found = self._all(f"{_ROW} WHERE phase <> 'closed' ORDER BY seq", ())
        lines = [_line(columns) for columns in found]
        read = [line if isinstance(line, UnreadableRow) else self._readable(line, whole=True) for line in lines]
        return LeftOpen(
            tuple(one for one in read if isinstance(one, CaseRecord)),
            tuple(one for one in read if isinstance(one, UnreadableRow)),
        )

    def _readable(self, row: Row, *, whole: bool = False) -> CaseRecord | UnreadableRow:
        """Return the record of `row`, or why it cannot be read; `whole`: its entries must lead to just this row."""
        try:
            record = self._record(row)
            if whole and _replayed(record) != row:
                return UnreadableRow(row.seq, row.id, "The list of requests says something else than its entries.")
        except Interrupted:
            raise
        except KnownError as error:
            return UnreadableRow(row.seq, row.id, error.what)
        except (IllegalMove, ValueError) as error:
            return UnreadableRow(row.seq, row.id, f"Its entries make no sense: {error}.")
        return record

    def _record(self, row: Row) -> CaseRecord:
        steps = tuple(
            CaseStep(stored_entry(columns), _body(data, columns[0]))
            for *columns, data in self._all(_ENTRIES, (row.id,))
        )
        bodies = {step.entry.kind: step.body for step in steps}
        decided = next((bodies[phase] for phase in DECIDED if phase in bodies), None)
        finished = bodies.get(Phase.FINISHED, {})
        return CaseRecord(
            row=row,
            request=decode(Request, bodies.get(Phase.ARRIVED)),
            assessment=decode(Assessment, bodies[Phase.ASSESSED]) if Phase.ASSESSED in bodies else None,
            decision=None if decided is None else decode(Decision, decided),
            result=decode(Result, finished) if "outcome" in finished else None,
            steps=steps,
        )

    def _all(self, statement: str, values: Iterable[object]) -> list[tuple[Any, ...]]:
        with self._lock:
            try:
                return self._connection.execute(statement, tuple(values)).fetchall()
            except sqlite3.ProgrammingError as error:
                raise Interrupted("The history was closed.", "Open it again.") from error
            except DAMAGE as error:
                if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
                    raise Interrupted("The search was stopped.") from error
                raise explained(error, self.path) from error


class Interrupted(KnownError):
    """A query was ended by `interrupt` or `close`."""


def _line(columns: tuple[Any, ...]) -> Row | UnreadableRow:
    try:
        return from_columns(columns)
    except KnownError as error:
        seq, name, *_ = columns
        return UnreadableRow(seq, name if isinstance(name, str) and name else f"entry {seq}", error.what)


def _replayed(record: CaseRecord) -> Row | None:
    """Return the row that follows from the entries. Raises what `advance` does."""
    row: Row | None = None
    for step in record.steps:
        row = advance(row, step.entry, step.body)
    return row


def _body(data: str | bytes | None, seq: int) -> dict[str, Any]:
    try:
        body = json.loads(data or "null")
    except (ValueError, TypeError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise KnownError(f"The body of entry {seq} is missing or damaged.", "Run `assent verify`.")
    return body


def _where(wanted: Filter, before: int | None) -> tuple[str, list[object]]:
    """Return the WHERE clause and its values."""
    tests: list[tuple[str, object]] = [
        ("seq < ?", before),
        ("agent = ?", wanted.agent or None),
        ("level = ?", None if wanted.level is None else int(wanted.level)),
        ("verdict = ?", wanted.verdict),
        ("outcome = ?", wanted.outcome),
        ("arrived_at >= ?", wanted.since),
        # By number as well: the list is sorted by it, and nearly all outside of a period is then not looked at.
        ("seq >= (SELECT min(seq) FROM requests WHERE arrived_at >= ?)", wanted.since),
        ("arrived_at < ?", wanted.until),
        ("seq <= (SELECT max(seq) FROM requests WHERE arrived_at < ?)", wanted.until),
    ]
    kept = [(clause, value) for clause, value in tests if value is not None]
    clauses = [clause for clause, _ in kept]
    values = [value for _, value in kept]
    if wanted.text:
        clauses.append(_CONTAINS)
        rough, exact = _like(json.dumps(wanted.text)[1:-1]), _like(wanted.text)
        values += [exact, rough, exact, rough, exact, exact, exact]
    return (f" WHERE {' AND '.join(clauses)}" if clauses else ""), values


# The body is JSON: its raw text is searched first, as that is cheap, and only then parsed.
_CONTAINS = (
    "(title LIKE ? ESCAPE '\\'"
    " OR EXISTS (SELECT 1 FROM bodies WHERE bodies.seq = requests.seq AND data LIKE ? ESCAPE '\\'"
    " AND data ->> '$.code' LIKE ? ESCAPE '\\')"
    " OR EXISTS (SELECT 1 FROM bodies WHERE bodies.seq = requests.finished_seq AND data LIKE ? ESCAPE '\\'"
    " AND (data ->> '$.stdout' LIKE ? ESCAPE '\\' OR data ->> '$.stderr' LIKE ? ESCAPE '\\'"
    " OR data ->> '$.error' LIKE ? ESCAPE '\\')))"
)


def _like(text: str) -> str:
    for special in ("\\", "%", "_"):
        text = text.replace(special, "\\" + special)
    return f"%{text}%"
