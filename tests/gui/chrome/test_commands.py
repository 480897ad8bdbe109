"""Going anywhere, the sheet of keys, and the modes: none of them decides about a request by itself."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt

from app.agents.model import COLUMNS
from app.chrome.keys import KEYS, KeySheet
from app.chrome.pages import PAGES
from app.chrome.palette import Palette, Way
from app.chrome.past import MOST, PastRequests
from app.parts.confirm import ConfirmDialog
from runner.approval.modes import Mode
from runner.identity.agents import Agent
from runner.model.events import ModeChanged
from runner.system.clock import since_boot
from tests.audit import story
from tests.audit.test_past_work import told
from tests.gui import feed, record
from tests.gui.scenes.work_scenes import NAME, session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PySide6.QtWidgets import QDialog

    from runner.system.places import Places
    from tests.gui.conftest import Desk

CONTROL = Qt.KeyboardModifier.ControlModifier


def opened(desk: Desk, kind: type[QDialog]) -> QDialog:
    found = [dialog for dialog in desk.window.findChildren(kind) if dialog.isVisible()]
    assert len(found) == 1
    return found[0]


def palette(desk: Desk, text: str) -> Palette:
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_K, CONTROL)
    found = opened(desk, Palette)
    assert isinstance(found, Palette)
    found.field.setText(text)
    return found


def confirm(desk: Desk, yes: bool) -> None:
    question = opened(desk, ConfirmDialog)
    assert isinstance(question, ConfirmDialog)
    (question.yes if yes else question.no).click()


def test_the_palette_goes_to_a_page(desk: Desk) -> None:
    found = palette(desk, "doc")
    desk.qtbot.keyClick(found.field, Qt.Key.Key_Return)
    assert desk.window.shown_page == "Doctor"
    assert desk.bridge.calls == []


def test_the_palette_names_the_keys_that_open_pages(desk: Desk) -> None:
    keys = {way.keys: way.name for way in desk.window.commands.ways() if way.kind == "page" and way.keys}
    assert len(keys) == sum(page.key is not None for page in PAGES)
    for key, digit in ((Qt.Key.Key_2, 2), (Qt.Key.Key_1, 1)):
        desk.qtbot.keyClick(desk.window, key, CONTROL)
        assert desk.window.shown_page == keys[f"Ctrl+{digit}"]


def test_the_palette_brings_a_request_on_screen_and_enter_does_not_answer_it(desk: Desk) -> None:
    desk.ask(feed.request("print(1)", title="The first"))
    other = desk.ask(feed.request("open('x')", title="The <b>second</b>"))
    desk.rested()
    found = palette(desk, "second waits")
    assert found.list.count() == 1
    desk.qtbot.keyClick(found.field, Qt.Key.Key_Return)
    assert desk.review.card is not None and desk.review.card.id == other.id
    assert desk.answers == []
    desk.page.foot.approve.press_key()
    assert desk.answers == [], "what the palette brought on screen took a key at once"


def test_the_palette_says_when_nothing_has_that_name(desk: Desk) -> None:
    found = palette(desk, "no such thing at all")
    assert found.list.count() == 0 and found.none.isVisible()
    desk.qtbot.keyClick(found.field, Qt.Key.Key_Return)
    assert desk.window.shown_page == "Queue"


def test_what_is_found_meanwhile_comes_below_and_only_for_what_is_typed_now(desk: Desk) -> None:
    asked: list[tuple[str, Callable[[str, list[Way]], None]]] = []
    went: list[str] = []
    ways = [Way("Doctor", "page", lambda: went.append("doctor"))]
    found = Palette(desk.window, desk.window._look, ways, lambda words, tell: asked.append((words, tell)))
    found.open()
    found.field.setText("doc")
    past = Way("Writes docs.txt", "codex, 14:03", lambda: went.append("past"))
    asked[0][1]("", [past])
    assert found.list.count() == 1, "that was asked for something else"
    asked[-1][1]("doc", [past])
    assert found.list.count() == 2 and found.list.currentRow() == 0
    desk.qtbot.keyClick(found.field, Qt.Key.Key_Down)
    desk.qtbot.keyClick(found.field, Qt.Key.Key_Return)
    assert went == ["past"] and desk.answers == []


def test_the_palette_finds_past_requests_by_their_content_and_bounded(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    record.ledger(path, record.many(30))
    shown: list[tuple[str, str]] = []
    finder = PastRequests(path, lambda one, words: shown.append((one, words)), desk.window.work, desk.window)
    answers: list[tuple[str, list[Way]]] = []
    finder.find("request print", lambda words, ways: answers.append((words, ways)))
    desk.qtbot.waitUntil(lambda: bool(answers))
    words, ways = answers[0]
    assert words == "request print" and len(ways) == MOST
    assert "\N{LEFT DOUBLE QUOTATION MARK}Request 29\N{RIGHT DOUBLE QUOTATION MARK}" in ways[0].name
    ways[0].go()
    assert shown == [("m0029", "request print")]
    finder.close()


def test_the_palette_finds_hosts_and_files_of_past_requests(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    sent = story.request("h1", code="import urllib.request\nopen('chart.png')", title="Fetch")
    told = [
        (
            kind,
            name,
            {**body, "contacts": [{"host": "rare.example.net", "port": 443, "allowed": False}]}
            if kind == "finished"
            else body,
        )
        for kind, name, body in story.approved(sent)
    ]
    record.ledger(path, told)
    finder = PastRequests(path, lambda *_: None, desk.window.work, desk.window)
    for words in ("rare.example.net", "chart.png"):
        answers: list[list[Way]] = []
        finder.find(words, lambda _, ways, into=answers: into.append(ways))
        desk.qtbot.waitUntil(lambda into=answers: bool(into))
        assert [way.name for way in answers[0]], words
    finder.close()


def test_the_palette_selects_an_agent_and_opens_a_part_of_the_help(desk: Desk) -> None:
    desk.bridge.known = tuple(Agent(name, "0" * 64, time.time()) for name in ("claude-code", "codex"))
    desk.cases.know_agents(desk.bridge.known)
    agents: Any = desk.window.page("Agents")
    desk.window.pages.show_agent("codex")
    assert desk.window.shown_page == "Agents"
    assert agents.model.agent(agents.view.currentIndex().row()).name == "codex"
    found = palette(desk, "your own rules")
    assert found._found[0].kind == "help, Security"
    desk.qtbot.keyClick(found, Qt.Key.Key_Return)
    shown: Any = desk.window.page("Help")
    assert desk.window.shown_page == "Help" and shown.view.textCursor().block().text() == "Your own rules"
    assert shown.view.verticalScrollBar().value() > 0


def test_the_page_of_agents_says_what_became_of_their_requests_today(desk: Desk, places: Places) -> None:
    today = [*story.approved(story.request("a1", "codex")), *story.denied(story.request("a2", "codex"))]
    record.ledger(places.ledger, today)
    desk.bridge.known = tuple(Agent(name, "0" * 64, time.time()) for name in ("claude-code", "codex"))
    desk.cases.know_agents(desk.bridge.known)
    desk.window.show_page("Agents")
    agents: Any = desk.window.page("Agents")
    column = COLUMNS.index("Today")
    desk.qtbot.waitUntil(lambda: agents.model.index(1, column).data() == "1 approved, 1 denied")
    assert agents.model.index(0, column).data() == "\N{EN DASH}"


def test_what_fits_best_stands_first_in_the_palette(desk: Desk) -> None:
    found = palette(desk, "agents")
    assert found.list.item(0).text().startswith("Agents ")
    assert palette_kinds(desk) >= {"page", "help", "setting", "command"}


def palette_kinds(desk: Desk) -> set[str]:
    return {way.kind for way in desk.window.commands.ways()}


def test_a_question_mark_shows_every_key(desk: Desk) -> None:
    desk.review.focus_neutral()
    desk.qtbot.keyClick(desk.review.nothing, Qt.Key.Key_Question)
    sheet = opened(desk, KeySheet)
    for _, keys in KEYS:
        for key, what in keys:
            assert f"{key}: {what}" in sheet.accessibleDescription()


def test_lockdown_asks_first_and_is_visible(desk: Desk) -> None:
    desk.ask()
    desk.window.toolbar.mode.lock.emit()
    confirm(desk, yes=False)
    assert desk.bridge.calls == []
    desk.window.toolbar.mode.lock.emit()
    confirm(desk, yes=True)
    assert desk.bridge.calls == [("lock",)]
    desk.hear((ModeChanged("lockdown"),))
    assert desk.window.toolbar.mode.text() == "Lockdown"
    desk.window.toolbar.mode.guard.emit()
    assert desk.bridge.calls[-1] == ("guard",)


@pytest.mark.qt_log_ignore("does not support grabbing|does not support raise|propagateSizeHints")
def test_trust_names_one_agent_asks_first_and_shows_a_clock(desk: Desk) -> None:
    mode = desk.window.toolbar.mode
    mode.open()
    choices = mode.choices
    assert choices.isVisible() and choices.rows[Mode.GUARDED].isChecked()
    assert [choices.agent.itemText(row) for row in range(choices.agent.count())] == ["claude-code"]
    desk.qtbot.mouseClick(choices.rows[Mode.TRUST], Qt.MouseButton.LeftButton)
    assert choices.isVisible() and choices.rows[Mode.GUARDED].isChecked(), "the row alone chose something"
    desk.qtbot.mouseClick(choices.minutes[1], Qt.MouseButton.LeftButton)
    assert not choices.isVisible() and not mode.isDown()
    confirm(desk, yes=True)
    assert desk.bridge.calls == [("trust", "claude-code", 900.0)]
    desk.hear((ModeChanged("trust", "claude-code", since_boot() + 900),))
    assert mode.text().startswith("Trust: claude-code 1")
    desk.hear((ModeChanged("guarded"),))
    assert mode.text() == "Guarded" and not mode._tick.isActive()


def test_a_new_agent_can_send_a_test_request(desk: Desk) -> None:
    desk.window.show_page("Agents")
    panel = desk.window.page("Agents")
    desk.qtbot.keyClicks(panel.name, "codex")  # type: ignore[attr-defined]
    panel.add.click()  # type: ignore[attr-defined]
    desk.give("add_agent", "as_" + "0" * 48)
    panel.welcome.try_it.click()  # type: ignore[attr-defined]
    assert ("send_test", "codex") in desk.bridge.calls
    assert desk.window.shown_page == "Queue"


def test_the_palette_finds_programs_at_work_and_those_that_were(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    record.ledger(path, [*told("gone-1"), *told(NAME)])
    desk.bridge.at_work = (session(at_work=False), session("other-2"))
    desk.window.work.refresh()
    ways = {way.kind: way for way in desk.window.commands.ways() if way.name == "claude-code on sales-report"}
    assert {*ways} == {f"work, {NAME}", "at work, other-2"}
    ways[f"work, {NAME}"].go()
    page: Any = desk.window.page("Work")
    assert page.shown == NAME
    shown: list[str] = []
    finder = PastRequests(path, lambda one, _words: shown.append(one), desk.window.work, desk.window)
    answers: list[list[Way]] = []
    finder.find("shop", lambda _words, found: answers.append(found))
    desk.qtbot.waitUntil(lambda: bool(answers))
    (way,) = answers[0]
    assert way.name == "claude on shop"
    way.go()
    finder.close()
    assert [one.partition(":")[0] for one in shown] == ["work"]
