"""The spans of time that the page shows, and the figures of each: what is counted, and what stood there before."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from datetime import date, timedelta
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from app.parts import dates
from runner.audit.history.counting import CountedKind, DecidedBy, StoppedTry, Tries, Unit, percentile
from runner.model.decision import Decider, Verdict
from runner.model.translation import numeral, to_translate, tr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runner.audit.history.past_work import PastSession, WorkDay
    from runner.audit.history.search import History
    from runner.audit.history.statistics import Figures

_BECAME: dict[str, str] = {
    Verdict.APPROVED: tr("approved"),
    Verdict.DENIED: tr("denied"),
    Verdict.EXPIRED: tr("missed"),
    Verdict.WITHDRAWN: tr("withdrawn"),
}
CURVE_DAYS = 30
"""Days that the small curves of today cover."""
BY_DAYS = 92
"""Days of history up to which all of it is shown by days; a longer one is shown by months."""


class TimeSpan(Enum):
    """What the person chose to see."""

    TODAY = to_translate("Today")
    WEEK = to_translate("7 days")
    MONTH = to_translate("30 days")
    ALL = to_translate("All")

    @property
    def days(self) -> int:
        """Days that it covers, today included; 0 for all."""
        return {TimeSpan.TODAY: 1, TimeSpan.WEEK: 7, TimeSpan.MONTH: 30, TimeSpan.ALL: 0}[self]


@dataclass(frozen=True, slots=True)
class SpanFigures:
    """The figures of a span, with the days that stand before it."""

    span: TimeSpan
    figures: Figures
    first: int
    """Ordinal of the first day, or of the first day of the first month, that is shown."""
    last: int
    work: tuple[PastSession, ...] = ()
    """The programs that were at work, whenever that was."""

    @property
    def steps(self) -> list[int]:
        """The days or months that are shown, by their first day, oldest first."""
        return list(_steps(self.figures.unit, self.first, self.last))

    @property
    def curve_steps(self) -> list[int]:
        """Those that the small curves cover: for today alone also the days before."""
        if self.span is not TimeSpan.TODAY:
            return self.steps
        return list(range(self.last - CURVE_DAYS + 1, self.last + 1))


class Answers(NamedTuple):
    """What a person decided."""

    approved: int
    denied: int
    missed: int


def read_span(history: History, span: TimeSpan, today: int) -> SpanFigures:
    """Return the figures of `span`, which ends with the day `today` (ordinal). Raises KnownError."""
    if span.days:
        first = today - span.days + 1
        # As many days before, to compare with.
        before = min(first - 7, today - CURVE_DAYS + 1) if span is TimeSpan.TODAY else first - span.days
        return SpanFigures(span, history.figures(Unit.DAY, before, today), first, today, tuple(history.sessions()))
    month = date.fromordinal(today).replace(day=1).toordinal()
    figures = history.figures(Unit.MONTH, 0, month)
    began = figures.first or today
    if today - began < BY_DAYS:
        return SpanFigures(span, history.figures(Unit.DAY, began, today), began, today, tuple(history.sessions()))
    return SpanFigures(
        span, figures, date.fromordinal(began).replace(day=1).toordinal(), month, tuple(history.sessions())
    )


def today_ordinal() -> int:
    """Return the ordinal of the present day in local time."""
    return date.today().toordinal()


def midnight(day: int) -> float:
    """Return the moment at which a day begins in local time, in seconds since the epoch."""
    return time.mktime((*date.fromordinal(day).timetuple()[:3], 0, 0, 0, 0, 0, -1))


def days_of(shown: SpanFigures, step: int) -> tuple[float, float]:
    """Return the moments at which a step begins and at which the next one does."""
    after = _next(shown.figures.unit, step)
    return midnight(step), midnight(after)


def by_step(shown: SpanFigures, fits: Callable[[CountedKind], bool]) -> dict[int, int]:
    """Return for each step of the curve how many requests fit."""
    found = dict.fromkeys(shown.curve_steps, 0)
    for (period, kind), number in shown.figures.tally.requests.items():
        if period.start in found and fits(kind):
            found[period.start] += number
    return found


def kinds(shown: SpanFigures, first: int | None = None, last: int | None = None) -> Counter[CountedKind]:
    """Return the requests of the span by their kinds, or of `first` to `last`."""
    low, high = shown.first if first is None else first, shown.last if last is None else last
    found: Counter[CountedKind] = Counter()
    for (period, kind), number in shown.figures.tally.requests.items():
        if low <= period.start <= high:
            found[kind] += number
    return found


def answers(found: Counter[CountedKind]) -> Answers:
    """Return what a person decided, and how often nobody did in time."""
    by_person = {
        verdict: sum(n for kind, n in found.items() if kind.decider == Decider.PERSON and kind.verdict == verdict)
        for verdict in (Verdict.APPROVED, Verdict.DENIED)
    }
    missed = sum(n for kind, n in found.items() if kind.verdict == Verdict.EXPIRED)
    return Answers(by_person[Verdict.APPROVED], by_person[Verdict.DENIED], missed)


def by_agent(shown: SpanFigures) -> dict[str, str]:
    """Return what became of the requests of each agent on the last day, in words: `6 approved, 2 denied`."""
    found: dict[str, Counter[str]] = {}
    for kind, number in kinds(shown, shown.last, shown.last).items():
        if (word := _BECAME.get(kind.verdict)) is not None:
            found.setdefault(kind.agent, Counter())[word] += number
    order = list(_BECAME.values())
    return {
        agent: ", ".join(f"{numeral(counts[word])} {word}" for word in order if counts[word])
        for agent, counts in found.items()
    }


def passed(kind: CountedKind) -> bool:
    """Return whether requests of this kind were approved without asking: by a rule, a grant, trust, or as LOW."""
    return kind.verdict == Verdict.APPROVED and kind.decider in (Decider.RULE, Decider.GRANT)


def decided(kind: CountedKind) -> bool:
    """Return whether a person decided requests of this kind."""
    return kind.decider == Decider.PERSON


def waits(shown: SpanFigures, first: int, last: int) -> Counter[int]:
    """Return the answers of a person from `first` to `last`, by bucket of the seconds that they took."""
    found: Counter[int] = Counter()
    for (period, place), number in shown.figures.tally.waits.items():
        if first <= period.start <= last:
            found[place] += number
    return found


def medians(shown: SpanFigures) -> list[float | None]:
    """Return the median seconds of each step of the curve; None where nobody decided."""
    groups: dict[int, Counter[int]] = {step: Counter() for step in shown.curve_steps}
    for (period, place), number in shown.figures.tally.waits.items():
        if period.start in groups:
            groups[period.start][place] += number
    return [percentile(groups[step], 0.5) for step in shown.curve_steps]


def before(shown: SpanFigures) -> tuple[int, int] | None:
    """Return the first and the last day to compare with: a week before today, else as many days before; or None."""
    if shown.span is TimeSpan.ALL:
        return None
    return shown.first - (7 if shown.span is TimeSpan.TODAY else shown.span.days), shown.first - 1


def stopped(shown: SpanFigures) -> dict[StoppedTry, Tries]:
    """Return what was tried in vain in the span."""
    found: dict[StoppedTry, Tries] = {}
    for (period, one), tries in shown.figures.tally.stopped.items():
        if shown.first <= period.start <= shown.last:
            found[one] = found.get(one, Tries()) + tries
    return found


def stopped_by_step(shown: SpanFigures) -> dict[int, int]:
    """Return how many tries were in vain in each step of the curve."""
    found = dict.fromkeys(shown.curve_steps, 0)
    for (period, _), tries in shown.figures.tally.stopped.items():
        if period.start in found:
            found[period.start] += tries.tries
    return found


def answered_by(shown: SpanFigures) -> Counter[DecidedBy]:
    """Return who or what decided, in the span."""
    found: Counter[DecidedBy] = Counter()
    for (period, one), number in shown.figures.tally.answers.items():
        if shown.first <= period.start <= shown.last:
            found[one] += number
    return found


def at_work(shown: SpanFigures) -> list[tuple[PastSession, WorkDay]]:
    """Return the days of the span on which something was decided about programs at work, or refused to them."""
    days = [(session, day) for session in shown.work for day in session.days]
    return [(session, day) for session, day in days if shown.first <= _step_of(shown, day) <= shown.last]


def at_work_by_step(shown: SpanFigures, count: Callable[[WorkDay], int]) -> dict[int, int]:
    """Return the sum of what `count` says of such days, for each step of the curve."""
    found = dict.fromkeys(shown.curve_steps, 0)
    for session in shown.work:
        for day in session.days:
            if (step := _step_of(shown, day)) in found:
                found[step] += count(day)
    return found


def _step_of(shown: SpanFigures, day: WorkDay) -> int:
    """Return the day or month that a day stands in."""
    if shown.figures.unit is Unit.DAY:
        return day.day
    return date.fromordinal(day.day).replace(day=1).toordinal()


def step_name(unit: Unit, step: int, *, long: bool = False) -> str:
    """Return a day or a month in words: `Mon 3`, `Mar 2026`; `long`: `Monday, 3 March 2026`."""
    day = date.fromordinal(step).timetuple()
    if unit is Unit.MONTH:
        return dates.written(day, dates.MONTH if long else dates.SHORT_MONTH)
    return dates.written(day, dates.DAY if long else dates.SHORT_DAY)


def _steps(unit: Unit, first: int, last: int) -> Iterator[int]:
    step = first
    while step <= last:
        yield step
        step = _next(unit, step)


def _next(unit: Unit, step: int) -> int:
    day = date.fromordinal(step)
    if unit is Unit.DAY:
        return (day + timedelta(days=1)).toordinal()
    return date(day.year + day.month // 12, day.month % 12 + 1, 1).toordinal()
