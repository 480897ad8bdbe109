"""The picture of the way of a request: boxes with arrows, then what is reached, and what is cut off, crossed out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.parts.plain import tip
from app.parts.roles import Role
from app.review.passage import Passage, Station
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtGui import QKeyEvent, QMouseEvent, QPaintEvent, QResizeEvent

    from app.look.look import Look

_STEP = -1.0
_ICON = 14


@dataclass(frozen=True, slots=True)
class Drawn:
    """One station in its room; `box` has an outline, and an arrow leads to it from the left where it is `led` to."""

    station: Station
    room: QRectF
    box: bool
    led: bool


class PassagePicture(QWidget):
    """As high as the rows that it needs at its width. A click, or Enter or Space, asks for the details."""

    accessible_role = Role.Button
    pressed = Signal()

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # painted from the left
        self._look = look
        self._passage = Passage()
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleDescription(tr("Shows the details"))
        look.changed.connect(self._fit)

    @property
    def passage(self) -> Passage:
        """What is shown."""
        return self._passage

    def show_passage(self, passage: Passage) -> None:
        """Show exactly this."""
        self._passage = passage
        self.setAccessibleName(passage.spoken)
        self.setToolTip(tip(passage.spoken.replace(". ", ".\n")))
        self._fit()

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.height())

    # ---- where everything is ----

    def _fit(self) -> None:
        rooms = [one.room for one in self._drawn()]
        height = round(max((room.bottom() for room in rooms), default=0)) + 1
        if self.height() != height or self.minimumHeight() != height:
            self.setFixedHeight(height)
            self.updateGeometry()
        self.update()

    def _drawn(self) -> tuple[Drawn, ...]:
        """Return what is shown with its room, in rows as wide as the widget."""
        places = list(self._places())
        drawn = tuple(self._laid_out(places))
        if drawn and drawn[-1].room.top() > 0 and any(station.spare for station, _ in places):
            drawn = tuple(self._laid_out([one for one in places if not one[0].spare]))
        return drawn

    def _laid_out(self, places: list[tuple[Station, bool]]) -> Iterator[Drawn]:
        px, width = self._look.px, float(max(1, self.width()))
        metrics = QFontMetricsF(self._look.font(_STEP, bold=True))
        height = metrics.height() + px(5)
        left = top = 0.0
        for number, (station, box) in enumerate(places):
            led = number > 0 and (box or station.crossed)
            # Apart from what comes before: it is the code that reaches it, not who gets what that makes.
            gap = px(22) if number < self._ways else px(30) if led else px(14)
            inset = px(16) if box else px(2)
            words = ", ".join(filter(None, (station.words, station.remark)))
            wide = metrics.horizontalAdvance(words) + (px(_ICON + 5) if station.icon else 0) + inset
            if left and left + gap + wide > width:
                left, top = 0.0, top + height + px(4)
            start = left + gap if left else px(18) if led else 0.0
            yield Drawn(station, QRectF(start, top, min(wide, width - start), height), box, led)
            left = start + wide

    @property
    def _ways(self) -> int:
        return len(self._passage.stations)

    def _places(self) -> Iterator[tuple[Station, bool]]:
        shown = self._passage
        yield from ((one, True) for one in shown.stations)
        yield from ((one, one.ink == "medium") for one in shown.reaches)

    # ---- painting ----

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for one in self._drawn():
            self._draw(painter, one)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(self._look.tokens.accent), self._look.px(2)))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), self._look.px(4), self._look.px(4))
        painter.end()

    def _draw(self, painter: QPainter, drawn: Drawn) -> None:
        px, tokens, station, room = self._look.px, self._look.tokens, drawn.station, drawn.room
        ink = QColor(getattr(tokens, station.ink))
        if drawn.led:
            self._draw_arrow(painter, room, ink, station.crossed)
        if drawn.box:
            painter.setPen(QPen(ink, 1))
            painter.setBrush(QColor(tokens.surface))
            painter.drawRoundedRect(room.adjusted(0.5, 0.5, -0.5, -0.5), px(5), px(5))
        inside = room.adjusted(px(8), 0, -px(8), 0) if drawn.box else room
        if station.icon:
            picture = self._look.pixmap(station.icon, station.ink, _ICON)
            painter.drawPixmap(QPointF(inside.left(), room.center().y() - px(_ICON) / 2), picture)
            inside.setLeft(inside.left() + px(_ICON + 5))
        font = self._look.font(_STEP, bold=True)
        font.setStrikeOut(station.crossed)
        painter.setFont(font)
        metrics = QFontMetricsF(font)
        painter.setPen(ink)
        remark = f", {station.remark}" if station.remark else ""
        left = inside.width() - metrics.horizontalAdvance(remark)
        # Of a host that is too long both ends are seen: what it belongs to stands at its end.
        words = metrics.elidedText(station.words, Qt.TextElideMode.ElideMiddle, left + 1)
        middle = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)
        painter.drawText(inside, middle, words)
        if remark:
            painter.setPen(QColor(tokens.medium))
            painter.drawText(inside.adjusted(metrics.horizontalAdvance(words), 0, 0, 0), middle, remark)

    def _draw_arrow(self, painter: QPainter, room: QRectF, ink: QColor, cut: bool) -> None:
        """Draw an arrow that ends at the left of `room`, or one that is cut in the middle."""
        px = self._look.px
        end = QPointF(room.left() - px(4), room.center().y())
        start = QPointF(end.x() - px(14), end.y())
        painter.setPen(QPen(ink, px(1.5), Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.drawLine(start, end)
        if cut:
            middle, half = (start + end) / 2, px(3.5)
            for sign in (-1, 1):
                painter.drawLine(middle + QPointF(-half, sign * half), middle + QPointF(half, -sign * half))
        else:
            for sign in (-1, 1):
                painter.drawLine(end, end + QPointF(-px(4), sign * px(3.5)))

    # ---- pressing ----

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.pressed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.isAutoRepeat():
            self.pressed.emit()
            event.accept()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
