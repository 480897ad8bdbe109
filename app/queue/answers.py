"""The list of what was answered just now, at the foot of the queue: a dot, a title, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QFontMetricsF, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.parts.mirrored import row_painter
from app.parts.plain import plain_label
from app.parts.text.lines import paint_thumbnail, painted_view
from app.state.recent_answers import ANSWERED, Answered, words
from runner.model.translation import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QHideEvent, QShowEvent

    from app.look.look import Look
    from app.results.thumbnails import Thumbnails
    from app.state.recent_answers import JustNowModel

HEIGHT = 44
"""Of a row."""
DOT = 7
TICK_MS = 500
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)


class AnswersDelegate(QStyledItemDelegate):
    """Plain text only."""

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look
        self.thumbnails: Thumbnails | None = None

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        painter = row_painter(painter, option)
        one = index.data(ANSWERED)
        if not isinstance(one, Answered):
            return
        px, tokens = self._look.px, self._look.tokens
        room = QRectF(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if option.state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            painter.setBrush(QColor(tokens.hover))
            painter.drawRoundedRect(room.adjusted(px(4), 1, -px(4), -1), px(6), px(6))
        inner = room.adjusted(px(12), px(4), -px(12), -px(4))
        half = inner.height() / 2
        painter.setBrush(QColor(getattr(tokens, one.ink)))
        painter.drawEllipse(QPointF(inner.left() + px(DOT) / 2, inner.top() + half / 2), px(DOT) / 2, px(DOT) / 2)
        text = inner.adjusted(px(DOT + 9), 0, 0, 0)
        picture = self.thumbnails.of(one.result) if self.thumbnails is not None else None
        if picture is not None:
            text.setLeft(paint_thumbnail(painter, self._look, picture, text) + px(8))
        self._line(painter, QRectF(text.left(), text.top(), text.width(), half), one.headline, "text", 0)
        below = QRectF(text.left(), text.top() + half, text.width(), half)
        self._line(painter, below, words(one), "high" if one.ink == "high" else "muted", -1)
        painter.restore()

    def _line(self, painter: QPainter, room: QRectF, said: str, ink: str, step: float) -> None:
        painter.setFont(self._look.font(step))
        painter.setPen(QColor(getattr(self._look.tokens, ink)))
        shown = QFontMetricsF(painter.font()).elidedText(said, Qt.TextElideMode.ElideRight, max(0.0, room.width()))
        painter.drawText(room, _LEFT, shown)


class JustNowList(QFrame):
    """Hidden while there is nothing in it. A click or Enter on a row asks for its output."""

    wanted = Signal(str)
    """The request whose output is wanted."""

    def __init__(self, model: JustNowModel, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._room = 0
        self.model = model
        self.view = painted_view(model, tr("What was answered just now"))
        self._delegate = AnswersDelegate(look, self.view)
        self.view.setItemDelegate(self._delegate)
        self.view.verticalHeader().setMinimumSectionSize(look.px(HEIGHT))
        self.view.verticalHeader().setDefaultSectionSize(look.px(HEIGHT))
        self.view.clicked.connect(self._chosen)
        self.view.activated.connect(self._chosen)
        heading = plain_label(tr("Just now"), "heading")
        heading.setContentsMargins(look.px(12), look.px(8), look.px(12), look.px(2))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, look.px(4))
        column.setSpacing(0)
        column.addWidget(heading)
        column.addWidget(self.view)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._ticker = QTimer(self)
        self._ticker.setInterval(TICK_MS)
        self._ticker.timeout.connect(self._tick)
        for changed in (model.rowsInserted, model.rowsRemoved, model.dataChanged):
            changed.connect(self._fit)
        self._fit()

    def show_pictures(self, thumbnails: Thumbnails) -> None:
        """Show small pictures of what runs made, from now on."""
        self._delegate.thumbnails = thumbnails
        thumbnails.changed.connect(self.view.viewport().update)
        self.view.viewport().update()

    @Slot(str)
    def mark(self, request_id: str) -> None:
        """Have the row of the request whose output is shown be the selected one; none for ''."""
        rows = range(self.model.rowCount())
        of = {one.request.id: row for row in rows if (one := self.model.answered(row)) is not None}
        if (row := of.get(request_id)) is None:
            self.view.clearSelection()
        else:
            self.view.setCurrentIndex(self.model.index(row, 0))

    def give_room(self, height: int) -> None:
        """Take at most `height` pixels, and at least one row; the rest scrolls."""
        self._room = height
        self._fit()

    @Slot()
    def _fit(self, *_: object) -> None:
        row, rows = self._look.px(HEIGHT), self.model.rowCount()
        most = max(1, (self._room - self._look.px(40)) // row) if self._room else rows
        self.view.setFixedHeight(row * max(1, min(rows, most)))
        if self.parentWidget() is not None and self.isHidden() is (rows > 0):  # by itself it would be a window
            self.setVisible(rows > 0)
        wanted = self.isVisible() and self.model.any_running
        if wanted != self._ticker.isActive():
            (self._ticker.start if wanted else self._ticker.stop)()

    @Slot()
    def _tick(self) -> None:
        self.view.viewport().update()

    @Slot(QModelIndex)
    def _chosen(self, index: QModelIndex) -> None:
        if (one := self.model.answered(index.row())) is not None:
            self.wanted.emit(one.request.id)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._ticker.stop()
