"""The help in the window: its pages, its keys, and links that open nothing."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QColor, QDesktopServices, QTextCursor
from PySide6.QtWidgets import QAbstractButton, QApplication

from app.chrome.keys import KEYS
from app.chrome.pages import PAGES as KNOWN
from app.help.panel import HelpPanel
from app.look.look import Look, Theme
from runner.settings.manual import PAGES, Page, settings_page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from tests.gui.conftest import Desk

STALE = "Write it again: .venv/bin/python -m runner.settings.manual > resources/help/settings.md"


@pytest.fixture
def panel(qtbot: QtBot, look: Look) -> Iterator[HelpPanel]:
    panel = HelpPanel(look)
    qtbot.addWidget(panel)
    panel.resize(860, 500)
    with qtbot.waitActive(panel):
        panel.show()
    yield panel
    look.choose(Theme.LIGHT)


def number_of(file: str) -> int:
    return [page.file for page in PAGES].index(file)


def colors(panel: HelpPanel) -> set[str]:
    """Colors of the letters, as painted."""
    found, block = set(), panel.view.document().begin()
    while block.isValid():
        iterator = block.begin()
        while not iterator.atEnd():
            shape = iterator.fragment().charFormat()
            if shape.foreground().style() != Qt.BrushStyle.NoBrush:
                found.add(shape.foreground().color().name())
            iterator += 1
        block = block.next()
    return found


# ---- the texts ----


def test_the_page_on_settings_is_what_the_declarations_say() -> None:
    assert PAGES[number_of("settings.md")].text() == settings_page(), STALE


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.file)
def test_links_lead_to_pages_of_the_help_alone(page: Page) -> None:
    text = re.sub(r"(?s)```.*?```", "", page.text())
    assert text.startswith(f"# {page.title}\n")
    assert set(re.findall(r"\]\(([^)]*)\)", text)) <= {other.file for other in PAGES}
    assert "://" not in text and "<" not in text


def test_what_the_help_names_is_in_the_window(desk: Desk) -> None:
    text = PAGES[0].text()
    for name in ("Queue", "Running", "History", "Agents", "Rules", "Doctor"):
        assert f"*{name}*" in text and name in {page.name for page in KNOWN}
    shown = " ".join(button.text() for button in desk.window.findChildren(QAbstractButton))
    for name in ("Approve once", "Deny", "Edit", "More choices", "Approve for later", "Take back", "Stop all"):
        assert f"**{name}**" in text and name in shown
    for name in ("Guarded", "Lockdown", "Trust"):
        rows = desk.window.toolbar.mode.choices.rows.values()
        assert f"*{name}*" in text and any(name in one.text() for one in rows)


def test_its_keys_are_those_of_the_window() -> None:
    keys = {key: what for _, group in KEYS for key, what in group}
    (table,) = re.findall(r"(?ms)^\| Key \|.*?\n\n", PAGES[0].text())
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.strip().splitlines()[2:]]
    assert len(rows) > 8
    for key, what in rows:
        assert key in keys
        assert what.startswith(keys[key].split()[0]) or key == "?"
    assert "Ctrl+0 to 9" in keys and {page.key for page in KNOWN} == {*range(10), None}


# ---- the window ----


def test_f1_opens_it_from_anywhere_and_the_keys_go_through_it(desk: Desk) -> None:
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_F1)
    assert desk.window.shown_page == "Help"
    panel: Any = desk.window.page("Help")
    panel.tabs.setFocus()
    titles = []
    for _ in PAGES:
        titles.append(panel.view.document().begin().text())
        desk.qtbot.keyClick(panel.tabs, Qt.Key.Key_Right)
    assert titles == [page.title for page in PAGES]
    desk.qtbot.keyClick(panel.tabs, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is panel.search
    desk.qtbot.keyClick(panel.search, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is panel.view


def test_a_link_is_followed_by_keyboard_within_the_help(qtbot: QtBot, panel: HelpPanel) -> None:
    panel.view.setFocus()
    panel.view.moveCursor(QTextCursor.MoveOperation.Start)
    qtbot.keyClick(panel.view, Qt.Key.Key_Tab)
    qtbot.keyClick(panel.view, Qt.Key.Key_Return)
    assert panel.tabs.currentIndex() == number_of("security.md")
    assert panel.view.document().begin().text() == "Security"
    assert panel.view.verticalScrollBar().value() == 0


def test_words_are_found_one_after_the_other_and_from_the_top_again(qtbot: QtBot, panel: HelpPanel) -> None:
    panel.tabs.setCurrentIndex(number_of("settings.md"))
    panel.view.setFocus()
    qtbot.keyClick(panel.view, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert panel.search.hasFocus()
    qtbot.keyClicks(panel.search, "DOCKER_IMAGE")
    first = panel.view.textCursor().selectionStart()
    assert panel.view.textCursor().selectedText() == "DOCKER_IMAGE"
    assert panel.view.verticalScrollBar().value() > 0
    qtbot.keyClick(panel.search, Qt.Key.Key_Return)
    assert panel.view.textCursor().selectionStart() > first
    qtbot.keyClick(panel.search, Qt.Key.Key_Return)
    assert panel.view.textCursor().selectionStart() == first
    qtbot.keyClicks(panel.search, "S")
    assert panel.found.text() == "Not on this page"
    panel.search.clear()
    panel.tabs.setCurrentIndex(0)
    assert panel.found.text() == ""


@pytest.mark.parametrize("link", ["https://example.com/", "file:///etc/passwd", "../../README.md", "mailto:a@b"])
def test_no_other_link_leads_anywhere(panel: HelpPanel, monkeypatch: pytest.MonkeyPatch, link: str) -> None:
    opened: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    panel.view.show_text(f"# Here\n\n[link]({link}) ![picture]({link})\n")
    panel.view.anchorClicked.emit(QUrl(link))
    assert opened == []
    assert panel.view.document().begin().text() == "Here"
    assert panel.tabs.currentIndex() == 0


def test_it_follows_the_theme_and_stays_where_it_was(panel: HelpPanel, look: Look) -> None:
    panel.tabs.setCurrentIndex(2)
    light = colors(panel)
    panel.view.verticalScrollBar().setValue(200)
    look.choose(Theme.DARK)
    assert QColor(look.tokens.accent_ink).name() in colors(panel)
    assert not light & colors(panel)
    assert panel.view.verticalScrollBar().value() == 200


def test_it_says_so_where_a_page_is_missing(
    qtbot: QtBot, look: Look, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("runner.settings.manual.resources", lambda: tmp_path)
    panel = HelpPanel(look)
    qtbot.addWidget(panel)
    assert "did not come with this Assent" in panel.view.toPlainText()


@pytest.mark.parametrize("number", range(len(PAGES)))
def test_nothing_is_cut_off_at_the_smallest_window(panel: HelpPanel, number: int) -> None:
    panel.tabs.setCurrentIndex(number)
    assert panel.view.horizontalScrollBar().maximum() == 0


@pytest.mark.parametrize("number", range(len(PAGES)))
def test_every_line_has_its_own_place(panel: HelpPanel, number: int) -> None:
    panel.tabs.setCurrentIndex(number)
    panel.view.moveCursor(QTextCursor.MoveOperation.End)
    places, block = [], panel.view.document().begin()
    while block.isValid():
        if QTextCursor(block).currentTable() is None:
            places.append(panel.view.document().documentLayout().blockBoundingRect(block))
        block = block.next()
    assert all(one.height() > 0 for one in places)
    assert all(above.bottom() <= below.top() for above, below in pairwise(places))
