"""Two lines and a badge: how a request looks in a list of runs or in the history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QListView,
    QStyleOptionViewItem,
    QTableView,
)

from app.parts.badge import badge_size, paint_badge
from app.parts.mirrored import row_painter
from app.parts.row_background import RowDelegate, paint_ground

if TYPE_CHECKING:
    from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex
    from PySide6.QtGui import QImage

    from app.look.look import Look
    from runner.model.assessment import Level

HEIGHT = 52
HEADING = 28
"""Height that a heading adds to its row."""
SUMMARY = Qt.ItemDataRole.UserRole + 10
THUMBNAIL = 56
"""Pixels that a small picture is wide in a row."""
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
WIDEST = 1100
"""Pixels from the beginning of a row to the state at its end: no eye finds both ends of a longer line."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What one row says. `ink` is the token in which `state` is written."""

    title: str
    below: str
    state: str
    ink: str = "muted"
    level: Level | None = None
    elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight
    """Which end of the title may go."""
    heading: str = ""
    """What stands above this row and those below it, in a row that is `HEADING` higher."""
    picture: QImage | None = None
    """What it made, small, before the text."""

    @property
    def spoken(self) -> str:
        level = self.level.name if self.level else ""
        return ", ".join(part for part in (self.heading, level, self.title, self.below, self.state) if part)


def set_up_rows(view: QListView, name: str) -> None:
    """Make `view` a list of rows of their own heights, as wide as it is, from which one is chosen and none edited."""
    view.setAccessibleName(name)
    view.setFrameShape(QFrame.Shape.NoFrame)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    view.setResizeMode(QListView.ResizeMode.Adjust)
    view.setMouseTracking(True)


class LinesDelegate(RowDelegate):
    """Plain text only; the model gives a `Summary` for the role SUMMARY."""

    def __init__(self, look: Look, view: QTableView) -> None:
        super().__init__(view)
        self._look = look

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        painter = row_painter(painter, option)
        summary = index.data(SUMMARY)
        if not isinstance(summary, Summary):
            return
        px = self._look.px
        room = QRectF(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if summary.heading:
            above = QRectF(room.left() + px(12), room.top(), room.width() - px(24), px(HEADING))
            self._paint_heading(painter, above, summary.heading)
            room.setTop(above.bottom())
        paint_ground(painter, self._look, option.state, room.adjusted(px(4), 1, -px(4), -1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        inner = room.adjusted(px(12), px(7), -px(12), -px(7))
        inner.setWidth(min(inner.width(), px(WIDEST)))
        if summary.picture is not None:
            inner.setLeft(paint_thumbnail(painter, self._look, summary.picture, inner) + px(10))
        upper = QRectF(inner.left(), inner.top(), inner.width(), inner.height() / 2)
        lower = upper.translated(0, inner.height() / 2)
        self._paint_title(painter, upper, summary)
        self._paint_below(painter, lower, summary)
        painter.restore()

    def _paint_heading(self, painter: QPainter, room: QRectF, heading: str) -> None:
        painter.setFont(self._look.font(-1, bold=True))
        painter.setPen(QColor(self._look.tokens.muted))
        painter.drawText(room.adjusted(0, self._look.px(6), 0, 0), _LEFT, _elided(painter, heading, room.width()))

    def _paint_title(self, painter: QPainter, room: QRectF, summary: Summary) -> None:
        taken = 0.0
        if summary.level is not None:
            size = badge_size(self._look, summary.level)
            taken = size.width() + self._look.px(8)
            corner = QPointF(room.right() - size.width(), room.center().y() - size.height() / 2)
            paint_badge(painter, self._look, summary.level, corner)
        painter.setFont(self._look.font(0, bold=True))
        painter.setPen(QColor(self._look.tokens.text))
        painter.drawText(room, _LEFT, _elided(painter, summary.title, room.width() - taken, summary.elide))

    def _paint_below(self, painter: QPainter, room: QRectF, summary: Summary) -> None:
        painter.setFont(self._look.font(-1))
        painter.setPen(QColor(getattr(self._look.tokens, summary.ink)))
        painter.drawText(room, _RIGHT, summary.state)
        taken = QFontMetricsF(painter.font()).horizontalAdvance(summary.state) + self._look.px(10)
        painter.setPen(QColor(self._look.tokens.muted))
        painter.drawText(room, _LEFT, _elided(painter, summary.below, room.width() - taken))


def paint_thumbnail(painter: QPainter, look: Look, picture: QImage, room: QRectF) -> float:
    """Paint `picture` at the left end of a row, no higher than `room`; return where it ends."""
    frame = QRectF(room.left(), room.top(), look.px(THUMBNAIL), room.height())
    shown = QSizeF(picture.size()).scaled(frame.size() - QSizeF(4, 4), Qt.AspectRatioMode.KeepAspectRatio)
    place = QRectF(QPointF(0, 0), shown)
    place.moveCenter(frame.center())
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    painter.setPen(QColor(look.tokens.border))
    painter.setBrush(QColor("#ffffff"))
    painter.drawRoundedRect(frame, look.px(4), look.px(4))
    painter.drawImage(place, picture)
    painter.restore()
    return frame.right()


def list_view(look: Look, model: QAbstractItemModel, name: str) -> QTableView:
    """Return a table of one column and fixed heights, which stays quick however many rows there are."""
    view = painted_view(model, name)
    view.setItemDelegate(LinesDelegate(look, view))
    view.verticalHeader().setDefaultSectionSize(look.px(HEIGHT))
    return view


def painted_view(model: QAbstractItemModel, name: str) -> QTableView:
    """Return a table of one column whose delegate, still to be set, paints the rows and the chosen one too."""
    view = QTableView()
    set_up_painted(view, model, name)
    return view


def set_up_painted(view: QTableView, model: QAbstractItemModel, name: str) -> None:
    """Make `view` such a table."""
    view.setModel(model)
    view.setAccessibleName(name)
    # The view would paint a square behind what the delegate paints.
    view.setStyleSheet("selection-background-color: transparent;")
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    view.setTabKeyNavigation(False)
    view.setShowGrid(False)
    view.setMouseTracking(True)
    view.setFrameShape(QFrame.Shape.NoFrame)
    view.horizontalHeader().hide()
    view.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
    view.verticalHeader().hide()
    view.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)


def _elided(painter: QPainter, text: str, width: float, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> str:
    return QFontMetricsF(painter.font()).elidedText(text, mode, max(0.0, width))
