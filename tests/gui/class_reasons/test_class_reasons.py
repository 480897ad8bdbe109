"""Why a request has its class, and that a person finds it wrong: on the page of a request and in History."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt

from app.class_reasons.keeping import CaseKeeping
from app.history.facts import RecordFacts
from runner.audit.history.search import CaseRecord
from runner.audit.ledger.row import Row
from runner.model.assessment import Level
from runner.model.events import RequestAssessed
from runner.model.lifecycle import Phase
from runner.model.request import Language
from runner.risk.explain.disputed import DisputedCases
from runner.risk.tools.tools import weigh
from tests.gui import feed
from tests.gui.scenes.class_reason_scenes import CODE, QUIET

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget
    from pytestqt.qtbot import QtBot

    from app.class_reasons.section import WhySection
    from app.class_reasons.wrong_level import WrongLevel
    from app.look.look import Look
    from runner.model.request import Request
    from runner.system.places import Places
    from tests.gui.conftest import Desk


def ask(desk: Desk, code: str = CODE, language: Language = Language.SHELL) -> Request:
    one = feed.request(code, language=language)
    return desk.ask(one, weigh(one))


def click(qtbot: QtBot, widget: QWidget) -> None:
    """Click once the layout has given the widget its place."""
    qtbot.waitUntil(lambda: widget.isVisible() and widget.width() > 20 and widget.height() > 5)
    qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)


def opened(desk: Desk) -> WhySection:
    desk.page.reading.show_details()
    section = desk.page.facts.reasons
    click(desk.qtbot, section.toggle)
    return section


def form_of(section: WhySection) -> WrongLevel:
    assert section.wrong is not None
    return section.wrong


def shown(*widgets: QWidget) -> list[bool]:
    return [not one.isHidden() for one in widgets]


def test_the_reasons_are_shown_when_asked_for_and_a_place_leads_to_its_line(desk: Desk) -> None:
    ask(desk)
    section = desk.page.facts.reasons
    assert section.body.isHidden()
    opened(desk)
    assert section.body.isVisible()
    assert section.summary.text() == "CRITICAL because of lines 3 and 6; each place is enough."
    assert [row.left.text() for row in section.rows] == [
        "Without it: still CRITICAL, because of line 6.",
        "Without it: still CRITICAL, because of line 3.",
    ]
    click(desk.qtbot, section.rows[1].link)
    assert desk.page.reading.tabs.currentIndex() == 0
    assert desk.page.reading.code._selection.caret.line == 5
    assert desk.answers == []


def test_another_assessment_of_the_same_request_changes_what_is_said(desk: Desk) -> None:
    one = ask(desk)
    section = opened(desk)
    harmless = weigh(replace(one, code="ls\n"))
    desk.hear((RequestAssessed(one.id, harmless),))
    assert section.summary.text() == "HIGH: running code is HIGH by itself, whatever is found."
    assert shown(*section.rows) == [False, False]


def test_a_wrong_level_is_kept_changed_taken_back_and_kept_again(desk: Desk, places: Places) -> None:
    ask(desk, QUIET, Language.PYTHON)
    form = form_of(opened(desk))
    cases = DisputedCases(places.disputed)
    click(desk.qtbot, form.start)
    assert not form.keep.isEnabled()
    assert [level for level, choice in form.choices.items() if not choice.isEnabled()] == [Level.MEDIUM]
    click(desk.qtbot, form.choices[Level.LOW])
    desk.qtbot.keyClicks(form.note, "Its own folder: a, d and A approve nothing.")
    desk.qtbot.keyClick(form.note, Qt.Key.Key_Return)
    desk.qtbot.waitUntil(lambda: not form.back.isHidden())
    (line,) = cases.lines()
    assert line.case is not None
    assert (line.case.named, line.case.note) == (Level.LOW, "Its own folder: a, d and A approve nothing.")
    assert "Never sent; it decides nothing." in form.private.text()
    assert form.private.isVisible()

    click(desk.qtbot, form.start)
    click(desk.qtbot, form.choices[Level.CRITICAL])
    click(desk.qtbot, form.keep)
    desk.qtbot.waitUntil(lambda: "CRITICAL" in form.state.text())
    assert [one.case.named for one in cases.lines() if one.case] == [Level.CRITICAL]

    click(desk.qtbot, form.back)
    desk.qtbot.waitUntil(lambda: not form.undo.isHidden())
    assert cases.lines() == ()
    click(desk.qtbot, form.undo)
    desk.qtbot.waitUntil(lambda: not form.back.isHidden())
    assert len(cases.lines()) == 1
    assert desk.answers == []
    assert {name for name, *_ in desk.bridge.calls} <= {"precedents", "pause", "sandbox_facts", "agents"}


def test_it_can_be_said_with_keys_alone(desk: Desk, places: Places) -> None:
    ask(desk, QUIET, Language.PYTHON)
    desk.page.reading.show_details()
    section = desk.page.facts.reasons
    section.toggle.setFocus()
    desk.qtbot.keyClick(section.toggle, Qt.Key.Key_Space)
    form = form_of(section)
    desk.qtbot.keyClick(section.toggle, Qt.Key.Key_Tab)
    assert desk.window.focusWidget() is form.start
    desk.qtbot.keyClick(form.start, Qt.Key.Key_Space)
    assert desk.window.focusWidget() is form.choices[Level.LOW]
    desk.qtbot.keyClick(form.choices[Level.LOW], Qt.Key.Key_Space)
    assert form.named is Level.LOW
    # As among radio buttons, arrows go from one to the next; what cannot be named is passed over.
    desk.qtbot.keyClick(form.choices[Level.LOW], Qt.Key.Key_Right)
    assert desk.window.focusWidget() is form.choices[Level.HIGH]
    assert form.named is Level.HIGH
    for stop in (form.note, form.keep, form.cancel):
        focus = desk.window.focusWidget()
        assert focus is not None
        desk.qtbot.keyClick(focus, Qt.Key.Key_Tab)
        assert desk.window.focusWidget() is stop
    desk.qtbot.keyClick(form.note, Qt.Key.Key_Escape)
    assert form.form.isHidden()
    assert not places.disputed.exists()
    assert desk.answers == []


def test_what_could_not_be_kept_is_said_and_what_was_typed_stays(desk: Desk, places: Places) -> None:
    ask(desk, QUIET, Language.PYTHON)
    places.disputed.mkdir()
    form = form_of(opened(desk))
    click(desk.qtbot, form.start)
    click(desk.qtbot, form.choices[Level.HIGH])
    form.note.setText("Missed.")
    click(desk.qtbot, form.keep)
    desk.qtbot.waitUntil(lambda: "cannot be read" in form.problem.text() and form.keep.isEnabled())
    assert form.note.text() == "Missed."
    places.disputed.rmdir()
    click(desk.qtbot, form.keep)
    desk.qtbot.waitUntil(lambda: not form.back.isHidden())
    assert form.problem.isHidden()


def test_what_comes_back_about_an_earlier_request_is_not_shown_beside_another(desk: Desk, places: Places) -> None:
    first = ask(desk, QUIET, Language.PYTHON)
    form = form_of(opened(desk))
    click(desk.qtbot, form.start)
    click(desk.qtbot, form.choices[Level.LOW])
    form.note.setText("About the first.")
    click(desk.qtbot, form.keep)
    second = ask(desk)
    card = desk.cases.card(second.id)
    assert card is not None
    desk.review.show_card(card)
    desk.qtbot.waitUntil(lambda: len(DisputedCases(places.disputed).lines()) == 1)
    done: list[object] = []
    form._keeping.find(first, done.append, done.append)
    desk.qtbot.waitUntil(lambda: len(done) == 1)
    assert shown(form.start, form.back, form.form) == [True, False, False]
    assert form.note.text() == ""
    back = desk.cases.card(first.id)
    assert back is not None
    desk.review.show_card(back)
    desk.qtbot.waitUntil(lambda: not form.back.isHidden())
    assert "LOW. About the first." in form.state.text()


@pytest.fixture
def facts(qtbot: QtBot, look: Look, places: Places) -> RecordFacts:
    made = RecordFacts(look, lambda _folder: False, CaseKeeping(places.disputed))
    qtbot.addWidget(made)
    made.resize(600, 600)
    with qtbot.waitExposed(made):
        made.show()
    return made


def test_the_history_says_the_same(facts: RecordFacts, qtbot: QtBot, places: Places) -> None:
    one = feed.request(CODE, language=Language.SHELL)
    row = Row(1, one.id, one.agent, one.tool, one.language, "", one.digest, Phase.ASSESSED, 1.0)
    kept = CaseRecord(row, one, weigh(one), None, None, ())
    facts.show_record(kept)
    section = facts.reasons
    with qtbot.waitSignal(facts.line_picked) as picked:
        section.toggle.click()
        section.rows[0].link.click()
    assert picked.args == [3]
    form = form_of(section)
    form.start.click()
    form.choices[Level.HIGH].click()
    form.keep.click()
    qtbot.waitUntil(lambda: not form.back.isHidden())
    assert json.loads(places.disputed.read_text())["named"] == "HIGH"
    facts.show_record(replace(kept, assessment=None))
    assert section.isHidden()
