"""Tabs: all that fit are whole, the others are in a menu, and the current one is always shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.parts.tabs import WholeTabs, whole_tabs
from tests.gui.conftest import scaled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from app.look.look import Look

WORDS = ("Output", "Code", "Files (3)", "What it did (2 not foreseen)", "Record", "Network")


def shown(tabs: WholeTabs) -> list[str]:
    """Return the words of the tabs that have room on the bar; each has to have all of its own."""
    found = [at for at in range(tabs.count()) if tabs.isTabVisible(at) and tabs.tabRect(at).width()]
    for at in found:
        place = tabs.tabRect(at)
        end = tabs.width() if not tabs.away else tabs.more.x()
        assert place.right() < end
        assert place.width() > tabs.fontMetrics().horizontalAdvance(tabs.tabText(at))
    return [tabs.tabText(at) for at in found]


def test_a_bar_that_was_never_shown_asks_for_the_room_of_all_its_tabs(look: Look) -> None:
    """The layout around it asks once, before it is on screen."""
    del look
    tabs, one = WholeTabs(), WholeTabs()
    one.addTab(WORDS[0])
    for words in WORDS:
        tabs.addTab(words)
    assert tabs.sizeHint().width() > len(WORDS) * one.sizeHint().width() / 2
    tabs.removeTab(0)
    wider = tabs.sizeHint().width()
    tabs.addTab(WORDS[0])
    assert tabs.sizeHint().width() - wider == one.sizeHint().width()


@pytest.fixture(params=[1.0, 1.5, 2.0])
def scale(request: pytest.FixtureRequest, look: Look) -> Iterator[float]:
    """Text as large as a person may have it, for one test."""
    with scaled(look, request.param):
        yield request.param


def test_what_does_not_fit_is_in_the_menu(scale: float, qtbot: QtBot) -> None:
    pages = whole_tabs("Parts")
    qtbot.addWidget(pages)
    for words in WORDS:
        pages.addTab(QWidget(), words)
    tabs = pages.tabBar()
    assert isinstance(tabs, WholeTabs)
    with qtbot.waitExposed(pages):
        pages.resize(round(1_000 * scale), 300)
        pages.show()
    assert shown(tabs) == list(WORDS)
    assert not tabs.more.isVisible()
    pages.resize(round(300 * scale), 300)
    assert "Output" in shown(tabs)
    assert sorted(shown(tabs) + tabs.away) == sorted(WORDS)
    assert tabs.more.isVisible()
    pages.setCurrentIndex(3)
    assert WORDS[3] in shown(tabs)
    tabs.setFocus()
    QTest.keyClick(tabs, Qt.Key.Key_Right)
    assert pages.currentIndex() == 4
    assert "Record" in shown(tabs)
    pages.setTabText(4, "Record of the run")
    pages.setTabVisible(0, False)
    assert "Record of the run" in shown(tabs)
    tabs.more.menu().aboutToShow.emit()
    entries = tabs.more.menu().actions()
    assert [one.text() for one in entries] == tabs.away
    entries[-1].trigger()
    assert pages.currentIndex() == 5
    pages.resize(round(1_200 * scale), 300)
    assert not tabs.more.isVisible()
    assert len(shown(tabs)) == 5


def test_a_tab_that_is_wider_than_the_bar_ends_before_the_menu(scale: float, qtbot: QtBot) -> None:
    pages = whole_tabs("Parts")
    qtbot.addWidget(pages)
    for words in WORDS:
        pages.addTab(QWidget(), words)
    tabs = pages.tabBar()
    assert isinstance(tabs, WholeTabs)
    pages.resize(round(180 * scale), 300)
    with qtbot.waitExposed(pages):
        pages.show()
    pages.setCurrentIndex(3)
    assert tabs.more.isVisible() and 0 < tabs.tabRect(3).right() < tabs.more.x()


def test_from_the_right_the_menu_is_over_no_tab(look: Look, qtbot: QtBot) -> None:
    del look
    tabs = WholeTabs()
    qtbot.addWidget(tabs)
    tabs.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    for words in WORDS:
        tabs.addTab(words)
    tabs.resize(300, tabs.sizeHint().height())
    tabs.show()
    assert tabs.away
    places = [tabs.tabRect(at) for at in range(tabs.count()) if tabs.tabRect(at).width()]
    assert not any(place.intersects(tabs.more.geometry()) for place in places)
