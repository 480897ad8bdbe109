"""Who asks: what a program says of itself stands in quotes, and two sessions of one agent are distinguished."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLabel, QWidget

from app import phrases
from app.history import words
from app.history.facts import RecordFacts
from app.running.panel import RunningPanel
from runner.audit.history.search import CaseRecord
from runner.audit.ledger.row import Row
from runner.model.decision import Decider, Verdict
from runner.model.events import RequestJoined
from runner.model.lifecycle import Phase
from tests.gui import feed

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from app.look.look import Look
    from runner.model.request import Request
    from tests.gui.conftest import Desk

CLAIM = 'says it is "codex 0.91"'


def by(session: int, program: str = "codex 0.91") -> Request:
    return replace(feed.request(f"print({session})"), program=program, session=session)


def below(desk: Desk) -> list[str]:
    return desk.page.header.below.text().split(" \N{MIDDLE DOT} ")


def test_the_card_has_the_claim_in_quotes_beside_what_is_known(desk: Desk) -> None:
    desk.ask(by(1))
    assert below(desk)[0] == "claude-code"
    assert "codex" not in desk.page.header.below.text(), "however long, it displaces nothing there"
    assert values(desk.page.facts) == [CLAIM]
    desk.hear(feed.asked(silent := feed.request()))
    desk.window.deciding.show_request(silent.id)
    assert values(desk.page.facts) == []


def values(facts: QWidget) -> list[str]:
    """The claims that stand in a column of facts."""
    labels = facts.findChildren(QLabel)
    return [label.text() for label in labels if "says it is" in label.text() and label.isVisibleTo(facts)]


def test_one_session_is_not_counted_and_two_are_told_apart(desk: Desk) -> None:
    first = desk.ask(by(1))
    model = desk.window.deciding.queue.model
    assert below(desk)[0] == "claude-code" and "session" not in model.text(1)
    second = desk.ask(by(2))
    assert below(desk)[0] == "session 1 of claude-code", "the card on screen follows"
    model.toggle_group(1)
    assert all(f"session {one} of claude-code" in model.text(one) for one in (1, 2))
    desk.hear(feed.decided(second, Verdict.WITHDRAWN, Decider.AGENT))
    assert below(desk)[0] == "claude-code"
    assert first.agent == "claude-code"


def test_a_call_without_a_session_is_not_another_one(desk: Desk) -> None:
    desk.ask(by(1))
    desk.ask(by(0))
    assert below(desk)[0] == "claude-code"


def test_programs_of_other_names_are_told_apart_where_no_call_names_a_session(desk: Desk) -> None:
    desk.ask(by(0))
    assert below(desk)[0] == "claude-code"
    desk.ask(replace(by(0, "cursor 1"), code="print(9)"))
    assert below(desk)[0] == 'claude-code as "codex 0.91"'


def test_sessions_of_two_agents_are_not_mixed_up(desk: Desk) -> None:
    desk.ask(by(1))
    desk.ask(replace(by(2), agent="cursor"))
    assert below(desk)[0] == "claude-code"


def test_a_claim_from_a_ledger_is_shown_without_what_hides() -> None:
    claim = phrases.claim(by(1, "a\u202eb\u3164"))
    assert "\u202e" not in claim and "\u3164" not in claim, claim


def test_the_history_has_it(look: Look, qtbot: QtBot) -> None:
    facts = RecordFacts(look, lambda _folder: False)
    qtbot.addWidget(facts)
    one = by(2)
    row = Row(1, one.id, one.agent, one.tool, one.language, "", one.digest, Phase.ARRIVED, 1.0)
    facts.show_record(CaseRecord(row, one, None, None, None, ()))
    assert values(facts) == [CLAIM]
    assert ("Session", "2, counted since that start of Assent") in words.sender(
        CaseRecord(row, one, None, None, None, ())
    )


def test_the_run_has_it(desk: Desk) -> None:
    one = by(1)
    desk.window.show_page("Running")
    desk.hear(feed.asked(one), feed.decided(one), feed.started(one))
    page = desk.window.page("Running")
    assert isinstance(page, RunningPanel)
    assert CLAIM in page.state.text() and "· claude-code: Running" in page.state.text()


def test_a_request_that_is_sent_again_says_so_to_a_screen_reader(desk: Desk) -> None:
    one = desk.ask(by(1))
    desk.hear((RequestJoined(one.id, 2),))
    assert "asked 2 times" in desk.window.deciding.queue.model.text(1)
