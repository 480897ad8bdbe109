"""Finds the requests that fit a filter, newest first: by the search index as far as that reaches, else one by one."""

from __future__ import annotations

import heapq
import itertools
import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from runner.audit.history.filter import KINDS, UNFORESEEN
from runner.audit.history.terms import SoughtWords
from runner.audit.ledger.row import COLUMNS, Row, from_columns
from runner.model.errors import KnownError
from runner.model.file_changes import FILES_CHANGED

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterable, Iterator

    from runner.audit.history.filter import Filter
    from runner.audit.history.index import SearchIndex

CHUNK = 50
"""Candidates that are read together."""
FEW_NEW = 20_000
"""Requests of a period that are looked at for the first one."""
_COMPARED = "SELECT request_id FROM entries WHERE seq > ? AND kind = ?"
ROW = f"SELECT {', '.join(COLUMNS)} FROM requests"
_ENDLESS = 1 << 62
_BODIES = (
    "SELECT kind, data FROM entries JOIN bodies USING (seq)"
    f" WHERE request_id = ? AND kind IN ({', '.join('?' * len(KINDS))}) ORDER BY seq"
)
# The bodies are JSON: their raw text is compared first, as that is cheap, and only then parsed. Other letters than
# those of ASCII are escaped there, and some of them are one of ASCII but for the case.
_ROUGHLY = (
    "EXISTS (SELECT 1 FROM entries JOIN bodies USING (seq) WHERE request_id = requests.id"
    " AND (data LIKE ? ESCAPE '\\' OR instr(data, '\\u')))"
)


class Interrupted(KnownError):
    """A query was ended by `interrupt` or `close`."""


@dataclass(frozen=True, slots=True)
class UnreadableRow:
    """A request in the list that is damaged, or that a newer version wrote."""

    seq: int
    id: str
    """Where that is damaged, the entry with which it arrived."""
    why: str


Line = Row | UnreadableRow


class Search:
    """One look through the history, over one connection."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        wanted: Filter,
        before: int | None = None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        """`before` bounds the entry with which a request arrived. `stopped` says that nobody waits any more."""
        self._connection = connection
        self._wanted = wanted
        self._needs_content = wanted.needs_content
        self._before = _ENDLESS if before is None else before
        self._stopped = stopped

    def without_index(self, limit: int | None) -> list[Line]:
        """Return at most `limit` requests that fit. Raises sqlite3.Error, Interrupted."""
        where, values = self._where()
        found = self._connection.execute(f"{ROW}{where} ORDER BY seq DESC LIMIT ?", (*values, self._most(limit)))
        lines = (line_of(columns) for columns in found)
        return list(itertools.islice((line for line in lines if self._fits(line)), limit))

    def with_index(self, index: SearchIndex, limit: int | None) -> list[Line]:
        """Return what `without_index` does, in a time that does not grow with the history. Raises IndexUnusable."""
        with index.reading():
            seqs = heapq.merge(self._outside(index), self._inside(index), reverse=True)
            each_once = (seq for seq, _ in itertools.groupby(seqs))
            return list(itertools.islice(self._fitting(each_once), limit))

    def line(self, name: str) -> Line | None:
        """Return the line of one request if it fits."""
        found = self._connection.execute(f"{ROW} WHERE id = ?", (name,)).fetchone()
        if found is None:
            return None
        line = line_of(found)
        return line if self._fits(line) else None

    def _fitting(self, seqs: Iterator[int]) -> Iterator[Line]:
        # Most of those that have all groups of a phrase do not have the phrase. SQLite says so in a fifth of the time.
        roughly = "".join(f" AND {clause}" for clause, _ in self._roughly)
        values = [value for _, value in self._roughly]
        while chunk := list(itertools.islice(seqs, CHUNK)):
            # Here as well: of a chunk in which nothing fits no line is looked at.
            self._go_on()
            where = f" WHERE seq IN ({', '.join('?' * len(chunk))}){roughly} ORDER BY seq DESC"
            rows = self._connection.execute(f"{ROW}{where}", (*chunk, *values)).fetchall()
            yield from (line for line in map(line_of, rows) if self._fits(line))

    def _go_on(self) -> None:
        """Raise Interrupted where nobody waits any more."""
        if self._stopped():
            raise Interrupted("The search was stopped.")

    def _fits(self, line: Line) -> bool:
        self._go_on()
        if isinstance(line, UnreadableRow):
            # Nobody knows what it holds: it stands among all, and no search finds it.
            return not self._needs_content
        if not self._wanted.fits_row(line):
            return False
        if not self._needs_content:
            return True
        return self._wanted.fits_bodies(self._connection.execute(_BODIES, (line.id, *KINDS)).fetchall())

    def _inside(self, index: SearchIndex) -> Iterator[int]:
        """Yield the candidates that the index knows."""
        facets = index.condition(self._wanted.facets)
        if facets is None:
            return iter(())
        expression = " AND ".join(filter(None, (facets, SoughtWords(self._wanted.text).expression)))
        lowest, highest = self._bounds
        seqs: Iterable[int]
        if expression:
            seqs = index.candidates(expression, min(self._before, highest + 1))
        else:
            seqs = self._listed(upto=index.seq)
        return itertools.takewhile(lambda seq: seq >= lowest, seqs)

    def _outside(self, index: SearchIndex) -> Iterator[int]:
        """Yield the requests that the index does not have yet: newer ones, those that were open or changed later."""
        pending = index.pending
        return heapq.merge(
            self._listed(after=index.seq),
            self._listed(pending) if pending else iter(()),
            self._compared(index.seq) if UNFORESEEN in self._wanted.facets else iter(()),
            reverse=True,
        )

    def _compared(self, after: int) -> Iterator[int]:
        """Yield the requests of which it was recorded after that entry what their runs had removed."""
        where, values = self._where()
        where += f" {'AND' if where else 'WHERE'} id IN ({_COMPARED})"
        found = self._connection.execute(f"SELECT seq FROM requests{where}", (*values, after, FILES_CHANGED))
        # Sorted here: SQLite would have to as well, and these are few.
        yield from sorted((seq for (seq,) in found), reverse=True)

    def _listed(self, among: Collection[int] = (), *, after: int = 0, upto: int = _ENDLESS) -> Iterator[int]:
        where, values = self._where(after, upto)
        if among:
            where += f" {'AND' if where else 'WHERE'} seq IN ({', '.join('?' * len(among))})"
        statement = f"SELECT seq FROM requests{where} ORDER BY seq DESC"
        for (seq,) in self._connection.execute(statement, (*values, *among)):
            yield seq

    @cached_property
    def _roughly(self) -> list[tuple[str, object]]:
        """Return conditions that SQLite tests on the raw text, with their values. What fits passes, and more."""
        words = SoughtWords(self._wanted.text).all
        return [(_ROUGHLY, _like(json.dumps(word)[1:-1])) for word in words if word.isascii()]

    @cached_property
    def _bounds(self) -> tuple[int, int]:
        """Return the first and last entry with which requests of the period arrived."""
        lowest, highest = 0, _ENDLESS - 1
        if self._wanted.since is not None:
            first = self._first_since(self._wanted.since)
            lowest = _ENDLESS if first is None else first
        if self._wanted.until is not None:
            (last,) = self._connection.execute(LAST_BEFORE, (self._wanted.until,)).fetchone()
            highest = -1 if last is None else last
        return lowest, highest

    def _first_since(self, since: float) -> int | None:
        """Return the entry with which the first request from `since` on arrived: first by number, not by the clock."""
        (count, first) = self._connection.execute(_NEWEST_SINCE, (since, FEW_NEW)).fetchone()
        if count == FEW_NEW:
            (first,) = self._connection.execute(FIRST_SINCE, (since,)).fetchone()
        return None if first is None else int(first)

    def _most(self, limit: int | None) -> int:
        """Return the limit for SQLite, which does not know all conditions."""
        return -1 if limit is None or self._needs_content else limit

    def _where(self, after: int = 0, upto: int = _ENDLESS) -> tuple[str, list[object]]:
        """Return the conditions that SQLite can test, and their values."""
        wanted = self._wanted
        lowest, highest = self._bounds
        # One bound at each end: of several SQLite takes the first it reads, and walks from there.
        lowest, highest = max(lowest, after + 1), min(highest, upto, self._before - 1)
        tests: list[tuple[str, object]] = [
            ("agent = ?", wanted.agent or None),
            ("level = ?", None if wanted.level is None else int(wanted.level)),
            ("verdict = ?", wanted.verdict),
            ("outcome = ?", wanted.outcome),
            ("language = ?", wanted.language),
            ("arrived_at >= ?", wanted.since),
            ("arrived_at < ?", wanted.until),
            # By number as well: the list is sorted by it, and nearly all outside of a period is then not looked at.
            ("seq >= ?", lowest if lowest > 1 else None),
            ("seq <= ?", highest if highest < _ENDLESS - 1 else None),
        ]
        kept = [(clause, value) for clause, value in (*tests, *self._roughly) if value is not None]
        clauses = [clause for clause, _ in kept]
        return (f" WHERE {' AND '.join(clauses)}" if clauses else ""), [value for _, value in kept]


# Of a short period all requests are looked at, by time: a clock may have been set back. Where that would be many, the
# list is walked from its beginning, which is then not far from the first.
_NEWEST_SINCE = (
    "SELECT count(*), min(seq) FROM (SELECT seq FROM requests WHERE arrived_at >= ? ORDER BY arrived_at DESC LIMIT ?)"
)
FIRST_SINCE = "SELECT min(seq) FROM requests WHERE arrived_at >= ?"
LAST_BEFORE = "SELECT max(seq) FROM requests WHERE arrived_at < ?"


def line_of(columns: tuple[Any, ...]) -> Line:
    """Return the request of a row of the list, or why it cannot be read."""
    try:
        return from_columns(columns)
    except KnownError as error:
        seq, name, *_ = columns
        return UnreadableRow(seq, name if isinstance(name, str) and name else f"entry {seq}", error.what)


def _like(text: str) -> str:
    for special in ("\\", "%", "_"):
        text = text.replace(special, "\\" + special)
    return f"%{text}%"
