"""Answering a question: what counts as an answer, and everything that must not (spec D1, D2, P1 to P4)."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QApplication

from app.parts.notice import Tone
from app.review.approval import STOPPERS
from app.review.buttons import HOLD_MS
from app.review.guard import REST_SECONDS
from runner.model.assessment import Level
from runner.model.decision import Decider, Verdict
from runner.model.events import EngineTroubled, ModeChanged, RequestAssessed, TroubleCleared
from runner.model.request import KnownFile, Language, Tool
from tests.gui import feed
from tests.gui.seeing import to_the_end

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from tests.gui.conftest import Desk

LEFT = Qt.MouseButton.LeftButton
LONG = "\n".join(f"step_{number}()" for number in range(400))


def click(desk: Desk, button: QWidget) -> None:
    desk.qtbot.mouseClick(button, LEFT)


# ---- answers ----


def test_a_click_approves_exactly_what_is_shown(desk: Desk) -> None:
    one = desk.ask()
    desk.rested()
    click(desk, desk.page.foot.approve)
    assert desk.answers == [("approve", one.id, one.digest)]


def test_an_answer_is_sent_once(desk: Desk) -> None:
    desk.ask()
    desk.rested()
    for _ in range(3):
        click(desk, desk.page.foot.approve)
        desk.qtbot.keyClick(desk.window, Qt.Key.Key_A)
    assert len(desk.answers) == 1


def test_denying_asks_for_a_reason_and_sends_it_cleaned(desk: Desk) -> None:
    one = desk.ask()
    desk.rested()
    click(desk, desk.page.foot.deny)
    assert desk.answers == []
    assert desk.page.foot.denial.field.hasFocus()
    desk.page.foot.denial.field.setText("  too\u202e risky\u200b  now ")
    click(desk, desk.page.foot.denial.button)
    assert desk.answers == [("deny", one.id, one.digest, "too risky now")]


def test_a_canned_reason_only_fills_the_field(desk: Desk) -> None:
    desk.ask()
    desk.rested()
    click(desk, desk.page.foot.deny)
    desk.page.foot.denial._canned("Too risky", "Too risky: choose a narrower way.").click()
    assert desk.page.foot.denial.field.text() == "Too risky: choose a narrower way."
    assert desk.answers == []


def test_control_enter_in_the_reason_denies(desk: Desk) -> None:
    one = desk.ask()
    desk.rested()
    click(desk, desk.page.foot.deny)
    desk.qtbot.keyClick(desk.page.foot.denial.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert desk.answers == [("deny", one.id, one.digest, "")]


def test_an_answer_that_was_not_taken_is_reported_and_can_be_given_again(desk: Desk) -> None:
    desk.ask()
    desk.rested()
    click(desk, desk.page.foot.approve)
    desk.give("approve", "This request has changed.")
    assert desk.page.notice.isVisible()
    assert desk.page.notice.text == "This request has changed."
    assert not desk.page.foot.approve.isEnabled()
    desk.rested()
    click(desk, desk.page.foot.approve)
    assert len(desk.answers) == 2


# ---- the rest after something has changed ----


def test_what_has_just_appeared_takes_no_answer(desk: Desk) -> None:
    desk.ask()
    for act in (
        lambda: click(desk, desk.page.foot.approve),
        lambda: desk.qtbot.keyClick(desk.window, Qt.Key.Key_A),
    ):
        act()
    click(desk, desk.page.foot.deny)
    assert desk.answers == []
    assert not desk.page.foot.denial.isVisible()


def test_the_rest_is_as_long_as_promised(desk: Desk) -> None:
    begun = time.monotonic()
    desk.ask()
    desk.qtbot.waitUntil(desk.page.foot.approve.isEnabled)
    assert REST_SECONDS == 0.6
    assert time.monotonic() - begun >= REST_SECONDS


def test_another_request_rests_again(desk: Desk) -> None:
    desk.ask(feed.request("print(1)"))
    other = desk.ask(feed.request("print(2)"))
    desk.rested()
    desk.window.deciding.show_request(other.id)
    click(desk, desk.page.foot.approve)
    desk.page.foot.approve.press_key()
    assert desk.answers == []


def test_the_click_that_activates_the_window_answers_nothing(desk: Desk) -> None:
    desk.ask()
    desk.rested()
    QApplication.sendEvent(desk.window.frame, QEvent(QEvent.Type.WindowActivate))
    click(desk, desk.page.foot.approve)
    desk.page.foot.approve.press_key()
    assert desk.answers == []


def test_a_press_before_the_activation_is_known_answers_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The press may arrive before the news that the window has become active."""
    desk.ask()
    desk.rested()
    monkeypatch.setattr(type(desk.review), "isActiveWindow", lambda self: False)
    click(desk, desk.page.foot.approve)
    assert desk.answers == []


def test_an_assessment_that_changes_rests_again(desk: Desk) -> None:
    one = desk.ask(None, feed.assessment(Level.LOW))
    desk.rested()
    desk.hear((RequestAssessed(one.id, feed.assessment(Level.HIGH)),))
    click(desk, desk.page.foot.approve)
    assert desk.answers == []


def test_pressed_on_one_and_released_on_another_answers_neither(desk: Desk) -> None:
    first = desk.ask(feed.request("print(1)"))
    other = desk.ask(feed.request("print(2)"))
    desk.rested()
    assert desk.review.card is not None
    assert desk.review.card.id == first.id
    button = desk.page.foot.approve
    desk.qtbot.mousePress(button, LEFT)
    desk.window.deciding.show_request(other.id)
    desk.rested()
    desk.qtbot.mouseRelease(button, LEFT)
    assert desk.answers == []


def test_released_beside_the_button_answers_nothing(desk: Desk) -> None:
    desk.ask()
    desk.rested()
    desk.qtbot.mousePress(desk.page.foot.approve, LEFT)
    desk.qtbot.mouseRelease(desk.page.foot.approve, LEFT, pos=QPoint(-40, -40))
    assert desk.answers == []


# ---- keys that must do nothing ----


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space, Qt.Key.Key_Escape])
def test_common_keys_decide_nothing_wherever_the_focus_is(desk: Desk, key: Qt.Key) -> None:
    desk.ask()
    desk.rested()
    # From the beginning: where the editor is opened on the way, Tab stays in it.
    desk.window.toolbar.mode.setFocus(Qt.FocusReason.TabFocusReason)
    focused = set()
    for _ in range(40):
        target = QApplication.focusWidget()
        assert target is not None
        if target in focused:
            break
        focused.add(target)
        if not target.inherits("QToolButton") and target is not desk.window.toolbar.stop:
            desk.qtbot.keyClick(target, key)
        desk.qtbot.keyClick(QApplication.focusWidget() or desk.window, Qt.Key.Key_Tab)
    assert len(focused) > 4
    assert desk.answers == []
    assert desk.page.foot.deny not in focused
    assert desk.page.foot.approve not in focused


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_enter_in_the_reason_denies_nothing(desk: Desk, key: Qt.Key) -> None:
    desk.ask()
    desk.rested()
    click(desk, desk.page.foot.deny)
    desk.qtbot.keyClick(desk.page.foot.denial.field, key)
    assert desk.answers == []


def test_shift_tab_and_typing_in_the_reason_approve_nothing(desk: Desk) -> None:
    desk.ask()
    desk.rested()
    click(desk, desk.page.foot.deny)
    field = desk.page.foot.denial.field
    desk.qtbot.keyClicks(field, "add a day")
    assert field.text() == "add a day"
    desk.qtbot.keyClick(field, Qt.Key.Key_Tab, Qt.KeyboardModifier.ShiftModifier)
    for key in (Qt.Key.Key_Space, Qt.Key.Key_Return):
        desk.qtbot.keyClick(QApplication.focusWidget() or desk.window, key)
    assert desk.answers == []


def test_escape_in_the_reason_goes_back(desk: Desk) -> None:
    desk.ask()
    desk.rested()
    click(desk, desk.page.foot.deny)
    desk.qtbot.keyClick(desk.page.foot.denial.field, Qt.Key.Key_Escape)
    assert desk.page.foot.approve.isVisible()
    assert desk.answers == []


def test_a_held_key_does_not_repeat_its_answer(desk: Desk) -> None:
    desk.ask()
    desk.rested()
    for shortcut in desk.window.deciding.children():
        if shortcut.inherits("QShortcut") and shortcut.key().toString() in ("A", "D"):  # type: ignore[attr-defined]
            assert not shortcut.autoRepeat()  # type: ignore[attr-defined]


def test_the_focus_stays_when_a_question_arrives(desk: Desk) -> None:
    before = QApplication.focusWidget()
    desk.ask(feed.request("print(1)"))
    desk.rested()
    desk.review.focus_neutral()
    before = QApplication.focusWidget()
    desk.ask(feed.request("print(2)"))
    QApplication.processEvents()
    assert QApplication.focusWidget() is before


# ---- CRITICAL ----


def critical(desk: Desk) -> None:
    worst = feed.assessment(Level.CRITICAL, feed.finding(1, "Deletes everything.", Level.CRITICAL))
    desk.ask(feed.request("rm -rf ~", language=Language.SHELL), worst)
    desk.rested()


def test_a_critical_request_is_not_approved_by_click_or_key(desk: Desk) -> None:
    critical(desk)
    click(desk, desk.page.foot.approve)
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_A)
    desk.page.foot.approve.click()
    assert desk.answers == []


def test_the_letter_is_not_offered_again_where_the_button_is_held(desk: Desk) -> None:
    worst = feed.assessment(Level.CRITICAL, feed.finding(1, "Deletes everything.", Level.CRITICAL))
    desk.ask(feed.request("rm -rf ~", language=Language.SHELL), worst)
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_A)
    assert desk.page.foot.sentence.text().startswith("Too quick.")


def test_a_critical_request_is_approved_by_holding(desk: Desk) -> None:
    critical(desk)
    begun = time.monotonic()
    with desk.qtbot.waitSignal(desk.page.foot.approve.decided):
        desk.qtbot.mousePress(desk.page.foot.approve, LEFT)
    assert time.monotonic() - begun >= HOLD_MS / 1000
    desk.qtbot.mouseRelease(desk.page.foot.approve, LEFT)
    assert [call[0] for call in desk.answers] == ["approve"]


def test_letting_go_early_approves_nothing(desk: Desk) -> None:
    critical(desk)
    button = desk.page.foot.approve
    desk.qtbot.mousePress(button, LEFT)
    assert button._frames.isActive()
    desk.qtbot.mouseRelease(button, LEFT)
    assert not button._frames.isActive()
    assert desk.answers == []


def test_holding_ends_when_the_pointer_leaves(desk: Desk) -> None:
    critical(desk)
    button = desk.page.foot.approve
    desk.qtbot.mousePress(button, LEFT)
    desk.qtbot.mouseMove(button, QPoint(-50, -50))
    desk.qtbot.waitUntil(lambda: not button._frames.isActive())
    assert desk.answers == []


def test_holding_ends_when_the_request_is_withdrawn(desk: Desk) -> None:
    critical(desk)
    card = desk.review.card
    assert card is not None
    desk.qtbot.mousePress(desk.page.foot.approve, LEFT)
    desk.hear(feed.decided(card.request, Verdict.WITHDRAWN, Decider.AGENT))
    desk.qtbot.waitUntil(lambda: not desk.page.foot.approve._frames.isActive())
    assert desk.answers == []


def test_a_critical_request_can_be_held_by_keyboard(desk: Desk) -> None:
    critical(desk)
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    with desk.qtbot.waitSignal(desk.page.foot.approve.decided):
        desk.qtbot.keyPress(desk.page.reading.code, Qt.Key.Key_A, both)
    assert [call[0] for call in desk.answers] == ["approve"]


def held_key(desk: Desk, kind: QEvent.Type, time: int) -> None:
    """One event of Ctrl+Shift+A at `time`, in milliseconds of the screen, not marked as a repetition."""
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    event = QKeyEvent(kind, Qt.Key.Key_A, both)
    event.setTimestamp(time)
    QApplication.sendEvent(desk.page.reading.code, event)


def test_a_hold_outlasts_repetitions_that_qt_did_not_recognize(desk: Desk) -> None:
    """On X11 a repetition is a release and a press of one time; handled one by one, neither is marked as one."""
    critical(desk)
    button = desk.page.foot.approve
    held_key(desk, QEvent.Type.KeyPress, 1)
    begun = button._since.msecsSinceReference()
    for moment in (700, 740):
        held_key(desk, QEvent.Type.KeyRelease, moment)
        assert not button._frames.isActive(), "nothing is decided before it is known whether this was a repetition"
        held_key(desk, QEvent.Type.KeyPress, moment)
        assert button._frames.isActive() and button._since.msecsSinceReference() == begun
    with desk.qtbot.waitSignal(button.decided):
        pass
    assert [call[0] for call in desk.answers] == ["approve"]


def test_a_key_pressed_again_begins_its_hold_again(desk: Desk) -> None:
    critical(desk)
    button = desk.page.foot.approve
    held_key(desk, QEvent.Type.KeyPress, 1)
    begun = button._since.msecsSinceReference()
    held_key(desk, QEvent.Type.KeyRelease, 700)
    desk.qtbot.waitUntil(lambda: not button._held_turn)
    held_key(desk, QEvent.Type.KeyPress, 700)
    assert not button._frames.isActive(), "it came too late to be a repetition"
    held_key(desk, QEvent.Type.KeyRelease, 701)
    held_key(desk, QEvent.Type.KeyPress, 702)
    assert button._frames.isActive() and button._since.msecsSinceReference() > begun


# ---- what cannot be approved ----


def test_long_code_is_approved_only_after_its_end_was_seen(desk: Desk) -> None:
    desk.ask(feed.request(LONG))
    desk.rested()
    click(desk, desk.page.foot.approve)
    assert desk.answers == []
    assert desk.page.foot.sentence.text() == "Scroll to the end of the code to approve."
    to_the_end(desk.qtbot, desk.page.reading.code, lambda: desk.page.foot.sentence.text() == "")
    click(desk, desk.page.foot.approve)
    assert len(desk.answers) == 1


def test_having_seen_the_end_of_one_does_not_count_for_another(desk: Desk) -> None:
    desk.ask(feed.request(LONG))
    other = desk.ask(feed.request(LONG + "\nlast()"))
    desk.rested()
    to_the_end(desk.qtbot, desk.page.reading.code, desk.page.foot.approve.isEnabled)
    desk.window.deciding.show_request(other.id)
    desk.rested()
    assert not desk.page.foot.approve.isEnabled()


def test_what_is_blocked_says_why_and_can_be_denied(desk: Desk) -> None:
    why = "A critical request needs at least Docker."
    desk.ask(None, feed.assessment(Level.LOW), blocked=why)
    desk.rested()
    assert desk.page.foot.sentence.text() == why
    click(desk, desk.page.foot.approve)
    desk.page.foot.approve.press_key()
    assert desk.answers == []
    assert desk.page.foot.deny.isEnabled()


@pytest.mark.parametrize("room", ["ledger", "sandbox"])
def test_nothing_is_approved_while_nothing_can_run(desk: Desk, room: str) -> None:
    """Why is said once, in the banner, with what to do."""
    desk.ask()
    desk.rested()
    desk.hear((EngineTroubled(room, "It is broken.", "Mend it."),))
    click(desk, desk.page.foot.approve)
    assert desk.answers == []
    assert desk.page.foot.sentence.text() == STOPPERS[room]
    assert desk.window.banners.text(room) == "It is broken. Mend it."
    desk.hear((TroubleCleared(room),))
    click(desk, desk.page.foot.approve)
    assert len(desk.answers) == 1


@pytest.mark.parametrize(
    ("verdict", "by", "words"),
    [
        (Verdict.WITHDRAWN, Decider.AGENT, "The agent withdrew this request. Nothing was run."),
        (Verdict.DENIED, Decider.ENGINE, "Denied by Assent. Closing. Nothing was run."),
    ],
)
def test_what_is_over_stays_on_screen_and_takes_no_answer(
    desk: Desk, verdict: Verdict, by: Decider, words: str
) -> None:
    one = desk.ask()
    desk.rested()
    desk.hear(feed.decided(one, verdict, by, "Closing."))
    assert desk.page.foot.sentence.text() == words
    assert not desk.page.foot.approve.isVisible()
    assert not desk.page.foot.deny.isVisible()
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_A)
    desk.page.foot.approve.decided.emit()
    desk.page.foot.denial.denied.emit("late")
    assert desk.answers == []


def test_the_reason_is_closed_when_the_request_is_over(desk: Desk) -> None:
    """What is typed for one request never reaches another."""
    one = desk.ask(feed.request("print(1)"))
    desk.ask(feed.request("print(2)"))
    desk.rested()
    click(desk, desk.page.foot.deny)
    desk.page.foot.denial.field.setText("not this one")
    desk.hear(feed.decided(one, Verdict.WITHDRAWN, Decider.AGENT))
    assert not desk.page.foot.denial.isVisible()
    assert desk.answers == []


# ---- what is shown ----


def test_text_of_agents_is_shown_letter_by_letter(desk: Desk) -> None:
    one = feed.request("print(1)", title="<b>Bold</b> \u202egnp.exe")
    desk.ask(one, feed.assessment(Level.HIGH, feed.finding(1, "<img src=x> is <i>named</i>.")))
    title = desk.page.header.title
    assert title.textFormat() is Qt.TextFormat.PlainText
    assert title.text().startswith("\N{LEFT DOUBLE QUOTATION MARK}<b>Bold</b> "), "the agent's words are in quotes"
    assert "\u202e" not in title.text()


def tabs(desk: Desk) -> list[str]:
    return [desk.page.reading.tabs.tabText(number) for number in range(desk.page.reading.tabs.count())]


UNSEEN = "(end not seen)"


def test_variables_and_input_have_tabs_that_say_what_has_not_been_seen(desk: Desk) -> None:
    desk.ask(feed.request("print(rows)", context='{"rows": 3}', stdin=LONG))
    desk.rested()
    assert tabs(desk) == ["Code", "Changes", f"Variables {UNSEEN}", f"Input {UNSEEN}", "Details"]
    assert desk.page.reading.tabs.isVisible()


def test_a_known_file_that_the_code_starts_is_a_part_to_be_seen(desk: Desk) -> None:
    known = (KnownFile("main.py", LONG), KnownFile("helper.py", "value = 1"))
    desk.ask(feed.request("import main", sandbox="3f9c", known=known))
    desk.rested()
    assert tabs(desk) == ["Code", "Changes", f"File main.py {UNSEEN}", f"File helper.py {UNSEEN}", "Details"]
    assert desk.page.foot.sentence.text() == "Look at File main.py and File helper.py to the end to approve."
    assert not desk.page.foot.approve.isEnabled()
    desk.page.reading.tabs.setCurrentIndex(3)
    desk.qtbot.waitUntil(lambda: tabs(desk)[3] == "File helper.py")
    assert desk.page.reading.extra.line_count == 1
    assert not desk.page.foot.approve.isEnabled()


def test_nothing_is_approved_before_variables_and_input_were_seen(desk: Desk) -> None:
    one = desk.ask(feed.request("print(rows)", context='{"rows": 3}', stdin=LONG))
    desk.rested()
    review = desk.review
    assert review.page.foot.sentence.text() == "Look at Variables and Input to the end to approve."
    click(desk, review.page.foot.approve)
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_A)
    assert desk.answers == [] and not review.page.foot.approve.isEnabled() and not review.page.foot.remember.isEnabled()
    review.page.reading.tabs.setCurrentIndex(2)
    desk.qtbot.waitUntil(lambda: tabs(desk)[2] == "Variables")
    assert review.page.foot.sentence.text() == "Look at Input to the end to approve."
    review.page.reading.tabs.setCurrentIndex(3)
    desk.qtbot.waitUntil(lambda: review.page.reading.extra.line_count == 400)
    bar = review.page.reading.extra.verticalScrollBar()
    desk.qtbot.waitUntil(lambda: bar.maximum() > 0)
    assert tabs(desk)[3] == f"Input {UNSEEN}", "its beginning is not its end"
    assert not review.page.foot.approve.isEnabled()
    bar.setValue(bar.maximum())
    desk.qtbot.waitUntil(review.page.foot.approve.isEnabled)
    assert tabs(desk) == ["Code", "Changes", "Variables", "Input", "Details"]
    review.page.reading.tabs.setCurrentIndex(2)
    assert review.page.foot.approve.isEnabled(), "what has been seen need not be seen again"
    click(desk, review.page.foot.approve)
    assert desk.answers == [("approve", one.id, one.digest)]


def test_having_seen_the_input_of_one_does_not_count_for_another(desk: Desk) -> None:
    desk.ask(feed.request("print(1)", stdin="yes\n" * 10))
    other = desk.ask(feed.request("print(2)", stdin="yes\n" * 10))
    desk.rested()
    desk.page.reading.tabs.setCurrentIndex(2)
    desk.qtbot.waitUntil(desk.page.foot.approve.isEnabled)
    desk.window.deciding.show_request(other.id)
    desk.rested()
    assert tabs(desk)[2] == f"Input {UNSEEN}"
    assert not desk.page.foot.approve.isEnabled()


def test_what_is_short_stands_under_the_code_and_locks_nothing(desk: Desk) -> None:
    one = desk.ask(feed.request("print(rows)", context='{"rows": 3}', stdin="yes\nno"))
    desk.rested()
    reading = desk.page.reading
    assert reading.short.isVisible() and [part.name for part in reading.short.parts] == ["Variables", "Input"]
    assert [reading.tabs.isTabVisible(tab) for tab in range(reading.tabs.count())] == [True, True, False, False, True]
    desk.qtbot.waitUntil(desk.page.foot.approve.isEnabled)
    reading.tabs.setCurrentIndex(1)
    assert not reading.short.isVisible()
    reading.tabs.setCurrentIndex(0)
    click(desk, desk.page.foot.approve)
    assert desk.answers == [("approve", one.id, one.digest)]


def test_what_does_not_fit_under_the_code_has_a_tab_and_locks_approve(desk: Desk) -> None:
    desk.ask(feed.request("print(rows)", stdin="x" * 3900))
    desk.rested()
    assert desk.page.reading.short.isHidden()
    assert tabs(desk)[2] == f"Input {UNSEEN}" and desk.page.reading.tabs.isTabVisible(2)
    assert not desk.page.foot.approve.isEnabled()


def test_late_news_of_a_short_part_does_not_count_for_the_same_part_of_another_request(desk: Desk) -> None:
    desk.ask(feed.request("print(1)", stdin="yes"))
    other = desk.ask(feed.request("print(2)", stdin="yes"))
    desk.rested()
    (_, _, before) = desk.page.reading.short._blocks[0]
    desk.window.deciding.show_request(other.id)
    before.seen_to_end.emit(True)
    assert "Input" in desk.page.reading.unseen
    desk.qtbot.waitUntil(lambda: not desk.page.reading.unseen)


def test_the_tab_of_code_whose_end_was_not_seen_says_so(desk: Desk) -> None:
    desk.ask(feed.request(LONG))
    desk.rested()
    assert tabs(desk)[0] == f"Code {UNSEEN}"
    to_the_end(desk.qtbot, desk.page.reading.code, lambda: tabs(desk)[0] == "Code")


def test_what_is_over_has_nothing_left_to_be_seen(desk: Desk) -> None:
    one = desk.ask(feed.request("print(1)", stdin="yes"))
    desk.rested()
    desk.hear(feed.decided(one, Verdict.WITHDRAWN, Decider.AGENT))
    assert tabs(desk) == ["Code", "Changes", "Input", "Details"]


def test_the_digest_can_be_copied_whole(desk: Desk) -> None:
    one = desk.ask()
    desk.page.header.copy.click()
    assert QGuiApplication.clipboard().text() == one.digest


def test_the_buttons_do_not_move_when_the_sentence_changes(desk: Desk) -> None:
    desk.ask(feed.request(LONG))
    desk.rested()
    desk.qtbot.wait(0)
    before = desk.page.foot.deny.mapTo(desk.window, QPoint(0, 0))
    to_the_end(desk.qtbot, desk.page.reading.code, desk.page.foot.approve.isEnabled)
    QApplication.processEvents()
    assert desk.page.foot.deny.mapTo(desk.window, QPoint(0, 0)) == before


def test_a_button_that_a_banner_moves_rests_again(desk: Desk) -> None:
    desk.ask()
    desk.rested()
    before = desk.page.foot.approve.mapTo(desk.window, QPoint())
    desk.window.resize(desk.window.width(), desk.window.height() - 60)
    desk.qtbot.waitUntil(lambda: desk.page.foot.approve.mapTo(desk.window, QPoint()) != before)
    click(desk, desk.page.foot.approve)
    desk.page.foot.approve.press_key()
    assert desk.answers == []


def test_nothing_that_is_said_moves_the_buttons(desk: Desk) -> None:
    desk.ask()
    desk.rested()
    before = desk.page.foot.approve.mapTo(desk.window, QPoint())
    desk.window.toolbar.say("There is no system tray here. " * 4)
    desk.window.banners.say("one", Tone.WARN, "Something to know.")
    desk.qtbot.waitUntil(desk.window.banners.isVisible)
    QApplication.processEvents()
    assert desk.page.foot.approve.mapTo(desk.window, QPoint()) == before


def test_a_request_without_code_is_described_and_can_be_approved(desk: Desk) -> None:
    one = replace(
        feed.request("", title="Read a.csv", language=None, sandbox="3f9c", files=("a.csv",)), tool=Tool.CODE_READ_FILE
    )
    desk.hear(feed.asked(one, feed.assessment(Level.MEDIUM)))
    review = desk.window.deciding.review
    assert review.page.reading.subject is review.page.reading.codeless and review.page.reading.codeless.isVisible()
    assert "No code runs" in review.page.reading.codeless.accessibleName()
    assert not review.page.limits.isVisible()
    desk.rested()
    assert review.page.foot.approve.isEnabled() and review.page.foot.remember.isEnabled()
    review.focus_neutral()
    assert review.page.reading.codeless.hasFocus()
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Space, Qt.Key.Key_Escape):
        desk.qtbot.keyClick(review.page.reading.codeless, key)
    assert desk.answers == []
    desk.qtbot.keyClick(review.page.reading.codeless, Qt.Key.Key_A)
    assert desk.answers == [("approve", one.id, one.digest)]


def test_a_file_to_be_written_is_shown_in_its_language(desk: Desk) -> None:
    one = replace(feed.request("x = 1\n", language=None, sandbox="3f9c", files=("a.py",)), tool=Tool.CODE_WRITE_FILE)
    desk.hear(feed.asked(one))
    review = desk.window.deciding.review
    assert review.page.reading.tabs.tabText(0) == "Content"
    assert review.page.reading.code.accessibleName().startswith("Code, python")


def test_in_lockdown_no_request_is_promised(desk: Desk) -> None:
    assert "next request" in desk.review.nothing.accessibleName()
    desk.hear((ModeChanged("lockdown"),))
    assert "next request" not in desk.review.nothing.accessibleName()
    desk.hear((ModeChanged("guarded"),))
    assert "next request" in desk.review.nothing.accessibleName()


def test_what_is_said_stays_while_the_rest_begins_again(desk: Desk) -> None:
    """With large text its line came and went, which moved the answers, which began their rest again, for ever."""
    desk.ask(feed.request("print(1)\n" * 400))
    foot, answering = desk.page.foot, desk.review.answering
    desk.qtbot.waitUntil(lambda: not answering.resting and bool(foot.sentence.text()))
    said = foot.sentence.text()
    desk.review.rearm()
    assert answering.resting and not foot.deny.isEnabled()
    assert foot.sentence.text() == said
