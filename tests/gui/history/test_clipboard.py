"""Requests that are copied or compared: nothing of them is markup, and what is compared is bounded."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QItemSelectionModel
from PySide6.QtGui import QGuiApplication

from app import phrases
from app.history import clipboard, compare
from app.history.compare import CompareDialog, compared, facts
from app.parts.text.alike import circled
from runner.audit.history.search import CaseRecord, History
from runner.identity.agents import NAME
from runner.model.assessment import Level
from runner.model.decision import Decider, Decision, Verdict
from runner.model.difference import Side
from runner.model.errors import KnownError
from runner.model.network import NOT_LISTED, Contact
from runner.model.request import Language, NetworkMode, Tool, WorkPlace
from runner.model.result import OutputOrder
from runner.model.shown import hides
from tests.audit.story import RESULT, approved, denied, request
from tests.gui import record

if TYPE_CHECKING:
    from pathlib import Path

    from runner.system.places import Places
    from tests.gui.conftest import Desk

EVIL = "```\n# not a heading ![x](http://evil.example)\n````\n"


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, CaseRecord]:
    path: Path = tmp_path_factory.mktemp("copied") / "ledger.sqlite3"
    evil = request("r1", "claude-code", EVIL, "<b>_Sum_</b> [x](y)\u202e")
    asked = replace(
        request("r2", "codex", "print(2)"),
        language=Language.PYTHON,
        context='{"rows": 3}',
        network=NetworkMode.DOMAINS,
        domains=("example.org", "granted.example"),
        granted=("granted.example",),
    )
    refused = replace(RESULT, contacts=(Contact("stats.example.net", 443, False, NOT_LISTED, 3),))
    record.ledger(path, [*approved(evil), *approved(asked, refused), *denied(request("r3", "codex", "print(3)"))])
    history = History(path)
    found = {one.row.id: one for one in history.newest_cases(9)}
    history.close()
    return found


def test_markdown_holds_hostile_text_as_text(records: dict[str, CaseRecord]) -> None:
    text = clipboard.markdown(records["r1"])
    heading, *_ = text.splitlines()
    assert heading == "## It runs code"
    claim = next(line for line in text.splitlines() if line.startswith("- Calls it: "))
    assert claim.startswith("- Calls it: \N{LEFT DOUBLE QUOTATION MARK}\\<b\\>\\_Sum\\_")
    assert "\u202e" not in text.partition("```")[0]
    assert "`````python\n" + EVIL.rstrip("\n") + "\n`````" in text, "the fence is longer than any inside"
    assert "- Outcome: Approved by you after 2.5 s. Ended after 0.2 s." in text
    assert "Output:\n\n```\nhello\n```" in text


def test_long_output_is_cut_and_said_to_be(records: dict[str, CaseRecord], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clipboard, "LONGEST_OUTPUT", 2)
    assert "he\n... (4 more characters) ..." in clipboard.markdown(records["r2"])


def test_a_copied_request_asks_for_the_same(records: dict[str, CaseRecord]) -> None:
    found = json.loads(clipboard.as_request(records["r2"]))
    assert found == {
        "code": "print(2)",
        "language": "python",
        "title": "Say hello",
        "context": {"rows": 3},
        "timeout": records["r2"].request.limits.seconds,
        "network_enabled": True,
        "allowed_domains": ["example.org"],
    }
    assert "network_enabled" not in json.loads(clipboard.as_request(records["r1"]))


def test_nothing_hides_in_a_copied_request_and_it_stays_the_same(records: dict[str, CaseRecord]) -> None:
    code = "a\u202eb\u009b\x1b\u200b\U000e0041 \u00e4\u4e2d\n"
    record = replace(records["r2"], request=replace(records["r2"].request, code=code))
    text = clipboard.as_request(record)
    assert json.loads(text)["code"] == code
    assert "\u00e4\u4e2d" in text and "\n" in text
    assert not [one for one in text if one != "\n" and hides(one)]


def test_asking_again_is_the_same_call_in_the_own_name(records: dict[str, CaseRecord]) -> None:
    record = records["r2"]
    wanted = clipboard.submission(record)
    assert wanted is not None
    assert not NAME.fullmatch(wanted.agent), "no agent can be called so"
    assert (wanted.code, wanted.context, wanted.network_enabled) == ("print(2)", {"rows": 3}, True)
    assert wanted.allowed_domains == ("example.org",), "what a person granted to the agent was not asked for"
    assert wanted.timeout == record.request.limits.seconds
    for others in (
        {"sandbox": "3f9c01d2ab77"},
        {"packages": ("requests",)},
        {"work": WorkPlace("project-1", "/project")},
        {"tool": Tool.CODE_WRITE_FILE},
        {"context": "{"},
    ):
        assert clipboard.submission(replace(record, request=replace(record.request, **others))) is None


def test_what_was_refused_stands_beside_the_outcome(records: dict[str, CaseRecord]) -> None:
    from app.history.words import outcome

    assert outcome(records["r2"]).endswith("Refused: stats.example.net (3 times).")
    assert "Refused" not in outcome(records["r1"])


@pytest.mark.parametrize(
    ("by", "rule", "verdict", "words"),
    [
        (Decider.PERSON, "", Verdict.APPROVED, "Approved by you after 4.0 s."),
        (Decider.RULE, "tests", Verdict.APPROVED, "Passed by rule tests."),
        (Decider.RULE, "no-rm", Verdict.DENIED, "Denied by rule no-rm."),
        (Decider.RULE, "low-risk", Verdict.APPROVED, "Passed as LOW risk."),
        (Decider.RULE, "trust window", Verdict.APPROVED, "Passed because you trusted the agent."),
        (Decider.GRANT, "amber-otter", Verdict.APPROVED, "Passed by what you remembered as amber-otter."),
        (Decider.RULE, "low-risk", Verdict.DENIED, "Denied by rule low-risk."),
    ],
)
def test_who_decided_is_said(by: Decider, rule: str, verdict: Verdict, words: str) -> None:
    from app import phrases

    assert phrases.decided(Decision(verdict, by, "", rule, 4.0)) == words


def test_facts_that_differ_come_first(records: dict[str, CaseRecord]) -> None:
    found = facts(records["r1"], records["r3"])
    same = [one == other for _, one, other in found]
    assert same == sorted(same)
    assert ("Agent", "claude-code", "codex") in found
    assert [name for name, one, other in found if one == other]


def test_the_values_in_which_codes_differ_are_numbered_facts(records: dict[str, CaseRecord]) -> None:
    def of(code: str) -> CaseRecord:
        return replace(records["r1"], request=replace(records["r1"].request, code=code), steps=())

    found = facts(of("a = 'jan'\nb = 1\nprint('jan')"), of("a = 'feb'\nb = 1\nprint('feb')"))
    assert found[0] == ("\N{CIRCLED DIGIT ONE} Lines 1, 3", "'jan'", "'feb'")
    assert not any(name.startswith("\N{CIRCLED DIGIT ONE}") for name, _, _ in facts(of("a = 1"), of("b = 1")))


def test_texts_are_compared_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "MOST_TEXT", 4)
    assert [line.side for line in compared("a\nb\nc", "a\nX\nd")] == [Side.SAME, Side.REMOVED, Side.ADDED, Side.SAME]
    assert compared("same", "same") == ()


def test_two_of_the_list_are_compared_and_copied(desk: Desk, places: Places) -> None:
    told = [*approved(request("r1", "codex", "print(1)")), *denied(request("r2", "codex", "print(2)"), Level.HIGH)]
    record.ledger(places.ledger, told)
    desk.window.show_page("History")
    page: Any = desk.window.page("History")
    desk.qtbot.waitUntil(lambda: page.list.model.rowCount() == 2)
    chosen = page.list.view.selectionModel()
    rows = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
    chosen.select(page.list.model.index(1, 0), rows)
    page.actions_of_list.fill()
    assert [action.text() for action in page.actions_of_list.menu.actions() if action.text()] == [
        "Compare the two",
        "Copy 2 as Markdown",
        "Only requests of codex",
        "Export 2\N{HORIZONTAL ELLIPSIS}",
    ]
    page.actions_of_list.compare()
    desk.qtbot.waitUntil(lambda: bool(page.findChildren(CompareDialog)))
    (dialog,) = page.findChildren(CompareDialog)
    dialog.resize(600, 360)
    assert dialog.height() == 360, "with large text it would be higher than the window"
    assert dialog.code.listing.lines == ["print(1)"], "the code once, where only a value differs"
    assert [one.sign for line in dialog.code._painting.places.values() for one in line] == [circled(1)]
    assert [*dialog.rows[0]][1:] == ["1", "2"] and dialog.rows[0][0].startswith(circled(1))
    dialog.close()
    page.actions_of_list.copy_markdown()
    desk.qtbot.waitUntil(lambda: "2 requests" in page.notice.text)
    text = QGuiApplication.clipboard().text()
    assert text.index("print(2)") < text.index("print(1)")
    chosen.select(page.list.model.index(1, 0), QItemSelectionModel.SelectionFlag.Deselect)
    page.actions_of_list.repeat()
    desk.qtbot.waitUntil(lambda: desk.bridge.waits("ask"))
    (asked,) = [call[1] for call in desk.bridge.calls if call[0] == "ask"]
    assert (asked.agent, asked.code) == (phrases.YOU, "print(2)")
    assert desk.window.shown_page == "Queue"
    desk.give("ask", KnownError("The history is full.", "Make room."))
    desk.window.show_page("History")
    page.actions_of_list.only_agent.emit("codex")
    assert page.filters.wanted.agent == "codex"


def test_the_history_shows_output_in_the_order_in_which_it_came(desk: Desk, places: Places) -> None:
    order = OutputOrder((1, 1, 1), whole=True)
    ordered = replace(RESULT, stdout="one\nthree\n", stderr="two\n", order=order)
    before = replace(ordered, order=None)
    record.ledger(places.ledger, [*approved(request("r1"), before), *approved(request("r2"), ordered)])
    desk.window.show_page("History")
    page: Any = desk.window.page("History")
    shown: list[list[str]] = []
    for row, name in ((0, "r2"), (1, "r1")):
        page.list.view.setCurrentIndex(page.list.model.index(row, 0))
        desk.qtbot.waitUntil(lambda name=name: page.detail.record is not None and page.detail.record.row.id == name)
        shown.append([page.detail.output.pane.text_of(line) for line in range(3)])
    assert shown == [["one", "two", "three"], ["one", "three", "two"]], "of older versions no order is known"


def test_output_comes_first_and_gives_way_where_there_is_none(desk: Desk, places: Places) -> None:
    long = replace(RESULT, curve=tuple(replace(one, at=float(n)) for n, one in enumerate(RESULT.curve * 3, 1)))
    record.ledger(places.ledger, [*denied(request("r1")), *approved(request("r2"), long)])
    desk.window.show_page("History")
    page: Any = desk.window.page("History")
    detail = page.detail
    desk.qtbot.waitUntil(lambda: detail.record is not None and detail.record.row.id == "r2")
    assert detail.tabs.tabText(detail.tabs.currentIndex()) == "Output"
    assert not detail.timeline.isHidden()
    assert detail.peaks.text() == "At most: CPU 50 %, memory 11.8 MB, 2 processes."
    page.list.view.setCurrentIndex(page.list.model.index(1, 0))
    desk.qtbot.waitUntil(lambda: detail.record.row.id == "r1")
    assert detail.tabs.tabText(detail.tabs.currentIndex()) == "Code"
    page.list.view.setCurrentIndex(page.list.model.index(0, 0))
    desk.qtbot.waitUntil(lambda: detail.record.row.id == "r2")
    assert detail.tabs.tabText(detail.tabs.currentIndex()) == "Output"
    detail.tabs.setCurrentIndex(detail.tabs.indexOf(detail.facts))
    page.list.view.setCurrentIndex(page.list.model.index(1, 0))
    desk.qtbot.waitUntil(lambda: detail.record.row.id == "r1")
    assert detail.tabs.currentWidget() is detail.facts, "what the person chose stays"
