"""A row of chips: a few words each, on a ground in the color of what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.parts.plain import set_tip
from app.parts.roles import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.look.look import Look
    from app.prompt.words import CardChip

_STEP = -1.25


class CardChips(QWidget):
    """Breaks into as many rows as it needs at its width."""

    accessible_role = Role.StaticText

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._chips: tuple[CardChip, ...] = ()
        # Not fixed: it would keep the height that it needed at another width, and cut off its last row.
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        look.changed.connect(self.update)

    @property
    def chips(self) -> tuple[CardChip, ...]:
        """What is shown."""
        return self._chips

    def show_chips(self, chips: Sequence[CardChip]) -> bool:
        """Show exactly these; return whether they are others than before."""
        if tuple(chips) == self._chips:
            return False
        self._chips = tuple(chips)
        self.setAccessibleName(", ".join(chip.text for chip in chips))
        set_tip(self, "\n".join(chip.text for chip in chips))
        self.updateGeometry()
        self.update()
        return True

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        rooms = self._rooms(width)
        return round(rooms[-1].bottom()) + 1 if rooms else 0

    def sizeHint(self) -> QSize:
        width = self.width() or self._look.px(400)
        return QSize(width, self.heightForWidth(width))

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = self._look.tokens
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._look.font(_STEP, bold=True))
        metrics, inset = QFontMetricsF(painter.font()), self._look.px(8)
        for chip, room in zip(self._chips, self._rooms(self.width()), strict=True):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(getattr(tokens, f"{chip.ink}_tint")))
            painter.drawRoundedRect(room, room.height() / 2, room.height() / 2)
            painter.setPen(QColor(getattr(tokens, chip.ink)))
            words = metrics.elidedText(chip.text, Qt.TextElideMode.ElideMiddle, room.width() - inset)
            painter.drawText(room, Qt.AlignmentFlag.AlignCenter, words)
        painter.end()

    def _rooms(self, width: int) -> list[QRectF]:
        """Return where each chip is."""
        px = self._look.px
        metrics = QFontMetricsF(self._look.font(_STEP, bold=True))
        height, gap = metrics.height() + px(5), px(6)
        rooms: list[QRectF] = []
        left = top = 0.0
        for chip in self._chips:
            wide = min(metrics.horizontalAdvance(chip.text) + px(18), float(width))
            if left and left + wide > width:
                left, top = 0.0, top + height + gap
            rooms.append(QRectF(left, top, wide, height))
            left += wide + gap
        return rooms
