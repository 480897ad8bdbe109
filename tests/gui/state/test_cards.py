"""The store behind the panels: what each event makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app import phrases
from app.state import attention
from app.state.cards import KEPT_READINGS, KEPT_REFUSALS, KEPT_RUNS, Cards
from runner.model.assessment import Level
from runner.model.decision import Decider, Verdict
from runner.model.events import (
    CallsRefused,
    EngineTroubled,
    Event,
    GatewayOpened,
    QuestionAsked,
    RequestArrived,
    RequestAssessed,
    RequestClosed,
    RequestJoined,
    TroubleCleared,
)
from runner.model.result import Outcome
from runner.system.clock import since_boot
from tests.gui import feed

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from runner.model.assessment import Assessment


@pytest.fixture
def cases(qapp: QApplication) -> Cards:
    del qapp
    return Cards()


def take(cases: Cards, *batches: tuple[Event, ...]) -> None:
    for batch in batches:
        cases.take(batch)


def test_a_request_waits_only_once_it_was_asked(cases: Cards) -> None:
    one = feed.request()
    take(cases, (RequestArrived(one),))
    card = cases.card(one.id)
    assert card is not None
    assert not card.waiting
    assert card.digest == one.digest
    take(cases, (RequestAssessed(one.id, feed.assessment(Level.HIGH)),))
    assert card.level is Level.HIGH
    assert cases.count_waiting() == 0
    take(cases, (QuestionAsked(one.id, since_boot() + 30, 30, ""),))
    assert card.waiting
    assert cases.waiting() == (card,)


def test_a_request_that_was_sent_again_says_how_often(cases: Cards) -> None:
    one = feed.request()
    take(cases, feed.asked(one), (RequestJoined(one.id, 2), RequestJoined("gone", 5)))
    (card,) = cases.waiting()
    assert (card.asked, phrases.times(card.asked), phrases.times(1)) == (2, "asked 2 times", "")


def test_an_answer_takes_it_out_of_the_waiting(cases: Cards) -> None:
    one = feed.request()
    take(cases, feed.asked(one))
    card = cases.card(one.id)
    take(cases, feed.decided(one))
    assert cases.count_waiting() == 0
    assert card is not None
    assert card.decision is not None
    assert not card.waiting


def test_a_denied_request_is_forgotten_but_its_card_still_tells(cases: Cards) -> None:
    one = feed.request()
    take(cases, feed.asked(one))
    card = cases.card(one.id)
    take(cases, feed.decided(one, Verdict.WITHDRAWN, Decider.AGENT))
    assert cases.card(one.id) is None
    assert card is not None
    assert card.decision is not None
    assert card.decision.verdict is Verdict.WITHDRAWN


def test_a_run_is_followed_to_its_end(cases: Cards) -> None:
    one = feed.request()
    take(cases, feed.asked(one), feed.decided(one), feed.started(one), feed.measured(one, 0.5))
    card = cases.card(one.id)
    assert card is not None
    assert card.running
    assert cases.running() == (card,)
    assert len(card.readings) == 1
    take(cases, feed.finished(one, feed.result(Outcome.TIMED_OUT)))
    assert not card.running
    assert cases.count_running() == 0
    assert cases.runs() == (card,)
    assert card.result is not None
    assert card.result.outcome is Outcome.TIMED_OUT


def test_running_ones_come_before_finished_ones_newest_first(cases: Cards) -> None:
    requests = [feed.request(str(number)) for number in range(4)]
    for one in requests:
        take(cases, feed.asked(one), feed.decided(one), feed.started(one))
    take(cases, feed.finished(requests[1]), feed.finished(requests[0]))
    assert [card.request.code for card in cases.runs()] == ["3", "2", "0", "1"]


def test_only_so_much_is_kept(cases: Cards) -> None:
    requests = [feed.request(str(number)) for number in range(KEPT_RUNS + 5)]
    for one in requests:
        take(cases, feed.asked(one), feed.decided(one), feed.started(one), feed.finished(one))
    assert len(cases.runs()) == KEPT_RUNS
    assert cases.card(requests[0].id) is None
    assert cases.card(requests[-1].id) is not None
    last = feed.request()
    take(cases, feed.asked(last), feed.decided(last), feed.started(last))
    for number in range(KEPT_READINGS + 10):
        take(cases, feed.measured(last, number / 4))
    card = cases.card(last.id)
    assert card is not None
    assert len(card.readings) == KEPT_READINGS
    for number in range(KEPT_REFUSALS + 5):
        take(cases, (CallsRefused("codex", 2, f"reason {number}"),))
    assert len(cases.refusals) == KEPT_REFUSALS
    assert cases.refused_by_agent == {"codex": 2 * (KEPT_REFUSALS + 5)}


def test_the_most_urgent_is_the_first_to_expire(cases: Cards) -> None:
    for code, left in (("late", 90.0), ("soon", 5.0), ("middle", 30.0)):
        take(cases, feed.asked(feed.request(code), left=left))
    found = cases.most_urgent()
    assert found is not None
    assert found.request.code == "soon"


def test_troubles_come_and_go(cases: Cards) -> None:
    take(cases, (EngineTroubled("ledger", "Full.", "Make room."), GatewayOpened("http://127.0.0.1:1/mcp")))
    assert cases.troubles["ledger"].what == "Full."
    assert cases.address == "http://127.0.0.1:1/mcp"
    take(cases, (TroubleCleared("ledger"), TroubleCleared("sandbox")))
    assert cases.troubles == {}


def test_news_of_unknown_requests_do_no_harm(cases: Cards) -> None:
    one = feed.request()
    take(cases, feed.started(one), feed.measured(one, 1), feed.decided(one), feed.finished(one))
    take(cases, (QuestionAsked(one.id, 1.0, 1.0, ""), RequestClosed(one.id)))
    assert cases.count_waiting() == 0
    assert cases.count_running() == 0
    assert cases.runs() == ()


def test_panels_hear_of_events_after_they_were_taken_in(cases: Cards) -> None:
    seen: list[int] = []
    cases.happened.connect(lambda _events: seen.append(cases.count_waiting()))
    take(cases, feed.asked(feed.request()))
    assert seen == [1]


def test_attention_is_worked_out_once_for_each_assessment(cases: Cards, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a thousand waiting it was asked for four thousand times whenever anything happened."""
    worked: list[object] = []

    def count(assessed: Assessment | None) -> Level | None:
        worked.append(assessed)
        return None if assessed is None else assessed.attention

    monkeypatch.setattr(attention, "of_assessment", count)
    one = feed.request()
    cases.take(feed.asked(one, feed.assessment(Level.HIGH, feed.finding(1, "r", Level.MEDIUM))))
    card = cases.card(one.id)
    assert card is not None
    assert [attention.attention(card) for _ in range(5)] == [Level.MEDIUM] * 5
    worse = feed.assessment(Level.HIGH, feed.finding(1, "r", Level.HIGH))
    cases.take((RequestAssessed(one.id, worse),))
    assert [attention.rank(card) for _ in range(5)] == [Level.HIGH] * 5
    assert len(worked) == 2
