"""What lies over the toolbar takes its place and then rests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtWidgets import QApplication

from app.parts.notice import Tone

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.gui.conftest import Desk

TURNS = 50
"""Of the event loop: far more than layouts need to come to rest, and each round of a loop needs three."""


class Layouts(QObject):
    """Counts what asks for a layout."""

    count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.LayoutRequest
        return False


@pytest.mark.parametrize("width", [960, 1280])
def test_a_banner_is_placed_and_then_rests(desk: Desk, width: int) -> None:
    """It was placed a thousand times a second for as long as it was shown."""
    desk.window.resize(width, 600)
    desk.window.banners.say("one", Tone.WARN, "Something that needs attention. " * 6)
    for _ in range(TURNS):
        QApplication.processEvents()
    assert desk.window.banners.isVisible()
    layouts = Layouts()
    program = QApplication.instance()
    assert program is not None
    program.installEventFilter(layouts)
    for _ in range(TURNS):
        QApplication.processEvents()
    program.removeEventFilter(layouts)
    assert layouts.count == 0


@pytest.fixture
def mirrored(qapp: QApplication) -> Iterator[None]:
    """Every window laid out from the right."""
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    yield
    qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


def test_from_the_right_it_lies_over_no_button_and_no_page_in_the_rail(mirrored: None, desk: Desk) -> None:
    del mirrored
    window = desk.window
    toolbar, overlay = window.toolbar, window._overlay
    for width in (960, 1280):
        window.frame.resize(width, 600)
        window.banners.say("one", Tone.BAD, "Something that needs attention. " * 6)
        desk.qtbot.waitUntil(lambda: overlay.isVisible() and overlay.width() > 0)
        for _ in range(TURNS):
            QApplication.processEvents()
        below = (toolbar.mode, toolbar.presence, toolbar.hold, toolbar.stop, window.navigation)
        places = [QRect(one.mapTo(window._whole, QPoint()), one.size()) for one in below if one.isVisible()]
        assert len(places) > 2 and not any(overlay.geometry().intersects(place) for place in places)
        assert window._whole.rect().contains(overlay.geometry())
