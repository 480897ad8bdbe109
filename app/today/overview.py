"""The figures of a span in words, columns and shares: what the tiles and the plots of the page say."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from app import phrases
from app.parts.amounts import percent
from app.today.plots import Column, Share
from app.today.spans import (
    TimeSpan,
    answered_by,
    answers,
    at_work,
    at_work_by_step,
    before,
    by_step,
    days_of,
    decided,
    kinds,
    medians,
    passed,
    step_name,
    stopped,
    stopped_by_step,
    waits,
)
from runner.approval.modes import TRUST_RULE
from runner.audit.history.counting import HOST, bucket, percentile
from runner.model.assessment import Level
from runner.model.decision import Decider, Verdict
from runner.model.result import Outcome
from runner.model.translation import capital, numeral, plural, tr, translated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.today.spans import SpanFigures
    from app.today.tiles import Tiles
    from runner.audit.history.counting import DecidedBy

MOST_SHARES = 8
LOW_RULE = "low-risk"
"""What `runner.policy.decide` calls the approval of a LOW request that no rule names."""
_DOT = " \N{MIDDLE DOT} "
_EDGES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 512.0)
"""Seconds at which the columns of the times to decide end; each is an edge of a bucket."""
_NAMES = ("<1 s", *(f"{low}\N{EN DASH}{2 * low} s" for low in (1, 2, 4, 8, 16)))
_MORE = ("32\N{EN DASH}64 s", "1\N{EN DASH}2 min", "2\N{EN DASH}8 min", ">8 min")
_CLASS_INKS = {Level.LOW: "neutral", Level.MEDIUM: "neutral", Level.HIGH: "neutral", Level.CRITICAL: "critical"}
"""Colors stand for what was found; a class has one of its own where it is always worth a look."""


class Stack(NamedTuple):
    """One piece of the columns over time."""

    ink: str
    name: str


STACKED = (
    Stack("accent", tr("passed")),
    Stack("low", tr("approved")),
    Stack("high", tr("denied")),
    Stack("edge", tr("missed")),
)


def show_tiles(tiles: Tiles, shown: SpanFigures) -> None:
    """Put the figures of the span on the tiles."""
    found = kinds(shown)
    by_you, total = answers(found), found.total()
    worked = [day for _, day in at_work(shown)]
    run, turned_down = sum(day.let_run for day in worked), sum(day.turned_down for day in worked)
    words = [
        tr("{approved} approved", approved=numeral(by_you.approved + run)),
        tr("{denied} denied", denied=numeral(by_you.denied + turned_down)),
    ]
    if by_you.missed:
        words.append(tr("{missed} missed", missed=numeral(by_you.missed)))
    curve = _sums(by_step(shown, decided), at_work_by_step(shown, lambda day: day.let_run + day.turned_down))
    number = by_you.approved + by_you.denied + run + turned_down
    tiles.decisions.show_figure(numeral(number), _DOT.join(words), curve)
    _show_median(tiles, shown)
    by_itself = sum(number for kind, number in found.items() if passed(kind))
    share = (
        plural(
            "{percent} of {count} request",
            "{percent} of {count} requests",
            total,
            percent=percent(100 * by_itself / total),
        )
        if total
        else tr("No request in this time")
    )
    tiles.passed.show_figure(numeral(by_itself), share, list(by_step(shown, passed).values()))
    tried = stopped(shown)
    not_run = sum(day.not_run for day in worked)
    tries = sum(one.tries for one in tried.values()) + not_run + sum(len(day.hosts) for day in worked)
    hosts = len({one.name for one in tried if one.what == HOST} | {host for day in worked for host in day.hosts})
    modules = len({one.name for one in tried if one.what != HOST})
    named = [plural("{count} host", "{count} hosts", hosts)] * bool(hosts) + [
        plural("{count} module", "{count} modules", modules)
    ] * bool(modules)
    named += [plural("{count} command", "{count} commands", not_run)] * bool(not_run)
    below = tr("Refused: {named}", named=", ".join(named)) if named else tr("Nothing was refused to code and programs")
    curve = _sums(stopped_by_step(shown), at_work_by_step(shown, lambda day: day.not_run + len(day.hosts)))
    tiles.contained.show_figure(numeral(tries), below, curve)


def _sums(one: dict[int, int], other: dict[int, int]) -> list[int]:
    return [number + other.get(step, 0) for step, number in one.items()]


def _show_median(tiles: Tiles, shown: SpanFigures) -> None:
    median = percentile(waits(shown, shown.first, shown.last), 0.5)
    slow = percentile(waits(shown, shown.first, shown.last), 0.9)
    words = (
        [tr("90 % within {slow}", slow=phrases.span(slow))]
        if slow is not None
        else [tr("No request answered in this time")]
    )
    if median is not None and (earlier := before(shown)) is not None:
        was = percentile(waits(shown, *earlier), 0.5)
        days = earlier[1] - earlier[0] + 1
        if was is not None:
            words.insert(0, tr("was {was} in the {days} days before", was=phrases.span(was), days=days))
    figure = "\N{EN DASH}" if median is None else phrases.span(median)
    tiles.median.show_figure(figure, _DOT.join(words), medians(shown))


def columns(shown: SpanFigures) -> list[Column]:
    """Return one column for each day or month of the span."""
    fits = (
        passed,
        lambda kind: kind.decider == Decider.PERSON and kind.verdict == Verdict.APPROVED,
        lambda kind: kind.verdict == Verdict.DENIED,
        lambda kind: kind.verdict in (Verdict.EXPIRED, Verdict.WITHDRAWN),
    )
    numbers = [by_step(shown, one) for one in fits]
    found = []
    for step in shown.steps:
        pieces = tuple((piece.ink, of.get(step, 0)) for piece, of in zip(STACKED, numbers, strict=True))
        said = [f"{numeral(number)} {piece.name}" for piece, (_, number) in zip(STACKED, pieces, strict=True) if number]
        words = f"{step_name(shown.figures.unit, step, long=True)}: {', '.join(said) or tr('no request')}"
        found.append(Column(step_name(shown.figures.unit, step), pieces, words))
    return found


def period_state(shown: SpanFigures, step: int | None = None) -> dict[str, str]:
    """Return the filter of History for a step of the span, or for all of it."""
    if step is not None:
        begin, end = days_of(shown, step)
        return {"period": f"{begin:.0f}..{end:.0f}"}
    back = {TimeSpan.TODAY: "0", TimeSpan.WEEK: "6", TimeSpan.MONTH: "29"}.get(shown.span)
    return {} if back is None else {"period": back}


def times_to_decide(shown: SpanFigures) -> list[Column]:
    """Return how many answers of a person took how long."""
    found = waits(shown, shown.first, shown.last)
    result, begin = [], 0
    names = (*_NAMES, *_MORE)
    for name, edge in zip(names, (*_EDGES, None), strict=True):
        end = None if edge is None else bucket(edge)
        number = sum(n for place, n in found.items() if place >= begin and (end is None or place < end))
        result.append(
            Column(name, (("accent", number),), f"{name}: {plural('{count} answer', '{count} answers', number)}")
        )
        begin = end or begin
    return result


def agents(shown: SpanFigures) -> list[Share]:
    """Return how many requests each agent made."""
    found: Counter[str] = Counter()
    for kind, number in kinds(shown).items():
        found[kind.agent] += number
    period = period_state(shown)
    return _most([Share(phrases.visible(name), n, "accent", "", {"agent": name, **period}) for name, n in _by(found)])


def levels(shown: SpanFigures) -> list[Share]:
    """Return how many requests there were of each class."""
    found: Counter[int] = Counter()
    for kind, number in kinds(shown).items():
        found[kind.level] += number
    period = period_state(shown)

    def named(level: Level) -> str:
        # Where nothing was found a request has a class too: it would read as what was found.
        return tr("{name} class", name=level.name)

    return [
        Share(named(level), found[level], _CLASS_INKS[level], "", {"level": str(int(level)), **period})
        for level in reversed(Level)
        if found[level]
    ]


def ends(shown: SpanFigures) -> list[Share]:
    """Return how runs ended."""
    found: Counter[str] = Counter()
    for kind, number in kinds(shown).items():
        if kind.outcome:
            found[kind.outcome] += number
    period = period_state(shown)
    return _most(
        [
            Share(
                capital(translated(name)), n, "low" if name == Outcome.OK else "high", "", {"outcome": name, **period}
            )
            for name, n in _by(found)
        ]
    )


def deciders(shown: SpanFigures) -> list[Share]:
    """Return who or what decided how often: the person, each rule, each grant, trust."""
    found: Counter[tuple[str, str]] = Counter()
    for one, number in answered_by(shown).items():
        found[_decider(one)] += number
    for _, day in at_work(shown):
        found[tr("You let run at work"), "low"] += day.let_run
        found[tr("You refused at work"), "high"] += day.turned_down
    return _most([Share(name, number, ink) for (name, ink), number in found.most_common() if number])


def _decider(one: DecidedBy) -> tuple[str, str]:
    """Return the words for who decided, and their ink."""
    rule = phrases.visible(one.rule)
    denied = one.verdict == Verdict.DENIED
    match one.decider:
        case Decider.PERSON:
            return (tr("You denied"), "high") if denied else (tr("You approved"), "low")
        case Decider.RULE if one.rule == TRUST_RULE:
            return tr("Passed in trust"), "accent"
        case Decider.RULE if one.rule == LOW_RULE:
            return tr("Passed as LOW"), "accent"
        case Decider.RULE:
            return (
                (tr("Denied by rule {rule}", rule=rule), "high")
                if denied
                else (tr("Passed by rule {rule}", rule=rule), "accent")
            )
        case Decider.GRANT:
            return tr("Passed by {rule}", rule=rule), "accent"
        case Decider.AGENT:
            return tr("Withdrawn by the agent"), "edge"
        case Decider.ENGINE:
            return (tr("Denied by Assent"), "high") if denied else (tr("Missed"), "edge")
        case _:
            return tr("Nobody"), "edge"


def refused(shown: SpanFigures) -> list[Share]:
    """Return what running code and programs at work tried in vain."""
    found: Counter[tuple[str, str]] = Counter()
    agents_of: dict[tuple[str, str], set[str]] = {}
    for one, tries in stopped(shown).items():
        found[one.what, one.name] += tries.tries
        agents_of.setdefault((one.what, one.name), set()).add(one.agent)
    # History has no filter for hosts of programs at work: those lead nowhere.
    asked = {*found}
    for session, day in at_work(shown):
        for host in day.hosts:
            found[HOST, host] += 1
            agents_of.setdefault((HOST, host), set()).add(session.who)
    shares = []
    for (what, name), number in found.most_common():
        by = ", ".join(sorted(map(phrases.visible, agents_of[what, name])))
        called = phrases.visible(name) if name else tr("others")
        words = plural(
            "{called}: refused {count} time, to {by}",
            "{called}: refused {count} times, to {by}",
            number,
            called=called,
            by=by,
        )
        target = {"host": name, **period_state(shown)} if what == HOST and name and (what, name) in asked else None
        shares.append(
            Share(called if what == HOST else tr("import {called}", called=called), number, "high", words, target)
        )
    return _most(shares)


def _by(found: Counter[str]) -> list[tuple[str, int]]:
    return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))


def _most(shares: Sequence[Share]) -> list[Share]:
    """Return the largest shares, with the rest in one."""
    if len(shares) <= MOST_SHARES:
        return list(shares)
    rest = shares[MOST_SHARES - 1 :]
    return [
        *shares[: MOST_SHARES - 1],
        Share(tr("{count} more", count=numeral(len(rest))), sum(one.number for one in rest), "edge"),
    ]
