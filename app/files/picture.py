"""A picture, made smaller where there is no room, on a ground that shows transparency."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from runner.model.translation import tr

if TYPE_CHECKING:
    from app.files.found import Picture
    from app.look.look import Look

SQUARE = 8


class PictureView(QWidget):
    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._image = QImage()
        self.setMinimumSize(look.px(80), look.px(80))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        look.changed.connect(self.update)

    def show_picture(self, picture: Picture) -> None:
        self._image = image_of(picture)
        self.setAccessibleName(tr("Picture, {said}", said=picture.said))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        try:
            self._paint(painter)
        finally:
            painter.end()

    def _paint(self, painter: QPainter) -> None:
        painter.fillRect(self.rect(), QColor(self._look.tokens.code))
        if self._image.isNull():
            return
        room = self.rect().adjusted(8, 8, -8, -8)
        whole = self._image.size()
        shown = whole.scaled(room.size(), Qt.AspectRatioMode.KeepAspectRatio)
        if shown.width() > whole.width():
            shown = QSize(whole)
        place = QRect(room.center().x() - shown.width() // 2, room.center().y() - shown.height() // 2, 0, 0)
        place.setSize(shown)
        if self._image.hasAlphaChannel():
            self._paint_ground(painter, place)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(place, self._image)

    def _paint_ground(self, painter: QPainter, place: QRect) -> None:
        painter.fillRect(place, QColor("#ffffff"))
        grey = QColor("#dddddd")
        for top in range(0, place.height(), SQUARE):
            for left in range(top // SQUARE % 2 * SQUARE, place.width(), 2 * SQUARE):
                square = QRect(place.left() + left, place.top() + top, SQUARE, SQUARE)
                painter.fillRect(square.intersected(place), grey)


def image_of(picture: Picture) -> QImage:
    """Return the pixels as Qt paints them."""
    forms = QImage.Format
    form = forms.Format_ARGB32_Premultiplied if picture.transparent else forms.Format_RGB32
    # A copy: Qt would go on using the memory of the bytes.
    return QImage(picture.pixels, picture.width, picture.height, 4 * picture.width, form).copy()
