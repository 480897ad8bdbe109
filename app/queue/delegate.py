"""Paints one line of the queue: a lane's heading, or a request: what it would do, what its agent says, how long."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from app import phrases
from app.parts.agent import DOT, paint_dot
from app.parts.badge import badge_size, paint_badge
from app.parts.gauges.ring import paint_ring, ring_size
from app.parts.mirrored import row_painter
from app.parts.row_background import RowDelegate, paint_ground
from app.queue.model import CARD, LINE, state, why_missed
from app.queue.order import Lane
from app.state import attention
from runner.model.translation import numeral, tr
from runner.system.clock import since_boot

if TYPE_CHECKING:
    from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex
    from PySide6.QtWidgets import QStyleOptionViewItem

    from app.look.look import Look
    from app.queue.model import QueueModel
    from app.state.cards import Card

LANE_HEIGHT = 30
CARD_HEIGHT = 76
_MARGIN = 8
_BAR = 3


class QueueDelegate(RowDelegate):
    """Plain text only; heights are fixed by the view."""

    def __init__(self, look: Look, model: QueueModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._model = model

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        painter = row_painter(painter, option)
        room = QRectF(option.rect)
        line = index.data(LINE)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(line, Lane):
            self._paint_lane(painter, room, line, self._model.in_lane(index.row()))
        elif (card := index.data(CARD)) is not None:
            px = self._look.px
            paint_ground(painter, self._look, option.state, room.adjusted(px(4), 1, -px(4), -1))
            if card.id in self._model.marked:
                self._paint_mark(painter, room)
            self._paint_card(painter, room, card, len(self._model.behind(index.row())))
        painter.restore()

    def _paint_lane(self, painter: QPainter, room: QRectF, lane: Lane, count: int) -> None:
        px, tokens = self._look.px, self._look.tokens
        inner = room.adjusted(px(_MARGIN) + px(2), px(6), -px(_MARGIN), 0)
        if lane.agent:
            paint_dot(painter, self._look, lane.agent, QPointF(inner.left() + px(DOT) / 2, inner.center().y() + 1))
            inner.setLeft(inner.left() + px(DOT + 6))
        painter.setFont(self._look.font(-1, bold=True))
        painter.setPen(QColor(tokens.muted))
        name = phrases.visible(lane.agent) if lane.agent else tr("Missed") if lane.missed else tr("New")
        words = f"{name}  \N{MIDDLE DOT}  {count}"
        painter.drawText(inner, _LEFT, _elided(painter, words, inner.width()))

    def _paint_mark(self, painter: QPainter, room: QRectF) -> None:
        """Paint a frame and a check around what is selected for a batch, so that not color alone says so."""
        px, tokens = self._look.px, self._look.tokens
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(tokens.accent), 1.5))
        painter.drawRoundedRect(room.adjusted(px(5), 2, -px(5), -2), px(6), px(6))

    def _paint_card(self, painter: QPainter, room: QRectF, card: Card, behind: int) -> None:
        px, tokens = self._look.px, self._look.tokens
        over = not card.waiting
        level = attention.attention(card)
        if card.assessment is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.border if over else tokens.ink(level)))
            bar = QRectF(room.left() + px(8), room.top() + px(9), px(_BAR), room.height() - px(18))
            painter.drawRoundedRect(bar, 1, 1)
        inner = room.adjusted(px(8 + _BAR + 8), px(9), -px(12), -px(9))
        third = inner.height() / 3
        upper = QRectF(inner.left(), inner.top(), inner.width(), third)
        painter.setFont(self._look.font(0, bold=True))
        calm = tokens.muted if over or card.assessment is None else tokens.text
        painter.setPen(QColor(calm if over or level is None else tokens.ink(level)))
        painter.drawText(upper, _LEFT, _elided(painter, attention.headline(card), upper.width()))
        middle = upper.translated(0, third)
        taken = 0.0
        if level is not None:
            # Where nothing was found the row stays calm; a word for it stands on the card.
            size = badge_size(self._look, level)
            taken = size.width() + px(8)
            corner = QPointF(middle.right() - size.width(), middle.center().y() - size.height() / 2)
            paint_badge(painter, self._look, level, corner)
        painter.setFont(self._look.font(-0.5))
        painter.setPen(QColor(tokens.muted))
        painter.drawText(middle, _LEFT, _elided(painter, phrases.quoted_title(card.request), middle.width() - taken))
        self._paint_below(painter, middle.translated(0, third), card, behind)

    def _paint_below(self, painter: QPainter, lower: QRectF, card: Card, behind: int) -> None:
        px, tokens = self._look.px, self._look.tokens
        taken = 0.0
        deadline = card.deadline if card.waiting else card.armed
        if deadline is not None:
            size = ring_size(self._look)
            taken = size.width() + px(8)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            corner = QPointF(lower.right() - size.width(), lower.center().y() - size.height() / 2)
            ink = "muted" if card.paused else attention.ink(card)
            paint_ring(painter, self._look, deadline - since_boot(), card.window, corner, ink)
        words = [phrases.asks_for(card.request)]
        if card.several and card.request.session:
            words.insert(0, tr("session {session}", session=numeral(card.request.session)))
        if card.asked > 1:
            # At the front and short: the end of a row is cut off in a narrow window.
            words.insert(0, f"{numeral(card.asked)}\N{MULTIPLICATION SIGN}")
        if card.waiting and card.paused:
            # In place of its age: a row has no room for both.
            words.append(
                tr("asks until {clock}", clock=phrases.clock(time.time() + (card.deadline or 0.0) - since_boot()))
            )
        elif card.waiting:
            words.append(phrases.ago(time.monotonic() - card.arrived))
        else:
            words.append(state(card))
        if card.missed:
            words = list(filter(None, (state(card), why_missed(card), phrases.visible(card.request.agent))))
        if card.id in self._model.marked:
            words.insert(0, tr("\N{CHECK MARK} selected"))
        if behind:
            words.insert(0, tr("{behind} alike", behind=behind + 1))
        if card.again:
            words.append(tr("asked again"))
        painter.setFont(self._look.font(-1))
        painter.setPen(QColor(tokens.muted))
        text = "  \N{MIDDLE DOT}  ".join(words)
        painter.drawText(lower, _LEFT, _elided(painter, text, lower.width() - taken))


_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)


def _elided(painter: QPainter, text: str, width: float) -> str:
    return QFontMetricsF(painter.font()).elidedText(text, Qt.TextElideMode.ElideRight, max(0.0, width))
