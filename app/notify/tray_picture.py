"""The picture in the system tray: white on a plate of its own, so that it reads on light and dark panels alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QIcon, QPainter, QPen, QPixmap

from app.look.mark import MARKS, SMALL, drawn_for, paint_drawing
from app.look.tokens import LIGHT
from runner.approval.modes import Mode
from runner.model.assessment import Level

if TYPE_CHECKING:
    from app.look.look import Look

SIZES = (16, 22, 24, 32, 48, 64)
PLATES = {Mode.GUARDED: LIGHT.accent, Mode.LOCKDOWN: LIGHT.high, Mode.TRUST: LIGHT.medium}
"""The ground of each mode. Those of the light theme, on which white reads with at least 4.5 to 1."""
QUIET = LIGHT.muted
MOST = 99
"""The largest number that is written out."""


def tray_icon(look: Look, mode: Mode, count: int, worst: Level | None, *, quiet: bool) -> QIcon:
    """Return the icon for `mode`, with the number of what waits; grey where it is `quiet`.

    `worst` is the attention that the worst of what waits deserves.
    """
    icon = QIcon()
    for size in SIZES:
        icon.addPixmap(tray_picture(look, size, mode, count, worst, quiet=quiet))
    return icon


def tray_picture(look: Look, size: int, mode: Mode, count: int, worst: Level | None, *, quiet: bool) -> QPixmap:
    """Return it in one size. A small one with a number has no room for the mark beside it."""
    picture = QPixmap(size, size)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    ground = QUIET if quiet else PLATES[mode]
    notable = None if worst is None or worst is Level.LOW else LIGHT.ink(worst)
    whole = QRectF(picture.rect())
    if count and size <= SMALL:
        _paint_plate(painter, whole, notable or ground)
        _paint_number(painter, look, whole, count, 0.76)
    else:
        _paint_plate(painter, whole, ground)
        edge = 0.0 if size <= SMALL else size * 0.12
        name, _ = MARKS[mode]
        paint_drawing(painter, drawn_for(name, size), whole.adjusted(edge, edge, -edge, -edge), LIGHT.on_accent)
    if count and size > SMALL:
        high, wide = size * 0.6, size * (0.6 if count < 10 else 0.78)
        line = size / 32
        room = QRectF(size - wide, size - high, wide, high).adjusted(line / 2, line / 2, -line / 2, -line / 2)
        painter.setPen(QPen(QColor(LIGHT.on_accent), line))
        painter.setBrush(QColor(notable or LIGHT.accent))
        painter.drawRoundedRect(room, high / 2.4, high / 2.4)
        _paint_number(painter, look, room, count, 0.8)
    painter.end()
    return picture


def _paint_plate(painter: QPainter, room: QRectF, color: str) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(color))
    painter.drawRoundedRect(room, room.width() * 0.22, room.width() * 0.22)


def _paint_number(painter: QPainter, look: Look, room: QRectF, count: int, share: float) -> None:
    """Write `count` into `room`, `share` of its height high where it is wide enough."""
    words = str(min(count, MOST))
    font = look.font(0, bold=True)
    font.setPixelSize(round(room.height() * share))
    if (wide := QFontMetricsF(font).horizontalAdvance(words)) > room.width() * 0.9:
        font.setPixelSize(max(8, int(font.pixelSize() * room.width() * 0.9 / wide)))
    painter.setFont(font)
    painter.setPen(QColor(LIGHT.on_accent))
    painter.drawText(room, Qt.AlignmentFlag.AlignCenter, words)
