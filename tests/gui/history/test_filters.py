"""The choices of the history: what they say while nothing is chosen is there to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QStyle, QStyleOptionComboBox

from app.history.filters import Filters

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from app.look.look import Look


def test_no_choice_is_cut_while_everything_is_listed(look: Look, qtbot: QtBot) -> None:
    filters = Filters(look)
    qtbot.addWidget(filters)
    filters.further.click()
    filters.resize(1200, 200)
    filters.show()
    for choice in filters._all:
        option = QStyleOptionComboBox()
        choice.initStyleOption(option)
        field = QStyle.SubControl.SC_ComboBoxEditField
        room = choice.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, field, choice).width()
        assert choice.fontMetrics().horizontalAdvance(choice.itemText(0)) < room, choice.itemText(0)
