"""The tile of one program: its name, and below it how things stand with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QStyle, QStyleOptionButton, QWidget

if TYPE_CHECKING:
    from app.look.look import Look

TILE, TALL, SPACING = 168, 64, 12
"""Least width and height of a tile and the space between two, in pixels where the text has its usual size."""
ICON = 16


class ClientTile(QPushButton):
    """`icon` (none where empty) and `ink` are of the second line; colors say nothing that the words do not."""

    def __init__(
        self, look: Look, name: str, below: str, icon: str, ink: str = "muted", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._look = look
        self._name = name
        self.show_standing(below, icon, ink)
        self.setAutoDefault(False)
        self.setMinimumSize(look.px(TILE), look.px(TALL))

    def show_standing(self, below: str, icon: str, ink: str) -> None:
        """Show how things stand with its program."""
        self._below, self._icon, self._ink = below, icon, ink
        self.setText(f"{self._name}\n{below}")
        self.setAccessibleName(f"{self._name}, {below}")
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        look, px = self._look, self._look.px
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = ""
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self.style().drawControl(QStyle.ControlElement.CE_PushButton, option, painter, self)
        room = self.rect().adjusted(px(14), px(12), -px(12), -px(12))
        upper = QRect(room.left(), room.top(), room.width(), room.height() // 2)
        lower = upper.translated(0, room.height() - upper.height())
        tokens = look.tokens
        strong = look.font(bold=True)
        painter.setFont(strong)
        painter.setPen(QColor(tokens.text))
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        elided = QFontMetricsF(strong).elidedText(self._name, Qt.TextElideMode.ElideRight, upper.width())
        painter.drawText(upper, left, elided)
        if self._icon:
            picture = look.pixmap(self._icon, self._ink, ICON)
            painter.drawPixmap(lower.left(), lower.center().y() - px(ICON) // 2 + 1, picture)
            lower.setLeft(lower.left() + px(ICON + 6))
        small = look.font(-1)
        painter.setFont(small)
        painter.setPen(QColor(getattr(tokens, self._ink)))
        words = QFontMetricsF(small).elidedText(self._below, Qt.TextElideMode.ElideRight, lower.width())
        painter.drawText(lower, left, words)
        painter.end()
