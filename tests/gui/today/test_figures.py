"""The figures of the page Today without its window: spans, bars of the day, what is worth a look, the table."""

from __future__ import annotations

import csv
import io
import time
from collections import Counter
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

import pytest

from app.history.filters import stretch, stretch_name
from app.history.model import TitledRow
from app.today import overview
from app.today.bars import (
    HOUR,
    MISSED,
    MOST_LANES,
    RAN,
    REFUSED,
    WAITED,
    Bar,
    axis,
    bar,
    lanes,
    merged,
)
from app.today.highlights import AGAIN, Known, ToHistory, ToPage, worth_a_look
from app.today.plots import scale
from app.today.spans import SpanFigures, TimeSpan, answers, before, kinds, medians, midnight, passed, waits
from app.today.table import COLUMNS, table
from runner.audit.history.counting import (
    HOST,
    CountedKind,
    CountedPeriod,
    DecidedBy,
    StoppedTry,
    Tally,
    Tries,
    Unit,
    bucket,
)
from runner.audit.history.search import UnreadableRow
from runner.audit.history.statistics import Figures
from runner.audit.ledger.row import Row
from runner.identity.agents import Agent
from runner.model.decision import Decider, Verdict
from runner.model.lifecycle import Phase
from runner.model.request import Language, Tool
from runner.model.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

DAY = date(2026, 3, 10).toordinal()
NOW = time.mktime((2026, 3, 10, 15, 20, 0, 0, 0, -1))


def tally(unit: Unit = Unit.DAY, *starts: int) -> Tally:
    """On each day 3 approved by a person, 1 denied, 5 passed, 2 missed; answers of 4 s and one of 60 s."""
    found = Tally()
    for start in starts or (DAY, DAY - 1, DAY - 8):
        period = CountedPeriod(unit, start)
        found.requests[period, CountedKind("codex", 3, "approved", "person", "ok")] = 3
        found.requests[period, CountedKind("codex", 4, "denied", "person", "")] = 1
        found.requests[period, CountedKind("claude", 1, "approved", "rule", "timed out")] = 5
        found.requests[period, CountedKind("claude", 3, "expired", "engine", "")] = 2
        found.waits[period, bucket(4.0)] = 3
        found.waits[period, bucket(60.0)] = 1
        found.answers[period, DecidedBy("person", "", "approved")] = 3
        found.answers[period, DecidedBy("rule", "low-risk", "approved")] = 5
        found.answers[period, DecidedBy("rule", "trust window", "approved")] = 1
        found.stopped[period, StoppedTry("codex", HOST, "stats.example.net")] = Tries(AGAIN, 1, NOW)
    return found


def figures(span: TimeSpan, first: int, unit: Unit = Unit.DAY, *starts: int) -> SpanFigures:
    return SpanFigures(span, Figures(unit, tally(unit, *starts), DAY - 8, 9, 9), first, DAY)


def test_a_span_counts_its_own_days_and_compares_with_those_before() -> None:
    today = figures(TimeSpan.TODAY, DAY)
    assert answers(kinds(today)) == (3, 1, 2)
    assert kinds(today).total() == 11
    assert sum(number for kind, number in kinds(today).items() if passed(kind)) == 5
    assert before(today) == (DAY - 7, DAY - 1)
    assert len(today.curve_steps) == 30 == len(medians(today))
    assert medians(today)[-1] == pytest.approx(4.2, rel=0.1)
    assert medians(today)[0] is None
    week = figures(TimeSpan.WEEK, DAY - 6)
    assert kinds(week).total() == 22
    assert waits(week, week.first, week.last).total() == 8
    assert before(week) == (DAY - 13, DAY - 7)
    assert before(figures(TimeSpan.MONTH, DAY - 29)) == (DAY - 59, DAY - 30)
    assert before(figures(TimeSpan.ALL, DAY - 8)) is None


def test_months_follow_one_another_over_the_end_of_a_year() -> None:
    first, last = date(2025, 11, 1).toordinal(), date(2026, 2, 1).toordinal()
    shown = SpanFigures(TimeSpan.ALL, Figures(Unit.MONTH, Tally(), first, 1, 1), first, last)
    assert [date.fromordinal(step).isoformat()[:7] for step in shown.steps] == [
        "2025-11",
        "2025-12",
        "2026-01",
        "2026-02",
    ]
    (column, *_) = overview.columns(shown)
    assert (column.name, column.number) == ("Nov 25", 0)


def test_columns_and_shares_add_up_to_the_requests() -> None:
    shown = figures(TimeSpan.WEEK, DAY - 6)
    columns = overview.columns(shown)
    assert len(columns) == 7
    assert sum(one.number for one in columns) == kinds(shown).total() == 22
    assert columns[-1].words.endswith("5 passed, 3 approved, 1 denied, 2 missed")
    assert [(one.name, one.number) for one in overview.agents(shown)] == [("claude", 14), ("codex", 8)]
    assert sum(one.number for one in overview.times_to_decide(shown)) == 8
    assert [one.number for one in overview.times_to_decide(shown) if one.number] == [6, 2]
    assert all(one.name.endswith((" s", " min")) for one in overview.times_to_decide(shown)), "a number of what"
    names = {one.name: one.number for one in overview.deciders(shown)}
    assert names == {"You approved": 6, "Passed as LOW": 10, "Passed in trust": 2}
    assert [one.name for one in overview.levels(shown)] == ["CRITICAL class", "HIGH class", "LOW class"]
    (refused,) = overview.refused(shown)
    assert refused.target == {"host": "stats.example.net", "period": "6"}


def test_many_shares_end_in_one_for_the_rest() -> None:
    found = Tally()
    for number in range(20):
        kind = CountedKind(f"agent-{number:02}", 1, "approved", "rule", "ok")
        found.requests[CountedPeriod(Unit.DAY, DAY), kind] = 20 - number
    shares = overview.agents(SpanFigures(TimeSpan.TODAY, Figures(Unit.DAY, found, DAY, 1, 1), DAY, DAY))
    assert len(shares) == overview.MOST_SHARES
    assert shares[-1].name == "13 more" and shares[-1].target is None
    assert sum(one.number for one in shares) == found.requests.total()


@pytest.mark.parametrize(
    ("most", "top"), [(0, 2), (1, 2), (3, 5), (5, 5), (6, 10), (90, 100), (101, 200), (4001, 5000)]
)
def test_a_scale_ends_with_a_round_number(most: int, top: int) -> None:
    assert scale(most) == top


# ---- bars ----


def row(**others: object) -> Row:
    given: dict[str, object] = {"asked_at": NOW + 1, "decided_at": NOW + 5, "verdict": Verdict.APPROVED}
    given |= {"decider": Decider.PERSON, "waited": 4.0, "started_at": NOW + 6, "finished_at": NOW + 9}
    given |= {"outcome": Outcome.OK, "duration": 3.0}
    plain = Row(7, "r7", "codex", Tool.CODE_EXECUTE, Language.PYTHON, "Say", "0" * 64, Phase.CLOSED, NOW)
    return replace(plain, **{**given, **others})  # type: ignore[arg-type]


def parts(**others: object) -> list[tuple[str, float, float | None]]:
    made = bar(TitledRow(row(**others), "Say"))
    assert made is not None
    return [(one.ink, one.begin - NOW, None if one.end is None else one.end - NOW) for one in made.parts]


NOT_RUN = {"started_at": None, "finished_at": None, "outcome": None, "duration": None}
UNDECIDED = {**NOT_RUN, "decided_at": None, "verdict": None, "decider": None, "waited": None}


def test_a_bar_shows_how_long_it_waited_and_ran() -> None:
    assert parts() == [(WAITED, 1, 5), (RAN, 6, 9)]
    assert parts(asked_at=None, decider=Decider.RULE, waited=0.0) == [(RAN, 6, 9)]
    assert parts(finished_at=None, outcome=None) == [(WAITED, 1, 5), (RAN, 6, None)]
    assert parts(**NOT_RUN, verdict=Verdict.DENIED) == [(WAITED, 1, 5), (REFUSED, 5, 5)]
    assert parts(**NOT_RUN, verdict=Verdict.EXPIRED) == [(MISSED, 1, 5)]
    assert parts(**NOT_RUN) == [(WAITED, 1, 5), (RAN, 5, 5)], "a tool of the agent's own program"
    assert parts(**UNDECIDED) == [(WAITED, 1, None)]
    assert bar(TitledRow(UnreadableRow(1, "x", "Damaged."), "x")) is None


def test_a_clock_that_was_set_back_makes_no_part_of_negative_length() -> None:
    assert parts(decided_at=NOW - 50, finished_at=NOW - 40) == [(WAITED, 1, 1), (RAN, 6, 6)]


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ({}, "Approved by you after 4.0 s. Ok in 3.0 s."),
        ({"decider": Decider.RULE, "rule": "tests"}, "Passed by rule tests. Ok in 3.0 s."),
        ({**NOT_RUN, "verdict": Verdict.EXPIRED, "decider": Decider.ENGINE}, "Missed."),
        (UNDECIDED, "Waits for you."),
    ],
)
def test_the_words_of_a_bar_say_who_decided(others: dict[str, object], words: str) -> None:
    made = bar(TitledRow(row(**others), "Say"))
    assert made is not None and made.words.endswith(f"codex: Say. {words}")


def bars(names: list[str]) -> list[Bar]:
    return [Bar(f"b{place}", name, NOW + place, (), "") for place, name in enumerate(names)]


def test_the_rarest_agents_share_the_last_lane() -> None:
    names = [f"agent-{n:02}" for n in range(20) for _ in range(20 - n)]
    found = lanes(bars(names))
    assert len(found) == MOST_LANES
    assert found[-1].agent == ""
    assert sum(len(one.bars) for one in found) == len(names)
    assert [one.agent for one in lanes(bars(["b", "a", "b"]))] == ["a", "b"]


def test_the_axis_goes_from_hour_to_hour() -> None:
    found = axis([Bar("b", "a", NOW - 5 * HOUR, (), "")], NOW)
    assert [time.localtime(at)[3:6] for at in (found.begin, found.end)] == [(10, 0, 0), (16, 0, 0)]
    assert found.x(found.begin, 600) == 0 and found.x(found.end + 9, 600) == 600
    assert found.moment(300, 600) == (found.begin + found.end) / 2
    assert len(found.hours(3)) == 4
    assert axis((), NOW).end - axis((), NOW).begin == 3 * HOUR


def test_a_bar_that_changed_takes_the_place_of_the_old_one() -> None:
    old = {one.id: one for one in bars(["a", "b"])}
    fresh = replace(old["b1"], words="new")
    assert merged(old, [fresh]) == {"b0": old["b0"], "b1": fresh}


# ---- what is worth a look ----


def known(**others: object) -> Known:
    return Known(**{"now": NOW, "verified": NOW, **others})  # type: ignore[arg-type]


def test_what_stands_out_is_said_with_one_thing_to_do() -> None:
    idle = Agent("cursor", "0" * 64, NOW - 9 * 86_400)
    found = worth_a_look(figures(TimeSpan.TODAY, DAY), known(agents=(idle,), period={"period": "0"}))
    assert [(one.words, one.act) for one in found] == [
        (
            "codex tried stats.example.net 3 times",
            ToHistory({"agent": "codex", "host": "stats.example.net", "period": "0"}),
        ),
        ("5 runs reached their time limit", ToHistory({"outcome": "timed out", "period": "0"})),
        ("cursor has never connected", ToPage("Agents")),
    ]


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ({"verified": None, "since": NOW - 8 * 86_400}, "The history has not been verified yet"),
        ({"verified": NOW - 9 * 86_400}, "The history has not been verified for 9 days"),
        ({"verified": None, "since": NOW - 86_400}, None),
        ({"verified": NOW - 86_400, "since": NOW - 80 * 86_400}, None),
    ],
)
def test_an_old_verification_is_named(others: dict[str, object], said: str | None) -> None:
    empty = SpanFigures(TimeSpan.TODAY, Figures(), DAY, DAY)
    assert [one.words for one in worth_a_look(empty, known(**others))] == [said] * (said is not None)


def test_a_quiet_day_has_nothing_to_say() -> None:
    assert worth_a_look(SpanFigures(TimeSpan.TODAY, Figures(), DAY, DAY), known()) == []


# ---- the table ----


def test_the_table_holds_the_span_and_no_formula() -> None:
    shown = figures(TimeSpan.TODAY, DAY)
    evil = CountedKind("=cmd()", 3, "approved", "person", "ok")
    shown.figures.tally.requests[CountedPeriod(Unit.DAY, DAY), evil] = 1
    head, *rows = csv.reader(io.StringIO(table(shown)))
    assert tuple(head) == COLUMNS
    assert sum(int(one[-1]) for one in rows) == 12
    assert {one[0] for one in rows} == {"2026-03-10"}
    assert Counter(one[2] for one in rows)["'=cmd()"] == 1


def in_zone(zone: str, monkeypatch: pytest.MonkeyPatch, work: Callable[[], float]) -> float:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        return work()
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_day_begins_at_midnight_also_where_the_clock_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    spring = date(2026, 3, 29).toordinal()

    def length() -> float:
        return midnight(spring + 1) - midnight(spring)

    assert in_zone("Europe/Berlin", monkeypatch, length) == 23 * HOUR
    assert in_zone("UTC", monkeypatch, length) == 24 * HOUR


# ---- a stretch of time as a filter ----


@pytest.mark.parametrize("value", ["", "5", "5..2", "a..b", "-1..5", "nan..nan", "1..inf", 7, None, "1..2..3"])
def test_what_is_no_stretch_of_time_is_none(value: object) -> None:
    assert stretch(value) is None


def test_a_stretch_has_its_times_and_a_name() -> None:
    begin, end = midnight(DAY), midnight(DAY + 1)
    assert stretch(f"{begin}..{end}") == (begin, end)
    assert stretch_name(begin, end) == "10 Mar"
    assert stretch_name(begin, midnight(DAY + 3)) == "10 Mar to 12 Mar"
    assert stretch_name(NOW, NOW + HOUR) == "10 Mar, 15:20 to 16:20"
    assert stretch_name(NOW, NOW) == "10 Mar, 15:20"
