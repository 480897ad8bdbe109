"""A day as bars of a lane: when each request waited, ran, was denied or missed, and when programs were at work."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from app import phrases
from app.history import session_words
from runner.audit.ledger.row import Row
from runner.model.decision import Decider, Verdict
from runner.model.translation import capital, plural, tr, translated

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from app.history.model import TitledRow
    from runner.audit.history.past_work import PastSession

HOUR = 3600.0
LEAST_HOURS = 3
"""Hours that the axis covers at least."""
MOST_LANES = 12
"""Agents with a lane of their own; those with the fewest requests share the last."""
OTHERS = tr("other agents")
WAITED, RAN, REFUSED, MISSED, WORKED = "medium", "low", "high", "edge", "accent"
"""Inks of the parts of a bar."""
LEGEND = (
    (WAITED, tr("waited for you")),
    (RAN, tr("ran")),
    (REFUSED, tr("denied")),
    (MISSED, tr("missed")),
    (WORKED, tr("at work over a copy")),
)


class Stretch(NamedTuple):
    """A stretch of time in one ink; open while it has not ended."""

    begin: float
    end: float | None
    ink: str


@dataclass(frozen=True, slots=True)
class Bar:
    """One request, or a program at work. Times are seconds since the epoch."""

    id: str
    agent: str
    begin: float
    parts: tuple[Stretch, ...]
    words: str
    """What it is and what became of it, in one line."""
    work: bool = False
    """Whether it is a program at work."""
    found: str = ""
    """The same without the agent, with what was found it would do in place of its title where that is known."""

    @property
    def is_open(self) -> bool:
        return any(part.end is None for part in self.parts)

    def end(self, now: float) -> float:
        return max((now if part.end is None else part.end for part in self.parts), default=self.begin)


@dataclass(frozen=True, slots=True)
class AgentLane:
    """The bars of one agent, oldest first."""

    agent: str
    bars: tuple[Bar, ...]

    @property
    def words(self) -> str:
        """How many requests there are, and how many programs that were at work."""
        worked = sum(one.work for one in self.bars)
        asked = len(self.bars) - worked
        parts = [plural("{count} request", "{count} requests", asked)] if asked or not worked else []
        return ", ".join([*parts, *[plural("{count} session", "{count} sessions", worked)] * bool(worked)])


def session_bars(sessions: Iterable[PastSession], at_work: Collection[str], now: float) -> list[Bar]:
    """Return the bars of programs that are or were at work today.

    Those of `at_work`, by the name of the working copy, have not ended.
    """
    found = []
    for one in sessions:
        going = one.name in at_work
        last = one.last_at if one.ended_at is None else one.ended_at
        if not one.recorded or not (going or last >= _midnight(now)):
            continue
        part = Stretch(one.started_at, None if going else max(one.started_at, last), WORKED)
        words = f"{phrases.clock(one.started_at)} {session_words.title(one)}. {session_words.sentence(one, going, now)}"
        found.append(Bar(one.id, one.who, one.started_at, (part,), words, work=True))
    return found


def bar(line: TitledRow) -> Bar | None:
    """Return the bar of a request; None for one that cannot be read."""
    row = line.row
    if not isinstance(row, Row):
        return None
    parts: list[Stretch] = []
    asked, decided = row.asked_at, row.decided_at
    late = row.verdict in (Verdict.EXPIRED, Verdict.WITHDRAWN)
    if asked is not None:
        parts.append(Stretch(asked, _after(asked, decided), MISSED if late else WAITED))
    if row.verdict is Verdict.DENIED and decided is not None:
        parts.append(Stretch(decided, decided, REFUSED))
    elif late and asked is None and decided is not None:
        parts.append(Stretch(decided, decided, MISSED))
    elif row.verdict is Verdict.APPROVED and decided is not None:
        started = decided if row.started_at is None else row.started_at
        # What is not run here, such as a tool of the agent's own program, has no end: a mark where it was approved.
        end = row.finished_at if row.finished_at is not None or row.started_at is not None else decided
        parts.append(Stretch(started, _after(started, end), RAN))
    at, fate = phrases.clock(row.arrived_at), became(row)
    words = f"{at} {phrases.visible(row.agent)}: {line.title}. {fate}"
    found = f"{at} {line.headline or phrases.in_quotes(line.title)}. {fate}"
    return Bar(row.id, row.agent, row.arrived_at, tuple(parts), words, found=found)


def became(row: Row) -> str:
    """Return what became of a request, in a sentence or two."""
    if row.verdict is None:
        return tr("Waits for you.") if row.asked_at is not None and row.decided_at is None else tr("Being looked at.")
    took = (
        tr(" after {waited}", waited=phrases.span(row.waited))
        if row.decider is Decider.PERSON and row.waited is not None
        else ""
    )
    who = {Decider.PERSON: tr(" by you"), Decider.RULE: tr(" by rule {rule}", rule=phrases.visible(row.rule))}
    who |= {Decider.GRANT: tr(" by {rule}", rule=phrases.visible(row.rule))}
    verb = tr("missed") if row.verdict is Verdict.EXPIRED else phrases.verdict(row.verdict)
    if row.verdict is Verdict.APPROVED and row.decider is not Decider.PERSON:
        verb = tr("passed")
    decided = f"{capital(verb)}{who.get(row.decider, '') if row.decider else ''}{took}."
    if row.outcome is None:
        return (
            tr("{decided} Running.", decided=decided)
            if row.started_at is not None and row.finished_at is None
            else decided
        )
    ran = tr(" in {duration}", duration=phrases.span(row.duration)) if row.duration is not None else ""
    return f"{decided} {capital(translated(row.outcome.value))}{ran}."


def _after(begin: float, end: float | None) -> float | None:
    """Return the end of a part; a clock that was set back makes none of negative length."""
    return None if end is None else max(begin, end)


def lanes(bars: Iterable[Bar]) -> list[AgentLane]:
    """Return one lane for each agent by name, with the rarest together in the last where there are too many."""
    groups: dict[str, list[Bar]] = {}
    for one in sorted(bars, key=lambda one: one.begin):
        groups.setdefault(one.agent, []).append(one)
    often = sorted(groups, key=lambda name: (-len(groups[name]), name))
    if len(often) > MOST_LANES:
        rest = [one for name in often[MOST_LANES - 1 :] for one in groups.pop(name)]
        named = [AgentLane(name, tuple(groups[name])) for name in sorted(groups)]
        return [*named, AgentLane("", tuple(sorted(rest, key=lambda one: one.begin)))]
    return [AgentLane(name, tuple(groups[name])) for name in sorted(groups)]


class Axis(NamedTuple):
    """The stretch of time that is shown, from hour to hour."""

    begin: float
    end: float

    def x(self, at: float, width: float) -> float:
        """Return where a moment is on an axis of `width` pixels, kept within it."""
        share = (at - self.begin) / (self.end - self.begin)
        return min(1.0, max(0.0, share)) * width

    def moment(self, x: float, width: float) -> float:
        return self.begin + min(1.0, max(0.0, x / width if width > 0 else 0.0)) * (self.end - self.begin)

    def hours(self, most: int) -> list[float]:
        """Return full hours at equal distances, at most about `most`."""
        count = round((self.end - self.begin) / HOUR)
        step = next((one for one in (1, 2, 3, 4, 6, 8, 12) if count / one <= max(1, most)), 24)
        return [self.begin + number * HOUR for number in range(0, count + 1, step)]


def axis(bars: Sequence[Bar], now: float) -> Axis:
    """Return the axis from the hour of the first one to the end of the present hour, of today alone."""
    end = _full_hour(now) + HOUR
    # A program at work may have begun days ago.
    first = max(_full_hour(min((one.begin for one in bars), default=now)), _midnight(now))
    return Axis(min(first, end - LEAST_HOURS * HOUR), end)


def _midnight(epoch: float) -> float:
    """Return when the day of a moment began on the clock on the wall."""
    day = time.localtime(epoch)
    return time.mktime((day.tm_year, day.tm_mon, day.tm_mday, 0, 0, 0, 0, 0, -1))


def _full_hour(epoch: float) -> float:
    """Return the full hour of the clock on the wall, which is not everywhere one of Greenwich."""
    moment = time.localtime(epoch)
    return epoch - moment.tm_min * 60 - moment.tm_sec - math.fmod(epoch, 1.0)


def merged(old: Mapping[str, Bar], fresh: Iterable[Bar]) -> dict[str, Bar]:
    """Return the bars with those that changed in their new form."""
    return {**old, **{one.id: one for one in fresh}}
