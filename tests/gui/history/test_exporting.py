"""Export from the page of the history: what is listed, one request, all entries; Cancel, and what cannot be written."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QFileDialog

from app.history.exporting import CANCEL, FILTERS
from app.history.panel import HistoryPanel
from runner.audit.export.exporting import HistoryExport
from runner.audit.history.search import Filter
from runner.model.decision import Verdict
from tests.gui.record import ledger, many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from runner.audit.export.exporting import Exported
    from runner.system.places import Places
    from tests.gui.conftest import Desk


@pytest.fixture
def panel(desk: Desk, places: Places) -> Iterator[HistoryPanel]:
    ledger(places.ledger, many(10))
    desk.window.show_page("History")
    panel = desk.window.page("History")
    assert isinstance(panel, HistoryPanel)
    desk.qtbot.waitUntil(lambda: panel.list.model.rowCount() == 10)
    yield panel
    panel._reader.close()
    panel.list._reader.close()


def answer(monkeypatch: pytest.MonkeyPatch, path: Path, line: str) -> None:
    """The person chooses this file in the dialog."""
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_given: (str(path), line))


def over(desk: Desk, panel: HistoryPanel) -> str:
    desk.qtbot.waitUntil(panel.exporting.button.isEnabled)
    return panel.exporting.notice.text


def test_what_is_listed_and_what_is_shown_are_written(
    desk: Desk, panel: HistoryPanel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jsonl, csv, *_ = FILTERS
    panel.filters.verdict.setCurrentIndex(panel.filters.verdict.findData(Verdict.DENIED))
    answer(monkeypatch, tmp_path / "listed", jsonl)
    panel.exporting.listed.trigger()
    assert not panel.exporting.button.isEnabled() and panel.exporting.notice.action.text() == CANCEL
    path = tmp_path / "listed.jsonl"
    assert over(desk, panel) == f"2 requests were written to {path}."
    assert [json.loads(line)["id"] for line in path.read_text().splitlines()] == ["m0005", "m0000"]
    # The dialog did not ask about the name with the ending.
    panel.exporting.listed.trigger()
    assert "exists already" in over(desk, panel)
    panel.list.view.setCurrentIndex(panel.list.model.index(0, 0))
    answer(monkeypatch, tmp_path / "one.csv", csv)
    panel.exporting.one.trigger()
    assert "1 request was written" in over(desk, panel) and (tmp_path / "one.csv").read_text().count("\n") == 2


def test_all_entries_come_with_what_to_note(
    desk: Desk, panel: HistoryPanel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(monkeypatch, tmp_path / "entries.jsonl", "")
    panel.exporting.entries.trigger()
    said = over(desk, panel)
    head = json.loads((tmp_path / "entries.jsonl").read_text().splitlines()[-1])["head"]
    assert f"head {head['seq']}:{head['hash']}." in said and "entries were written" in said


def test_cancel_leaves_no_file(
    desk: Desk, panel: HistoryPanel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, write = threading.Event(), HistoryExport.write

    def held(self: HistoryExport, path: Path, *, replace: bool, progress: Callable[[int], None]) -> Exported:
        assert go.wait(60)
        return write(self, path, replace=replace, progress=progress)

    monkeypatch.setattr(HistoryExport, "write", held)
    panel.exporting.export(tmp_path / "out.csv", FILTERS["Table (*.csv)"], Filter(), replace=False)
    panel.exporting.notice.action.click()
    go.set()
    assert "cancelled" in over(desk, panel) and not list(tmp_path.glob("*out.csv*"))
