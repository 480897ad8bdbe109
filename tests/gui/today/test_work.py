"""Programs at work on the page Today: their bars, what they left, and that nothing is counted twice."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

from app.today import overview
from app.today.bars import Bar, axis, lanes, session_bars
from app.today.highlights import Known, LeftByWork, Notable, ToWork, worth_a_look
from app.today.spans import TimeSpan, at_work, at_work_by_step
from app.today.unforeseen import Surprises
from runner.audit.history.counting import Tally, Unit
from runner.audit.history.past_work import PastSession, WorkDay
from runner.audit.history.search import History
from runner.model.events import WorkRecorded
from runner.model.work import CommandSeen, WorkEnded, WorkSession
from runner.workspace.change import ProjectChange, ProjectChanges
from tests.audit.story import approved, request
from tests.audit.test_past_work import told
from tests.gui import record
from tests.gui.today.test_figures import DAY, figures
from tests.gui.today.test_today import shown

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
    # It ends now: at half past midnight, one that ended half an hour ago would be of yesterday.
    record.ledger(places.ledger, [*approved(request("r1", "claude")), *told(NAME, at=time.time() - HOUR)])
    page = shown(desk)
    (lane,) = page.span_card.lanes.lanes
    assert (lane.agent, lane.words, len(lane.bars)) == ("claude", "1 request, 1 session", 2)
    assert page.tiles.decisions.accessibleName().startswith("Decisions: 2, 1 approved · 1 denied")
    worked = next(one for one in lane.bars if one.work)
    assert "4 commands, 1 held" in worked.words and not worked.is_open
    record.ledger(places.ledger, told("late-2", ended=False, at=time.time() - 10))
    desk.hear((WorkRecorded(),))
    desk.qtbot.waitUntil(lambda: page.span_card.lanes.lanes[0].words == "1 request, 2 sessions")


def test_a_day_with_a_session_alone_is_no_empty_page(desk: Desk, places: Places) -> None:
    record.ledger(places.ledger, told(NAME, at=time.time() - HOUR))
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


def of_work(known: Known) -> list[Notable]:
    """Return what is said of working copies, in its order, among other things that are worth a look."""
    quiet = figures(TimeSpan.TODAY, 20_000)
    quiet = replace(quiet, figures=replace(quiet.figures, tally=Tally()))
    return [one for one in worth_a_look(quiet, known) if isinstance(one.act, ToWork) or "working cop" in one.words]


def test_what_waits_is_said_in_few_rows() -> None:
    held = CommandSeen(1.0, 3, "rm -rf ~", "/p", held=True)
    waiting = session("held-2", at_work=True, ended=None, held=(held,), agent="codex")
    left = (LeftByWork(session(), None, 6), LeftByWork(session("b"), None, 1), LeftByWork(waiting, None, 0))
    first, second, more = of_work(Known(time.time(), left=left))
    assert (first.words, first.below) == ("codex works on shop for 6 h", "412 commands, 1 command for you to answer")
    assert (second.below, second.act) == ("412 commands, 6 changes wait for you", ToWork(NAME))
    assert more.words == "1 further working copy"


def test_what_was_refused_to_a_program_is_in_the_figures(desk: Desk, places: Places) -> None:
    record.ledger(places.ledger, told(NAME, at=time.time() - 30))
    page = shown(desk)
    assert page.tiles.contained.accessibleName() == "Contained: 2, Refused: 1 host, 1 command"
    assert page.tiles.decisions.accessibleName() == "Decisions: 1, 0 approved · 1 denied"
    assert [(one.name, one.number) for one in overview.deciders(page._read.shown)] == [("You refused at work", 1)]
    (refused,) = overview.refused(page._read.shown)
    assert (refused.name, refused.number, refused.target) == ("evil.example", 1, None)


def test_a_day_is_counted_in_the_step_that_it_stands_in() -> None:
    days = (WorkDay(DAY - 40, let_run=1), WorkDay(DAY - 1, turned_down=2), WorkDay(DAY, hosts=("a", "b")))
    past = PastSession(1, NAME, "/p", (), "", "", 0.0, 0.0, True, None, 0, "", 0, 0, 0, 0, 0, 0, 0, False, days)
    today = replace(figures(TimeSpan.TODAY, DAY), work=(past,))
    assert [day.day for _, day in at_work(today)] == [DAY]
    assert [*at_work_by_step(today, lambda day: day.turned_down).values()][-2:] == [2, 0]
    first, last = (date.fromordinal(DAY - days).replace(day=1).toordinal() for days in (40, 0))
    months = replace(figures(TimeSpan.ALL, first, Unit.MONTH), last=last, work=(past,))
    assert len(at_work(months)) == 3 and at_work_by_step(months, lambda day: day.let_run)[first] == 1


def test_the_gravest_is_named_first_however_old_it_is() -> None:
    refused = PastSession(1, "old", "/p", (), "", "", 0.0, 0.0, True, 9.0, 0, "", 3, 0, 1, 2, 0, 0, 0, False)
    left = (
        *(LeftByWork(session(f"new-{number}"), None, 6) for number in range(3)),
        LeftByWork(session("old"), refused, 1),
    )
    known = Known(time.time(), left=left, surprises=Surprises(runs=2))
    assert [one.ink for one in worth_a_look(figures(TimeSpan.TODAY, 20_000), known)] == [
        "high",
        "high",
        "medium",
        "medium",
    ]
    plain = replace(known, left=left[:3])
    assert worth_a_look(figures(TimeSpan.TODAY, 20_000), plain)[-1].act == ToWork("new-0"), "never crowded out"
    first = of_work(known)[0]
    assert (first.ink, first.act) == ("medium", ToWork("old"))
    assert first.below == "412 commands, 1 not run, 2 hosts refused, 1 change waits for you"


def test_a_program_that_has_just_ended_is_not_said_to_have_been_cut_off() -> None:
    """The history says so a moment after the log."""
    going = PastSession(1, NAME, "/p", (), "", "", 0.0, 0.0, True, None, 0, "", 3, 0, 0, 0, 0, 0, 0, False)
    known = Known(time.time(), left=(LeftByWork(session(), going, 6),))
    assert "end" not in of_work(known)[0].below
    killed = Known(time.time(), left=(LeftByWork(session(ended=None), going, 6),))
    assert "its end is not recorded" in of_work(killed)[0].below


def test_nothing_is_not_said_to_wait_where_changes_do(desk: Desk, places: Places) -> None:
    record.ledger(places.ledger, told(NAME, at=time.time() - 6 * HOUR))
    desk.bridge.at_work = (session(),)
    desk.window.work.refresh()
    page = shown(desk)
    assert "nothing waiting" in page._state()
    desk.window.work._changes[NAME] = ProjectChanges((ProjectChange(b"a", None, None),) * 6)
    assert page._state().endswith("changes of 1 working copy to look at")
