"""A page that the console does not know: one value says all of it, and the whole window has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.chrome.pages import PAGES, PageSpec
from runner.system.places import resources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.gui.conftest import Desk


class Toy(QWidget):
    """A page as another package may bring one along."""

    looks = 0

    def look_again(self) -> None:
        self.looks += 1


@pytest.fixture
def pages() -> Sequence[PageSpec]:
    return (*PAGES, PageSpec("Toy", "bot", make=lambda _shelf: Toy()))


def test_a_page_from_outside_is_on_the_rail_in_the_palette_and_loads_again(desk: Desk) -> None:
    desk.window.navigation._buttons["Toy"].click()
    assert desk.window.shown_page == "Toy"
    assert ("Toy", "page", "") in {(way.name, way.kind, way.keys) for way in desk.window.commands.ways()}
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_F5)
    toy = desk.window.page("Toy")
    assert isinstance(toy, Toy) and toy.looks == 1


def test_every_page_of_the_console_has_what_the_rail_needs() -> None:
    for spec in PAGES:
        assert spec.icon or spec.key is None, spec.name
        assert not spec.icon or (resources() / "icons" / f"{spec.icon}.svg").is_file(), spec.name
    keys = [spec.key for spec in PAGES if spec.key is not None]
    assert len(keys) == len(set(keys))
