"""A change of the theme with all pages there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication

from app.chrome.pages import PAGES
from app.look.look import Theme

if TYPE_CHECKING:
    from tests.gui.conftest import Desk

MOST = 5
"""Times that a widget may be dressed for one change; it was 15 times, and the window stood still for seconds."""


class Dressed(QObject):
    """Counts how often a widget gets a style."""

    count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.StyleChange
        return False


def test_a_change_of_the_theme_dresses_no_widget_many_times(desk: Desk) -> None:
    for spec in PAGES:
        desk.window.show_page(spec.name)
        QApplication.processEvents()
    program = QApplication.instance()
    assert program is not None
    dressed = Dressed()
    program.installEventFilter(dressed)
    desk.window._look.choose(Theme.DARK)
    program.removeEventFilter(dressed)
    widgets = len(QApplication.allWidgets())
    assert widgets <= dressed.count <= MOST * widgets
