"""While somebody works in Assent clocks stand; what comes next is what is seen next; what expired leaves a mark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QApplication

from app.chrome.idle import Idle
from app.review.guard import GRAVER_SECONDS, REST_SECONDS, ClickGuard
from app.state.attention import class_words
from runner.model.assessment import Level
from runner.model.decision import Decider, Verdict
from runner.model.events import AwayChanged
from tests.gui import feed

if TYPE_CHECKING:
    from tests.gui.conftest import Desk


def titles(desk: Desk) -> str:
    card = desk.review.card
    return card.request.title if card is not None else ""


# ---- the next request ----


def test_the_next_request_is_the_next_in_the_list_and_not_the_next_to_expire(desk: Desk) -> None:
    first = desk.ask(feed.request("1", "one", title="first"), left=50.0)
    desk.ask(feed.request("2", "one", title="below"), left=90.0)
    desk.ask(feed.request("3", "two", title="other agent"), left=40.0)
    assert titles(desk) == "first"
    desk.rested()
    desk.page.foot.approve.press_key()
    desk.hear(feed.decided(first))
    assert titles(desk) == "below"


def test_one_that_is_about_to_expire_goes_before_the_next_in_the_list(desk: Desk) -> None:
    first = desk.ask(feed.request("1", "one", title="first"), left=50.0)
    desk.ask(feed.request("2", "one", title="below"), left=90.0)
    desk.ask(feed.request("3", "two", title="soon over"), left=12.0)
    desk.rested()
    desk.page.foot.approve.press_key()
    desk.hear(feed.decided(first))
    assert titles(desk) == "soon over"


def test_the_order_seen_counts_where_the_answer_sorts_the_list_anew(desk: Desk) -> None:
    """The lane of the one that is answered falls behind: what stood below it still comes next."""
    found = feed.assessment(Level.HIGH, feed.finding(1, "Something.", Level.HIGH))
    worst = desk.ask(feed.request("1", "one", title="worst"), found, left=50.0)
    desk.ask(feed.request("2", "one", title="below"), left=90.0)
    middle = feed.assessment(Level.HIGH, feed.finding(1, "Something.", Level.MEDIUM))
    desk.ask(feed.request("3", "two", title="then first"), middle, left=60.0)
    desk.rested()
    desk.page.foot.approve.press_key()
    desk.hear(feed.decided(worst))
    assert titles(desk) == "below"


def test_all_of_the_chosen_row_stays_in_view_when_the_list_gets_lower(desk: Desk) -> None:
    for number in range(20):
        desk.ask(feed.request(f"step_{number}()", "one"), left=60.0 + number)
    queue = desk.window.deciding.queue
    view, port = queue.view, queue.view.viewport()
    last = next(
        row
        for row in range(queue.model.rowCount())
        if view.visualRect(queue.model.index(row, 0)).bottom() > port.height() - 60
    )
    view.setCurrentIndex(queue.model.index(last, 0))
    view.setFixedHeight(view.height() - 40)
    desk.qtbot.waitUntil(lambda: view.visualRect(view.currentIndex()).bottom() <= port.height())


# ---- the rest ----


def test_a_longer_rest_is_not_cut_short_by_another_one() -> None:
    now = [0.0]
    guard = ClickGuard(lambda: True, lambda: now[0])
    assert guard.rearm(GRAVER_SECONDS) == GRAVER_SECONDS
    now[0] = 0.5
    assert guard.rearm() == GRAVER_SECONDS - 0.5
    now[0] = 0.5 + REST_SECONDS
    assert guard.press() == 0
    now[0] = GRAVER_SECONDS
    assert guard.counts(guard.press())


@pytest.mark.parametrize(("level", "longer"), [(Level.HIGH, True), (None, False)])
def test_into_higher_attention_the_rest_is_longer(desk: Desk, level: Level | None, longer: bool) -> None:
    calm = desk.ask(feed.request("1", title="calm"))
    findings = () if level is None else (feed.finding(1, "Sends it.", level),)
    desk.ask(feed.request("2", title="next"), feed.assessment(Level.HIGH, *findings))
    desk.window.deciding.show_request(calm.id)
    desk.rested()
    desk.page.foot.approve.press_key()
    desk.hear(feed.decided(calm))
    assert titles(desk) == "next"
    guard = desk.review.guard
    left = guard._until - guard._clock()
    assert (left > REST_SECONDS) is longer
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_A)
    assert [answer[0] for answer in desk.answers] == ["approve"]


# ---- what expired ----


def badge(desk: Desk) -> tuple[int, str, str]:
    button = desk.window.navigation._buttons["Queue"]
    return button._count, button._ink, button.accessibleName()


def test_what_expired_while_another_page_was_open_leaves_a_mark_until_it_is_seen(desk: Desk) -> None:
    one = desk.ask()
    desk.window.show_page("Help")
    desk.hear(feed.decided(one, Verdict.EXPIRED, Decider.ENGINE))
    assert badge(desk) == (1, "muted", "Queue, 1 missed")
    desk.ask(feed.request("two()"))
    assert badge(desk)[2] == "Queue, 1, 1 missed"
    desk.window.show_page("Queue")
    assert badge(desk)[2] == "Queue, 1"


def test_what_expired_before_the_eyes_of_a_person_leaves_none(desk: Desk) -> None:
    one = desk.ask()
    desk.hear(feed.decided(one, Verdict.EXPIRED, Decider.ENGINE))
    assert badge(desk)[2] == "Queue"


def test_a_mark_goes_when_the_window_comes_to_the_front(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    one = desk.ask()
    monkeypatch.setattr(desk.window, "isActiveWindow", lambda: False)
    desk.hear(feed.decided(one, Verdict.EXPIRED, Decider.ENGINE))
    assert badge(desk)[2] == "Queue, 1 missed"
    monkeypatch.undo()
    QApplication.sendEvent(desk.window, QEvent(QEvent.Type.WindowActivate))
    assert badge(desk)[2] == "Queue"


def test_what_was_missed_and_is_sent_again_stands_once(desk: Desk) -> None:
    one = desk.ask(feed.request("same()", title="Once more"))
    desk.hear(feed.decided(one, Verdict.EXPIRED, Decider.ENGINE))
    assert len(desk.cases.missed()) == 1
    again = desk.ask(feed.request("same()", title="Once more"))
    assert again.digest == one.digest
    assert desk.cases.missed() == () and desk.cases.card(again.id).again  # type: ignore[union-attr]
    queue = desk.window.deciding.queue.model
    assert "asked again" in queue.text(queue.row_of(again.id))


def test_what_is_approved_for_later_stays_where_it_is_missed(desk: Desk) -> None:
    one = desk.ask(feed.request("same()"))
    desk.hear(feed.decided(one, Verdict.EXPIRED, Decider.ENGINE))
    desk.cases.missed()[0].armed = 1.0
    desk.ask(feed.request("same()"))
    assert len(desk.cases.missed()) == 1, "its approval still counts"


def test_a_long_window_is_said_in_hours(desk: Desk) -> None:
    one = desk.ask(left=43_199.9)
    card = desk.cases.card(one.id)
    assert card is not None
    card.window = 43_199.9
    assert class_words(card).endswith(", 12 h to answer")


# ---- away by itself ----


def test_who_does_nothing_for_long_enough_is_away_until_something_is_done(desk: Desk) -> None:
    told: list[str] = []
    idle = Idle(desk.window.presence, lambda: 5, desk.window)
    idle.left.connect(lambda: told.append("left"))
    idle.returned.connect(lambda: told.append("returned"))
    idle.begin()
    assert idle._timer.isActive() and idle._timer.interval() == 300_000
    idle._timer.timeout.emit()
    desk.hear((AwayChanged(True),))
    idle.note()
    assert told == ["left", "returned"]


def test_away_that_a_person_chose_is_not_ended_by_a_key(desk: Desk) -> None:
    told: list[str] = []
    idle = Idle(desk.window.presence, lambda: 5, desk.window)
    idle.returned.connect(lambda: told.append("returned"))
    desk.hear((AwayChanged(True),))
    idle.note()
    assert told == []


def test_it_is_off_unless_it_is_set(desk: Desk) -> None:
    assert desk.window.idle._minutes() == 0 and not desk.window.idle._timer.isActive()
    desk.bridge.idle_minutes = 5
    desk.window.attending.note()
    assert desk.window.idle._timer.isActive()
