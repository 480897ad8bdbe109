"""Programs at work on the page Today: their bars, what they left, and that nothing is counted twice."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from app.today.bars import Bar, axis, lanes, session_bars
from app.today.highlights import Known, LeftByWork, ToWork, worth_a_look
from app.today.spans import TimeSpan
from runner.audit.search import History
from runner.model.events import WorkRecorded
from runner.model.work import CommandSeen, WorkEnded, WorkSession
from runner.workspace.change import ProjectChange, ProjectChanges
from tests.audit.story import approved, request
from tests.audit.test_past_work import told
from tests.gui import record
from tests.gui.test_today import shown
from tests.gui.test_today_figures import figures

if TYPE_CHECKING:
    from runner.system.places import Places
    from tests.gui.conftest import Desk

NAME = "shop-1a2b3c"
HOUR = 3600.0


def session(name: str = NAME, **more: Any) -> WorkSession:
    began = time.time() - 6 * HOUR
    ended = WorkEnded(began + 5 * HOUR, 0)
    return WorkSession(name, "/home/me/shop", ("claude",), began, **{"ended": ended, "command_count": 412, **more})


def test_a_session_is_a_bar_of_its_agent_and_no_request(desk: Desk, places: Places) -> None:
    record.ledger(places.ledger, [*approved(request("r1", "claude")), *told(NAME, at=time.time() - 1.5 * HOUR)])
    page = shown(desk)
    (lane,) = page.span_card.lanes.lanes
    assert (lane.agent, lane.words, len(lane.bars)) == ("claude", "1 request, 1 session", 2)
    assert page.tiles.decisions.accessibleName().startswith("Decisions: 1,")
    worked = next(one for one in lane.bars if one.work)
    assert "4 commands, 1 held" in worked.words and not worked.is_open
    record.ledger(places.ledger, told("late-2", ended=False, at=time.time() - HOUR))
    desk.hear((WorkRecorded(),))
    desk.qtbot.waitUntil(lambda: page.span_card.lanes.lanes[0].words == "1 request, 2 sessions")


def test_a_day_with_a_session_alone_is_no_empty_page(desk: Desk, places: Places) -> None:
    record.ledger(places.ledger, told(NAME, at=time.time() - 1.5 * HOUR))
    page = shown(desk)
    assert page._pages.currentIndex() == 0 and page.span_card.lanes.isVisible()


def test_a_session_of_last_night_begins_at_midnight(places: Places) -> None:
    now = time.mktime((2026, 3, 3, 9, 30, 0, 0, 0, -1))
    record.ledger(places.ledger, [*told("old-1", at=now - 90 * HOUR, ended=False), *told(NAME, at=now - 11.5 * HOUR)])
    history = History(places.ledger)
    found = history.sessions()
    history.close()
    assert session_bars(found, (), now) == [], "what ended yesterday, or was killed days ago, is no bar of today"
    (going,) = session_bars(found, {NAME}, now)
    assert (going.is_open, going.begin) == (True, now - 11.5 * HOUR)
    assert axis([going], now).begin == time.mktime((2026, 3, 3, 0, 0, 0, 0, 0, -1))
    assert lanes([going, Bar("r", "claude", now, (), "")])[0].words == "1 request, 1 session"


def test_what_waits_is_worth_a_look_and_leads_to_its_page(desk: Desk, places: Places) -> None:
    record.ledger(places.ledger, told(NAME, at=time.time() - 6 * HOUR))
    desk.bridge.at_work = (session(),)
    desk.window.work.refresh()
    desk.window.work._changes[NAME] = ProjectChanges((ProjectChange(b"a", None, None),) * 6)
    page = shown(desk)
    row = page.worth.rows[0]
    assert row.button.accessibleName() == "Open: claude worked on shop for 5 h"
    with desk.qtbot.waitSignal(page.work_wanted) as wanted:
        row.button.click()
    assert wanted.args == [NAME]


def test_what_waits_is_said_in_few_rows() -> None:
    held = CommandSeen(1.0, 3, "rm -rf ~", "/p", held=True)
    waiting = session("held-2", at_work=True, ended=None, held=(held,), agent="codex")
    left = (LeftByWork(session(), None, 6), LeftByWork(session("b"), None, 1), LeftByWork(waiting, None, 0))
    first, second, more = worth_a_look(figures(TimeSpan.TODAY, 20_000), Known(time.time(), left=left))[:3]
    assert (first.words, first.below) == ("codex works on shop for 6 h", "412 commands, 1 command for you to answer")
    assert (second.below, second.act) == ("412 commands, 6 changes wait for you", ToWork(NAME))
    assert more.words == "1 further working copy"
