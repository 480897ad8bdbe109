"""Where something cannot run here there are buttons that change it; accepting a weaker sandbox takes two acts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from runner.model.assessment import Level
from runner.model.events import QuestionAsked, RequestArrived, RequestAssessed
from runner.system.clock import since_boot
from tests.gui import feed

if TYPE_CHECKING:
    from runner.model.request import Request
    from tests.gui.conftest import Desk

BLOCKED = "CRITICAL may not run on the local sandbox."


def walled(desk: Desk, accepts: str = "local") -> Request:
    one = feed.request("print(1)", title="Latest releases")
    asked = QuestionAsked(one.id, since_boot() + 60, 60.0, BLOCKED, accepts=accepts)
    desk.hear((RequestArrived(one), RequestAssessed(one.id, feed.assessment(Level.CRITICAL)), asked))
    desk.rested()
    return one


def test_what_cannot_run_here_says_so_in_a_line_and_offers_ways_on(desk: Desk) -> None:
    walled(desk)
    foot = desk.page.foot
    assert foot.sentence.text().startswith("Cannot run here: ")
    assert foot.stronger.isVisible() and foot.accept.isVisible() and foot.deny.isVisible()
    assert not foot.approve.isVisible() and not foot.remember.isVisible()
    foot.stronger.click()
    assert desk.window.shown_page == "Doctor" and desk.answers == []


def test_it_is_accepted_by_a_button_and_a_hold_and_never_by_a_key_alone(desk: Desk) -> None:
    one = walled(desk)
    foot = desk.page.foot
    for key in (Qt.Key.Key_A, Qt.Key.Key_Return, Qt.Key.Key_Space):
        desk.qtbot.keyClick(desk.window, key)
    assert desk.answers == [] and desk.review._under_review.accepted == ""
    desk.qtbot.mouseClick(foot.accept, Qt.MouseButton.LeftButton)
    assert desk.answers == [] and foot.approve.isVisible() and not foot.approve.isEnabled()
    desk.rested()
    assert "below your minimum" in foot.sentence.text() and foot.approve.isEnabled()
    desk.qtbot.mouseClick(foot.approve, Qt.MouseButton.LeftButton)
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_A)
    assert desk.answers == [], "it is to be held"
    foot.approve.decided.emit()
    assert [call for call in desk.bridge.calls if call[0].startswith("approve")] == [
        ("approve_below_minimum", one.id, one.digest, "local")
    ]


def test_it_can_be_taken_back_and_does_not_count_for_another_request(desk: Desk) -> None:
    walled(desk)
    foot = desk.page.foot
    foot.accept.click()
    desk.rested()
    assert foot.accept.text() == "Do not allow"
    foot.accept.click()
    desk.rested()
    assert foot.accept.text().startswith("Allow for this request") and not foot.approve.isVisible()
    foot.accept.click()
    desk.rested()
    other = walled(desk)
    desk.window.deciding.show_request(other.id)
    desk.rested()
    assert not foot.approve.isVisible() and desk.review._under_review.accepted == ""


def test_what_the_policy_does_not_let_has_no_such_button(desk: Desk) -> None:
    walled(desk, accepts="")
    foot = desk.page.foot
    assert foot.sentence.text() == BLOCKED
    assert not foot.accept.isVisible() and foot.stronger.isVisible() and not foot.approve.isVisible()
