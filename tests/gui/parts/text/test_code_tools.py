"""Searching code, showing it larger, and copying pieces of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from tests.gui import feed

if TYPE_CHECKING:
    from tests.gui.conftest import Desk

CONTROL = Qt.KeyboardModifier.ControlModifier
CODE = "import os\n" + "print(os.name)\n" * 40 + "os.remove('/tmp/x')\n"


def test_search_finds_in_the_code_and_decides_nothing(desk: Desk) -> None:
    desk.ask(feed.request(CODE))
    desk.rested()
    code = desk.page.reading.code
    desk.qtbot.keyClick(code, Qt.Key.Key_F, CONTROL)
    search = code.tools.search
    assert search.isVisible() and search.field.hasFocus()
    assert code.viewport().height() <= code.height() - search.height(), "it covers no line"
    desk.qtbot.keyClicks(search.field, "remove")
    assert code._selection.caret.line == 41 and search._outcome.text() == "1 match"
    desk.qtbot.keyClick(search.field, Qt.Key.Key_Return)
    search.field.setText("add")
    assert search._outcome.text() == "No match"
    desk.qtbot.keyClick(search.field, Qt.Key.Key_Escape)
    assert not search.isVisible() and code.hasFocus() and desk.answers == []


def test_larger_text_is_laid_out_again_with_all_of_the_code(desk: Desk) -> None:
    desk.ask(feed.request(CODE))
    code, look = desk.page.reading.code, desk.window._look
    columns = code._grid.columns
    try:
        for _ in range(40):
            desk.qtbot.keyClick(code, Qt.Key.Key_Plus, CONTROL)
        assert 0 < code._grid.columns < columns / 2
        desk.qtbot.keyClick(code, Qt.Key.Key_Minus, CONTROL)
        desk.qtbot.keyClick(code, Qt.Key.Key_0, CONTROL)
        assert code._grid.columns == columns
    finally:
        look.zoom(0)


def test_the_menu_copies_line_path_finding_and_all_for_the_agent(desk: Desk) -> None:
    found = feed.finding(42, "Deletes files.")
    desk.ask(feed.request(CODE), feed.assessment(found.level, found))
    code = desk.page.reading.code
    copies = dict(code.tools.copies(41, 14))
    assert copies["Copy line 42"] == "os.remove('/tmp/x')" and copies["Copy /tmp/x"] == "/tmp/x"
    assert copies["Copy finding"] == "Line 42: High: Deletes files."
    assert "```python\nos.remove('/tmp/x')\n```" in copies["Copy as Markdown for the agent"]
    code.tools.open_menu(41, 14, code.mapToGlobal(code.rect().center()))
    (menu,) = code.findChildren(QMenu)
    next(action for action in menu.actions() if action.text() == "Copy finding").trigger()
    assert QGuiApplication.clipboard().text() == "Line 42: High: Deletes files."
    menu.close()


def test_lines_that_go_beyond_the_edge_are_read_but_do_not_count_as_seen(desk: Desk) -> None:
    long = f"print('{'x' * 900}')\n"
    desk.ask(feed.request(CODE + long))
    desk.rested()
    code, reading = desk.page.reading.code, desk.page.reading
    desk.qtbot.keyClick(code, Qt.Key.Key_Z, Qt.KeyboardModifier.AltModifier)
    assert not code.wrapped and code.horizontalScrollBar().maximum() > 0
    code.verticalScrollBar().setValue(code.verticalScrollBar().maximum())
    desk.qtbot.keyClick(code, Qt.Key.Key_Right)
    assert code.horizontalScrollBar().value() > 0
    code.horizontalScrollBar().setValue(code.horizontalScrollBar().maximum())
    code.viewport().repaint()
    assert not code.is_seen_to_end and reading.unseen, "nobody has seen what lies between the edges"
    reading.look_further(reading.unseen[0])
    assert code.wrapped and code.horizontalScrollBar().maximum() == 0
    code.verticalScrollBar().setValue(code.verticalScrollBar().maximum())
    code.viewport().repaint()
    assert code.is_seen_to_end
    code.wrap(False)
    assert code.is_seen_to_end, "the same code, all of which was on the screen"
    code.set_code(CODE + long, "python")
    assert code.wrapped and not code.is_seen_to_end, "every new code begins with its lines wrapped"


def test_code_without_a_long_line_is_seen_either_way(desk: Desk) -> None:
    desk.ask(feed.request(CODE))
    code = desk.page.reading.code
    code.wrap(False)
    code.verticalScrollBar().setValue(code.verticalScrollBar().maximum())
    code.viewport().repaint()
    assert code.is_seen_to_end
