"""The list of the history: badges by what was found, and requests that are damaged."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from threading import Event
from typing import TYPE_CHECKING

from app.history import listing
from app.history.model import UNREADABLE
from app.history.panel import HistoryPanel
from app.parts.text.lines import SUMMARY
from runner.audit.history.search import Filter, History
from runner.model.assessment import Level
from runner.model.codec import encode
from tests.audit.story import approved, denied, request
from tests.gui import feed
from tests.gui.record import ledger, many
from tests.patience import HANGS

if TYPE_CHECKING:
    import pytest

    from app.history.model import TitledRow
    from runner.model.assessment import Assessment
    from runner.system.places import Places
    from tests.audit.story import Told
    from tests.gui.conftest import Desk


def test_a_damaged_request_is_one_line_and_the_others_are_shown(desk: Desk, places: Places) -> None:
    ledger(places.ledger, many(5))
    with closing(sqlite3.connect(places.ledger)) as connection:
        connection.execute("UPDATE requests SET tool = 'code_of_a_newer_version' WHERE id = 'm0003'")
        connection.execute("UPDATE requests SET arrived_at = 1e300 WHERE id = 'm0001'")
        connection.commit()
    desk.window.show_page("History")
    panel = desk.window.page("History")
    assert isinstance(panel, HistoryPanel)
    desk.qtbot.waitUntil(lambda: panel.list.model.rowCount() == 5)
    titles = [line.title for line in panel.list.model.lines]
    assert titles == ["Request 4", UNREADABLE, "Request 2", UNREADABLE, "Request 0"]
    days = [panel.list.model.begins_day(row) for row in range(5)]
    assert days == [True, False, False, False, False], "the day stands once above its requests"
    summary = panel.list.model.index(1, 0).data(SUMMARY)
    assert "code_of_a_newer_version" in summary.below and summary.state == "damaged"
    panel.list.view.setCurrentIndex(panel.list.model.index(1, 0))
    desk.qtbot.waitUntil(lambda: "code_of_a_newer_version" in panel.detail.nothing.accessibleName())
    panel._reader.close()
    panel.list._reader.close()


def test_beside_an_empty_list_nothing_is_said(desk: Desk) -> None:
    """Otherwise it would ask for a choice where there is nothing to choose."""
    desk.window.show_page("History")
    panel = desk.window.page("History")
    assert isinstance(panel, HistoryPanel)
    assert not panel.detail.nothing.isVisible()
    desk.qtbot.waitUntil(panel.list.nothing.isVisible)
    panel._fetch("")
    desk.qtbot.waitUntil(lambda: panel.detail._stack.currentWidget() is panel.detail._blank)
    panel._failed(OSError("no ledger"))
    assert not panel.detail.nothing.isVisible()
    panel._reader.close()
    panel.list._reader.close()


def test_a_search_that_takes_long_says_so_and_then_no_more(
    desk: Desk, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger(places.ledger, many(3))
    desk.window.show_page("History")
    panel = desk.window.page("History")
    assert isinstance(panel, HistoryPanel)
    desk.qtbot.waitUntil(lambda: panel.list.model.rowCount() == 3)
    assert not panel.list.searching.isVisible()
    go, read = Event(), listing.read_page

    def slowly(history: History, wanted: Filter, before: int | None = None) -> tuple[TitledRow, ...]:
        assert go.wait(HANGS)
        return read(history, wanted, before)

    monkeypatch.setattr(listing, "read_page", slowly)
    panel.list.look_for(Filter(text="absent"))
    desk.qtbot.waitUntil(panel.list.searching.isVisible)
    go.set()
    desk.qtbot.waitUntil(lambda: panel.list.model.rowCount() == 0)
    assert not panel.list.searching.isVisible()
    panel._reader.close()
    panel.list._reader.close()


def assessed(told: list[Told], assessment: Assessment) -> list[Told]:
    """`told` with another assessment."""
    return [(kind, name, encode(assessment) if kind == "assessed" else body) for kind, name, body in told]


def test_a_badge_is_colored_by_what_was_found_and_not_by_the_class(desk: Desk, places: Places) -> None:
    """As in the queue: a harmless program is of the class HIGH, and nothing in it is worth a look."""
    amber = feed.finding(1, "Reads the environment.", Level.MEDIUM)
    red = feed.finding(1, "Sends a file.")
    told = [
        *assessed(approved(request("a")), feed.assessment(Level.HIGH)),
        *assessed(approved(request("b")), feed.assessment(Level.HIGH, amber)),
        *assessed(denied(request("c")), feed.assessment(Level.HIGH, amber, red)),
        *assessed(denied(request("d")), feed.assessment(Level.CRITICAL)),
    ]
    ledger(places.ledger, told)
    desk.window.show_page("History")
    panel = desk.window.page("History")
    assert isinstance(panel, HistoryPanel)
    desk.qtbot.waitUntil(lambda: panel.list.model.rowCount() == 4)
    badges = [panel.list.model.index(row, 0).data(SUMMARY).level for row in range(4)]
    assert badges == [Level.CRITICAL, Level.HIGH, Level.MEDIUM, None]
    for row, badge in enumerate(badges):
        panel.list.view.setCurrentIndex(panel.list.model.index(row, 0))
        desk.qtbot.waitUntil(
            lambda row=row: panel.detail.record is not None and panel.detail.record.row.id == "dcba"[row]
        )
        assert panel.detail.badge.level is badge
    panel._reader.close()
    panel.list._reader.close()


def test_what_cannot_be_read_has_no_badge(places: Places) -> None:
    ledger(places.ledger, approved(request("a")) + approved(request("b")))
    with closing(sqlite3.connect(places.ledger)) as connection:
        connection.execute("DROP TRIGGER bodies_stay")
        assessed_at = "(SELECT seq FROM entries WHERE kind = 'assessed' AND request_id = ?)"
        for name, body in (("a", "no JSON"), ("b", '{"findings": [1, {"level": [2]}]}')):
            connection.execute(f"UPDATE bodies SET data = ? WHERE seq = {assessed_at}", (body, name))
        connection.commit()
    with closing(History(places.ledger)) as history:
        assert list(history.attentions([row.seq for row in history.page()]).values()) == [None]
