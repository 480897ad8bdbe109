"""The list of a combo box: whole, wherever on the screen the box stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.parts.boxes import WholeBox

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from app.look.look import Look


@pytest.mark.parametrize("at", [0.0, 0.5, 0.95])
def test_all_rows_are_whole(qtbot: QtBot, look: Look, at: float) -> None:
    box = WholeBox()
    qtbot.addWidget(box)
    screen = box.screen().availableGeometry()
    row = round(screen.height() * 0.06)
    box.setStyleSheet(f"QComboBox {{ combobox-popup: 0; }} QAbstractItemView::item {{ height: {row}px; }}")
    box.addItems([f"Program {number}" for number in range(9)])
    box.move(screen.left(), screen.top() + round(screen.height() * at))
    with qtbot.waitExposed(box):
        box.show()
    box.showPopup()
    view = box.view()
    assert screen.height() * 0.5 < 9 * view.sizeHintForRow(0) < screen.height()
    last = view.visualRect(box.model().index(8, 0))
    assert view.visualRect(box.model().index(0, 0)).top() == 0
    assert last.bottom() <= view.viewport().height()
    assert screen.contains(view.window().geometry())
    box.hidePopup()
