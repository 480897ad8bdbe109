"""What stands on the page of the queue after an answer: the last five, and the output of the newest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt

from app.state.cards import Cards
from app.state.recent_answers import OWN, SHOWN, JustNowModel, words
from runner.approval.modes import TRUST_RULE
from runner.model.decision import Decider, Decision, Verdict
from runner.model.events import RequestClosed, RequestDecided
from runner.model.result import CapturedFile, Outcome
from runner.sandbox.output import Stream, Transcript
from tests.gui import feed

if TYPE_CHECKING:
    from runner.model.events import Event
    from runner.model.request import Request
    from tests.gui.conftest import Desk


@pytest.fixture
def cards() -> Cards:
    return Cards()


@pytest.fixture
def model(cards: Cards) -> JustNowModel:
    return JustNowModel(cards)


def passed(one: Request, rule: str, by: Decider = Decider.RULE) -> tuple[Event, ...]:
    decision = Decision(Verdict.APPROVED, by, "", rule, digest=one.digest)
    return (*feed.asked(one)[:2], RequestDecided(one.id, decision))


def said(model: JustNowModel) -> list[str]:
    rows = [model.answered(row) for row in range(model.rowCount())]
    return [words(one) for one in rows if one is not None]


@pytest.mark.parametrize(
    ("ended", "expected"),
    [
        (feed.result(files=tuple(CapturedFile(f"{n}", 1, "0" * 64) for n in range(5))), "ok 1.2 s, 5 files"),
        (feed.result(), "ok 1.2 s"),
        (feed.result(Outcome.FAILED, stderr="Traceback\n  x\nKeyError: 'a'\n\n"), "failed, exit 1: KeyError: 'a'"),
        (feed.result(Outcome.FAILED), "failed, exit 1"),
        (feed.result(Outcome.KILLED), "stopped after 1.2 s"),
        (feed.result(Outcome.TIMED_OUT), "Stopped after 30 s (time limit)."),
    ],
)
def test_the_outcome_of_a_run_is_told_in_a_few_words(
    cards: Cards, model: JustNowModel, ended: object, expected: str
) -> None:
    one = feed.request()
    cards.take((*feed.asked(one), *feed.decided(one), *feed.started(one)))
    assert said(model) == ["running 0:01"] or said(model) == ["running 0:00"]
    cards.take(feed.finished(one, ended))  # type: ignore[arg-type]
    assert said(model) == [expected]


def test_what_passed_unasked_says_by_what(cards: Cards, model: JustNowModel) -> None:
    """Also where all of it is over within one batch, when the store has forgotten it."""
    for rule, by in ((TRUST_RULE, Decider.RULE), ("low-risk", Decider.RULE), ("facts", Decider.RULE)):
        one = feed.request(f"{rule!r}")
        cards.take((*passed(one, rule, by), RequestClosed(one.id)))
    kept = feed.request()
    cards.take((*passed(kept, "g1", Decider.GRANT), *feed.started(kept), *feed.finished(kept)))
    assert said(model) == [
        "passed: remembered, ok 1.2 s",
        "passed: rule facts, done",
        "passed: LOW, done",
        "passed: trust, done",
    ]


def test_denials_say_why_and_what_expired_or_was_withdrawn_is_not_listed(cards: Cards, model: JustNowModel) -> None:
    for verdict, by, reason in (
        (Verdict.DENIED, Decider.PERSON, "Leave my keys alone"),
        (Verdict.DENIED, Decider.PERSON, "Denied by a person."),
        (Verdict.EXPIRED, Decider.ENGINE, ""),
        (Verdict.WITHDRAWN, Decider.AGENT, ""),
    ):
        one = feed.request(f"{reason!r}")
        cards.take((*feed.asked(one), *feed.decided(one, verdict, by, reason)))
    assert said(model) == ["denied", "denied: Leave my keys alone"]


def test_a_flood_of_what_passes_does_not_push_out_what_the_person_answered(cards: Cards, model: JustNowModel) -> None:
    own = [feed.request(f"own{n}") for n in range(OWN)]
    for one in own:
        cards.take((*feed.asked(one), *feed.decided(one, Verdict.DENIED)))
    for number in range(50):
        one = feed.request(f"low{number}")
        cards.take((*passed(one, "low-risk"), RequestClosed(one.id)))
    assert model.rowCount() == SHOWN
    assert all(model.find(one.id) is not None for one in own)


def test_a_batch_of_many_requests_is_one_change_of_the_list(cards: Cards, model: JustNowModel) -> None:
    """A hundred callers at once come as one batch; row by row it held the window for 35 ms of work."""
    own = feed.request("own")
    cards.take((*feed.asked(own), *feed.decided(own)))
    heard: list[str] = []
    model.rowsInserted.connect(lambda _at, first, last: heard.append(f"inserted {first} to {last}"))
    model.rowsRemoved.connect(lambda _at, first, last: heard.append(f"removed {first} to {last}"))
    model.dataChanged.connect(lambda *_: heard.append("changed"))
    many = [feed.request(f"low{number}") for number in range(100)]
    cards.take(tuple(event for one in many for event in (*passed(one, "low-risk"), RequestClosed(one.id))))
    assert heard == ["inserted 0 to 3", "changed"]
    rows = [model.answered(row) for row in range(model.rowCount())]
    assert [one.request.id for one in rows if one] == [one.id for one in (*reversed(many[-4:]), own)]
    del heard[:]
    cards.take(tuple(event for one in many[:7] for event in passed(one, "low-risk")))
    assert heard == ["inserted 0 to 3", "removed 4 to 7", "changed"], "never empty: the list would hide and come back"
    assert model.answered(4) is rows[4]


def test_text_of_an_agent_is_one_visible_line_of_bounded_length(cards: Cards, model: JustNowModel) -> None:
    one = feed.request()
    hostile = "ok 0.1 s\u202e\n<b>" + "x" * 5000
    ended = feed.result(Outcome.FAILED, stderr=hostile)
    cards.take((*feed.asked(one), *feed.decided(one), *feed.started(one), *feed.finished(one, ended)))
    (shown,) = said(model)
    assert len(shown) < 120 and "\n" not in shown and "\u202e" not in shown


# ---- in the window ----


def run(desk: Desk, code: str = "print(1)") -> Request:
    """A request that the person approves, and that runs."""
    one = desk.ask(feed.request(code))
    desk.rested()
    desk.review.focus_neutral()
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_A)
    desk.give("approve", "")
    transcript = Transcript(1 << 20)
    transcript.append(Stream.OUT, b"first line\n")
    desk.bridge.transcripts[one.id] = transcript
    desk.hear(feed.decided(one), feed.started(one))
    return one


def test_an_approved_request_turns_into_its_own_output(desk: Desk) -> None:
    one = run(desk)
    aftermath = desk.window.aftermath
    assert aftermath.on_screen and aftermath.outcome.shown == one.id
    assert not desk.review.isVisible()
    desk.qtbot.waitUntil(lambda: "Running" in aftermath.outcome.state.text())
    desk.hear(feed.finished(one))
    desk.qtbot.waitUntil(lambda: "Ended after 1.2 s." in aftermath.outcome.state.text())


def test_no_key_decides_while_an_outcome_is_shown_and_a_question_takes_its_place(desk: Desk) -> None:
    run(desk)
    for key in (Qt.Key.Key_A, Qt.Key.Key_D, Qt.Key.Key_Return, Qt.Key.Key_Space):
        desk.qtbot.keyClick(desk.window, key)
    assert len(desk.answers) == 1
    other = desk.ask(feed.request("two()"))
    assert not desk.window.aftermath.on_screen and desk.review.isVisible()
    assert desk.review.card is not None and desk.review.card.id == other.id
    assert desk.review.answering.resting, "a key for the output would answer the question"
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_A)
    assert len(desk.answers) == 1


def test_the_row_of_the_output_on_screen_is_the_selected_one(desk: Desk) -> None:
    one = run(desk)
    other = feed.request("other()")
    view, model = desk.window.deciding.queue.just_now.view, desk.window.deciding.queue.answers
    desk.hear((*passed(other, "low-risk"), RequestClosed(other.id)))
    view.setCurrentIndex(view.model().index(0, 0))
    desk.window.aftermath.show_outcome(one.id)
    selected = [model.answered(index.row()) for index in view.selectedIndexes()]
    assert [found.request.id for found in selected if found is not None] == [one.id]
    desk.ask(feed.request("two()"))
    assert not view.selectedIndexes(), "the output is not on screen any more"


def test_a_denied_request_leaves_no_output_behind(desk: Desk) -> None:
    one = desk.ask()
    desk.review._under_review.sent = True
    desk.hear(feed.decided(one, Verdict.DENIED))
    assert not desk.window.aftermath.on_screen
    assert desk.window.deciding.queue.just_now.isVisible()


def test_a_click_shows_what_became_of_it_and_a_key_brings_the_question_back_undecided(desk: Desk) -> None:
    gone = desk.ask()
    desk.review._under_review.sent = True
    desk.hear(feed.decided(gone, Verdict.DENIED, reason="Not needed"))
    waits = desk.ask(feed.request("two()"))
    desk.rested()
    view = desk.window.deciding.queue.just_now.view
    desk.qtbot.mouseClick(
        view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(view.model().index(0, 0)).center()
    )
    outcome = desk.window.aftermath.outcome
    assert outcome.isVisible() and outcome.nothing.text() == "The agent got this reason: Not needed"
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_A)
    assert desk.answers == [] and desk.review.isVisible()
    assert desk.review.card is not None and desk.review.card.id == waits.id


def test_an_outcome_that_was_opened_beside_a_question_gives_way_to_the_next_question(desk: Desk) -> None:
    gone = desk.ask()
    desk.review._under_review.sent = True
    desk.hear(feed.decided(gone, Verdict.DENIED, reason="Not needed"))
    waits = desk.ask(feed.request("two()"))
    desk.window.aftermath.show_outcome(gone.id)
    assert desk.window.aftermath.on_screen
    desk.ask(feed.request("three()"))
    assert not desk.window.aftermath.on_screen and desk.review.isVisible()
    assert desk.review.card is not None and desk.review.card.id == waits.id


def test_the_column_follows_what_the_person_approved_also_where_others_came_with_it(desk: Desk) -> None:
    desk.window.turn_docked()
    own, other = feed.request("own()"), feed.request("other()")
    desk.qtbot.waitUntil(lambda: desk.window.docked and desk.window.dock.isVisible())
    desk.hear((*feed.asked(own), *feed.decided(own), *passed(other, "low-risk"), RequestClosed(other.id)))
    assert desk.window.dock.outcome.shown == own.id


# ---- missed ----


def test_what_was_missed_says_when_and_why_and_goes_at_once(desk: Desk) -> None:
    waits = desk.ask()
    gone = [desk.ask(feed.request(f"step{n}()")) for n in range(3)]
    for one in gone:
        desk.hear(feed.decided(one, Verdict.EXPIRED, Decider.ENGINE))
    queue = desk.window.deciding.queue
    row = queue.model.text(queue.model.row_of(gone[0].id))
    assert "missed " in row
    assert queue.bar.dismiss_all.isVisible()
    queue.bar.dismiss_all.setFocus()
    desk.qtbot.mouseClick(queue.bar.dismiss_all, Qt.MouseButton.LeftButton)
    assert desk.cases.missed() == () and desk.answers == []
    assert not queue.bar.isVisible() and queue.view.hasFocus()
    assert desk.review.card is not None and desk.review.card.id == waits.id


# ---- while somebody is active ----


def test_countdowns_stand_while_somebody_is_active_once_a_second_and_not_by_what_arrives(desk: Desk) -> None:
    desk.ask()
    desk.ask(feed.request("two()"))
    attending = desk.window.attending
    assert ("attend",) not in desk.bridge.asides
    for _ in range(20):
        attending.note()
    assert desk.bridge.asides.count(("attend",)) == 1
    attending._said_at -= 2
    attending.note()
    assert desk.bridge.asides.count(("attend",)) == 2
    attending._said_at -= 2
    desk.window.show_page("Help")
    desk.qtbot.keyClick(desk.window.frame.windowHandle(), Qt.Key.Key_Down)
    assert desk.bridge.asides.count(("attend",)) == 3, "on any page"
