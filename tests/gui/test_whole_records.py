"""A record is shown as a whole or not at all: never the title of one request above the code of another."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from app.history import detail as detail_module
from app.history.detail import Detail
from app.review import panel as review_module
from app.running import panel as running_module
from app.running.panel import RunningPanel
from runner.audit.history.search import CaseRecord, History
from runner.model.codec import DEEPEST
from runner.model.result import Outcome
from runner.model.verdict import RiskVerdict
from runner.sandbox.report import LIMIT, MOST_VALUES
from tests.audit import story
from tests.gui import feed, record

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from app.look.look import Look
    from runner.model.result import Result
    from runner.system.places import Places
    from tests.gui.conftest import Desk

FORGED_PEAK = 10**4000
"""Of a ledger that was written before reports were bounded."""
SLOWEST = 1.0
"""Seconds of processor time for the largest record that a run can leave."""


def records(places: Places, *results: Result) -> list[CaseRecord]:
    """Records `r0`, `r1` and so on, one for each result."""
    told = [
        step
        for number, result in enumerate(results)
        for step in story.approved(story.request(f"r{number}", "codex", f"print({number})", f"Title {number}"), result)
    ]
    record.ledger(places.ledger, told)
    history = History(places.ledger)
    found = [history.case(f"r{number}") for number in range(len(results))]
    history.close()
    return [one for one in found if one is not None]


@pytest.fixture
def detail(look: Look, qtbot: QtBot) -> Detail:
    made = Detail(look, lambda _folder: True, lambda _file: b"")
    qtbot.addWidget(made)
    made.show()
    return made


def test_the_sentence_is_shown_whole_where_there_is_room_for_it(detail: Detail, places: Places) -> None:
    said = "Deletes keys, credentials or start-up files (the folder ~/.ssh) and writes out.txt."
    detail.resize(1200, 600)
    (record,) = records(places, feed.result())
    assert record.assessment is not None
    judged = replace(record.assessment, verdict=RiskVerdict(said))
    detail.show_record(replace(record, assessment=judged))
    assert detail.title.text() == said
    assert said.startswith(detail.headline.rstrip("\N{HORIZONTAL ELLIPSIS}")) and len(detail.headline) < len(said)


def broken(*_arguments: Any, **_named: Any) -> None:
    raise OverflowError("too large")


def test_a_record_that_cannot_be_shown_leaves_nothing_of_the_one_before(detail: Detail, places: Places) -> None:
    fine, forged, third = records(
        places, feed.result(stdout="harmless"), replace(feed.result(), peak_memory=FORGED_PEAK), feed.result()
    )
    detail.show_record(fine)
    assert detail.title.isVisible() and detail.output.isVisible()
    with pytest.raises(OverflowError):
        detail.show_record(forged)
    assert not any(part.isVisible() for part in (detail.title, detail.code, detail.output, detail.facts, detail.copy))
    assert detail.nothing.isVisible() and detail.record is None
    assert detail.nothing.accessibleName().startswith(detail_module.NOT_SHOWN[0])
    detail.show_record(third)
    assert detail.output.isVisible()
    assert (detail.title.text(), detail.code.selected_text()) == ("It runs code.", "print(2)")
    detail.show_record(fine)
    assert (detail.title.text(), detail.code.selected_text()) == ("It runs code.", "print(0)")


@pytest.mark.parametrize(
    "part", ["title.setText", "outcome.setText", "code.set_code", "output.set_text", "timeline.begin"]
)
def test_whichever_part_of_a_record_fails(
    detail: Detail, places: Places, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    first, second = records(places, feed.result(stdout="one"), feed.result(stdout="two"))
    detail.show_record(first)
    widget, _, method = part.partition(".")
    with monkeypatch.context() as patch:
        patch.setattr(getattr(detail, widget), method, broken)
        with pytest.raises(OverflowError):
            detail.show_record(second)
    assert detail.nothing.isVisible() and not detail.output.isVisible()
    assert detail._stack.currentWidget() is detail.nothing
    detail.show_record(second)
    assert detail.code.selected_text() == "print(1)"


def nested(value: Any, depth: int) -> Any:
    return value if depth == 0 else [nested(value, depth - 1)]


LARGEST: dict[str, Callable[[], Result]] = {
    "many values": lambda: feed.result(value=[1] * (MOST_VALUES - 1)),
    "a long text": lambda: feed.result(value="x" * (LIMIT - 20)),
    "a nested value": lambda: feed.result(value=nested(1, DEEPEST - 1)),
    "bidi controls": lambda: feed.result(value="\u202e" * 100_000),
    "bidi controls in the output": lambda: feed.result(stdout="\u202e" * 300_000, stderr="\u202e\n" * 100_000),
    "many short lines": lambda: feed.result(stdout="a\n" * 500_000),
}


@pytest.mark.parametrize("name", LARGEST)
def test_the_largest_record_is_shown_quickly(detail: Detail, places: Places, qtbot: QtBot, name: str) -> None:
    (found,) = records(places, LARGEST[name]())
    begun = time.process_time()
    detail.show_record(found)
    for tab in range(detail.tabs.count()):
        detail.tabs.setCurrentIndex(tab)
        detail.grab()
    assert time.process_time() - begun < SLOWEST
    qtbot.wait(0)


def test_a_run_that_cannot_be_shown_leaves_nothing_of_the_one_before(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = running(desk, "print('first')")
    first = page.shown
    second = feed.request("print('second')")
    with monkeypatch.context() as patch, desk.qtbot.capture_exceptions() as raised:
        patch.setattr(page.meters, "begin", broken)
        desk.hear(feed.asked(second), feed.decided(second), feed.started(second))
        page.view.setCurrentIndex(page.model.index(0, 0))
    assert [kind for kind, *_ in raised] == [OverflowError]
    assert page.nothing.isVisible() and not page.output.isVisible() and page.shown is None
    assert page.nothing.accessibleName().startswith(running_module.NOT_SHOWN[0])
    assert first is not None
    page.show_run(first)
    assert page.output.isVisible() and page.code.selected_text() == "print('first')"


def test_an_end_that_cannot_be_shown_takes_the_run_off_the_screen(desk: Desk) -> None:
    page = running(desk, "print('first')")
    one = page.shown
    assert one is not None
    with desk.qtbot.capture_exceptions() as raised:
        desk.hear(feed.finished(one.request, replace(feed.result(Outcome.FAILED), peak_memory=FORGED_PEAK)))
    assert OverflowError in [kind for kind, *_ in raised]
    assert page.nothing.isVisible() and not page.output.isVisible()


def running(desk: Desk, code: str) -> RunningPanel:
    desk.window.show_page("Running")
    one = feed.request(code)
    desk.hear(feed.asked(one), feed.decided(one), feed.started(one))
    page = desk.window.page("Running")
    assert isinstance(page, RunningPanel)
    assert page.shown is not None and page.output.isVisible()
    return page


@pytest.mark.parametrize("part", ["header.show_card", "reading.open", "reading.show_request", "facts.show_card"])
def test_a_request_that_cannot_be_shown_is_not_under_review(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """Else the code of the request before could be approved in its name."""
    before, hostile = desk.ask(feed.request("print('before')")), desk.ask(feed.request("print('hostile')"))
    card, other = desk.cases.card(before.id), desk.cases.card(hostile.id)
    assert card is not None and other is not None and desk.review.card is card
    widget, _, method = part.partition(".")
    with monkeypatch.context() as patch:
        patch.setattr(getattr(desk.page, widget), method, broken)
        with pytest.raises(OverflowError):
            desk.review.show_card(other)
    assert desk.review.card is None
    assert desk.review.nothing.isVisible() and not desk.page.isVisible()
    assert desk.review.nothing.accessibleName().startswith(review_module.NOT_SHOWN[0])
    desk.review.show_card(card)
    assert desk.page.isVisible() and desk.page.reading.code.selected_text() == "print('before')"
