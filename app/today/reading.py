"""Reading of the ledger for the page, on a thread of its own: the figures of a span, and the day's events."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.history.model import titled
from app.today.attempts import read_attempts
from app.today.bars import Bar, bar
from app.today.spans import SpanFigures, TimeSpan, midnight, read_span
from app.today.unforeseen import NONE, Surprises, read_surprises
from runner.audit.history.filter import Filter
from runner.model.events import (
    QuestionAsked,
    RequestAssessed,
    RequestClosed,
    RequestDecided,
    RunFinished,
    RunStarted,
    WorkMoved,
    WorkRecorded,
)
from runner.system.plain_file import read_file

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from app.today.attempts import Attempts
    from runner.audit.history.past_work import PastSession
    from runner.audit.history.search import History

TOUCHING = (QuestionAsked, RequestAssessed, RequestDecided, RunStarted, RunFinished, RequestClosed)
"""Events after which a request stands differently in the day."""
WORKING = (WorkMoved, WorkRecorded)
"""Events after which a program at work does."""
MOST_BARS = 1500
"""Requests of the day that are painted, the newest ones."""
_MOST_BYTES = 1 << 12


@dataclass(frozen=True, slots=True)
class DayRead:
    """The figures, and bars of the day."""

    shown: SpanFigures
    bars: tuple[Bar, ...]
    verified: float | None
    """When the whole ledger was last found unbroken; None where nobody knows."""
    surprises: Surprises = NONE
    cut: bool = False
    """There are more requests of the day than bars."""
    sessions: tuple[PastSession, ...] = ()
    """The programs that were at work in the span, the newest first."""
    attempts: tuple[Attempts, ...] = ()
    """What agents asked for that is grave, the gravest first."""


def read_day(history: History, span: TimeSpan, today: int, verified: Path) -> DayRead:
    """Return the figures of `span`, and the bars of today where that is shown. Raises KnownError."""
    shown = read_span(history, span, today)
    attempts = read_attempts(history, midnight(shown.first))
    surprises, sessions = _surprises(history, shown), _sessions(shown)
    if span is not TimeSpan.TODAY:
        return DayRead(shown, (), last_verified(verified), surprises, sessions=sessions, attempts=attempts)
    rows = history.lines(Filter(since=midnight(today)), None, MOST_BARS)
    bars = [made for line in titled(history, rows) if (made := bar(line)) is not None]
    cut = len(rows) == MOST_BARS
    return DayRead(shown, tuple(bars), last_verified(verified), surprises, cut, sessions, attempts)


def read_news(history: History, span: TimeSpan, today: int, names: Collection[str], verified: Path) -> DayRead:
    """Return the figures, and the bars of the requests `names` alone, without surprises and attempts.

    Raises KnownError.
    """
    shown = read_span(history, span, today)
    bars: tuple[Bar, ...] = ()
    if span is TimeSpan.TODAY:
        found = list(history.fitting(Filter(since=midnight(today)), names).values())
        bars = tuple(made for line in titled(history, found) if (made := bar(line)) is not None)
    return DayRead(shown, bars, last_verified(verified), sessions=_sessions(shown))


def _sessions(shown: SpanFigures) -> tuple[PastSession, ...]:
    """Return the programs that were at work in the span, or of which no end is recorded: they may be at work still."""
    begin = midnight(shown.first)
    return tuple(one for one in shown.work if max(one.last_at, one.started_at) >= begin or one.is_open)


def _surprises(history: History, shown: SpanFigures) -> Surprises:
    return read_surprises(history, midnight(shown.first))


def last_verified(path: Path) -> float | None:
    """Return when the ledger was last found unbroken from the window."""
    try:
        at = json.loads(read_file(path, _MOST_BYTES))["at"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return float(at) if isinstance(at, int | float) else None
