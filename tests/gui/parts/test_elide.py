"""A line that is shortened where there is no room."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt

from app.parts.elide import ElidedLabel
from app.parts.link import LinkButton

if TYPE_CHECKING:
    from PySide6.QtGui import QImage
    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

TITLE = "\N{LEFT DOUBLE QUOTATION MARK}rm -rf /\N{RIGHT DOUBLE QUOTATION MARK}"


def drawn(qtbot: QtBot) -> QImage:
    label = ElidedLabel(TITLE)
    qtbot.addWidget(label)
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    label.resize(200, 30)
    return label.grab().toImage()


@pytest.mark.parametrize("direction", Qt.LayoutDirection)
def test_a_command_in_a_link_has_a_direction_of_its_own(qtbot: QtBot, direction: Qt.LayoutDirection) -> None:
    """It read “~ Look at line 6: rm -rf”."""
    button = LinkButton()
    qtbot.addWidget(button)
    button.setLayoutDirection(direction)
    button.resize(400, 30)
    button.say("Look at line 6: rm -rf ~")
    isolated = "\N{FIRST STRONG ISOLATE}Look at line 6: rm -rf ~\N{POP DIRECTIONAL ISOLATE}"
    assert button.text() == (isolated if button.isRightToLeft() else "Look at line 6: rm -rf ~")
    assert button.accessibleName() == "Look at line 6: rm -rf ~"


def test_a_command_reads_as_it_is_where_the_window_begins_at_the_right(qtbot: QtBot, qapp: QApplication) -> None:
    before, direction = drawn(qtbot), qapp.layoutDirection()
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    try:
        assert drawn(qtbot) == before
    finally:
        qapp.setLayoutDirection(direction)
