"""A run on one axis of time: CPU, memory, output and network as strips, with one cursor through all of them."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QLineF, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.parts.gauges.run_strips import CUT_SHORT, Strip, Written, files_written, strips, written
from app.parts.roles import Role, announce
from runner.model.translation import numeral, tr

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtGui import QKeyEvent, QMouseEvent

    from app.look.look import Look
    from runner.model.request import Isolation, Limits, Request
    from runner.model.result import Result, Usage

STRIP, AXIS, LEFT, RIGHT, TOP = 44, 22, 66, 92, 16
"""Height of a strip and of the axis, room at both sides for words, and above for the cursor's time, in pixels."""
MOST = 600
"""Readings that are held."""
MOST_SAID, MOST_NAMED = 20, 2
"""Files that a screen reader is given, and those that are named at the cursor."""
_ROUND = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600)
_TICK_ROOM, _MOST_TICKS = 56, 100


class RunTimeline(QWidget):
    """Hover, or arrow keys, move the cursor. Hidden where there are not two readings."""

    accessible_role = Role.Chart
    pointed = Signal(float)
    """Seconds since the start at which the cursor was put."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # painted from the left
        self._look = look
        self._readings: list[Usage] = []
        self._strips: list[Strip] = []
        self._files: list[Written] = []
        self._written: list[Written] = []
        self._given: tuple[Limits, Isolation | Request] | None = None
        self._duration = 0.0
        self._cap = ""
        self._cursor: float | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("The run over time"))
        self.hide()
        look.changed.connect(self.update)

    # ---- what is shown ----

    def begin(self, limits: Limits, place: Isolation | Request, readings: Iterable[Usage]) -> None:
        """Start with the limits of a run and its readings so far."""
        self._given, self._cap, self._cursor = (limits, place), "", None
        self._readings, self._files = list(readings)[-MOST:], []
        self._take_up()

    def add(self, usage: Usage) -> None:
        """Add a reading of a run that is under way."""
        if self._given is not None:
            self._readings = [*self._readings[-MOST + 1 :], usage]
            self._take_up()

    def show_result(self, result: Result) -> None:
        """Show the whole curve of a finished run, and a cap where its end was not its own."""
        if self._given is None:
            return
        self._readings = list(result.curve)[-MOST:]
        self._cap = CUT_SHORT.get(result.outcome, "")
        self._files = files_written(result)
        self._take_up(result.duration)

    @property
    def strips(self) -> list[Strip]:
        return self._strips

    def point(self, moment: float | None) -> None:
        """Put the cursor to a moment without saying so."""
        self._cursor = None if moment is None else min(self._duration, max(0.0, moment))
        self.update()

    def _take_up(self, duration: float = 0.0) -> None:
        assert self._given is not None
        before = len(self._strips)
        self._strips = strips(self._readings, *self._given)
        self._written = self._files or written(self._readings)
        self._duration = max(duration, self._readings[-1].at if self._readings else 0.0)
        self.setVisible(bool(self._strips) and 0 < self._duration < math.inf)
        if before != len(self._strips):
            self.updateGeometry()
        said = ", ".join(f"{one.name} {one.said}" for one in self._strips)
        cap = tr(", ended: {cap}", cap=self._cap) if self._cap else ""
        files = "".join(
            tr(", {words} at {at} s", words=one.words, at=numeral(one.at, ".1f")) for one in self._files[:MOST_SAID]
        )
        self.setAccessibleDescription(f"{numeral(self._duration, '.1f')} s: {said}{cap}{files}")
        self.update()

    def sizeHint(self) -> QSize:
        px = self._look.px
        return QSize(px(400), px(TOP) + len(self._strips) * px(STRIP) + px(AXIS))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._look.px(260), self.sizeHint().height())

    # ---- hands ----

    @property
    def _room(self) -> QRectF:
        """Where the curves are."""
        px = self._look.px
        right = px(RIGHT) if self.width() > px(420) else px(14)
        return QRectF(px(LEFT), px(TOP), max(1, self.width() - px(LEFT) - right), len(self._strips) * px(STRIP))

    def _x(self, moment: float) -> float:
        room = self._room
        return room.left() + min(1.0, max(0.0, moment / self._duration)) * room.width()

    def _move(self, moment: float) -> None:
        self.point(moment)
        if self._cursor is not None:
            self.pointed.emit(self._cursor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        room = self._room
        if self._duration > 0 and room.left() - 4 <= event.position().x() <= room.right() + 4:
            self._move((event.position().x() - room.left()) / room.width() * self._duration)

    def leaveEvent(self, event: QEvent) -> None:
        if not self.hasFocus():
            self.point(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if step is None or not self._duration:
            super().keyPressEvent(event)
            return
        now = self._cursor if self._cursor is not None else (0.0 if step > 0 else self._duration)
        self._move(now + step * self._duration / 50)
        announce(self, self._words_at(self._cursor or 0.0))

    def _words_at(self, moment: float) -> str:
        values = [f"{one.name} {one.words(value)}" for one in self._strips if (value := one.at(moment)) is not None]
        wrote = self._wrote_at(self._x(moment))
        return f"{numeral(moment, '.1f')} s: {', '.join([*values, wrote] if wrote else values)}"

    def _wrote_at(self, x: float) -> str:
        """Return what was written where the cursor is, in words."""
        near = [one.words for one in self._written if abs(self._x(one.at) - x) <= self._look.px(4)]
        more = tr(" and {count} more", count=numeral(len(near) - MOST_NAMED)) if len(near) > MOST_NAMED else ""
        return ", ".join(near[:MOST_NAMED]) + more

    # ---- painting ----

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._strips or self._duration <= 0:
            return
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self._paint_axis(painter)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for number, strip in enumerate(self._strips):
            self._paint_strip(painter, number, strip)
        self._paint_written(painter)
        self._paint_cap(painter)
        if self._cursor is not None:
            self._paint_cursor(painter, self._cursor)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(self._look.tokens.accent), 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 6, 6)
        painter.end()

    def _paint_axis(self, painter: QPainter) -> None:
        room, tokens, px = self._room, self._look.tokens, self._look.px
        count = max(2.0, room.width() / px(_TICK_ROOM))
        step = next((one for one in _ROUND if self._duration / one <= count), self._duration / 4)
        painter.setFont(self._look.font(-1.5))
        for number in range(min(_MOST_TICKS, int(self._duration / step * 1.0001) + 1)):
            at = number * step
            x = round(self._x(at)) + 0.5
            painter.setPen(QPen(QColor(tokens.border), 1))
            painter.drawLine(QPointF(x, room.top()), QPointF(x, room.bottom()))
            painter.setPen(QColor(tokens.muted))
            words = f"{numeral(round(at, 3), 'g')} s" if step < 60 else f"{numeral(at / 60, 'g')} min"
            box = QRectF(x - px(30), room.bottom(), px(60), px(AXIS))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)

    def _paint_strip(self, painter: QPainter, number: int, strip: Strip) -> None:
        room, tokens, px = self._room, self._look.tokens, self._look.px
        box = QRectF(room.left(), room.top() + number * px(STRIP) + 6, room.width(), px(STRIP) - 10)
        ink = QColor(getattr(tokens, strip.ink))
        shares = ((at, min(1.0, value / strip.top)) for at, value in strip.points)
        points = [QPointF(self._x(at), box.bottom() - share * box.height()) for at, share in shares]
        shade = QColor(ink)
        shade.setAlphaF(0.14)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(shade)
        foot = [QPointF(points[-1].x(), box.bottom()), QPointF(points[0].x(), box.bottom())]
        painter.drawPolygon(QPolygonF([*points, *foot]))
        painter.setPen(QPen(ink, 1.5))
        painter.drawLines([QLineF(one, two) for one, two in pairwise(points)])
        painter.setPen(QPen(QColor(tokens.border), 1))
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        if strip.limit is not None and strip.limit_shown:
            y = box.bottom() - strip.limit / strip.top * box.height()
            painter.setPen(QPen(QColor(tokens.high), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y))
        painter.setFont(self._look.font(-1))
        painter.setPen(QColor(tokens.muted))
        name = QRectF(px(5), box.top(), box.left() - px(9), box.height())
        painter.drawText(name, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, strip.name)
        now = strip.at(self._cursor) if self._cursor is not None else None
        words = strip.said if now is None else strip.words(now)
        if now is not None:
            painter.setPen(QColor(tokens.text))
        side = QRectF(room.right() + px(6), box.top(), self.width() - room.right() - px(8), box.height())
        if side.width() > px(40):
            flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(side, int(flags), words)

    def _paint_written(self, painter: QPainter) -> None:
        """Mark on the axis when files were written, or more of the disk was used where their times are not known."""
        room, px, tokens = self._room, self._look.px, self._look.tokens
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens.accent))
        for one in self._written:
            x = self._x(one.at)
            foot = room.bottom() + 1
            cloth = [QPointF(x, foot - px(7)), QPointF(x + px(7), foot - px(4)), QPointF(x, foot)]
            painter.drawPolygon(QPolygonF(cloth))
            painter.drawRect(QRectF(x - 0.5, foot - px(7), 1, px(10)))

    def _paint_cap(self, painter: QPainter) -> None:
        if not self._cap:
            return
        room, px, tokens = self._room, self._look.px, self._look.tokens
        painter.fillRect(QRectF(room.right() - px(3), room.top(), px(3), room.height()), QColor(tokens.high))
        painter.setFont(self._look.font(-1.5, bold=True))
        painter.setPen(QColor(tokens.high))
        box = QRectF(room.right() - px(160), 0, px(160), room.top())
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, self._cap)

    def _paint_cursor(self, painter: QPainter, moment: float) -> None:
        room, px, tokens = self._room, self._look.px, self._look.tokens
        x = self._x(moment)
        painter.setPen(QPen(QColor(tokens.accent), 1))
        painter.drawLine(QPointF(x, room.top()), QPointF(x, room.bottom()))
        wrote = self._wrote_at(x)
        font = self._look.font(-1.5, bold=True)
        metrics = QFontMetricsF(font)
        words = f"{numeral(moment, '.1f')} s" + (f", {wrote}" if wrote else "")
        words = metrics.elidedText(words, Qt.TextElideMode.ElideRight, self.width() - px(12))
        width = metrics.horizontalAdvance(words) + px(12)
        box = QRectF(min(max(0.0, x - width / 2), self.width() - width), 0, width, px(TOP))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens.accent))
        painter.drawRoundedRect(box, px(7), px(7))
        painter.setFont(font)
        painter.setPen(QColor(tokens.on_accent))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)
