"""A card for one resource of a run: what it uses now, its limit, peak and curve; of one that is over its peak."""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QLinearGradient, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.parts.elide import ElidedLabel
from app.parts.plain import plain_label
from app.parts.roles import Role
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from app.look.look import Look

_POINTS = 600
"""As many as a finished run keeps."""
_NEAR = 0.8
_AT = 0.97


class GaugeView(QFrame):
    """`words` turns a value into text, e.g. `amounts.size`. One name says it all: value, limit, peak."""

    accessible_role = Role.Chart

    def __init__(
        self, look: Look, icon: str, title: str, words: Callable[[float], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._look = look
        self._icon = icon
        self._name = title
        self._words = words
        self._limit: float | None = None
        self._note = ""
        self._peak: float | None = None
        self._last: float | None = None
        self._over = False
        self._reason = tr("it has not started")
        self.setProperty("card", True)
        self._picture = plain_label()
        self._value = plain_label(role="large")
        self._below = ElidedLabel()
        self._below.setProperty("role", "small")
        self._why = plain_label(role="small", wrap=True)
        self._curve = Sparkline(look)
        self._curve.setAccessibleName(tr("Curve of {title}", title=title))
        # Its place is kept: else the cards of a run would grow with the first reading, and push the output up.
        policy = self._curve.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._curve.setSizePolicy(policy)
        heading = QHBoxLayout()
        heading.setSpacing(look.px(6))
        heading.addWidget(self._picture)
        heading.addWidget(plain_label(title, "muted"))
        heading.addStretch()
        figures = QVBoxLayout()
        figures.setSpacing(look.px(4))
        figures.addLayout(heading)
        figures.addWidget(self._value)
        upper = QHBoxLayout()
        upper.setSpacing(look.px(12))
        upper.addLayout(figures)
        upper.addWidget(self._curve, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(look.px(12), look.px(10), look.px(12), look.px(10))
        column.setSpacing(look.px(2))
        column.addLayout(upper)
        column.addWidget(self._below)
        column.addWidget(self._why)
        column.addStretch()
        self._paint_icon()
        self._tell()
        look.changed.connect(self._paint_icon)

    @property
    def peak(self) -> float | None:
        return self._peak

    @property
    def in_short(self) -> str:
        """The peak with its limit, in a few words; empty where nothing was measured."""
        if self._peak is None:
            return ""
        of = tr(" of {words}", words=self._words(self._limit)) if self._limit else ""
        return f"{self._name} {self._words(self._peak)}{of}{_NEAR_WORDS[self._near(self._peak)]}"

    def set_limit(self, limit: float | None, note: str = "") -> None:
        """Set the most this run may use, in the unit of the values; None where there is no limit.

        `note` says what else is in the figures.
        """
        self._limit = limit
        self._note = note
        self._tell()

    def add(self, at: float, value: float | None) -> None:
        """Add a reading `at` seconds after the start; None where the sandbox had none this time."""
        if value is None:
            return
        self._last = value
        self._peak = value if self._peak is None else max(self._peak, value)
        self._curve.add(at, value)
        self._tell()

    def show_curve(
        self, points: Iterable[tuple[float, float]], peak: float | None = None, *, over: bool = True
    ) -> None:
        """Show a whole curve, as (seconds, value); `peak` where it was measured separately.

        Of a run that is `over` the peak is the figure, and its last reading stands below.
        """
        points = list(points)
        self._curve.set_points(points)
        self._last = points[-1][1] if points else None
        self._over = over
        self._peak = max((value for _, value in points), default=None) if peak is None else peak
        self._tell()

    def end(self) -> None:
        """Show the peak of what was added: the run is over."""
        self._over = True
        self._tell()

    def no_data(self, reason: str) -> None:
        """Say in a few words why there is nothing to show."""
        self._last = self._peak = None
        self._over = False
        self._reason = reason
        self._curve.set_points(())
        self._tell()

    def not_seen(self) -> None:
        """Say that the limit holds and what is used cannot be seen."""
        most = tr("At most {words}; what", words=self._words(self._limit)) if self._limit else tr("What")
        self.no_data(tr("{most} is used cannot be seen from outside", most=most))

    def _tell(self) -> None:
        large = self._peak if self._over or self._last is None else self._last
        self._curve.setVisible(self._last is not None)
        self._value.setVisible(large is not None)
        self._below.setVisible(large is not None)
        self._why.setVisible(large is None)
        if large is None:
            self._why.setText(f"{self._reason}.")
            self.setAccessibleName(f"{self._name}: {self._reason}.")
        else:
            limit = [tr("of {words}", words=self._words(self._limit))] if self._limit else []
            beside = [*([self._note] if self._note else []), *self._beside()]
            near = self._near(large)
            words = self._words(large)
            of = limit
            if self._over:
                words = tr("peak {words}", words=words)
                of = [tr("peak, limit {words}", words=self._words(self._limit)) if self._limit else tr("peak")]
            self._below.setText(" \N{MIDDLE DOT} ".join([*of, *beside]))
            self._value.setText(self._words(large))
            self._curve.set_scale(self._limit, near)
            said = ", ".join([" ".join([words, *limit]), *beside])
            self.setAccessibleName(f"{self._name}: {said}{_NEAR_WORDS[near]}")

    def _beside(self) -> list[str]:
        """Return the smaller figure: the peak of a run that has not ended, the last reading of one that has."""
        if self._over:
            return [tr("end {words}", words=self._words(self._last))] if self._last is not None else []
        return [tr("peak {words}", words=self._words(self._peak))] if self._peak is not None else []

    def _near(self, value: float) -> str:
        share = value / self._limit if self._limit else 0.0
        return "high" if share >= _AT else "medium" if share >= _NEAR else "accent"

    def _paint_icon(self) -> None:
        self._picture.setPixmap(self._look.pixmap(self._icon, "muted", 14))


_NEAR_WORDS = {"accent": "", "medium": tr(", near the limit"), "high": tr(", at the limit")}


class Sparkline(QWidget):
    """A small curve from zero to the limit, or to its own top where there is no limit."""

    accessible_role = Role.Graphic

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # painted from the left
        self._look = look
        self._points: deque[tuple[float, float]] = deque(maxlen=_POINTS)
        self._limit: float | None = None
        self._ink = "accent"
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        look.changed.connect(self.update)

    def add(self, at: float, value: float) -> None:
        self._points.append((at, value))
        self.update()

    def set_points(self, points: Iterable[tuple[float, float]]) -> None:
        self._points = deque(points, maxlen=_POINTS)
        self.update()

    def set_scale(self, limit: float | None, ink: str) -> None:
        """Set the value at the upper edge, and the token to draw in."""
        self._limit, self._ink = limit, ink
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._look.px(120), self._look.px(56))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._look.px(48), self._look.px(32))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        room = QRectF(self.rect()).adjusted(1, 2, -1, -2)
        ink = QColor(getattr(self._look.tokens, self._ink))
        painter.setPen(QPen(QColor(self._look.tokens.border), 1))
        painter.drawLine(room.bottomLeft(), room.bottomRight())
        points = self._placed(room)
        if len(points) > 1:
            self._fill(painter, room, points, ink)
            # Separate lines: a polyline wider than a pixel takes ten times as long over noisy values.
            painter.setPen(QPen(ink, 1.5))
            painter.drawLines([QLineF(one, two) for one, two in pairwise(points)])
        painter.end()

    def _placed(self, room: QRectF) -> list[QPointF]:
        if not self._points:
            return []
        first, last = self._points[0][0], self._points[-1][0]
        top = max(max(value for _, value in self._points), self._limit or 0.0) or 1.0
        width = room.width() / ((last - first) or 1.0)
        return [
            QPointF(room.left() + (at - first) * width, room.bottom() - value / top * room.height())
            for at, value in self._points
        ]

    def _fill(self, painter: QPainter, room: QRectF, points: list[QPointF], ink: QColor) -> None:
        shade = QLinearGradient(room.topLeft(), room.bottomLeft())
        strong, faint = QColor(ink), QColor(ink)
        strong.setAlphaF(0.28)
        faint.setAlphaF(0.04)
        shade.setColorAt(0, strong)
        shade.setColorAt(1, faint)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(shade)
        foot = [QPointF(points[-1].x(), room.bottom()), QPointF(points[0].x(), room.bottom())]
        painter.drawPolygon(QPolygonF([*points, *foot]))
