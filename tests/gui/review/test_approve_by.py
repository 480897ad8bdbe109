"""What a person approves with: a key, the mouse only, or a word that is typed."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.review.batch import Batch
from runner.approval.deliberate import WORDS, ApproveBy
from runner.model.assessment import Level
from runner.model.decision import Verdict
from tests.gui import feed

if TYPE_CHECKING:
    from tests.gui.conftest import Desk

HOLD_SECONDS = 1.2


def asked(desk: Desk, by: ApproveBy, level: Level = Level.HIGH) -> tuple[str, str, str]:
    """A request of `level` under review, ready to be answered: the call that approves it."""
    desk.bridge.approve_by = by
    one = desk.ask(None, feed.assessment(level))
    desk.rested()
    return "approve", one.id, one.digest


def test_with_the_mouse_only_neither_a_key_nor_a_screen_reader_approves(desk: Desk) -> None:
    approval = asked(desk, ApproveBy.MOUSE)
    approve = desk.page.foot.approve
    assert approve.text() == "Approve once"
    desk.review.answering.press_approve()
    approve.click()
    assert desk.answers == []
    assert "Only the mouse approves" in desk.page.foot.sentence.text()
    QTest.mouseClick(approve, Qt.MouseButton.LeftButton)
    assert desk.answers == [approval]


def test_with_the_mouse_only_no_key_can_be_held_for_what_is_critical(desk: Desk) -> None:
    asked(desk, ApproveBy.MOUSE, Level.CRITICAL)
    approve = desk.page.foot.approve
    for words in (desk.page.foot.sentence.text(), approve.toolTip()):
        assert "Ctrl" not in words and "with the mouse" in words.lower()
    approve.press_hold()
    assert not approve._frames.isActive()
    QTest.mousePress(approve, Qt.MouseButton.LeftButton)
    assert approve._frames.isActive()
    QTest.mouseRelease(approve, Qt.MouseButton.LeftButton)
    assert desk.answers == []


@pytest.mark.parametrize("level", [Level.HIGH, Level.CRITICAL])
def test_a_word_approves_once_it_stands_there(desk: Desk, level: Level) -> None:
    approval = asked(desk, ApproveBy.WORD, level)
    word, approve = desk.page.foot.word, desk.page.foot.approve
    if level is Level.CRITICAL:
        approve.press_hold()
        desk.qtbot.waitUntil(word.isVisible)
    else:
        desk.review.answering.press_approve()
    assert word.field.hasFocus() and desk.answers == []
    (asked_for,) = (one for one in WORDS.split() if f"Type {one}:" in word.what.text())
    QTest.keyClicks(word.field, asked_for[:-1])
    QTest.keyClick(word.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    word.button.click()
    assert desk.answers == []
    QTest.keyClicks(word.field, asked_for[-1])
    QTest.keyClick(word.field, Qt.Key.Key_Return)
    assert desk.answers == [], "Enter never decides"
    QTest.keyClick(word.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert desk.answers == [approval]
    assert not word.isVisible()


def test_each_question_has_a_word_of_its_own(desk: Desk) -> None:
    asked(desk, ApproveBy.WORD)
    word, seen = desk.page.foot.word, []
    for _ in range(20):
        desk.review.answering.press_approve()
        seen.append(word.what.text())
        QTest.keyClick(word.field, Qt.Key.Key_Escape)
        assert not word.isVisible()
    assert all(one != other for one, other in pairwise(seen))
    assert desk.answers == []


def test_a_word_that_comes_after_the_end_approves_nothing(desk: Desk) -> None:
    desk.bridge.approve_by = ApproveBy.WORD
    one = desk.ask()
    desk.rested()
    desk.review.answering.press_approve()
    desk.hear(feed.decided(one, Verdict.EXPIRED))
    desk.page.foot.word.approved.emit("")
    assert not desk.page.foot.word.isVisible()
    assert desk.answers == []


def test_what_is_below_high_needs_no_word(desk: Desk) -> None:
    approval = asked(desk, ApproveBy.WORD, Level.MEDIUM)
    desk.review.answering.press_approve()
    assert desk.answers == [approval]


def test_a_batch_obeys_too(desk: Desk) -> None:
    desk.bridge.approve_by = ApproveBy.WORD
    high, medium = feed.request("print(1)"), feed.request("print(2)")
    desk.ask(high)
    desk.ask(medium, feed.assessment(Level.MEDIUM))
    desk.window.deciding._ask_batch((high.id, medium.id))
    (batch,) = desk.window.deciding.findChildren(Batch)
    assert [card.id for card in batch.listed] == [medium.id]
    assert "with its word" in batch.left_out.text()
    batch.reject()
    desk.bridge.approve_by = ApproveBy.MOUSE
    batch = Batch(desk.window, desk.cases, lambda *_: None, desk.window._look, (high.id,), ApproveBy.MOUSE)
    assert batch.yes.mouse_only
    batch.deleteLater()
