"""The day as lanes, one for each agent: bars to point at, and stretches of time to drag over."""

from __future__ import annotations

import time
from bisect import bisect_right
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app import phrases
from app.parts.agent import paint_dot
from app.parts.plain import tip
from app.parts.roles import Role, announce
from app.today.bars import OTHERS, AgentLane, Axis, Bar, Stretch, axis
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QKeyEvent, QMouseEvent

    from app.look.look import Look

LANE, AXIS, GUTTER, THICK = 46, 24, 156, 22
"""Heights of a lane and of the axis, width of the names, and height of a bar, in pixels."""
LEAST = 4
"""Width of the shortest part of a bar, in pixels: most take seconds, of which hours have thousands."""
NEAR = 5
"""Pixels beside a bar that still count as the bar."""
DRAGGED = 4
"""Pixels from which on a press is a drag."""
TICK_MS = 5000
"""Between two looks at the clock while somebody waits or something runs."""
HOUR_ROOM = 72
"""Pixels that an hour on the axis needs for its words."""
_KEYS = {Qt.Key.Key_Left: (0, -1), Qt.Key.Key_Right: (0, 1), Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Down: (1, 0)}


class LanesView(QWidget):
    """Arrow keys go from bar to bar, Enter opens one; dragging selects a stretch of one lane."""

    accessible_role = Role.Chart
    chosen = Signal(str, float)
    """Agent of a request or of a program at work, and the moment at which that began."""
    selected = Signal(str, float, float)
    """Agent ('' for all of the last lane), and the two moments between which was dragged."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # painted from the left
        self._look = look
        self._lanes: list[AgentLane] = []
        self._axis: Axis = axis((), time.time())
        self._at: tuple[int, int] | None = None
        """AgentLane and bar under the keys."""
        self._dragged: tuple[int, float, float] | None = None
        """AgentLane, where the drag began and where it is, in pixels of the axis."""
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Agents through the day"))
        self.setAccessibleDescription(tr("Arrow keys go from one to the next, Enter opens it in History."))
        self._tick = QTimer(self)
        self._tick.setInterval(TICK_MS)
        self._tick.timeout.connect(self._let_time_pass)
        look.changed.connect(self.update)

    @property
    def lanes(self) -> Sequence[AgentLane]:
        return self._lanes

    def show_lanes(self, lanes: list[AgentLane]) -> None:
        """Show other bars; the one under the keys stays under them."""
        held = self._held
        taller = len(lanes) != len(self._lanes)
        self._lanes = lanes
        self._at = None if held is None else self._find(held.id)
        self._measure_time()
        if taller:
            self.updateGeometry()
        open_ones = any(one.is_open for lane in lanes for one in lane.bars)
        if open_ones != self._tick.isActive():
            self._tick.start() if open_ones else self._tick.stop()
        self.update()

    def sizeHint(self) -> QSize:
        px = self._look.px
        return QSize(px(600), max(1, len(self._lanes)) * px(LANE) + px(AXIS))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._look.px(320), self.sizeHint().height())

    # ---- time ----

    @Slot()
    def _let_time_pass(self) -> None:
        self._measure_time()
        self.update()

    def _measure_time(self) -> None:
        self._axis = axis([lane.bars[0] for lane in self._lanes if lane.bars], time.time())

    # ---- where things are ----

    @property
    def _room(self) -> QRectF:
        """Where the bars are."""
        px = self._look.px
        left = min(px(GUTTER), self.width() // 3)
        return QRectF(left, 0, max(1, self.width() - left - px(14)), self.height() - px(AXIS))

    def _lane_at(self, y: float) -> int | None:
        number = int(y // self._look.px(LANE))
        return number if 0 <= number < len(self._lanes) and y >= 0 else None

    def _box(self, one: Bar, lane: int, now: float) -> QRectF:
        px, room = self._look.px, self._room
        placed = self._placed(one, now, room.width())
        left = placed[0][1] if placed else self._axis.x(one.begin, room.width())
        right = placed[-1][2] if placed else left + px(LEAST)
        top = lane * px(LANE) + (px(LANE) - px(THICK)) / 2
        return QRectF(room.left() + left, top, right - left, px(THICK))

    def _placed(self, one: Bar, now: float, width: float) -> list[tuple[Stretch, float, float]]:
        """Return each part with where it begins and ends in pixels of the axis: none so narrow that nobody sees it."""
        least = self._look.px(LEAST)
        placed: list[tuple[Stretch, float, float]] = []
        begin = 0.0
        for part in one.parts:
            begin = max(begin, self._axis.x(part.begin, width))
            end = max(begin + least, self._axis.x(now if part.end is None else part.end, width))
            placed.append((part, begin, end))
            begin = end
        return placed

    def _bar_at(self, at: QPointF) -> tuple[int, int] | None:
        """Return the bar at or nearest to a point, the last one where several are."""
        number = self._lane_at(at.y())
        if number is None or at.x() < self._room.left():
            return None
        bars, now, near = self._lanes[number].bars, time.time(), self._look.px(NEAR)
        moment = self._axis.moment(at.x() + near - self._room.left(), self._room.width())
        last = bisect_right(bars, moment, key=lambda one: one.begin)
        # Bars are in the order in which they began: of those that began before, the latest that reaches so far.
        for place in range(last - 1, -1, -1):
            box = self._box(bars[place], number, now)
            if box.left() - near <= at.x() <= box.right() + near:
                return number, place
        return None

    def _find(self, name: str) -> tuple[int, int] | None:
        found = ((n, p) for n, lane in enumerate(self._lanes) for p, one in enumerate(lane.bars) if one.id == name)
        return next(found, None)

    @property
    def _held(self) -> Bar | None:
        if self._at is None or self._at[0] >= len(self._lanes):
            return None
        bars = self._lanes[self._at[0]].bars
        return bars[self._at[1]] if self._at[1] < len(bars) else None

    # ---- hands ----

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            place = self._bar_at(QPointF(event.pos()))
            if place is None:
                QToolTip.hideText()
            else:
                QToolTip.showText(event.globalPos(), tip(self._lanes[place[0]].bars[place[1]].words), self)
            return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        number = self._lane_at(event.position().y())
        if event.button() == Qt.MouseButton.LeftButton and number is not None:
            x = event.position().x() - self._room.left()
            self._dragged = number, x, x

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._dragged is not None:
            number, begin, _ = self._dragged
            self._dragged = number, begin, event.position().x() - self._room.left()
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        dragged, self._dragged = self._dragged, None
        self.update()
        if dragged is None or dragged[0] >= len(self._lanes):
            return
        number, begin, end = dragged
        if abs(end - begin) >= self._look.px(DRAGGED):
            width = self._room.width()
            first, last = sorted((self._axis.moment(begin, width), self._axis.moment(end, width)))
            self.selected.emit(self._lanes[number].agent, first, last)
        elif (place := self._bar_at(event.position())) is not None:
            self._at = place
            self._open()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._held is not None:
            self._open()
        elif event.key() == Qt.Key.Key_Escape and self._dragged is not None:
            self._dragged = None
            self.update()
        elif (step := _KEYS.get(Qt.Key(event.key()))) is not None and self._lanes:
            self._go(*step)
        else:
            super().keyPressEvent(event)

    def _go(self, down: int, along: int) -> None:
        """Move to the next bar of the lane, or to the bar of another lane that began last before."""
        held = self._held
        if held is None or self._at is None:
            self._at = len(self._lanes) - 1, max(0, len(self._lanes[-1].bars) - 1)
        elif down:
            number = min(len(self._lanes) - 1, max(0, self._at[0] + down))
            bars = self._lanes[number].bars
            place = bisect_right(bars, held.begin, key=lambda one: one.begin) - 1
            self._at = (number, max(0, place)) if number != self._at[0] else self._at
        else:
            number, place = self._at
            self._at = number, min(len(self._lanes[number].bars) - 1, max(0, place + along))
        if (now_held := self._held) is not None:
            announce(self, now_held.words)
        self.update()

    def _open(self) -> None:
        if (held := self._held) is not None:
            self.chosen.emit(held.agent, held.begin)

    # ---- painting ----

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self._paint_axis(painter)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        now = time.time()
        for number, lane in enumerate(self._lanes):
            self._paint_name(painter, number, lane)
            self._paint_bars(painter, number, lane, now)
        self._paint_drag(painter)
        held = self._held
        if held is not None and self._at is not None and self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(self._look.tokens.accent), 2))
            painter.drawRoundedRect(self._box(held, self._at[0], now).adjusted(-3, -3, 3, 3), 3, 3)
            self._paint_words(painter, held)
        elif self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(self._look.tokens.accent), 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 6, 6)
        painter.end()

    def _paint_axis(self, painter: QPainter) -> None:
        tokens, room, px = self._look.tokens, self._room, self._look.px
        painter.setFont(self._look.font(-1.25))
        foot = QRectF(0, room.bottom(), 0, px(AXIS))
        for at in self._axis.hours(int(room.width() // px(HOUR_ROOM))):
            x = round(room.left() + self._axis.x(at, room.width())) + 0.5
            painter.setPen(QPen(QColor(tokens.border), 1))
            painter.drawLine(QPointF(x, 0), QPointF(x, room.bottom()))
            painter.setPen(QColor(tokens.muted))
            words = QRectF(x - px(40), foot.top(), px(80), foot.height())
            words.moveRight(min(words.right(), self.width() - 1))
            last = x + px(20) > self.width()
            align = Qt.AlignmentFlag.AlignRight if last else Qt.AlignmentFlag.AlignHCenter
            painter.drawText(words, align | Qt.AlignmentFlag.AlignVCenter, phrases.clock(at))
        x = room.left() + self._axis.x(time.time(), room.width())
        painter.setPen(QPen(QColor(tokens.accent), 1, Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(x, 0), QPointF(x, room.bottom()))

    def _paint_name(self, painter: QPainter, number: int, lane: AgentLane) -> None:
        px, tokens = self._look.px, self._look.tokens
        top = number * px(LANE)
        width = self._room.left() - px(30)
        if lane.agent:
            paint_dot(painter, self._look, lane.agent, QPointF(px(10), top + px(LANE) / 2 - px(7)))
        for text, step, bold, ink, place in (
            (phrases.visible(lane.agent) or OTHERS, 0.0, True, tokens.text, -7),
            (lane.words, -1.25, False, tokens.muted, 10),
        ):
            font = self._look.font(step, bold=bold)
            painter.setFont(font)
            painter.setPen(QColor(ink))
            shown = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, width)
            box = QRectF(px(22), top + px(LANE) / 2 + px(place) - px(10), width, px(20))
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)

    def shapes(self, lane: AgentLane, now: float) -> list[tuple[int, int, str]]:
        """Return what is painted of a lane: left and right edge in whole pixels, and ink, later ones above earlier.

        Requests of the same seconds cover each other, so a shape is painted once however many they are.
        """
        room = self._room
        left, width = room.left(), room.width()
        found: dict[tuple[int, int, str], None] = {}
        for one in sorted(lane.bars, key=lambda one: not one.work):  # what a program asked stands on its own bar
            for part, begin, end in self._placed(one, now, width):
                shape = round(left + begin), round(left + end), part.ink
                found.pop(shape, None)
                found[shape] = None
        return list(found)

    def _paint_bars(self, painter: QPainter, number: int, lane: AgentLane, now: float) -> None:
        px, tokens = self._look.px, self._look.tokens
        top = number * px(LANE) + (px(LANE) - px(THICK)) / 2
        painter.setPen(Qt.PenStyle.NoPen)
        for left, right, ink in self.shapes(lane, now):
            painter.setBrush(QColor(getattr(tokens, ink)))
            painter.drawRoundedRect(QRectF(left, top, right - left, px(THICK)), 1, 1)

    def _paint_drag(self, painter: QPainter) -> None:
        if self._dragged is None:
            return
        number, begin, end = self._dragged
        room, px = self._room, self._look.px
        first, last = sorted((min(max(0.0, begin), room.width()), min(max(0.0, end), room.width())))
        shade = QColor(self._look.tokens.accent)
        shade.setAlphaF(0.18)
        painter.setPen(QPen(QColor(self._look.tokens.accent), 1))
        painter.setBrush(shade)
        painter.drawRect(QRectF(room.left() + first, number * px(LANE) + 2, last - first, px(LANE) - 4))
        words = tr("{clock} to ", clock=phrases.clock(self._axis.moment(first, room.width())))
        words += phrases.clock(self._axis.moment(last, room.width()))
        painter.setFont(self._look.font(-1.25, bold=True))
        painter.setPen(QColor(self._look.tokens.text))
        painter.drawText(QPointF(room.left() + first + px(4), number * px(LANE) + px(11)), words)

    def _paint_words(self, painter: QPainter, held: Bar) -> None:
        """Say of the bar under the keys what the tool tip says."""
        px, tokens = self._look.px, self._look.tokens
        font = self._look.font(-1)
        metrics = QFontMetricsF(font)
        words = metrics.elidedText(held.words, Qt.TextElideMode.ElideRight, self._room.width() - px(16))
        width = metrics.horizontalAdvance(words) + px(16)
        at = self._axis.x(held.begin, self._room.width()) + self._room.left()
        left = min(max(self._room.left(), at - width / 2), self._room.right() - width)
        number = self._at[0] if self._at is not None else 0
        above = number * px(LANE) - px(14)
        top = above if number else px(LANE) - px(8)
        box = QRectF(left, top, width, px(22))
        painter.setPen(QPen(QColor(tokens.edge), 1))
        painter.setBrush(QColor(tokens.surface))
        painter.drawRoundedRect(box, 5, 5)
        painter.setFont(font)
        painter.setPen(QColor(tokens.text))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)
