"""A held command of a program at work is no calm anywhere: the queue, the column, and the page Today say it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.queue.panel import NOTHING
from runner.model.events import WorkMoved
from tests.audit.test_past_work import told
from tests.gui import feed, record
from tests.gui.scenes.work_scenes import NAME, held, session
from tests.gui.today.test_today import shown

if TYPE_CHECKING:
    from runner.model.work import WorkSession
    from runner.system.places import Places
    from tests.gui.conftest import Desk


def works(desk: Desk, *sessions: WorkSession) -> None:
    desk.bridge.at_work = sessions
    desk.hear((WorkMoved((NAME,)),))


def test_the_queue_is_not_all_clear_while_a_command_at_work_is_held(desk: Desk) -> None:
    queue = desk.window.deciding.queue
    works(desk, session())
    assert not queue.held.isVisible() and NOTHING[0] in queue.none.accessibleName()
    works(desk, session("other-2"), session(held=(held(),)))
    assert queue.held.isVisible() and queue.held.text == "1 command at work waits for you"
    assert NOTHING[0] not in queue.none.accessibleName()
    desk.ask(feed.request())
    assert queue.held.isVisible(), "also beside requests"
    QTest.mouseClick(queue.held.action, Qt.MouseButton.LeftButton)
    page = desk.window.page("Work")
    assert desk.window.shown_page == "Work" and getattr(page, "shown", "") == NAME
    works(desk, session())
    assert queue.held.isHidden()


def test_the_column_says_it_and_leads_to_it(desk: Desk) -> None:
    desk.window.turn_docked()
    desk.qtbot.waitUntil(lambda: desk.window.docked)
    dock = desk.window.dock
    works(desk, session(held=(held(), held())))
    assert dock.held.isVisible() and dock.held.text == "2 commands at work wait for you"
    assert NOTHING[0] not in dock.none.accessibleName()
    QTest.mouseClick(dock.held.action, Qt.MouseButton.LeftButton)
    desk.qtbot.waitUntil(lambda: not desk.window.docked)
    assert desk.window.shown_page == "Work"


def test_today_does_not_say_that_nothing_waits(desk: Desk, places: Places) -> None:
    record.ledger(places.ledger, told(NAME, at=time.time() - 5400))
    page = shown(desk)
    assert "nothing waiting" in page._state()
    works(desk, session(held=(held(),)))
    assert "nothing waiting" not in page._state() and "1 command at work held for you" in page._state()
