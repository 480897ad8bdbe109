"""Every combo box and every menu, opened: whole, with words that are not cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QComboBox, QListView, QMenu

from tests.gui import gallery
from tests.gui.scenes import opened, shots

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from app.look.look import Look
    from runner.system.places import Places

FEW = {
    "queue-waiting": {"Modes", "Modes, The agent to trust", "Requests that wait for an answer menu"},
    "history": {"Class", "Decision", "End of the run", "History menu", "Export", "Remove", "Saved searches"},
    "settings": {"Sandbox", "Security level"},
}
"""Scenes with most of them, and names of what they open; `make gallery` opens all."""


@pytest.mark.parametrize("name", FEW)
def test_what_opens_is_whole(look: Look, places: Places, name: str) -> None:
    scene = opened.played(look, places, {**shots.SCENES, **gallery.MORE}[name])
    try:
        found = {one.name: one.faults for one in opened.opened(scene)}
    finally:
        opened.close(scene)
    assert FEW[name] <= found.keys()
    assert {which: faults for which, faults in found.items() if faults} == {}


def test_a_list_that_is_cut_is_noticed(qtbot: QtBot, look: Look) -> None:
    box = QComboBox()
    qtbot.addWidget(box)
    box.addItems(["One", "Two", "W" * 60])
    box.setView(QListView())
    box.setFixedWidth(80)
    box.show()
    box.showPopup()
    view = box.view()
    view.window().setFixedSize(80, 30)
    assert len(list(opened._faults(box, view.window()))) >= 2
    box.hidePopup()


def test_an_empty_menu_is_noticed(qtbot: QtBot, look: Look) -> None:
    menu = QMenu()
    qtbot.addWidget(menu)
    assert list(opened._faults(menu, menu)) == ["it is empty"]
