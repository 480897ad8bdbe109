"""The guard by itself, on a clock of the test's own."""

from __future__ import annotations

from app.review.guard import REST_SECONDS, ClickGuard

RESTED = REST_SECONDS + 0.001


class Hands:
    """A clock and a window that the test moves."""

    def __init__(self) -> None:
        self.now = 100.0
        self.active = True
        self.guard = ClickGuard(lambda: self.active, lambda: self.now)


def test_input_counts_only_after_the_rest() -> None:
    hands = Hands()
    assert not hands.guard.press()
    hands.now += REST_SECONDS - 0.01
    assert not hands.guard.press()
    hands.now += 0.02
    turn = hands.guard.press()
    assert turn
    assert hands.guard.counts(turn)


def test_a_change_restarts_the_rest() -> None:
    hands = Hands()
    hands.now += RESTED
    hands.guard.rearm()
    assert not hands.guard.press()
    hands.now += RESTED
    assert hands.guard.press()


def test_a_press_on_one_request_does_not_answer_the_next() -> None:
    hands = Hands()
    hands.now += RESTED
    turn = hands.guard.press()
    hands.guard.rearm()
    hands.now += RESTED
    assert not hands.guard.counts(turn)


def test_a_press_that_came_too_early_never_counts() -> None:
    hands = Hands()
    turn = hands.guard.press()
    hands.now += RESTED
    assert not hands.guard.counts(turn)


def test_nothing_counts_while_the_window_is_not_active() -> None:
    hands = Hands()
    hands.now += RESTED
    turn = hands.guard.press()
    hands.active = False
    assert not hands.guard.press()
    assert not hands.guard.counts(turn)
