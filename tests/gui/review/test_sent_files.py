"""Files of a project that would leave this machine: seen to the end, ticked one by one, and approved as they are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt

from runner.approval.draft import Draft
from runner.approval.editing import Version
from runner.model.assessment import Level
from runner.model.request import SENT
from tests.gui import feed
from tests.gui.scenes import sending_scenes

if TYPE_CHECKING:
    from app.review.sent_files import SentFilesView
    from runner.model.request import Request
    from tests.gui.conftest import Desk

LEFT = Qt.MouseButton.LeftButton


def asked(desk: Desk, number: int = 3) -> tuple[Request, SentFilesView]:
    one = desk.ask(sending_scenes.request(number))
    desk.rested()
    desk.page.reading.look_further(SENT)
    return one, desk.page.reading.sent


def names(view: SentFilesView) -> list[str]:
    return [row.name for row in view.rows.rows if not row.heading]


def tick(desk: Desk, view: SentFilesView, name: str) -> None:
    row = next(number for number, one in enumerate(view.rows.rows) if one.name == name)
    room = view.list.visualRect(view.rows.index(row, 0))
    desk.qtbot.mouseClick(view.list.viewport(), LEFT, pos=QPoint(room.left() + 19, room.center().y()))


def drafted(desk: Desk, one: Request) -> Draft:
    """The engine assesses the version that was asked for last."""
    version = next(call for call in reversed(desk.bridge.calls) if call[0] == "draft")[2]
    assert one.sends is not None
    request = replace(one, code=version.code, limits=version.limits, sends=one.sends.including(version.included))
    draft = Draft(request, feed.assessment(Level.MEDIUM), "")
    desk.give("draft", draft)
    return draft


def test_every_file_is_listed_with_its_size_and_what_may_hold_a_secret_comes_first(desk: Desk) -> None:
    one, view = asked(desk)
    assert one.sends is not None
    held, left = [row.file.name for row in one.sends.held], [row.name for row in one.sends.left_out]
    assert names(view) == [*held, *left, *(file.name for file in one.sends.files)]
    assert view.total.text().startswith("5 files, ") and view.total.text().endswith(" would be sent to e2b.app")
    spoken = [view.rows.spoken(row) for row in view.rows.rows]
    assert "not ticked, .env, 412 B, may hold a secret, by its name" in spoken
    assert "src/api/part_001.py, 437 B" in spoken


def test_nothing_is_approved_before_the_end_of_the_list_was_on_the_screen(desk: Desk) -> None:
    one, view = asked(desk, 400)
    desk.rest_passes()
    assert SENT in desk.page.reading.unseen and not desk.page.foot.approve.isEnabled()
    view.list.scrollToBottom()
    desk.qtbot.waitUntil(lambda: SENT not in desk.page.reading.unseen)
    desk.rested()
    desk.qtbot.mouseClick(desk.page.foot.approve, LEFT)
    assert desk.answers == [("approve", one.id, one.digest)]


def test_what_is_ticked_makes_a_version_of_its_own_and_exactly_that_is_approved(desk: Desk) -> None:
    one, view = asked(desk)
    tick(desk, view, ".env")
    assert desk.bridge.calls[-1][:2] == ("draft", one.id) and not desk.page.foot.approve.isEnabled()
    draft = drafted(desk, one)
    assert view.rows.ticked == {".env"} and "files included by you" in desk.page.header.below.text()
    assert draft.request.digest != one.digest
    view.list.scrollToBottom()
    desk.qtbot.waitUntil(lambda: not desk.page.reading.unseen)
    desk.rested()
    desk.qtbot.mouseClick(desk.page.foot.approve, LEFT)
    version = Version(one.code, one.limits, (".env",))
    assert desk.bridge.calls[-1] == ("approve_edited", one.id, one.digest, version, draft.request.digest)


def test_a_tick_that_is_taken_back_brings_the_request_back_as_it_was(desk: Desk) -> None:
    one, view = asked(desk)
    tick(desk, view, ".env")
    drafted(desk, one)
    tick(desk, view, ".env")
    assert desk.review.shown is desk.review.card and not view.rows.ticked


def test_a_click_beside_a_tick_and_keys_of_the_page_tick_nothing(desk: Desk) -> None:
    _, view = asked(desk)
    room = view.list.visualRect(view.rows.index(1, 0))
    desk.qtbot.mouseClick(view.list.viewport(), LEFT, pos=QPoint(room.left() + 200, room.center().y()))
    desk.qtbot.keyClicks(view.list, "x")
    assert not [call for call in desk.bridge.calls if call[0] == "draft"]
    desk.qtbot.keyClick(view.list, Qt.Key.Key_Space)
    assert [call[2].included for call in desk.bridge.calls if call[0] == "draft"] == [(".env",)]


def test_another_request_begins_with_nothing_ticked_and_nothing_seen(desk: Desk) -> None:
    one, view = asked(desk, 400)
    tick(desk, view, ".env")
    drafted(desk, one)
    view.list.scrollToBottom()
    other = replace(sending_scenes.request(401), agent="codex")
    desk.ask(other)
    card = desk.cases.card(other.id)
    assert card is not None
    desk.review.show_card(card)
    assert not view.rows.ticked and SENT in desk.page.reading.unseen
