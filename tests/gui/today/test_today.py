"""The page Today in the window: what it reads, what it does with news, where it leads."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QLabel

from app.today import day_reader
from app.today.attempts import read_attempts
from app.today.bars import RAN, WAITED, AgentLane, Bar, Stretch
from app.today.embedded import TodayInBrief, TodayLanes
from app.today.lane_view import AXIS, LANE, LEAST, LanesView
from app.today.panel import NO_AGENTS, NO_REQUESTS, TodayPanel
from app.today.plots import Column, ColumnsPlot
from app.today.reading import read_day
from app.today.spans import TimeSpan
from runner.approval.learning import Learned
from runner.audit.history.search import History
from runner.identity.agents import Agent
from runner.model.assessment import Assessment, Capability, Level
from runner.model.codec import encode
from runner.model.decision import Verdict
from runner.model.events import RequestClosed
from tests.audit.story import approved, denied, opening, request
from tests.gui import feed, record
from tests.gui.remembering.test_remembering import offer, past

if TYPE_CHECKING:
    from pathlib import Path

    from app.look.look import Look
    from app.today.reading import DayRead
    from runner.system.places import Places
    from tests.gui.conftest import Desk


def told() -> list[Any]:
    return [
        *approved(request("r1", "claude-code")),
        *denied(request("r2", "claude-code")),
        *opening(request("r3", "codex")),
    ]


@pytest.fixture
def ledger(places: Places) -> Path:
    record.ledger(places.ledger, told())
    return places.ledger


def shown(desk: Desk) -> Any:
    desk.window.show_page("Today")
    page: Any = desk.window.page("Today")
    desk.qtbot.waitUntil(lambda: page._read is not None or page._pages.currentIndex() > 0)
    return page


def test_requests_of_the_same_seconds_are_painted_once(desk: Desk) -> None:
    """A hundred callers leave hundreds of bars on one pixel: painting each took the window 40 ms, every time."""
    view, now = LanesView(desk.window._look, desk.window), time.time()
    view.resize(800, 200)
    many = [Bar(f"r{one}", "a", now, (Stretch(now, now, WAITED), Stretch(now, now, RAN)), "") for one in range(1500)]
    lane = AgentLane("a", tuple(many))
    view.show_lanes([lane])
    (waited, ran) = view.shapes(lane, now)
    assert (waited[2], ran[2]) == (WAITED, RAN)
    assert waited[1] == ran[0] and ran[1] - ran[0] == LEAST
    covered = AgentLane("a", (*many, Bar("last", "a", now, (Stretch(now, now, WAITED),), "")))
    assert view.shapes(covered, now) == [ran, waited], "what came last is above the rest"


def test_it_shows_the_figures_and_the_day(desk: Desk, ledger: Path) -> None:
    page = shown(desk)
    assert page.tiles.decisions.accessibleName() == "Decisions: 2, 1 approved \N{MIDDLE DOT} 1 denied"
    assert page.tiles.passed.figure.text() == "0"
    assert [(lane.agent, len(lane.bars)) for lane in page.span_card.lanes.lanes] == [("claude-code", 2), ("codex", 1)]
    assert page.heading.export.isEnabled()


def test_without_a_history_it_says_what_to_do(desk: Desk) -> None:
    page = shown(desk)
    assert page._pages.currentWidget().accessibleName() == ". ".join(NO_REQUESTS)
    desk.cases.know_agents(())
    page.look_again()
    desk.qtbot.waitUntil(lambda: page._pages.currentWidget().accessibleName() == ". ".join(NO_AGENTS))
    page.no_agents.button.click()
    assert desk.window.shown_page == "First steps"


def test_news_reads_only_what_changed(desk: Desk, ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = shown(desk)
    asked: list[set[str]] = []
    fitting = History.fitting

    def noted(history: History, wanted: Any, names: Any) -> Any:
        asked.append(set(names))
        return fitting(history, wanted, names)

    monkeypatch.setattr(History, "fitting", noted)
    monkeypatch.setattr(History, "lines", None)
    record.ledger(ledger, [*denied(request("r3", "codex"))[3:], *approved(request("r4", "codex"))])
    desk.hear((RequestClosed("r3"), RequestClosed("r4")))
    desk.qtbot.waitUntil(lambda: page.tiles.decisions.figure.text() == "4")
    assert asked == [{"r3", "r4"}]
    assert [len(lane.bars) for lane in page.span_card.lanes.lanes] == [2, 2]
    assert not any(one.is_open for lane in page.span_card.lanes.lanes for one in lane.bars)


def test_out_of_sight_it_reads_nothing_and_catches_up(
    desk: Desk, ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = shown(desk)
    desk.window.show_page("Queue")
    read: list[object] = []
    monkeypatch.setattr(page._reader, "ask", lambda *given: read.append(given))
    record.ledger(ledger, approved(request("r5", "codex")))
    desk.hear((RequestClosed("r5"),))
    assert not page._news.isActive() and read == []
    monkeypatch.undo()
    desk.window.show_page("Today")
    desk.qtbot.waitUntil(lambda: page.tiles.decisions.figure.text() == "3")


def test_another_day_is_read_from_its_beginning(desk: Desk, ledger: Path, places: Places, qtbot: Any) -> None:
    days = [1]
    page = shown(desk)
    later = TodayPanel(
        desk.cases,
        desk.bridge,
        page._look,
        places,
        today=lambda: page._today() + days[0],  # type: ignore[arg-type]
    )
    qtbot.addWidget(later)
    later.show()
    qtbot.waitUntil(lambda: later._read is not None)
    assert later.tiles.decisions.figure.text() == "0"
    days[0] = 0
    later._let_day_pass()
    qtbot.waitUntil(lambda: later.tiles.decisions.figure.text() == "2")
    later._reader.close()
    later._errands.close()


def test_a_drag_lists_that_stretch_of_that_agent(desk: Desk, ledger: Path) -> None:
    page = shown(desk)
    view = page.span_card.lanes
    room = view._room
    left, right = QPoint(int(room.left()) + 2, LANE + 8), QPoint(int(room.right()) - 2, LANE + 8)
    desk.qtbot.mousePress(view, Qt.MouseButton.LeftButton, pos=left)
    desk.qtbot.mouseMove(view, right)
    desk.qtbot.mouseRelease(view, Qt.MouseButton.LeftButton, pos=right)
    assert desk.window.shown_page == "History"
    history: Any = desk.window.page("History")
    wanted = history.filters.wanted
    assert wanted.agent == "codex"
    assert wanted.since < time.time() < wanted.until
    desk.qtbot.waitUntil(lambda: [line.row.id for line in history.list.model.lines] == ["r3"])
    assert history.filters.period.currentText() in history.filters.name


def test_keys_go_from_bar_to_bar_and_open_one(desk: Desk, ledger: Path) -> None:
    page = shown(desk)
    view = page.span_card.lanes
    view.setFocus()
    desk.qtbot.keyClick(view, Qt.Key.Key_Right)
    assert view._held.id == "r3"
    desk.qtbot.keyClick(view, Qt.Key.Key_Up)
    assert view._held.id == "r2"
    desk.qtbot.keyClick(view, Qt.Key.Key_Left)
    desk.qtbot.keyClick(view, Qt.Key.Key_Left)
    assert view._held.id == "r1"
    desk.qtbot.keyClick(view, Qt.Key.Key_Return)
    history: Any = desk.window.page("History")
    desk.qtbot.waitUntil(lambda: [line.row.id for line in history.list.model.lines] == ["r1"])
    assert view.height() == 2 * LANE + AXIS


def test_a_longer_span_shows_columns_that_lead_to_their_day(desk: Desk, ledger: Path) -> None:
    page = shown(desk)
    page.heading.buttons[TimeSpan.WEEK].click()
    desk.qtbot.waitUntil(lambda: page.span_card.columns.count == 7)
    plot = page.span_card.columns
    plot.setFocus()
    for _ in range(9):
        desk.qtbot.keyClick(plot, Qt.Key.Key_Right)
    desk.qtbot.keyClick(plot, Qt.Key.Key_Return)
    history: Any = desk.window.page("History")
    desk.qtbot.waitUntil(lambda: len(history.list.model.lines) == 3)
    assert history.filters.wanted.until - history.filters.wanted.since in (82_800, 86_400, 90_000)


def test_a_share_leads_to_its_requests(desk: Desk, ledger: Path) -> None:
    page = shown(desk)
    page.plots.agents.setFocus()
    desk.qtbot.keyClick(page.plots.agents, Qt.Key.Key_Down)
    desk.qtbot.keyClick(page.plots.agents, Qt.Key.Key_Return)
    history: Any = desk.window.page("History")
    assert history.filters.wanted.agent == "claude-code"
    assert history.filters.period.currentText() == "Today"


def test_what_answers_have_in_common_leads_to_the_offers(desk: Desk, ledger: Path) -> None:
    page = shown(desk)
    one, other = feed.request(), feed.request()
    denied_too = replace(past(other), verdict=Verdict.DENIED)
    desk.give("learned", Learned((past(one), denied_too), (offer(one), offer(other, 9, denied_too))))
    row = page.worth.rows[0]
    assert row.button.accessibleName() == "Offers: 1 of your last 2 answers were of one shape"
    row.button.click()
    assert desk.window.shown_page == "Rules"
    rules: Any = desk.window.page("Rules")
    assert rules.learned.isVisible()


SENDS = feed.finding(1, "Sends credentials over the network.", Level.CRITICAL, Capability.EXFILTRATION)


def asked_to_send(number: int, agent: str = "claude-code") -> list[Any]:
    story = denied(request(f"s{number}", agent))
    assessed = Assessment(Level.CRITICAL, ("Sends.",), (SENDS,))
    return [(kind, id, encode(assessed) if kind == "assessed" else body) for kind, id, body in story]


def test_who_asked_to_send_credentials_is_named_and_can_be_paused(desk: Desk, places: Places) -> None:
    record.ledger(places.ledger, [*told(), *asked_to_send(1), *asked_to_send(2), *asked_to_send(3, "somebody-else")])
    agent = Agent("claude-code", "0" * 64, time.time(), last_seen=time.time())
    desk.cases.know_agents((agent,))
    page = shown(desk)
    desk.give("learned", Learned())
    (row,) = page.worth.rows
    assert row.button.accessibleName() == "Pause it: claude-code asked 2 times to send credentials or private data"
    row.button.click()
    assert desk.bridge.calls[-1] == ("pause_agent", "claude-code")
    desk.cases.know_agents((replace(agent, paused_at=time.time()),))
    (row,) = page.worth.rows
    assert row.button.text() == "Show" and row.look is None
    row.button.click()
    history: Any = desk.window.page("History")
    desk.qtbot.waitUntil(lambda: {line.row.id for line in history.list.model.lines} == {"s1", "s2", "r2"})


def test_what_a_person_approved_is_not_held_against_an_agent(places: Places) -> None:
    allowed = approved(request("s4", "claude-code"))
    assessed = Assessment(Level.CRITICAL, ("Sends.",), (SENDS,))
    allowed = [(kind, id, encode(assessed) if kind == "assessed" else body) for kind, id, body in allowed]
    record.ledger(places.ledger, [*allowed, *asked_to_send(5)])
    history = History(places.ledger)
    (one,) = read_attempts(history, 0.0)
    history.close()
    assert (one.agent, one.times) == ("claude-code", 1)


def test_names_of_agents_are_shown_letter_by_letter(desk: Desk, ledger: Path) -> None:
    evil = Agent("<b>x</b>\u202e", "0" * 64, time.time() - 900_000)
    desk.cases.know_agents((evil,))
    page = shown(desk)
    desk.give("learned", Learned())
    (row,) = page.worth.rows
    assert "\u202e" not in row.button.accessibleName()


def test_the_figures_are_exported(desk: Desk, ledger: Path, tmp_path: Path) -> None:
    page = shown(desk)
    page.export(str(tmp_path / "figures.csv"))
    desk.qtbot.waitUntil(lambda: "figures.csv" in page.notice.text)
    assert (tmp_path / "figures.csv").read_text().count("\n") == 3
    (tmp_path / "taken.csv").mkdir()
    page.export(str(tmp_path / "taken.csv"))
    desk.qtbot.waitUntil(lambda: "could not be written" in page.notice.text)


def test_a_good_verification_is_noted(desk: Desk, ledger: Path, places: Places) -> None:
    desk.window.show_page("History")
    history: Any = desk.window.page("History")
    before = time.time()
    with desk.qtbot.waitSignal(history.checking.found):
        history.checking.start()
    assert json.loads(places.verified.read_text())["at"] >= before


def test_damaged_notes_of_a_verification_count_as_none(places: Places) -> None:
    from app.today.reading import last_verified

    for text in ("", "[]", '{"at": "x"}', "{}", "\x00"):
        places.verified.write_text(text)
        assert last_verified(places.verified) is None
    places.verified.write_text('{"at": 5}')
    assert last_verified(places.verified) == 5.0


def brief(desk: Desk) -> TodayInBrief:
    desk.window.show_page("Queue")
    desk.qtbot.waitUntil(lambda: bool(desk.window.deciding.queue.none.findChildren(TodayInBrief)))
    return desk.window.deciding.queue.none.findChildren(TodayInBrief)[0]


def lines(of: TodayInBrief) -> list[str]:
    return [one.text() for one in of.pairs.findChildren(QLabel) if one.isVisible()]


def test_the_empty_queue_shows_the_figures_of_the_day(
    desk: Desk, ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings: list[object] = []
    monkeypatch.setattr(day_reader, "read_day", lambda *args: readings.append(args) or read_day(*args))
    of_today = brief(desk)
    desk.qtbot.waitUntil(lambda: "1 approved, 1 denied" in lines(of_today))
    (lanes,) = desk.review.nothing.findChildren(TodayLanes)
    desk.qtbot.waitUntil(lanes.card.lanes.isVisible)
    assert len(readings) == 1, "two stand beside each other, and the day is the same"
    assert lines(of_today)[:4] == ["Today", "You", "1 approved, 1 denied", "Median"]
    record.ledger(ledger, approved(request("r5", "codex")))
    desk.hear((RequestClosed("r5"),))
    desk.qtbot.waitUntil(lambda: "2 approved, 1 denied" in lines(of_today))


def test_a_day_without_requests_has_no_figures(desk: Desk, places: Places) -> None:
    of_today = brief(desk)
    assert lines(of_today) == []
    record.ledger(places.ledger, opening(request("r1")))
    read: list[object] = []
    of_today.show_day = read.append  # type: ignore[method-assign]
    of_today.day.look()
    desk.qtbot.waitUntil(lambda: bool(read))
    TodayInBrief.show_day(of_today, cast("DayRead", read[0]))
    assert lines(of_today) == []


def test_a_day_of_many_agents_keeps_no_window_large(desk: Desk, places: Places) -> None:
    told = [one for n in range(20) for one in approved(request(f"r{n}", f"agent-{n}"))]
    record.ledger(places.ledger, told)
    desk.window.show_page("Running")
    window = desk.window.window()
    window.resize(1280, 1400)
    (of_today,) = desk.window.page("Running").findChildren(TodayLanes)
    desk.qtbot.waitUntil(lambda: len(of_today.card.lanes.lanes) == 12)
    window.resize(960, 600)
    desk.qtbot.waitUntil(lambda: len(of_today.card.lanes.lanes) < 8)
    assert window.height() == 600
    assert of_today.card.note.text() == f"{len(of_today.card.lanes.lanes)} of 12 lanes; Today has all"
    bottom = of_today.card.mapTo(window, of_today.card.rect().bottomLeft()).y()
    assert bottom < 600, "it is cut off"


def test_a_day_that_could_not_be_read_is_read_again(desk: Desk, ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []

    def sometimes(*args: Any) -> DayRead:
        tries.append(args)
        if len(tries) == 1:
            raise OSError
        return read_day(*args)

    monkeypatch.setattr(day_reader, "read_day", sometimes)
    desk.window.show_page("Running")
    (of_today,) = desk.window.page("Running").findChildren(TodayLanes)
    of_today.day._again.setInterval(1)
    desk.qtbot.waitUntil(of_today.card.lanes.isVisible)
    assert len(tries) == 2


def test_running_shows_the_day_while_nothing_runs(desk: Desk, ledger: Path) -> None:
    desk.window.show_page("Running")
    (of_today,) = desk.window.page("Running").findChildren(TodayLanes)
    desk.qtbot.waitUntil(of_today.card.lanes.isVisible)
    assert sum(len(lane.bars) for lane in of_today.card.lanes.lanes) == 3
    of_today.card.lanes.chosen.emit("codex", 5.0)
    assert desk.window.shown_page == "History"
    one = feed.request()
    desk.hear(feed.asked(one), feed.decided(one), feed.started(one))
    desk.window.show_page("Running")
    assert not of_today.isVisible()
    record.ledger(ledger, approved(request("r5", "codex")))
    desk.hear((RequestClosed("r5"),))
    assert not of_today.day._again.isActive(), "it reads though nobody sees it"


@pytest.mark.parametrize("number", [3, 70_000, 3_000_000])
def test_the_numbers_of_a_scale_are_not_cut_off(look: Look, qtbot: Any, number: int) -> None:
    plot = ColumnsPlot(look, "Requests")
    qtbot.addWidget(plot)
    plot.show_columns([Column("March", (("accent", number),), "")])
    plot.resize(300, 168)
    picture = plot.grab().toImage()
    edge = {picture.pixel(x, y) for x in (0, 1) for y in range(picture.height())}
    assert len(edge) == 1, "a digit reaches over the edge"
    assert plot.place_at(QPointF(290, 60)) == 0
