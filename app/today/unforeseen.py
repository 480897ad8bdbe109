"""Runs that did something their assessment had not foreseen, and the grants that let them pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.audit.history.filter import UNFORESEEN, Filter
from runner.audit.ledger.removal import ContentRemoved
from runner.model.decision import Decider
from runner.model.errors import KnownError
from runner.model.events import RunFinished

if TYPE_CHECKING:
    from runner.audit.history.search import History
    from runner.model.events import Event

MOST_LOOKED_AT = 50
"""Requests that are looked through for those that a grant let pass."""
MOST_READ = 3
"""Of those: as many are read whole."""


@dataclass(frozen=True, slots=True)
class PassedRun:
    """A run that a grant let pass and that did what nobody had foreseen."""

    agent: str
    title: str
    grant: str
    at: float
    """When it arrived, in seconds since the epoch."""
    what: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Surprises:
    """All of a span."""

    runs: int = 0
    """How many, at most MOST_LOOKED_AT."""
    passed: tuple[PassedRun, ...] = ()
    """The newest one of each grant."""


NONE = Surprises()


def is_surprising(event: Event) -> bool:
    """Return whether a run has just ended that did what nobody had foreseen."""
    return isinstance(event, RunFinished) and bool(event.result.observed and event.result.observed.unforeseen)


def read_surprises(history: History, since: float) -> Surprises:
    """Return the runs since then that did what nobody had foreseen. Raises KnownError."""
    rows = history.page(Filter(unforeseen=UNFORESEEN[1], since=since), limit=MOST_LOOKED_AT)
    newest = {row.rule: row for row in reversed(rows) if row.decider is Decider.GRANT and row.rule}
    passed = []
    for row in list(newest.values())[:MOST_READ]:
        try:
            record = history.case(row.id)
        except (ContentRemoved, KnownError):
            continue
        if record is not None and record.unforeseen:
            passed.append(PassedRun(row.agent, row.title, row.rule, row.arrived_at, record.unforeseen))
    return Surprises(len(rows), tuple(passed))
