"""Texts that are typed without looking at the window decide nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.review.guard import REST_SECONDS
from app.review.keystrokes import ALONE_SECONDS, QUIET_SECONDS, Typing
from tests.gui import feed

if TYPE_CHECKING:
    from tests.gui.conftest import Desk

LETTER_SECONDS = 0.16
"""Between two letters of somebody who types."""
REASONS = ("stop that", "stop that now", "wrong path", "bad idea", "Not root; list /workspace instead.")
NO_RAISE = r"This plugin does not support raise\(\)"
"""What Qt's screenless platform says of it."""
SENTENCES = ("so many thanks to tom", "that is a sum")


class Hands:
    """Real keys for the window, on a clock of the test's own. The guard's rest passes where that passes it."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.now = 100.0
        self._appeared = self.now
        desk.window.deciding.keystrokes._clock = lambda _event: self.now
        desk.review.focus_neutral()
        handle = desk.window.window().windowHandle()
        assert handle is not None
        self._handle = handle

    def appears(self) -> None:
        """What is to be decided is on screen from now on."""
        self._appeared = self.now

    def press(self, letter: str, after: float = LETTER_SECONDS) -> None:
        self.now += after
        if self.now - self._appeared > REST_SECONDS:
            self.desk.rest_passes()
        shift = Qt.KeyboardModifier.ShiftModifier if letter.isupper() else Qt.KeyboardModifier.NoModifier
        QTest.keyClick(self._handle, Qt.Key(ord(letter.upper())), shift)

    def type(self, text: str) -> None:
        for letter in text:
            self.press(letter)


def untouched(desk: Desk) -> bool:
    """Nothing was decided and nothing was written into the code or the limits."""
    changed = [call for call in desk.bridge.calls if call[0] in ("approve_edited", "arm", "draft")]
    card = desk.review.card
    return not desk.answers and not changed and not desk.page.reading.editing and card is not None and card.waiting


@pytest.mark.parametrize("reason", REASONS)
def test_a_denial_typed_the_moment_a_request_appears_is_a_denial(desk: Desk, reason: str) -> None:
    hands = Hands(desk)
    one = desk.ask()
    hands.appears()
    hands.press("d", after=0.0)
    assert desk.page.foot.denial.field.hasFocus()
    hands.type(reason)
    assert untouched(desk)
    assert desk.page.foot.denial.field.text().casefold() == reason.casefold()
    desk.rested()
    QTest.keyClick(desk.page.foot.denial.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert desk.answers == [("deny", one.id, one.digest, desk.page.foot.denial.field.text())]


@pytest.mark.parametrize("text", [*REASONS, *SENTENCES])
def test_a_text_that_was_not_meant_for_the_window_approves_nothing(desk: Desk, text: str) -> None:
    hands = Hands(desk)
    desk.ask()
    hands.appears()
    hands.type(text)
    assert untouched(desk)


@pytest.mark.parametrize("text", SENTENCES)
def test_a_text_typed_on_while_the_window_is_activated_approves_nothing(desk: Desk, text: str) -> None:
    desk.ask()
    desk.rested()
    hands = Hands(desk)
    desk.review.rearm()
    hands.type(text)
    assert untouched(desk)


def test_what_follows_an_approval_that_came_too_quickly_does_nothing_until_it_is_quiet(desk: Desk) -> None:
    one = desk.ask()
    hands = Hands(desk)
    hands.press("a", after=0.0)
    hands.appears()
    assert desk.page.foot.sentence.text().startswith("Too quick: press A again.")
    for letter in "edl rx":
        hands.press(letter, after=0.9)
    assert untouched(desk) and not desk.page.foot.denial.isVisible()
    hands.press("a", after=0.9)
    assert desk.answers == []
    hands.press("a", after=QUIET_SECONDS + 0.01)
    assert desk.answers == [("approve", one.id, one.digest)]


def test_approve_counts_only_as_a_press_by_itself(desk: Desk) -> None:
    one = desk.ask()
    desk.rested()
    hands = Hands(desk)
    hands.press("x")
    hands.press("a", after=ALONE_SECONDS - 0.01)
    assert desk.answers == []
    assert desk.page.foot.sentence.text().startswith("Too quick: press A again.")
    hands.press("a", after=QUIET_SECONDS + 0.01)
    assert desk.answers == [("approve", one.id, one.digest)]
    assert "Too quick" not in desk.page.foot.sentence.text()


def test_a_text_typed_for_a_request_that_only_came_on_screen_does_nothing(desk: Desk) -> None:
    first, _ = desk.ask(feed.request("print(1)")), desk.ask(feed.request("print(2)"))
    desk.rested()
    hands = Hands(desk)
    # Somebody is busy with it, so that it stays when it is over.
    desk.window.deciding._giving_way.touch()
    desk.hear(feed.decided(first))
    hands.press("d", after=10.0)
    hands.type("delete it")
    assert untouched(desk) and not desk.page.foot.denial.isVisible()


def test_fields_for_text_get_all_letters_and_the_mouse_ends_the_silence(desk: Desk) -> None:
    desk.ask()
    hands = Hands(desk)
    hands.press("a", after=0.0)
    desk.rested()
    desk.qtbot.mouseClick(desk.page.foot.deny, Qt.MouseButton.LeftButton)
    hands.type("bad idea")
    assert desk.page.foot.denial.field.text() == "bad idea"
    QTest.keyClick(desk.page.foot.denial.field, Qt.Key.Key_Escape)
    corner = desk.window.mapTo(desk.window.window(), desk.window.rect().bottomRight())
    QTest.mouseClick(hands._handle, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, corner)
    hands.press("d")
    assert desk.page.foot.denial.isVisible()


def test_a_clock_that_went_back_is_no_pause() -> None:
    typing = Typing()
    typing.note(1000.0)
    assert typing.alone
    typing.note(0.0)
    assert not typing.alone


@pytest.mark.qt_log_ignore(NO_RAISE, extend=True)
def test_the_first_letter_after_a_program_raised_the_window_approves_nothing(desk: Desk) -> None:
    one = desk.ask()
    hands = Hands(desk)
    desk.window.frame.bring_to_front()
    desk.rested()
    hands.press("a", after=30.0)
    assert desk.answers == []
    assert desk.page.foot.sentence.text().startswith("Too quick: press A again.")
    hands.press("a", after=QUIET_SECONDS + 0.01)
    assert desk.answers == [("approve", one.id, one.digest)]


@pytest.mark.qt_log_ignore(NO_RAISE, extend=True)
def test_a_program_that_raises_the_window_again_and_again_holds_no_denial_back(desk: Desk) -> None:
    desk.ask()
    hands = Hands(desk)
    desk.window.frame.bring_to_front()
    desk.rested()
    hands.press("a", after=30.0)
    desk.window.frame.bring_to_front()
    desk.rested()
    hands.press("d", after=QUIET_SECONDS + 0.01)
    assert desk.page.foot.denial.isVisible()
    assert desk.answers == []


@pytest.mark.qt_log_ignore(NO_RAISE, extend=True)
def test_a_click_in_a_window_that_was_raised_says_that_somebody_is_there(desk: Desk) -> None:
    one = desk.ask()
    hands = Hands(desk)
    desk.window.frame.bring_to_front()
    desk.rested()
    corner = desk.window.mapTo(desk.window.window(), desk.window.rect().bottomRight())
    QTest.mouseClick(hands._handle, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, corner)
    hands.press("a", after=30.0)
    assert desk.answers == [("approve", one.id, one.digest)]
