"""Small plots: columns over time or size, and shares as bars with their words and numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.parts.plain import tip
from app.parts.roles import Role, announce
from runner.model.translation import numeral

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QKeyEvent, QMouseEvent

    from app.look.look import Look

ROW = 28
COLUMNS_HEIGHT = 168
FOOT, TOP, SIDE = 22, 10, 40
_STEPS = (1, 2, 5)


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name below, its pieces from the bottom up as (ink, number), and what is said of it."""

    name: str
    pieces: tuple[tuple[str, int], ...]
    words: str

    @property
    def number(self) -> int:
        return sum(number for _, number in self.pieces)


@dataclass(frozen=True, slots=True)
class Share:
    """One bar: its name, its number, its ink, and what is said of it; `target` is what a click leads to."""

    name: str
    number: int
    ink: str = "accent"
    words: str = ""
    target: object = None


class Plot(QWidget):
    """Something painted in which the mouse and the arrow keys point at one of several places."""

    accessible_role = Role.Chart
    chosen = Signal(int)
    """The place that was clicked, or for which Enter was pressed."""

    def __init__(self, look: Look, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # painted from the left
        self._look = look
        self._at = -1
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAccessibleName(name)
        look.changed.connect(self.update)

    @property
    def count(self) -> int:
        """How many places there are."""
        raise NotImplementedError

    def words(self, place: int) -> str:
        """Return what is said of a place."""
        raise NotImplementedError

    def leads(self, place: int) -> bool:
        """Return whether a click on a place leads anywhere."""
        raise NotImplementedError

    def place_at(self, at: QPointF) -> int:
        """Return the place at a point, -1 for none."""
        raise NotImplementedError

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            place = self.place_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), tip(self.words(place)) if place >= 0 else "", self)
            return True
        return super().event(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = self.place_at(event.position())
        hand = place >= 0 and self.leads(place)
        self.setCursor(Qt.CursorShape.PointingHandCursor if hand else Qt.CursorShape.ArrowCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        place = self.place_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and place >= 0 and self.leads(place):
            self.chosen.emit(place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1}
        step = steps.get(Qt.Key(event.key()))
        if step is not None and self.count:
            self._at = min(self.count - 1, max(0, self._at + step))
            announce(self, self.words(self._at))
            self.update()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and 0 <= self._at < self.count:
            if self.leads(self._at):
                self.chosen.emit(self._at)
        else:
            super().keyPressEvent(event)

    def _keep_place(self) -> None:
        """Let the keys point at nothing that is no longer there; say all of it to who does not see."""
        self._at = min(self._at, self.count - 1)
        self.setAccessibleDescription(". ".join(self.words(place) for place in range(min(self.count, 40))))
        self.update()

    def _paint_focus(self, painter: QPainter, box: QRectF | None) -> None:
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(self._look.tokens.accent), 2))
            painter.drawRoundedRect((box or QRectF(self.rect())).adjusted(1, 1, -1, -1), 4, 4)


class ColumnsPlot(Plot):
    """Columns side by side over one scale, with a few round numbers at the left."""

    def __init__(self, look: Look, name: str, parent: QWidget | None = None, *, height: int = COLUMNS_HEIGHT) -> None:
        super().__init__(look, name, parent)
        self._columns: tuple[Column, ...] = ()
        self._height = height
        self._leads = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_columns(self, columns: Sequence[Column], *, leads: bool = False) -> None:
        """Show other columns; with `leads` a click on one that is not empty leads somewhere."""
        self._columns, self._leads = tuple(columns), leads
        self._keep_place()

    @property
    def columns(self) -> tuple[Column, ...]:
        return self._columns

    @property
    def count(self) -> int:
        return len(self._columns)

    def words(self, place: int) -> str:
        return self._columns[place].words

    def leads(self, place: int) -> bool:
        return self._leads and self._columns[place].number > 0

    def place_at(self, at: QPointF) -> int:
        room = self._room
        if not self._columns or not room.adjusted(0, 0, 0, self._look.px(FOOT)).contains(at):
            return -1
        return min(self.count - 1, int((at.x() - room.left()) / room.width() * self.count))

    def sizeHint(self) -> QSize:
        return QSize(self._look.px(240), self._look.px(self._height))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._look.px(160), self._look.px(self._height))

    @property
    def _room(self) -> QRectF:
        px = self._look.px
        return QRectF(self.rect()).adjusted(self._side, px(TOP), -px(4), -px(FOOT))

    @property
    def _side(self) -> float:
        """The width at the left for the numbers of the scale."""
        px, metrics = self._look.px, QFontMetricsF(self._look.font(-1.5))
        return max(px(SIDE), metrics.horizontalAdvance(numeral(self._top)) + px(8))

    @property
    def _top(self) -> int:
        return scale(max((one.number for one in self._columns), default=0))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        top, room = self._top, self._room
        self._paint_scale(painter, top)
        width = room.width() / max(1, self.count)
        gap = min(self._look.px(6), width * 0.22)
        for place, one in enumerate(self._columns):
            box = QRectF(room.left() + place * width + gap / 2, room.top(), max(1.0, width - gap), room.height())
            self._paint_column(painter, box, one, top)
        self._paint_names(painter, width)
        held = None
        if 0 <= self._at < self.count:
            held = QRectF(room.left() + self._at * width, room.top() - 2, width, room.height() + 4)
        self._paint_focus(painter, held)
        painter.end()

    def _paint_column(self, painter: QPainter, box: QRectF, one: Column, top: int) -> None:
        foot = box.bottom()
        painter.setPen(Qt.PenStyle.NoPen)
        for ink, number in one.pieces:
            if number:
                height = max(1.5, number / top * box.height())
                painter.setBrush(QColor(getattr(self._look.tokens, ink)))
                painter.drawRect(QRectF(box.left(), foot - height, box.width(), height))
                foot -= height

    def _paint_scale(self, painter: QPainter, top: int) -> None:
        room, tokens, px = self._room, self._look.tokens, self._look.px
        painter.setFont(self._look.font(-1.5))
        for share in (0.0, 0.5, 1.0):
            number = top * share
            y = round(room.bottom() - share * room.height()) + 0.5
            painter.setPen(QPen(QColor(tokens.border), 1))
            painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y))
            if number == int(number):
                painter.setPen(QColor(tokens.muted))
                box = QRectF(0, y - px(9), room.left() - px(6), px(18))
                painter.drawText(
                    box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, numeral(number, ",.0f")
                )

    def _paint_names(self, painter: QPainter, width: float) -> None:
        """Write as many names below as there is room for, at equal distances."""
        room, px = self._room, self._look.px
        font = self._look.font(-1.5)
        widest = max((QFontMetricsF(font).horizontalAdvance(one.name) for one in self._columns), default=0) + px(18)
        every = max(1, int(widest // width) + (widest % width > 0)) if width > 0 else 1
        painter.setFont(font)
        painter.setPen(QColor(self._look.tokens.muted))
        # From the last one on: that is the present.
        for place in range(self.count - 1, -1, -every):
            middle = room.left() + (place + 0.5) * width
            box = QRectF(middle - widest / 2, room.bottom(), widest, px(FOOT))
            box.moveRight(min(box.right(), self.width()))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, self._columns[place].name)


class SharesPlot(Plot):
    """Names at the left, bars from there, numbers at the right; all of one scale."""

    def __init__(self, look: Look, name: str, nothing: str, parent: QWidget | None = None) -> None:
        """`nothing` is said where there are no bars."""
        super().__init__(look, name, parent)
        self._shares: tuple[Share, ...] = ()
        self._nothing = nothing
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_shares(self, shares: Sequence[Share]) -> None:
        """Show other bars."""
        taller = len(shares) != len(self._shares)
        self._shares = tuple(shares)
        self._keep_place()
        if not shares:
            self.setAccessibleDescription(self._nothing)
        if taller:
            self.updateGeometry()

    @property
    def shares(self) -> tuple[Share, ...]:
        return self._shares

    @property
    def count(self) -> int:
        return len(self._shares)

    def words(self, place: int) -> str:
        one = self._shares[place]
        return one.words or f"{one.name}: {numeral(one.number)}"

    def leads(self, place: int) -> bool:
        return self._shares[place].target is not None

    def place_at(self, at: QPointF) -> int:
        place = int(at.y() // self._look.px(ROW))
        return place if 0 <= place < self.count and self.rect().contains(at.toPoint()) else -1

    def sizeHint(self) -> QSize:
        return QSize(self._look.px(240), max(1, self.count) * self._look.px(ROW))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._look.px(160), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        px, tokens = self._look.px, self._look.tokens
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not self._shares:
            painter.setFont(self._look.font(-0.5))
            painter.setPen(QColor(tokens.muted))
            room = QRectF(self.rect())
            painter.drawText(room, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, self._nothing)
        metrics = QFontMetricsF(self._look.font(-0.5))
        numbers = max((metrics.horizontalAdvance(numeral(one.number)) for one in self._shares), default=0) + px(8)
        names = max((metrics.horizontalAdvance(one.name) for one in self._shares), default=0) + px(10)
        names = min(names, max(self.width() * 0.46, self.width() - numbers - px(120)))
        most = max((one.number for one in self._shares), default=1) or 1
        for place, one in enumerate(self._shares):
            row = QRectF(0, place * px(ROW), self.width(), px(ROW))
            painter.setFont(self._look.font(-0.5))
            painter.setPen(QColor(tokens.text))
            shown = metrics.elidedText(one.name, Qt.TextElideMode.ElideMiddle, names - px(10))
            painter.drawText(row, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
            painter.setPen(QColor(tokens.muted))
            painter.drawText(row, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, numeral(one.number))
            room = QRectF(names, row.top() + px(9), row.width() - names - numbers, px(ROW - 18))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.hover))
            painter.drawRoundedRect(room, 3, 3)
            painter.setBrush(QColor(getattr(tokens, one.ink)))
            filled = QRectF(room)
            filled.setWidth(max(3.0, room.width() * one.number / most))
            painter.drawRoundedRect(filled, 3, 3)
        at = QRectF(0, self._at * px(ROW), self.width(), px(ROW)) if 0 <= self._at < self.count else None
        self._paint_focus(painter, at)
        painter.end()


def scale(most: int) -> int:
    """Return a round number that is not smaller than `most`: 1, 2 or 5 times a power of ten, at least 2."""
    power = 1
    while True:
        for step in _STEPS:
            if step * power >= max(2, most):
                return step * power
        power *= 10
