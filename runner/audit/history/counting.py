"""Counts closed requests by day and by month, beside the search index, so that figures of years are read at once.

The counters stand in the file of the index and grow in the same transaction: what a kill loses of the one it loses of
the other, and nothing is counted twice. They are no evidence; without the file they are counted again.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import date
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from runner.model.decision import Decider
from runner.system.clock import LAST_TIME

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from runner.audit.ledger.row import Row

COUNTERS = """
CREATE TABLE counts (
    unit INTEGER NOT NULL,
    start INTEGER NOT NULL,
    agent TEXT NOT NULL,
    level INTEGER NOT NULL,
    verdict TEXT NOT NULL,
    decider TEXT NOT NULL,
    outcome TEXT NOT NULL,
    requests INTEGER NOT NULL,
    PRIMARY KEY (unit, start, agent, level, verdict, decider, outcome)
) STRICT, WITHOUT ROWID;
CREATE TABLE waits (
    unit INTEGER NOT NULL,
    start INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    requests INTEGER NOT NULL,
    PRIMARY KEY (unit, start, bucket)
) STRICT, WITHOUT ROWID;
CREATE TABLE answers (
    unit INTEGER NOT NULL,
    start INTEGER NOT NULL,
    decider TEXT NOT NULL,
    rule TEXT NOT NULL,
    verdict TEXT NOT NULL,
    requests INTEGER NOT NULL,
    PRIMARY KEY (unit, start, decider, rule, verdict)
) STRICT, WITHOUT ROWID;
CREATE TABLE stopped (
    unit INTEGER NOT NULL,
    start INTEGER NOT NULL,
    agent TEXT NOT NULL,
    what TEXT NOT NULL,
    name TEXT NOT NULL,
    tries INTEGER NOT NULL,
    runs INTEGER NOT NULL,
    last REAL NOT NULL,
    PRIMARY KEY (unit, start, agent, what, name)
) STRICT, WITHOUT ROWID;
"""
SHORTEST = 0.125
"""Seconds to an answer that fall into the first bucket, as do shorter ones."""
STEPS = 8
"""Buckets in which the seconds double: each is 9 % wider than the one before."""
LAST_BUCKET = 160
"""That of a day and longer."""
MOST_NAMES = 100
"""Names of what was stopped that are counted one by one, for each agent and period; further ones stand under ''.

An agent chooses the names, and could choose a new one for every try.
"""
HOST, MODULE = "host", "module"

_COUNT = (
    "INSERT INTO counts VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT DO UPDATE SET requests = requests + excluded.requests"
)
_WAIT = "INSERT INTO waits VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET requests = requests + excluded.requests"
_ANSWER = (
    "INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET requests = requests + excluded.requests"
)
_STOP = (
    "INSERT INTO stopped VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
    " tries = tries + excluded.tries, runs = runs + excluded.runs, last = max(last, excluded.last)"
)
_KNOWN = "SELECT 1 FROM stopped WHERE unit = ? AND start = ? AND agent = ? AND what = ? AND name = ?"
_NAMES = "SELECT count(*) FROM stopped WHERE unit = ? AND start = ? AND agent = ?"


class Unit(IntEnum):
    """What a counter covers."""

    DAY = 0
    MONTH = 1


class CountedPeriod(NamedTuple):
    """A day or a month, by the proleptic ordinal of its (first) day in local time as it was when it was counted."""

    unit: Unit
    start: int


class CountedKind(NamedTuple):
    """What requests have in common that are counted together; '' and 0 where there is none."""

    agent: str
    level: int
    verdict: str
    decider: str
    outcome: str


class DecidedBy(NamedTuple):
    """Who or what decided, and how; `rule` names the rule or grant, and is '' where neither decided."""

    decider: str
    rule: str
    verdict: str


class StoppedTry(NamedTuple):
    """What an agent's code tried in vain: a host that was refused, a module that may not be imported."""

    agent: str
    what: str
    """HOST or MODULE."""
    name: str
    """'' for all names beyond the first `MOST_NAMES` together."""


@dataclass(frozen=True, slots=True)
class Tries:
    """How often something was tried in vain."""

    tries: int = 0
    runs: int = 0
    last: float = 0.0
    """Seconds since the epoch: the end of the last such run."""

    def __add__(self, other: Tries) -> Tries:
        return Tries(self.tries + other.tries, self.runs + other.runs, max(self.last, other.last))


@dataclass(slots=True)
class Tally:
    """Counted requests, by period."""

    requests: Counter[tuple[CountedPeriod, CountedKind]] = field(default_factory=Counter)
    waits: Counter[tuple[CountedPeriod, int]] = field(default_factory=Counter)
    """Answers of a person, by bucket of the seconds that they took."""
    answers: Counter[tuple[CountedPeriod, DecidedBy]] = field(default_factory=Counter)
    stopped: dict[tuple[CountedPeriod, StoppedTry], Tries] = field(default_factory=dict)

    def add(self, row: Row, stopped: Iterable[tuple[str, str, int]], units: Iterable[Unit] = tuple(Unit)) -> None:
        """Count a closed request. `stopped`: what and name of what its run tried in vain, and how often."""
        decider, verdict = str(row.decider or ""), str(row.verdict or "")
        kind = CountedKind(row.agent, int(row.level or 0), verdict, decider, str(row.outcome or ""))
        by_name = row.decider in (Decider.RULE, Decider.GRANT)
        tried = Counter[tuple[str, str]]()
        for what, name, times in stopped:
            tried[what, name] += times
        for period in periods(row.arrived_at, units):
            self.requests[period, kind] += 1
            if row.decider is Decider.PERSON and row.waited is not None:
                self.waits[period, bucket(row.waited)] += 1
            self.answers[period, DecidedBy(decider, row.rule if by_name else "", verdict)] += 1
            for (what, name), times in tried.items():
                self.add_tries(
                    period, StoppedTry(row.agent, what, name), Tries(times, 1, row.finished_at or row.arrived_at)
                )

    def add_tries(self, period: CountedPeriod, stopped: StoppedTry, tries: Tries) -> None:
        self.stopped[period, stopped] = self.stopped.get((period, stopped), Tries()) + tries

    def put_down(self, index: sqlite3.Connection) -> None:
        """Add all of it to the counters; the transaction is the caller's. Raises sqlite3.Error."""
        index.executemany(_COUNT, [(*period, *kind, number) for (period, kind), number in self.requests.items()])
        index.executemany(_WAIT, [(*period, place, number) for (period, place), number in self.waits.items()])
        index.executemany(_ANSWER, [(*period, *one, number) for (period, one), number in self.answers.items()])
        for (period, one), found in self.stopped.items():
            named = _named(index, period, one)
            index.execute(_STOP, (*period, *named, found.tries, found.runs, found.last))


def _named(index: sqlite3.Connection, period: CountedPeriod, one: StoppedTry) -> StoppedTry:
    """Return under which name `one` is counted."""
    if index.execute(_KNOWN, (*period, *one)).fetchone() is not None:
        return one
    (names,) = index.execute(_NAMES, (*period, one.agent)).fetchone()
    return one if names < MOST_NAMES else one._replace(name="")


def periods(epoch: float, units: Iterable[Unit] = tuple(Unit)) -> Iterator[CountedPeriod]:
    """Yield the day and the month of a moment in local time."""
    # A day before the last moment, which is in no year that a date has where the clock is ahead of Greenwich.
    year, month, day = time.localtime(min(epoch, LAST_TIME - 86_400))[:3]
    for unit in units:
        yield CountedPeriod(unit, date(year, month, day if unit is Unit.DAY else 1).toordinal())


def bucket(seconds: float) -> int:
    """Return the bucket of a time to an answer."""
    if not seconds > SHORTEST:  # also what is no number
        return 0
    return min(LAST_BUCKET, 1 + int(math.log2(seconds / SHORTEST) * STEPS)) if seconds < math.inf else LAST_BUCKET


def edge(place: int) -> float:
    """Return the seconds at which a bucket begins; the first one begins at 0."""
    return 0.0 if place <= 0 else SHORTEST * 2 ** ((place - 1) / STEPS)


def percentile(waits: Counter[int], share: float) -> float | None:
    """Return the seconds below which `share` of the answers came, exact to the width of a bucket; None without any."""
    wanted = share * waits.total()
    for place in sorted(waits):
        number = waits[place]
        if number and wanted <= number:
            first = edge(place)
            return first + (edge(place + 1) - first) * wanted / number
        wanted -= number
    return None
