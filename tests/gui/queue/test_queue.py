"""The queue: its order, that nothing jumps, and that it stays quick with a thousand requests."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QAbstractItemView, QApplication

from app.queue.likeness import likeness
from app.queue.model import QueueModel
from app.queue.order import Lane, RequestLine
from app.state.cards import Card, Cards
from runner.model.assessment import Level
from runner.model.decision import Decider, Verdict
from runner.model.events import QuestionPaused, RequestAssessed
from runner.model.request import Isolation
from runner.system.clock import since_boot
from tests.gui import feed

if TYPE_CHECKING:
    from runner.model.assessment import Assessment
    from runner.model.events import Event
    from runner.model.request import Request
    from tests.gui.conftest import Desk


@pytest.fixture
def model(qapp: QApplication) -> QueueModel:
    """Checked by Qt's own tester: a model that tells its view of other changes than it makes fails."""
    del qapp
    model = QueueModel(Cards())
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal, model)
    return model


def rows(model: QueueModel) -> list[str]:
    """Lanes as `[agent]`, requests as their code."""
    found = []
    for row in range(model.rowCount()):
        line = model.line(row)
        card = model.card(row)
        found.append(f"[{line.agent}]" if isinstance(line, Lane) else card.request.code if card else "?")
    return found


def take(model: QueueModel, *batches: tuple[Event, ...]) -> None:
    for batch in batches:
        model._cases.take(batch)
    model.refresh()


def asked(code: str, agent: str = "one", left: float = 60.0) -> tuple[Event, ...]:
    return feed.asked(feed.request(code, agent), left=left)


# ---- order ----


def test_the_soonest_to_expire_comes_first_in_its_lane(model: QueueModel) -> None:
    take(model, asked("late", left=90), asked("other", "two", left=10), asked("soon", left=20))
    assert rows(model) == ["[one]", "soon", "late", "[two]", "other"]


def test_lanes_keep_the_order_in_which_agents_first_asked(model: QueueModel) -> None:
    one, two = feed.request("1", "one"), feed.request("2", "two")
    take(model, feed.asked(one), feed.asked(two), asked("1b", "one"))
    take(model, feed.decided(one))
    assert rows(model) == ["[one]", "1b", "[two]", "2"]


def test_a_lane_goes_with_its_last_request(model: QueueModel) -> None:
    one, two = feed.request("1", "one"), feed.request("2", "two")
    take(model, feed.asked(one), feed.asked(two))
    take(model, feed.decided(one, Verdict.WITHDRAWN, Decider.AGENT))
    assert rows(model) == ["[two]", "2"]


def test_nothing_moves_while_the_order_is_held(model: QueueModel) -> None:
    gone = feed.request("gone", "one")
    take(model, asked("late", left=90), feed.asked(gone, left=80.0), asked("other", "two"))
    before = rows(model)
    model.hold(True)
    take(model, asked("urgent", "one", left=1), feed.decided(gone, Verdict.WITHDRAWN, Decider.AGENT))
    assert rows(model) == [*before, "[]", "urgent"]
    take(model, asked("another", "three"))
    assert rows(model) == [*before, "[]", "urgent", "another"]
    model.hold(False)
    assert rows(model) == ["[one]", "urgent", "late", "[two]", "other", "[three]", "another"]


def test_rows_say_in_words_what_they_show(model: QueueModel) -> None:
    one = feed.request("print(1)", "codex", title="Print <b>one</b>\u202e")
    found = feed.finding(1, "Reads a secret.", Level.HIGH)
    take(model, feed.asked(one, feed.assessment(Level.HIGH, found), left=24.0))
    assert model.text(0) == "Agent codex"
    assert model.text(1).startswith("HIGH, Code is run, \N{LEFT DOUBLE QUOTATION MARK}Print <b>one</b>")
    assert "\N{RIGHT DOUBLE QUOTATION MARK}, codex, Python, " in model.text(1)
    assert model.text(1).endswith(", 24 s left")
    assert "\u202e" not in model.text(1)
    take(model, feed.asked(feed.request("print(2)", "cursor"), feed.assessment(Level.HIGH)))
    assert model.text(3).startswith("No findings, Code is run, "), "the class alone is nothing to look at"


def test_what_is_worth_a_look_comes_first(model: QueueModel) -> None:
    def found(level: Level) -> Assessment:
        return feed.assessment(Level.HIGH, feed.finding(1, "Something.", level))

    take(model, asked("calm", left=5), asked("calm too", "two", left=1))
    take(model, feed.asked(feed.request("amber", "two"), found(Level.MEDIUM), left=90))
    take(model, feed.asked(feed.request("red", "one"), found(Level.HIGH), left=80))
    take(model, feed.asked(feed.request("red soon", "one"), found(Level.HIGH), left=10))
    assert rows(model) == ["[one]", "red soon", "red", "calm", "[two]", "amber", "calm too"]
    take(model, feed.asked(feed.request("network", "two"), feed.assessment(Level.CRITICAL), left=99))
    assert rows(model)[:2] == ["[two]", "network"], "what is approved by a deliberate act alone never looks calm"


def test_headings_cannot_be_chosen(model: QueueModel) -> None:
    take(model, asked("1"))
    assert not model.flags(model.index(0, 0)) & Qt.ItemFlag.ItemIsSelectable
    assert model.flags(model.index(1, 0)) & Qt.ItemFlag.ItemIsSelectable


# ---- nothing jumps ----


def shown(desk: Desk) -> str:
    card = desk.review.card
    return card.request.code if card else ""


def test_what_arrives_does_not_change_what_is_under_review(desk: Desk) -> None:
    desk.ask(feed.request("first"), left=50.0)
    desk.ask(feed.request("urgent"), feed.assessment(Level.CRITICAL), left=1.0)
    assert shown(desk) == "first"
    assert desk.cases.count_waiting() == 2


def test_the_choice_stays_on_its_request_when_rows_move(desk: Desk) -> None:
    chosen = desk.ask(feed.request("chosen", "one"), left=50.0)
    for number in range(5):
        desk.ask(feed.request(str(number), "one"), left=10.0 + number)
    queue = desk.window.deciding.queue
    card = queue.model.card(queue.view.currentIndex().row())
    assert card is not None
    assert card.id == chosen.id
    assert shown(desk) == "chosen"


def test_the_chosen_row_stays_where_it_is_on_the_screen(desk: Desk) -> None:
    many: list[Event] = []
    for number in range(60):
        many += feed.asked(feed.request(f"step_{number}()", "one"), left=100.0 + number)
    desk.hear(tuple(many))
    queue = desk.window.deciding.queue
    row = queue.model.rowCount() - 5
    queue.view.setCurrentIndex(queue.model.index(row, 0))
    # Away from the edge: what comes below the list takes room from it, and a row is kept whole.
    queue.view.scrollTo(queue.view.currentIndex(), QAbstractItemView.ScrollHint.PositionAtCenter)
    QApplication.processEvents()
    before = queue.view.visualRect(queue.view.currentIndex()).top()
    assert queue.view.verticalScrollBar().value() > 0
    desk.hear(*(feed.asked(feed.request("new", "one"), left=1.0 + number) for number in range(5)))
    QApplication.processEvents()
    assert queue.view.visualRect(queue.view.currentIndex()).top() == before


def test_the_order_is_held_while_the_pointer_is_over_the_rows(desk: Desk) -> None:
    desk.ask(feed.request("late", "one"), left=90.0)
    queue = desk.window.deciding.queue
    QApplication.sendEvent(queue.view.viewport(), QEvent(QEvent.Type.Enter))
    desk.ask(feed.request("soon", "one"), left=10.0)
    assert rows(queue.model) == ["[one]", "late", "[]", "soon"]
    QApplication.sendEvent(queue.view.viewport(), QEvent(QEvent.Type.Leave))
    assert rows(queue.model) == ["[one]", "soon", "late"]


def test_after_an_answer_the_most_urgent_comes_next(desk: Desk) -> None:
    first = desk.ask(feed.request("first"), left=50.0)
    desk.ask(feed.request("later"), left=40.0)
    desk.ask(feed.request("soon"), left=30.0)
    desk.rested()
    desk.page.foot.approve.press_key()
    desk.hear(feed.decided(first))
    assert shown(desk) == "soon"


def test_what_was_denied_elsewhere_does_not_bring_up_the_next(desk: Desk) -> None:
    """Closing one question must not put another under the hand (regression 4)."""
    first = desk.ask(feed.request("first"))
    desk.ask(feed.request("second"))
    desk.rested()
    desk.window.deciding._giving_way.touch()
    desk.hear(feed.decided(first, Verdict.EXPIRED, Decider.ENGINE))
    assert shown(desk) == "first", "somebody is busy with it"


def test_a_new_assessment_is_shown_in_its_row(desk: Desk) -> None:
    one = desk.ask(None, feed.assessment(Level.LOW))
    desk.hear((RequestAssessed(one.id, feed.assessment(Level.HIGH, feed.finding(1, "Sends it.", Level.HIGH))),))
    assert desk.window.deciding.queue.model.text(1).startswith("HIGH, ")


# ---- many ----


def thousand() -> tuple[list[Request], tuple[Event, ...]]:
    requests = [feed.request(f"print({number})", f"agent-{number % 7}") for number in range(1000)]
    events = (event for number, one in enumerate(requests) for event in feed.asked(one, left=500.0 + number))
    return requests, tuple(events)


def test_a_thousand_requests_keep_the_window_quick(desk: Desk) -> None:
    """Compared with a hundred: what costs the square of the rows would take a hundred times as long."""
    requests, events = thousand()
    desk.hear(events[:300])
    hundred = _seconds_for_one_more(desk)
    desk.hear(events[300:])
    QApplication.processEvents()
    assert desk.cases.count_waiting() >= 1000
    assert len(requests) == 1000
    assert _seconds_for_one_more(desk) < 40 * max(hundred, 0.001)


def _seconds_for_one_more(desk: Desk) -> float:
    """The quickest of several, so that other work on the machine does not count."""
    took = []
    for _ in range(5):
        begun = time.perf_counter()
        desk.ask(feed.request("one more", "agent-3"))
        QApplication.processEvents()
        took.append(time.perf_counter() - begun)
    return min(took)


def test_a_thousand_answers_leave_nothing_behind(desk: Desk) -> None:
    requests, events = thousand()
    desk.hear(events)
    desk.hear(tuple(event for one in requests for event in feed.decided(one, Verdict.DENIED)))
    queue = desk.window.deciding.queue
    assert desk.cases.count_waiting() == 0
    assert queue.model.rowCount() == 0
    assert desk.cases.card(requests[5].id) is None
    assert desk.window.frame.windowTitle() == "Assent"


def test_the_heights_of_rows_follow_them(desk: Desk) -> None:
    """A lane that comes above a request must not give it its own height."""
    desk.ask(feed.request("1", "one"))
    queue = desk.window.deciding.queue
    lane, card = queue.view.rowHeight(0), queue.view.rowHeight(1)
    assert lane < card
    for agent in ("two", "three"):
        desk.ask(feed.request("x", agent))
        desk.ask(feed.request("y", agent))
    for row in range(queue.model.rowCount()):
        wanted = card if isinstance(queue.model.line(row), RequestLine) else lane
        assert queue.view.rowHeight(row) == wanted


# ---- empty ----


def test_an_empty_queue_says_what_to_do(desk: Desk) -> None:
    queue = desk.window.deciding.queue
    assert queue.none.isVisible()
    desk.cases.know_agents(())
    assert queue.nobody.isVisible()
    assert queue.nobody.button is not None
    queue.nobody.button.click()
    assert desk.window.shown_page == "First steps"


def test_what_a_row_cuts_is_in_its_tool_tip(model: QueueModel) -> None:
    title = "A <b>title</b> that no row has room for " * 4
    take(model, feed.asked(feed.request("print(1)", "an-agent-with-a-long-name", title=title)))
    shown = model.index(1, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert "&lt;b&gt;title" in shown and "an-agent-with-a-long-name" in shown
    assert "an-agent-with-a-long-name" in model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)


def test_what_no_row_shows_refreshes_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    one, running = desk.ask(), desk.ask()
    desk.hear(feed.decided(running), feed.started(running))
    refreshed: list[int] = []
    shown: list[object] = []
    queue = desk.window.deciding.queue
    real = queue.model.refresh
    monkeypatch.setattr(queue.model, "refresh", lambda: (refreshed.append(1), real()))
    monkeypatch.setattr(desk.page.header, "show_card", shown.append)
    desk.hear(feed.measured(running, 1.0))
    assert (refreshed, shown) == ([], [])
    desk.hear((*feed.measured(running, 2.0), QuestionPaused(one.id, since_boot() + 60, 60.0)))
    assert len(refreshed) == 1 and len(shown) == 1
    desk.hear(feed.finished(running))
    assert len(refreshed) == 2 and len(shown) == 1


def test_a_request_is_shown_with_its_state_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    states: list[bool] = []
    real = desk.page.foot.say
    monkeypatch.setattr(desk.page.foot, "say", lambda words: (states.append(True), real(words)))
    desk.ask()
    assert len(states) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"context": '{"rows": 2}'},
        {"image": "image:2"},
        {"protections": ("a wall",)},
        {"isolation": Isolation.GVISOR},
        {"executable": True},
    ],
)
def test_whatever_decides_keeps_requests_apart(other: dict[str, Any]) -> None:
    first, second = feed.request("print(1)"), feed.request("print(2)")
    third = replace(second, **other)
    likes = [likeness(Card(one, 0.0, one.digest)) for one in (first, second, third)]
    assert likes[0] == likes[1] != likes[2]
