"""Limits changed before approving: what is approved is what the fields say, with a digest of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication

from app.review.answering import UNFINISHED
from app.review.editing import ASSESSING
from runner.approval.draft import Draft
from runner.approval.editing import Version
from runner.model.assessment import Level
from runner.model.decision import Decider, Verdict
from runner.model.request import Isolation
from tests.gui import feed

if TYPE_CHECKING:
    from runner.model.request import Request
    from tests.gui.conftest import Desk

LEFT = Qt.MouseButton.LeftButton


def drafts(desk: Desk) -> list[tuple[Any, ...]]:
    return [call for call in desk.bridge.calls if call[0] == "draft"]


def opened(desk: Desk, **others: Any) -> Request:
    """A request whose limits stand in fields."""
    one = desk.ask(feed.request("print(1)", **others))
    desk.rested()
    desk.review.focus_neutral()
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_L)
    return one


def typed(desk: Desk, name: str, text: str) -> None:
    field = desk.page.limits.fields[name]
    field.setFocus()
    field.selectAll()
    desk.qtbot.keyClicks(field, text)


def assessed(desk: Desk, one: Request, found: object = None) -> Draft:
    _, _, version = drafts(desk)[-1]
    draft = Draft(replace(one, code=version.code, limits=version.limits), feed.assessment(Level.HIGH), "")
    desk.give("draft", found or draft)
    return draft


def test_other_limits_make_a_version_of_their_own_and_exactly_that_is_approved(desk: Desk) -> None:
    one = opened(desk)
    assert desk.page.limits.fields["seconds"].hasFocus() and drafts(desk) == []
    assert not desk.page.limits.fields["cpu_cores"].isVisible(), "the local sandbox cannot hold code to it"
    typed(desk, "memory_mb", "1024")
    assert desk.page.foot.sentence.text() == ASSESSING and not desk.page.foot.approve.isEnabled()
    assessed(desk, one)  # of "10", the first that could be taken
    draft = assessed(desk, one)
    assert draft.request.limits == replace(one.limits, memory_mb=1024)
    header = desk.page.header
    assert "limits changed by you" in header.below.text() and draft.request.digest[:8] in header.below.text()
    assert "edited by you" not in header.below.text()
    desk.page.limits.done.click()
    assert "1.0 GB (asked: 512 MB)" in pairs(desk) or "1 GB (asked: 512 MB)" in pairs(desk)
    desk.rested()
    assert draft.request.digest[:8] in desk.page.foot.approve.toolTip()
    desk.qtbot.mouseClick(desk.page.foot.approve, LEFT)
    version = Version("print(1)", draft.request.limits)
    assert desk.bridge.calls[-1] == ("approve_edited", one.id, one.digest, version, draft.request.digest)


def pairs(desk: Desk) -> list[str]:
    return [value.text() for _, value in desk.page.limits.pairs._rows]


def test_half_a_number_cannot_be_approved(desk: Desk) -> None:
    """What stands in the field would not be what runs."""
    opened(desk)
    typed(desk, "memory_mb", "1")
    desk.qtbot.waitUntil(lambda: desk.page.foot.sentence.text() == UNFINISHED)
    desk.rest_passes()
    assert drafts(desk) == [] and not desk.page.foot.approve.isEnabled()
    desk.page.foot.approve.press_key()
    assert desk.answers == []


def test_letters_and_the_wheel_in_a_field_decide_and_change_nothing(desk: Desk) -> None:
    opened(desk)
    field = desk.page.limits.fields["disk_mb"]
    field.setFocus()
    desk.qtbot.keyClicks(field, "adejklr")
    desk.qtbot.keyClick(field, Qt.Key.Key_Return)
    desk.qtbot.keyClick(field, Qt.Key.Key_Escape)
    none, middle = Qt.KeyboardModifier.NoModifier, QPointF(field.rect().center())
    turn = (QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton, none, Qt.ScrollPhase.NoScrollPhase, False)
    QApplication.sendEvent(field, QWheelEvent(middle, middle, *turn))
    assert desk.answers == [] and drafts(desk) == [] and field.value() == 1024


def test_as_asked_brings_the_request_back_as_it_was(desk: Desk) -> None:
    one = opened(desk, isolation=Isolation.GVISOR)
    assert desk.page.limits.fields["cpu_cores"].isVisible()
    desk.page.limits.fields["cpu_cores"].stepUp()
    assessed(desk, one)
    assert desk.review.shown is not desk.review.card
    desk.page.limits.reset.click()
    assert desk.review.shown is desk.review.card and desk.page.limits.fields["cpu_cores"].value() == 0.5
    desk.rested()
    desk.qtbot.mouseClick(desk.page.foot.approve, LEFT)
    assert desk.answers == [("approve", one.id, one.digest)]


def test_a_refused_limit_is_reported_and_taken_back(desk: Desk) -> None:
    one = opened(desk)
    desk.page.limits.fields["seconds"].stepUp()
    assessed(desk, one, "seconds is 40; it must be 0.1 to 30.")
    assert desk.page.notice.text.startswith("seconds is 40")
    assert desk.page.limits.fields["seconds"].value() == 30 and desk.review.shown is desk.review.card


def test_code_and_limits_are_one_version_and_neither_undoes_the_other(desk: Desk) -> None:
    one = opened(desk)
    desk.page.limits.fields["seconds"].stepUp()
    assessed(desk, one)
    desk.review.editing.press()
    desk.page.reading.editor.setPlainText("print(2)")
    desk.qtbot.waitUntil(lambda: len(drafts(desk)) == 2)
    assert drafts(desk)[-1][2] == Version("print(2)", replace(one.limits, seconds=40.0))
    assessed(desk, one)
    desk.page.foot.done.click()
    desk.page.limits.reset.click()
    assert drafts(desk)[-1][2] == Version("print(2)", one.limits)


def test_a_version_is_gone_from_the_screen_when_its_request_is(desk: Desk) -> None:
    one = opened(desk)
    desk.page.limits.fields["seconds"].stepUp()
    assessed(desk, one)
    desk.hear(feed.decided(one, Verdict.EXPIRED, Decider.ENGINE))
    assert desk.review.shown is desk.review.card
    assert not desk.page.limits.change.isVisible() and "30 s" in pairs(desk)


def test_nothing_is_said_while_the_fields_are_filled(desk: Desk) -> None:
    opened(desk)
    limits = desk.page.limits
    typed(desk, "memory_mb", "7")
    said: list[str] = []
    limits.typing.connect(lambda: said.append("typing"))
    limits.changed.connect(lambda _: said.append("changed"))
    card = desk.review.card
    assert card is not None
    limits._fill(replace(card.request.limits, seconds=7.0), {})
    assert said == [] and not limits.fields["memory_mb"].isVisible()
