"""The mark: a check whose long stroke is the bar of a gate, in a ring; the gate is open, closed or open for a while."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QIcon, QImage, QPainter, QPixmap

from app.look.drawings import drawing
from runner.approval.modes import Mode

SIZES = (16, 22, 24, 32, 48, 64, 128, 256, 512)
"""Pixels; those that the hicolor theme names and desktops ask for."""
SMALL = 24
"""Up to this size there is no room for the ring: a drawing of its own leaves it out."""
IN_WINDOWS = 128
"""The largest size that title bars, task bars and switchers show."""
MARKS = {
    Mode.GUARDED: ("mark-open", "accent_ink"),
    Mode.LOCKDOWN: ("mark-closed", "high"),
    Mode.TRUST: ("mark-timed", "medium"),
}
"""The drawing of a mode, and its ink: not the color alone."""


def drawn_for(name: str, size: int) -> str:
    """Return the drawing of `name` that is made for `size` pixels."""
    return f"{name}-small" if size <= SMALL else name


def paint_drawing(painter: QPainter, name: str, room: QRectF, color: str = "") -> None:
    """Draw the icon `name` into `room`, in `color` where it has none of its own."""
    from PySide6.QtSvg import QSvgRenderer  # only once something is drawn

    QSvgRenderer(QByteArray(drawing(name).replace("currentColor", color).encode())).render(painter, room)


def app_image(size: int) -> QImage:
    """Return the icon of Assent, `size` pixels wide."""
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    paint_drawing(painter, drawn_for("assent", size), QRectF(image.rect()))
    painter.end()
    return image


def app_icon() -> QIcon:
    """Return the icon of windows, each size with the drawing made for it."""
    icon = QIcon()
    for size in SIZES:
        if size <= IN_WINDOWS:
            icon.addPixmap(QPixmap.fromImage(app_image(size)))
    return icon
