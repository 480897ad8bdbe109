"""What a run did on screen: live, in the history, as a filter, and as a question about a grant."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from app.history.detail import Detail
from app.running.panel import RunningPanel
from app.today.highlights import Known, ToHistory, ToPage, worth_a_look
from app.today.spans import SpanFigures, TimeSpan
from app.today.unforeseen import Surprises, is_surprising, read_surprises
from runner.audit.history.filter import Filter
from runner.audit.history.indexing import Indexing
from runner.audit.history.search import History
from runner.audit.history.statistics import Figures
from runner.model.behaviour import NOT_REPORTED, Behaviour
from runner.model.codec import encode
from runner.model.events import RunFinished, RunObserved
from runner.model.file_changes import FILES_CHANGED, ChangedFile, ChangeKind, FileChanges, RunChanges
from runner.model.request import Language
from runner.risk.assess import assess
from tests.gui import feed, record
from tests.gui.scenes.behaviour_scenes import BEHAVIOUR, DEEDS, asked, ended, recorded
from tests.recorded import record_in

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from app.look.look import Look
    from runner.system.places import Places
    from tests.gui.conftest import Desk

GCC = "started x86_64-linux-gnu-gcc-14"
HOST = "asked for 203.0.113.9"


def test_a_run_tells_what_it_does_while_it_runs_and_what_came_of_it_after(desk: Desk) -> None:
    one = asked()
    desk.hear(feed.asked(one, assess(one)), feed.decided(one), feed.started(one))
    desk.hear((RunObserved(one.id, replace(BEHAVIOUR, deeds=DEEDS[:1])),))
    desk.window.show_page("Running")  # only now is there a page
    page = desk.window.page("Running")
    assert isinstance(page, RunningPanel)
    view = page.behaviour
    assert view.model.rowCount() == 1
    desk.hear((RunObserved("another", BEHAVIOUR),))
    assert view.model.rowCount() == 1
    desk.hear((RunObserved(one.id, replace(BEHAVIOUR, deeds=DEEDS[:2])),))
    assert [row.title for row in view.model.rows] == ["git status --short", "wc -l"]
    desk.hear(feed.finished(one, ended(one)))
    said = {row.title: row.state for row in view.model.rows}
    assert said["Starts git status"] == "tried: exit 128"
    assert said["203.0.113.9:4444"] == "not foreseen"
    assert view.summary.text() == f"Not foreseen: {GCC}, {HOST}."
    assert page.tabs.tabText(page.tabs.indexOf(view)) == "What it did (2 not foreseen)"


def test_the_history_has_it_and_names_what_was_not_reported(look: Look, qtbot: QtBot, places: Places) -> None:
    gaps = replace(BEHAVIOUR, lost=7)
    steps = [
        *recorded(asked("b1")),
        *recorded(asked("b2"), Behaviour(absent=NOT_REPORTED)),
        *recorded(asked("b3"), gaps),
    ]
    gone = tuple(ChangedFile(f"build/{n}.o", ChangeKind.REMOVED, before=9) for n in range(14))
    changes = RunChanges("box", 1, "b3", "", FileChanges(gone, removed=14))
    plain = replace(asked("b4"), code="print(1)", language=Language.PYTHON)
    notes = RunChanges("box", 2, "b4", "", FileChanges((ChangedFile("notes.md", ChangeKind.REMOVED),), removed=1))
    steps += [*recorded(plain, Behaviour(absent=NOT_REPORTED)), (FILES_CHANGED, "b4", encode(notes))]
    record.ledger(places.ledger, [*steps, (FILES_CHANGED, "b3", encode(changes))])
    detail = Detail(look, lambda _folder: True, lambda _file: b"")
    qtbot.addWidget(detail)
    detail.show()
    place = detail.tabs.indexOf(detail.behaviour)
    detail.show_record(record_in(places.ledger, "b1"))
    assert (detail.tabs.isTabVisible(place), detail.tabs.tabText(place)) == (True, "What it did (2 not foreseen)")
    assert "\x1b" not in "".join(row.title for row in detail.behaviour.model.rows)
    detail.show_record(record_in(places.ledger, "b2"))
    assert detail.tabs.isTabVisible(place)
    shown = [detail.behaviour.summary.text(), *(row.state for row in detail.behaviour.model.rows)]
    assert shown[0] == NOT_REPORTED
    assert set(shown[1:]) == {"not reported by the sandbox"}
    detail.show_record(record_in(places.ledger, "b3"))
    assert "Not complete. 7 messages of the sandbox were dropped." in detail.behaviour.summary.text()
    states = {row.title: row.state for row in detail.behaviour.model.rows}
    assert states["Deletes the folder “build”"] == "14 files removed"
    detail.show_record(record_in(places.ledger, "b4"))
    assert detail.behaviour.summary.text() == f"Not foreseen: removed 1 file. {NOT_REPORTED}"
    assert detail.tabs.tabText(place) == "What it did (1 not foreseen)"


def test_it_is_found_by_words_and_as_not_foreseen(places: Places) -> None:
    quiet = replace(BEHAVIOUR, deeds=DEEDS[:2])
    record.ledger(places.ledger, [*recorded(asked("b1")), *recorded(asked("b2"), quiet)])
    for indexed in (False, True):
        if indexed:
            with closing(Indexing(places.ledger)) as indexing:
                while indexing.advance():
                    continue
        with closing(History(places.ledger)) as history:
            assert [row.id for row in history.page(Filter(unforeseen="yes"))] == ["b1"]
            assert [row.id for row in history.page(Filter(text="203.0.113.9:4444"))] == ["b1"]
            assert len(history.page(Filter(text="git status --short"))) == 2


def test_a_grant_that_let_such_a_run_pass_is_asked_about_while_it_counts(places: Places) -> None:
    steps = [*recorded(asked("b1"), grant="g-7"), *recorded(asked("b2"), grant="g-7"), *recorded(asked("b3"))]
    record.ledger(places.ledger, steps)
    with closing(History(places.ledger)) as history:
        found = read_surprises(history, 0.0)
    assert found.runs == 3
    assert [(one.grant, one.what) for one in found.passed] == [("g-7", (GCC, HOST))]

    def notable(grants: frozenset[str], surprises: Surprises = found) -> list[tuple[str, Any]]:
        known = Known(now=1e9, verified=1e9, surprises=surprises, grants=grants, period={"period": "0"})
        return [(one.words, one.act) for one in worth_a_look(SpanFigures(TimeSpan.TODAY, Figures(), 1, 1), known)]

    runs = ("3 runs did something not foreseen", ToHistory({"unforeseen": "yes", "period": "0"}))
    assert notable(frozenset({"g-7"})) == [("Keep the grant g-7?", ToPage("Rules")), runs]
    assert notable(frozenset()) == [runs]
    assert notable(frozenset({"g-7"}), Surprises()) == []


def test_the_end_of_such_a_run_is_news() -> None:
    one = asked()
    assert is_surprising(RunFinished(one.id, ended(one)))
    assert not is_surprising(RunFinished(one.id, ended(one, Behaviour(absent=NOT_REPORTED))))
    assert not is_surprising(RunFinished(one.id, feed.result()))
