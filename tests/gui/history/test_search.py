"""Searching the history in the window: what is found, marked, saved, and brought up to date without searching again."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from app.history.indexed import IndexProgress
from app.history.panel import HistoryPanel
from app.parts.text.lines import HEADING, HEIGHT, SUMMARY
from runner.audit.history.indexing import Indexing
from runner.audit.history.search import ANYTHING, Filter, History
from runner.model.assessment import Level
from runner.model.request import Language
from tests.audit.story import RESULT, approved, denied, request
from tests.gui import feed
from tests.gui.record import ledger

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.system.places import Places
    from tests.gui.conftest import Desk

DAY = 86_400.0


@pytest.fixture
def panel(desk: Desk, places: Places) -> Iterator[HistoryPanel]:
    places.make()
    told = [
        *approved(request("r1", code="total = 1\nneedle = 2", title="One"), replace(RESULT, stdout="a needle here\n")),
        *denied(request("r2", agent="codex", title="Two")),
        *approved(request("r3", agent="codex", title="Three")),
    ]
    ledger(places.ledger, told)
    with closing(Indexing(places.ledger)) as indexing:
        assert indexing.advance()
    desk.window.show_page("History")
    shown = desk.window.page("History")
    assert isinstance(shown, HistoryPanel)
    desk.qtbot.waitUntil(lambda: shown.list.model.rowCount() == 3)
    yield shown
    for reader in (shown._reader, shown.list._reader, shown.progress._reader):
        reader.close()


def titles(panel: HistoryPanel) -> list[str]:
    return [line.title for line in panel.list.model.lines]


def test_words_are_marked_in_code_and_output(desk: Desk, panel: HistoryPanel) -> None:
    panel.filters.text.setText("needle")
    desk.qtbot.waitUntil(lambda: titles(panel) == ["One"])
    desk.qtbot.waitUntil(lambda: panel.detail.record is not None and panel.detail.record.row.id == "r1")
    assert panel.detail.code._painting.first_found() == 1
    assert panel.detail.output.pane._matches.within("a needle here") == [(2, 8)]
    panel.detail.output.open_search()
    panel.detail.output.close_search()
    assert panel.detail.output.pane._matches.wanted, "they are marked again after a search in the output"
    panel.filters.text.setText("nowhere")
    desk.qtbot.waitUntil(lambda: titles(panel) == [] and panel.detail.record is None)
    panel.filters.clear()
    desk.qtbot.waitUntil(lambda: len(titles(panel)) == 3 and panel.detail.record is not None)
    assert panel.detail.code._painting.first_found() is None


def test_days_stand_above_their_requests(desk: Desk, panel: HistoryPanel) -> None:
    model, view = panel.list.model, panel.list.view
    assert [model.index(row, 0).data(SUMMARY).heading for row in range(3)] == ["Today", "", ""]
    px = panel._look.px
    assert [view.rowHeight(row) for row in range(3)] == [px(HEIGHT + HEADING), px(HEIGHT), px(HEIGHT)]
    older = [replace(line, day=(2020, 1, 1 + row)) for row, line in enumerate(model.lines)]
    model.update(older)
    panel.list._fit_headings()
    assert [view.rowHeight(row) for row in range(3)] == [px(HEIGHT + HEADING)] * 3


def test_every_filter_is_asked_for_saved_and_restored(desk: Desk, panel: HistoryPanel) -> None:
    filters = panel.filters
    desk.qtbot.waitUntil(lambda: filters.finding.count() > 1 and filters.host.count() > 1)
    filters.text.setText("hello")
    filters.level.setCurrentIndex(filters.level.findData(Level.HIGH))
    filters.language.setCurrentIndex(filters.language.findData(Language.PYTHON))
    filters.finding.setCurrentIndex(1)
    filters.host.setCurrentIndex(1)
    filters.period.setCurrentIndex(1)
    wanted = filters.wanted
    assert (wanted.language, wanted.finding, wanted.host) == (Language.PYTHON, "python.subprocess", "example.org")
    assert wanted.since is not None
    assert filters.further.text() == "More filters (4)"
    panel.saved.save_present()
    filters.clear()
    assert filters.wanted == ANYTHING
    (name,) = panel.saved.searches
    assert name.startswith("hello, HIGH")
    panel.saved._fill()
    next(action for action in panel.saved._menu.actions() if action.text() == name).trigger()
    assert filters.wanted == wanted
    assert filters._further_line.isVisible(), "what is asked for is in sight"
    panel.saved.forget(name)
    assert not panel.saved.searches


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1}'])
def test_a_damaged_file_of_searches_is_none(panel: HistoryPanel, places: Places, text: str) -> None:
    places.searches.write_text(text)
    assert panel.saved.searches == {}
    panel.filters.text.setText("x")
    panel.saved.save_present()
    assert list(panel.saved.searches) == ["x"]


def test_an_event_asks_for_its_request_and_searches_nothing(
    desk: Desk, panel: HistoryPanel, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel.filters.text.setText("hello")
    desk.qtbot.waitUntil(lambda: titles(panel) == ["Three", "Two"])
    asked: list[tuple[str, ...]] = []
    fitting = History.fitting

    def noted(history: History, wanted: Filter, names: frozenset[str]) -> object:
        asked.append(tuple(names))
        return fitting(history, wanted, names)

    monkeypatch.setattr(History, "fitting", noted)
    monkeypatch.setattr(History, "lines", None)
    ledger(places.ledger, [*approved(request("r4", title="Four")), *denied(request("r5", code="x", title="Five"))])
    desk.hear(*(feed.asked(request(name)) for name in ("r4", "r5")))
    wanted = ["Four", "Three", "Two"]
    desk.qtbot.waitUntil(lambda: titles(panel) == wanted or panel.list.failure.isVisible())
    assert titles(panel) == wanted
    assert {name for names in asked for name in names} == {"r4", "r5"}


def test_progress_is_said_while_the_index_is_behind(desk: Desk, panel: HistoryPanel, places: Places) -> None:
    progress = panel.progress
    assert not progress.isVisible()
    progress._tell((400_000, 1_000_000, (), ()))
    assert progress.isVisible() and progress.text().startswith("40%")
    progress.look()
    desk.qtbot.waitUntil(lambda: not progress.isVisible())
    assert isinstance(progress, IndexProgress)
