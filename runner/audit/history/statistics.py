"""Reads the figures of the history: the counters of a span of days or months, and what is not counted yet."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runner.audit.history.counting import CountedKind, CountedPeriod, DecidedBy, StoppedTry, Tally, Tries, Unit, periods
from runner.audit.history.filter import stopped_in
from runner.audit.history.finding import ROW, line_of
from runner.audit.ledger.bodies import parsed
from runner.audit.ledger.row import Row

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from runner.audit.history.index import SearchIndex

FEW = 2000
"""Entries behind the index up to which the requests in them are counted one by one, at every look."""
_SPAN = "WHERE unit = ? AND start >= ? AND start <= ?"
_COUNTS = f"SELECT start, agent, level, verdict, decider, outcome, requests FROM counts {_SPAN}"
_WAITS = f"SELECT start, bucket, requests FROM waits {_SPAN}"
_ANSWERS = f"SELECT start, decider, rule, verdict, requests FROM answers {_SPAN}"
_STOPPED = f"SELECT start, agent, what, name, tries, runs, last FROM stopped {_SPAN}"
_FIRST = "SELECT min(start) FROM counts WHERE unit = ?"
_UNCOUNTED = "SELECT request_id FROM entries WHERE seq > ? AND kind = 'closed' ORDER BY seq"
_RESULT = "SELECT data FROM entries JOIN bodies USING (seq) WHERE request_id = ? AND kind = 'finished' ORDER BY seq"


@dataclass(frozen=True, slots=True)
class Figures:
    """What closed requests of a span add up to."""

    unit: Unit = Unit.DAY
    tally: Tally = field(default_factory=Tally)
    first: int = 0
    """Ordinal of the first day with requests in the whole history; 0 where nothing was counted."""
    counted: int = 0
    """Entry up to which requests are counted."""
    last: int = 0
    """Last entry of the history."""

    @property
    def complete(self) -> bool:
        """Whether every closed request is counted."""
        return self.counted >= self.last


def read_figures(ledger: sqlite3.Connection, index: SearchIndex | None, unit: Unit, first: int, last: int) -> Figures:
    """Return the figures of the days or months `first` to `last`, both included. Raises IndexUnusable, sqlite3.Error.

    Takes a time that grows with the span and not with the history.
    """
    (end,) = ledger.execute("SELECT coalesce(max(seq), 0) FROM entries").fetchone()
    if index is None:
        return _caught_up(ledger, Figures(unit, Tally(), 0, 0, end), first, last)
    with index.reading():
        span = (int(unit), first, last)
        # One period for all of its rows, and no Python code for each of them: there may be thousands.
        each, kind, by = _Periods(unit), CountedKind._make, DecidedBy._make
        tally = Tally()
        dict.update(tally.requests, {(each[start], kind(of)): n for start, *of, n in index.select(_COUNTS, span)})
        dict.update(tally.waits, {(each[start], place): n for start, place, n in index.select(_WAITS, span)})
        dict.update(tally.answers, {(each[start], by(of)): n for start, *of, n in index.select(_ANSWERS, span)})
        for start, agent, what, name, tries, runs, at in index.select(_STOPPED, span):
            tally.stopped[each[start], StoppedTry(agent, what, name)] = Tries(tries, runs, at)
        ((began,),) = index.select(_FIRST, (int(Unit.DAY),))
        return _caught_up(ledger, Figures(unit, tally, began or 0, min(index.seq, end), end), first, last)


class _Periods(dict[int, CountedPeriod]):
    """Periods by their first day, each made once."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit

    def __missing__(self, start: int) -> CountedPeriod:
        made = self[start] = CountedPeriod(self._unit, start)
        return made


def _caught_up(ledger: sqlite3.Connection, figures: Figures, first: int, last: int) -> Figures:
    """Return `figures` with the requests that were closed behind the index, where these are few."""
    if figures.last - figures.counted > FEW:
        return figures
    began = figures.first
    for (name,) in ledger.execute(_UNCOUNTED, (figures.counted,)).fetchall():
        columns = ledger.execute(f"{ROW} WHERE id = ?", (name,)).fetchone()
        if columns is None or not isinstance(row := line_of(columns), Row):
            continue
        (day,) = (period.start for period in periods(row.arrived_at, (Unit.DAY,)))
        began = min(began or day, day)
        (period,) = periods(row.arrived_at, (figures.unit,))
        if first <= period.start <= last:
            bodies = ledger.execute(_RESULT, (name,)).fetchall()
            figures.tally.add(row, _stopped(data for (data,) in bodies), (figures.unit,))
    return Figures(figures.unit, figures.tally, began, figures.last, figures.last)


def _stopped(bodies: Iterable[str]) -> list[tuple[str, str, int]]:
    found: list[tuple[str, str, int]] = []
    for data in bodies:
        body: object = None
        with suppress(ValueError, TypeError, RecursionError):
            body = parsed(data)
        if isinstance(body, dict):
            found += stopped_in(body)
    return found


def totals(tally: Tally, by: str) -> Counter[str | int]:
    """Return how many requests there are for each value of the field `by` of `CountedKind`."""
    found: Counter[str | int] = Counter()
    for (_, kind), number in tally.requests.items():
        found[getattr(kind, by)] += number
    return found
