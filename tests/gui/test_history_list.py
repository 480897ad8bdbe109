"""The list of the history where a request in it is damaged."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from app.history.model import UNREADABLE
from app.history.panel import HistoryPanel
from app.parts.lines import SUMMARY
from tests.gui.record import ledger, many

if TYPE_CHECKING:
    from runner.system.places import Places
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
    summary = panel.list.model.index(1, 0).data(SUMMARY)
    assert "code_of_a_newer_version" in summary.below and summary.state == "damaged"
    panel.list.view.setCurrentIndex(panel.list.model.index(1, 0))
    desk.qtbot.waitUntil(lambda: "code_of_a_newer_version" in panel.detail.nothing.accessibleName())
    panel._reader.close()
    panel.list._reader.close()
