"""A line that is shortened where there is no room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from app.parts.elide import ElidedLabel

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


def test_a_command_reads_as_it_is_where_the_window_begins_at_the_right(qtbot: QtBot, qapp: QApplication) -> None:
    before, direction = drawn(qtbot), qapp.layoutDirection()
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    try:
        assert drawn(qtbot) == before
    finally:
        qapp.setLayoutDirection(direction)
