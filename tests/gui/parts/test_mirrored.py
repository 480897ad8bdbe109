"""Rows in a window that is read from the right: places are mirrored, what stands there is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from app.parts.mirrored import mirrored, row_painter
from app.parts.row_background import FOCUS_BAR, paint_ground
from app.review.sent_files import SentList, SentRow, SentRows

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QApplication

    from app.look.look import Look

LEFT, RIGHT = Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft
WIDTH, HEIGHT = 300, 40
ROW = QRect(0, 0, WIDTH, HEIGHT)
AT_BEGIN = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
AT_END = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)


def drawn(direction: Qt.LayoutDirection, draw: Callable[[QPainter], None]) -> QImage:
    picture = QImage(WIDTH, HEIGHT, QImage.Format.Format_RGB32)
    picture.fill(QColor("white"))
    option = QStyleOptionViewItem()
    option.rect, option.direction = ROW, direction
    painter = QPainter(picture)
    draw(row_painter(painter, option))
    painter.end()
    return picture


def inked(picture: QImage) -> tuple[int, int]:
    """Return the first and the last column with any ink."""
    white = QColor("white").rgb()
    columns = [x for x in range(WIDTH) if any(picture.pixel(x, y) != white for y in range(HEIGHT))]
    return columns[0], columns[-1]


@pytest.mark.parametrize(("flags", "other"), [(AT_BEGIN, AT_END), (AT_END, AT_BEGIN)])
def test_a_text_stands_at_the_other_side_and_reads_as_it_is(qapp: QApplication, flags: int, other: int) -> None:
    command = "rm -r build/"  # its last sign would come first in a text that is read from the right
    turned = drawn(RIGHT, lambda painter: painter.drawText(QRectF(10, 0, 200, HEIGHT), flags, command))
    there = drawn(LEFT, lambda painter: painter.drawText(QRectF(WIDTH - 210, 0, 200, HEIGHT), other, command))
    assert turned == there


def test_shapes_and_pictures_are_at_the_other_side(qapp: QApplication, look: Look) -> None:
    mark = look.pixmap("triangle-alert", "high", 14)
    shapes: list[Callable[[QPainter], None]] = [
        lambda painter: painter.drawPixmap(QPoint(10, 2), mark),
        lambda painter: painter.drawRoundedRect(QRectF(10, 2, 60, 20), 4, 4),
        lambda painter: painter.drawEllipse(QRectF(10, 2, 20, 20)),
        lambda painter: painter.fillRect(QRectF(10, 2, 20, 20), QColor("red")),
        lambda painter: painter.drawImage(QRectF(10, 2, 14, 14), mark.toImage()),
        lambda painter: painter.drawArc(QRectF(10, 2, 20, 20), 0, 360 * 16),
    ]
    for draw in shapes:
        (first, last), (begins, ends) = inked(drawn(LEFT, draw)), inked(drawn(RIGHT, draw))
        assert abs(begins - (WIDTH - 1 - last)) <= 1 and abs(ends - (WIDTH - 1 - first)) <= 1


def test_the_bar_of_the_row_that_has_the_keyboard_is_where_reading_begins(qapp: QApplication, look: Look) -> None:
    def draw(painter: QPainter) -> None:
        paint_ground(painter, look, QStyle.StateFlag.State_HasFocus, QRectF(ROW))

    assert inked(drawn(LEFT, draw))[0] == 0
    assert inked(drawn(RIGHT, draw))[0] >= WIDTH - look.px(FOCUS_BAR) - 1


def test_a_tick_is_pressed_where_it_is_painted(qapp: QApplication, look: Look) -> None:
    rows = SentRows()
    rows.offered = True
    view = SentList(look, rows)
    view.setLayoutDirection(RIGHT)
    rows.replace((SentRow(".env", tick=".env"),))
    view.resize(QSize(WIDTH, 120))
    view.show()
    toggled: list[str] = []
    view.toggled.connect(toggled.append)
    room = view.visualRect(rows.index(0, 0))
    assert view.box(0) == mirrored(QRectF(room), mirrored(QRectF(room), view.box(0), RIGHT), RIGHT)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(room.left() + 19, room.center().y()))
    assert toggled == []
    painted = view.viewport().grab().toImage()
    edge = look.tokens.edge
    box = view.box(0).toRect()
    assert box.left() > room.center().x()
    inside = [painted.pixelColor(x, box.center().y()) for x in range(box.left(), box.left() + 3)]
    assert QColor(edge) in inside
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=box.center())
    assert toggled == [".env"]
    view.close()
    view.deleteLater()
