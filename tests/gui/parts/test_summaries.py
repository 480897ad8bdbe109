"""Rows of lists and lines of differences: plain text in the tool tip, and the colors of the theme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QWidget

from app.history.changes import change_line
from app.look.look import Theme
from app.parts.narrowed import NarrowedRows
from app.parts.summaries import SummaryModel
from app.parts.text.differences import DifferenceView
from app.parts.text.lines import Summary
from runner.audit.history.changes import RecordedChange
from runner.model.difference import difference

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from app.look.look import Look

MARKUP = "<img src='/etc/passwd'><b>owned"


def test_tool_tips_hold_no_markup_of_others(qtbot: QtBot) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    rows = SummaryModel()
    rows.replace((Summary(MARKUP, "1 KB", "added"),))
    changes = NarrowedRows(widget)
    changes.take((change_line(RecordedChange(1, 1.0, "grant-made", {"agent": "codex", "title": MARKUP})),))
    for model in (rows, changes):
        shown = model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
        assert "owned" in shown and "<b>" not in shown and "<img" not in shown


def test_rows_that_come_later_keep_what_is_chosen() -> None:
    rows = SummaryModel()
    one, two = Summary("one", "", ""), Summary("two", "", "")
    changed: list[str] = []
    rows.modelReset.connect(lambda: changed.append("reset"))
    rows.rowsInserted.connect(lambda *_: changed.append("added"))
    rows.show((one,))
    rows.show((one, two))
    rows.show((one, two))
    rows.show((two,))
    assert changed == ["added", "added", "reset"]


def test_a_difference_follows_the_theme(qtbot: QtBot, look: Look) -> None:
    view = DifferenceView(look, "Difference")
    qtbot.addWidget(view)
    view.show_lines(difference("one\n", "two\n"))

    def ink() -> str:
        cursor = QTextCursor(view.document().begin())
        cursor.movePosition(QTextCursor.MoveOperation.NextCharacter)
        return cursor.charFormat().foreground().color().name()

    text, before = view.toPlainText(), ink()
    look.choose(Theme.LIGHT if look.dark else Theme.DARK)
    assert (ink() != before, view.toPlainText()) == (True, text)
