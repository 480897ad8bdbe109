"""Programs at work on the page of the history: listed among the requests, opened, searched, and how each ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt

from app.history import session_words
from app.history.panel import HistoryPanel
from app.parts.text.lines import SUMMARY
from runner.audit.history.past_work import PastStep
from runner.model.events import WorkRecorded
from runner.model.work import WorkSession
from tests.audit.test_past_work import told
from tests.gui.record import ledger, many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.system.places import Places
    from tests.gui.conftest import Desk

NAME = "shop-1a2b3c"


@pytest.fixture
def panel(desk: Desk, places: Places) -> Iterator[HistoryPanel]:
    ledger(places.ledger, [*many(2), *told(NAME), *many_more(), *told("killed-2", ended=False)])
    desk.window.show_page("History")
    panel = desk.window.page("History")
    assert isinstance(panel, HistoryPanel)
    desk.qtbot.waitUntil(lambda: panel.list.model.rowCount() >= 3)
    yield panel
    panel._reader.close()
    panel.list._reader.close()


def many_more() -> list[Any]:
    return [(kind, name.replace("m", "n"), replace_id(body)) for kind, name, body in many(1)]


def replace_id(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "id": body["id"].replace("m", "n")} if "id" in body else body


def rows(panel: HistoryPanel) -> list[Any]:
    model = panel.list.model
    return [model.index(row, 0).data(SUMMARY) for row in range(model.rowCount())]


def at_work(desk: Desk, *names: str) -> None:
    desk.bridge.at_work = tuple(WorkSession(one, "/home/me/shop", ("claude",), 1.0, at_work=True) for one in names)
    desk.window.work.refresh()


def choose(desk: Desk, panel: HistoryPanel, title: str) -> None:
    place = next(number for number, one in enumerate(rows(panel)) if one.title == title)
    panel.list.view.setCurrentIndex(panel.list.model.index(place, 0))


def test_sessions_stand_among_the_requests_in_their_order(panel: HistoryPanel) -> None:
    titles = [one.title.strip("“”") for one in rows(panel)]
    assert titles == ["claude on shop", "Request 0", "claude on shop", "Request 1", "Request 0"]
    killed, ended = rows(panel)[0], rows(panel)[2]
    assert (killed.state, ended.state) == ("end not recorded", "applied")
    assert "4 commands · 1 held · 2 not run · 1 host refused · 2 changes applied · 1 undone" in ended.below


def test_a_session_that_was_killed_is_said_to_be_so(desk: Desk, panel: HistoryPanel) -> None:
    """No end is recorded: it is at work only where its process is there now."""
    choose(desk, panel, "claude on shop")
    desk.qtbot.waitUntil(panel.session.isVisible)
    assert "Its end is not recorded" in panel.session.sentence.text()
    assert not panel.session.open.isVisible()
    at_work(desk, "killed-2")
    desk.qtbot.waitUntil(lambda: panel.session.sentence.text().startswith("At work for "))
    assert rows(panel)[0].state == "at work"
    with desk.qtbot.waitSignal(panel.work_wanted) as wanted:
        panel.session.open.click()
    assert wanted.args == ["killed-2"]
    at_work(desk)
    desk.window.show_page("History")
    desk.qtbot.waitUntil(lambda: "Its end is not recorded" in panel.session.sentence.text())


def test_what_happened_is_listed_in_order_and_searched_by_key(desk: Desk, panel: HistoryPanel) -> None:
    panel.list.view.setCurrentIndex(panel.list.model.index(2, 0))
    desk.qtbot.waitUntil(lambda: panel.session.model.rowCount() > 0)
    model = panel.session.model
    shown = [model.index(row, 0).data(SUMMARY) for row in range(model.rowCount())]
    assert [one.title for one in shown[1:5]] == [
        "make test",
        'echo "\\"held\\":true"',
        "rm -rf ~",
        "curl Ähren.example",
    ]
    assert [one.state for one in shown[1:5]] == ["ran", "ran", "held", "not run"]
    assert shown[6].title.startswith("Held command 3 refused") and shown[6].state == "by a person"
    panel.session.view.setFocus()
    desk.qtbot.keyClick(panel.session.view, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert panel.session.field.hasFocus()
    desk.qtbot.keyClicks(panel.session.field, "rm -rf")
    assert model.rowCount() == 1 and panel.session.count.isVisible()


def test_a_search_of_the_history_finds_commands(desk: Desk, panel: HistoryPanel) -> None:
    panel.filters.text.setText("ähren shop-1a2b3c")
    desk.qtbot.waitUntil(lambda: panel.list.model.rowCount() == 1)
    assert rows(panel)[0].state == "applied"
    desk.qtbot.waitUntil(lambda: panel.session.isVisible() and NAME in panel.session.about.text())


def test_what_is_recorded_meanwhile_comes_in(desk: Desk, panel: HistoryPanel, places: Places) -> None:
    more = ("work-seen", "", {"name": "killed-2", "commands": [{"number": 5, "text": "pwd"}]})
    ledger(places.ledger, [more])
    desk.hear((WorkRecorded(),))
    desk.qtbot.waitUntil(lambda: "5 commands" in rows(panel)[0].below)


@pytest.mark.parametrize("kind", ["command", "host", "opened", "work-applied", "work-started", "unknown"])
@pytest.mark.parametrize("facts", [{}, {"text": 1, "answer": 2, "times": "x", "not_named": "y", "program": 3}])
def test_a_step_of_any_form_is_one_row(kind: str, facts: dict[str, Any]) -> None:
    line = session_words.step_line(PastStep(1.0, kind, facts))
    assert line.title and line.below


def test_a_level_of_a_damaged_record_shows_its_hidden_characters() -> None:
    line = session_words.step_line(PastStep(1.0, "command", {"number": 1, "text": "ls", "level": "\u202eLOW\n\n"}))
    assert "\u202e" not in line.below and "\n" not in line.below and "LOW" in line.below
