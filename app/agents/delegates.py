"""Paints the list of agents: the name above the last request, and the hours of the day as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from app.agents.model import AGENT, DAY
from app.parts.agent import DOT, agent_ink, paint_dot
from app.parts.mirrored import row_painter

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from app.look.look import Look
    from app.state.agent_day import AgentDay

Index = QModelIndex | QPersistentModelIndex
HOURS_WIDTH, HOURS_HEIGHT = 112, 26
"""Pixels of the columns of a day."""
TICK = 16


class _OverGround(QStyledItemDelegate):
    """Paints over the ground that the style gives a row."""

    def __init__(self, look: Look, parent: QObject) -> None:
        super().__init__(parent)
        self._look = look

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        option.text = ""


class NameDelegate(_OverGround):
    """The name, and below it in grey what it asked last."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        painter = row_painter(painter, option)
        agent, day = index.data(AGENT), index.data(DAY)
        px, look = self._look.px, self._look
        room = QRectF(option.rect).adjusted(px(8), px(4), -px(8), -px(4))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_dot(painter, look, agent.name, QPointF(room.left() + px(DOT) / 2, room.center().y()))
        room.setLeft(room.left() + px(DOT + 8))
        upper = QRectF(room)
        if day.last:
            upper.setHeight(room.height() / 2)
            self._write(
                painter, QRectF(room.left(), upper.bottom(), room.width(), upper.height()), day.last, -1, "muted"
            )
        self._write(painter, upper, str(index.data()), 0, "text")
        painter.restore()

    def _write(self, painter: QPainter, room: QRectF, text: str, step: float, ink: str) -> None:
        font = self._look.font(step, bold=not step)
        shown = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter.setFont(font)
        painter.setPen(QColor(getattr(self._look.tokens, ink)))
        painter.drawText(room, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)


class HoursDelegate(_OverGround):
    """A column for each hour of today, all agents on one scale."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        painter = row_painter(painter, option)
        day: AgentDay = index.data(DAY)
        if not day.hours:
            return
        px = self._look.px
        rect = QRectF(option.rect)
        room = QRectF(
            rect.left() + px(8), rect.center().y() - px(HOURS_HEIGHT) / 2, rect.width() - px(16), px(HOURS_HEIGHT)
        )
        model = index.model()
        most = max(max(model.index(row, 0).data(DAY).hours, default=0) for row in range(model.rowCount()))
        width = room.width() / len(day.hours)
        painter.save()
        painter.setPen(QColor(self._look.tokens.border))
        painter.drawLine(room.bottomLeft(), room.bottomRight())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(agent_ink(self._look, index.data(AGENT).name))
        for hour, number in enumerate(day.hours):
            if number:
                height = max(px(2), number / most * room.height())
                painter.drawRect(
                    QRectF(room.left() + hour * width, room.bottom() - height, max(1.0, width - 1), height)
                )
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(self._look.px(HOURS_WIDTH), super().sizeHint(option, index).height())


class StateDelegate(QStyledItemDelegate):
    """Leaves room for the tick, which the style forgets."""

    def __init__(self, look: Look, parent: QObject) -> None:
        super().__init__(parent)
        self._look = look

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return super().sizeHint(option, index) + QSize(self._look.px(TICK), 0)
