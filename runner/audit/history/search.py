"""Reads the history: pages of requests, one request as values, and requests that were left open."""

from __future__ import annotations

import contextlib
import itertools
import json
import logging
import sqlite3
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.audit.history.filter import ANYTHING, Filter
from runner.audit.history.finding import ROW, Interrupted, Search, UnreadableRow, line_of
from runner.audit.history.index import NO_FILE, IndexUnusable, SearchIndex, discard, identity, path_of
from runner.audit.history.past_work import PastWork
from runner.audit.history.statistics import Figures, read_figures
from runner.audit.ledger.entry import Entry, stored_entry
from runner.audit.ledger.removal import ContentRemoved, removed_content
from runner.audit.ledger.row import Row, advance
from runner.audit.ledger.tables import DAMAGE, connect_to_read, explained
from runner.model.assessment import Assessment, Level
from runner.model.codec import UnreadableValue, decode
from runner.model.decision import Decision
from runner.model.errors import KnownError
from runner.model.file_changes import FILES_CHANGED
from runner.model.lifecycle import IllegalMove, Phase
from runner.model.request import Request
from runner.model.result import CapturedFile, Result
from runner.model.verdict import RiskVerdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from runner.audit.history.counting import Unit
    from runner.audit.history.past_work import PastSession, PastStep
    from runner.audit.ledger.removal import RemovedContent

__all__ = [
    "ANYTHING",
    "CaseRecord",
    "CaseStep",
    "ContentRemoved",
    "Filter",
    "History",
    "Interrupted",
    "LeftOpen",
    "UnreadableRow",
]

log = logging.getLogger("assent.index")

DECIDED = (Phase.APPROVED, Phase.DENIED, Phase.EXPIRED, Phase.WITHDRAWN)

_BEGINNING = (
    "SELECT seq, CASE WHEN json_valid(data) THEN coalesce(substr(data ->> '$.code', 1, ?), '') ELSE '' END FROM bodies"
)
_GRAVITY = " ".join(f"WHEN '{level.name}' THEN {int(level)}" for level in Level)
_FINDINGS = f"SELECT max(CASE value ->> '$.level' {_GRAVITY} ELSE 0 END) FROM json_each(data, '$.findings')"
_ATTENTION = (
    f"SELECT requests.seq, CASE WHEN json_valid(data) THEN coalesce(({_FINDINGS}), 0) END"
    " FROM requests JOIN entries ON request_id = id AND kind = 'assessed' JOIN bodies ON bodies.seq = entries.seq"
)
"""The gravest finding of each request as a number, 0 for none; NULL for a body that is no JSON."""
_VERDICT = (
    "SELECT requests.seq, CASE WHEN json_valid(data) THEN data -> '$.verdict' END"
    " FROM requests JOIN entries ON request_id = id AND kind = 'assessed' JOIN bodies ON bodies.seq = entries.seq"
)
_GRAVEST = (
    "SELECT requests.seq, CASE WHEN json_valid(data) THEN (SELECT group_concat(value ->> '$.capability')"
    " FROM json_each(data, '$.findings') WHERE value ->> '$.level' = 'CRITICAL') END"
    " FROM requests JOIN entries ON request_id = id AND kind = 'assessed' JOIN bodies ON bodies.seq = entries.seq"
)
"""The capabilities of the CRITICAL findings of each request, joined by commas, which none has; NULL where none is."""
_FILES = (
    "SELECT requests.seq, CASE WHEN json_valid(data) THEN data -> '$.files' END"
    " FROM requests JOIN bodies ON bodies.seq = finished_seq"
)
_ENTRIES = (
    "SELECT seq, at, kind, request_id, body_sha256, prev, hash, data"
    " FROM entries LEFT JOIN bodies USING (seq) WHERE request_id = ? ORDER BY seq"
)


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

    @property
    def unforeseen(self) -> tuple[str, ...]:
        """What its run did that its assessment had not foreseen, and what it was found to have removed after it."""
        observed = None if self.result is None else self.result.observed
        bodies = (step.body.get("unforeseen") for step in self.steps if step.entry.kind == FILES_CHANGED)
        removed = (one for found in bodies if isinstance(found, list) for one in found if isinstance(one, str))
        return (*(observed.unforeseen if observed is not None else ()), *removed)


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

    def __init__(self, path: Path, work: PastWork | None = None) -> None:
        """`work` is what an earlier reader has read of programs at work: it need not be read again."""
        self.path = path
        self._connection = connect_to_read(path)
        self._work = PastWork() if work is None else work
        self._index: SearchIndex | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._interrupts = 0

    def close(self) -> None:
        """End a running query and release the file."""
        if not self._closed:
            self.interrupt()
        with self._lock:
            self._closed = True
            self._connection.close()
            self._drop_index()

    def interrupt(self) -> None:
        """Make the query that runs in another thread end at once, with Interrupted."""
        self._interrupts += 1
        # Another thread may have closed it just now.
        with contextlib.suppress(sqlite3.ProgrammingError):
            self._connection.interrupt()
        if (index := self._index) is not None:
            index.interrupt()

    def page(self, wanted: Filter = ANYTHING, before: int | None = None, limit: int = 200) -> list[Row]:
        """Return the readable ones of `lines`."""
        return [line for line in self.lines(wanted, before, limit) if isinstance(line, Row)]

    def lines(
        self, wanted: Filter = ANYTHING, before: int | None = None, limit: int = 200
    ) -> list[Row | UnreadableRow]:
        """Return the newest requests that fit, newest first, also those that cannot be read.

        `before` is the `seq` of the last line of the page above.
        """
        return self._searched(wanted, before, limit)

    def fitting(self, wanted: Filter, names: Iterable[str]) -> dict[str, Row | UnreadableRow]:
        """Return those of the requests called `names` that fit, by name. Asks for each, and for nothing else."""
        with self._reading() as connection:
            search = Search(connection, wanted)
            found = ((name, search.line(name)) for name in names)
            return {name: line for name, line in found if line is not None}

    def choices(self, name: str) -> tuple[str, ...]:
        """Return the values that a facet of `Filter` has had, most frequent first, as far as they are indexed."""
        with self._reading() as connection:
            index = self._fresh_index(connection)
            return () if index is None else index.choices(name)

    def indexed(self) -> tuple[int, int]:
        """Return the number of the entry up to which the history is indexed, and that of the last one."""
        with self._reading() as connection:
            index = self._fresh_index(connection)
            (last,) = connection.execute("SELECT coalesce(max(seq), 0) FROM entries").fetchone()
            if index is None:
                return 0, last
            with index.reading():
                return min(index.seq, last), last

    def figures(self, unit: Unit, first: int, last: int) -> Figures:
        """Return what the requests of the days or months `first` to `last` add up to."""
        with self._reading() as connection:
            index = self._fresh_index(connection)
            try:
                return read_figures(connection, index, unit, first, last)
            except IndexUnusable:
                self._give_up_index()
                return read_figures(connection, None, unit, first, last)

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

    def attentions(self, seqs: Iterable[int]) -> dict[int, Level | None]:
        """Return the level of the worst finding of requests, as `Assessment.attention`, by the `seq` of their rows.

        What was not assessed, and what has no content any more or a damaged one, is missing.
        """
        wanted = tuple(seqs)
        marks = ", ".join("?" * len(wanted))
        found = self._all(f"{_ATTENTION} WHERE requests.seq IN ({marks})", wanted)
        return {seq: Level(worst) if worst > Level.LOW else None for seq, worst in found if worst is not None}

    def sessions(
        self, wanted: Filter = ANYTHING, before: int | None = None, limit: int | None = None
    ) -> list[PastSession]:
        """Return the newest programs at work that fit, newest first; `before` as for `lines`."""
        with self._reading() as connection:
            return list(itertools.islice(self._work.fitting(connection, wanted, before), limit))

    def session(self, name: str) -> PastSession | None:
        """Return the program at work with this id; None for none."""
        with self._reading() as connection:
            return self._work.one(connection, name)

    def session_steps(self, name: str) -> tuple[PastStep, ...]:
        """Return what the program at work with this id did and what was decided about it, oldest first."""
        with self._reading() as connection:
            return self._work.steps(connection, name)

    def verdicts(self, seqs: Iterable[int]) -> dict[int, RiskVerdict]:
        """Return what was found that requests would do, by the `seq` of their rows.

        What was not assessed, and what has no content any more or a damaged one, is missing.
        """
        wanted = tuple(seqs)
        marks = ", ".join("?" * len(wanted))
        found = {}
        for seq, text in self._all(f"{_VERDICT} WHERE requests.seq IN ({marks})", wanted):
            with contextlib.suppress(UnreadableValue):
                found[seq] = decode(RiskVerdict, json.loads(text or "{}"))
        return found

    def gravest(self, seqs: Iterable[int]) -> dict[int, frozenset[str]]:
        """Return what the CRITICAL findings of requests would let them do, as `Capability`, by the `seq` of their rows.

        What has none, and what has no content any more or a damaged one, is missing.
        """
        wanted = tuple(seqs)
        marks = ", ".join("?" * len(wanted))
        found = self._all(f"{_GRAVEST} WHERE requests.seq IN ({marks})", wanted)
        return {seq: frozenset(str(joined).split(",")) for seq, joined in found if joined is not None}

    def files(self, seqs: Iterable[int], endings: tuple[str, ...]) -> dict[int, tuple[CapturedFile, ...]]:
        """Return the files with one of `endings` (".png") that runs created, by the `seq` of their requests' rows.

        What created none, and what has no content any more or a damaged one, is missing.
        """
        wanted = tuple(seqs)
        marks = ", ".join("?" * len(wanted))
        found = {}
        for seq, text in self._all(f"{_FILES} WHERE requests.seq IN ({marks})", wanted):
            listed = json.loads(text or "[]")
            with contextlib.suppress(UnreadableValue, TypeError, KeyError):
                fitting = [one for one in listed if str(one["path"]).lower().endswith(endings)]
                if fitting:
                    found[seq] = tuple(decode(CapturedFile, one) for one in fitting)
        return found

    def count(self, wanted: Filter = ANYTHING) -> int:
        """Return how many requests fit."""
        return len(self._searched(wanted, None, None))

    def line(self, request_id: str) -> Row | UnreadableRow | None:
        """Return the line of one request, None where it never arrived."""
        found = self._all(f"{ROW} WHERE id = ?", (request_id,))
        return line_of(found[0]) if found else None

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

    def removed(self, arrival: int) -> RemovedContent | None:
        """Return how the content of the request that arrived with entry `arrival` was removed; None where it was not.

        What is said here is checked by `verify` alone.
        """
        with self._reading() as connection:
            return removed_content(connection, arrival)

    def open_cases(self) -> LeftOpen:
        """Return the requests that were not closed: those that the previous session left."""
        found = self._all(f"{ROW} WHERE phase <> 'closed' ORDER BY seq", ())
        lines = [line_of(columns) for columns in found]
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
        found = self._all(_ENTRIES, (row.id,))
        if any(data is None for *_, data in found) and (removed := self.removed(row.seq)) is not None:
            raise ContentRemoved(removed, row, tuple(stored_entry(columns) for *columns, _ in found))
        steps = tuple(CaseStep(stored_entry(columns), _body(data, columns[0])) for *columns, data in found)
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

    def _searched(self, wanted: Filter, before: int | None, limit: int | None) -> list[Row | UnreadableRow]:
        with self._reading() as connection:
            index = self._fresh_index(connection) if wanted.narrows else None
            before_it = self._interrupts
            search = Search(connection, wanted, before, stopped=lambda: self._interrupts != before_it)
            if index is not None:
                try:
                    return search.with_index(index, limit)
                except IndexUnusable:
                    if self._interrupts != before_it:
                        # FTS5 may call a query that was ended in the middle of its own reading damage.
                        raise Interrupted("The search was stopped.") from None
                    self._give_up_index()
            return search.without_index(limit)

    def _fresh_index(self, connection: sqlite3.Connection) -> SearchIndex | None:
        """Return the index as it is now, None where there is none that fits."""
        file = identity(path_of(self.path))
        if self._index is not None and self._index.file != file:
            self._drop_index()
        if self._index is None and file != NO_FILE:
            with contextlib.suppress(IndexUnusable):
                self._index = SearchIndex(self.path, connection)
        return self._index

    def _drop_index(self) -> None:
        index, self._index = self._index, None
        if index is not None:
            index.close()

    def _give_up_index(self) -> None:
        """Remove a damaged index, so that it is made again."""
        self._drop_index()
        log.warning("The search index is damaged. It is made again.")
        with contextlib.suppress(OSError):
            discard(self.path)

    def _all(self, statement: str, values: Iterable[object]) -> list[tuple[Any, ...]]:
        with self._reading() as connection:
            return connection.execute(statement, tuple(values)).fetchall()

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Give the connection to one thread at a time, and explain its errors."""
        with self._lock:
            try:
                yield self._connection
            except sqlite3.ProgrammingError as error:
                raise Interrupted("The history was closed.", "Open it again.") from error
            except DAMAGE as error:
                if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
                    raise Interrupted("The search was stopped.") from error
                raise explained(error, self.path) from error


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
