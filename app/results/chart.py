"""A chart of the numbers of a table: a line for each column, scaled to its own largest value."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.parts.roles import Role
from runner.model.translation import tr

if TYPE_CHECKING:
    from app.files.found import Table
    from app.look.look import Look

INKS = ("accent", "low", "medium", "critical")
"""So many columns are drawn."""
_LINE = Qt.TextFlag.TextSingleLine
_SPACE = 12


class ChartView(QWidget):
    accessible_role = Role.Chart

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # painted from the left
        self._look = look
        self._lines: list[tuple[str, list[float | None]]] = []
        self._ends = ("", "")
        self.setMinimumHeight(look.px(120))
        look.changed.connect(self.update)

    def show_table(self, table: Table) -> None:
        """Draw the columns of numbers; the first column, where it is none, names the points."""
        heading, *rows = table.rows
        count = len(table.shares[0]) if table.shares else 0
        columns = [(place, [row[place] for row in table.shares]) for place in range(count)]
        numbers = [(place, shares) for place, shares in columns if any(one is not None for one in shares)]
        names_points = bool(numbers) and numbers[0][0] > 0
        self._ends = (rows[0][0], rows[len(table.shares) - 1][0]) if names_points and rows[0] else ("", "")
        self._lines = [(_legend(heading, rows, place, shares), shares) for place, shares in numbers[: len(INKS)]]
        more = len(numbers) - len(INKS)
        said = ", ".join(name for name, _ in self._lines) + (
            tr(", {more} more columns not drawn", more=more) if more > 0 else ""
        )
        self.setAccessibleName(tr("Chart: {said}. Each line is scaled to its own largest value.", said=said))
        self.setToolTip(tr("Each line is scaled to its own largest value."))
        self._more = tr("{more} more columns not drawn", more=more) if more > 0 else ""
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        try:
            self._paint(painter)
        finally:
            painter.end()

    def _paint(self, painter: QPainter) -> None:
        tokens, px = self._look.tokens, self._look.px
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._look.font(-1))
        metrics = QFontMetricsF(painter.font())
        row = metrics.height() + 2
        at = self._paint_legend(painter, metrics, row)
        room = QRectF(self.rect()).adjusted(px(6), at + px(4), -px(6), -row - px(4))
        if not self._lines or room.height() < 8:
            return
        lowest = min((one for _, shares in self._lines for one in shares if one is not None), default=0.0)
        zero = room.bottom() if lowest >= 0 else room.bottom() + lowest / (1 - lowest) * room.height()
        scale = zero - room.top()
        painter.setPen(QPen(QColor(tokens.border), 1))
        painter.drawLine(QPointF(room.left(), zero), QPointF(room.right(), zero))
        # The first is the widest: of two that lie on each other both are to be seen.
        for number, (ink, (_, shares)) in enumerate(zip(INKS, self._lines, strict=False)):
            pen = QPen(QColor(getattr(tokens, ink)), 1.8 + 2.2 * (len(self._lines) - 1 - number))
            self._paint_line(painter, room, zero, scale, shares, pen)
        painter.setPen(QColor(tokens.muted))
        below = QRectF(room.left(), room.bottom() + 2, room.width(), row)
        half = room.width() / 2 - px(4)
        for text, side in zip(self._ends, (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight), strict=True):
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, half)
            painter.drawText(below, int(side | Qt.AlignmentFlag.AlignVCenter | _LINE), shown)

    def _paint_legend(self, painter: QPainter, metrics: QFontMetricsF, row: float) -> float:
        """Return where the legend ends."""
        px, left, top = self._look.px, 6.0, 2.0
        for ink, (name, _) in zip(INKS, self._lines, strict=False):
            shown = metrics.elidedText(name, Qt.TextElideMode.ElideRight, self.width() - px(30))
            width = metrics.horizontalAdvance(shown) + px(14)
            if left > 6.0 and left + width > self.width():
                left, top = 6.0, top + row
            painter.setPen(QPen(QColor(getattr(self._look.tokens, ink)), 3))
            painter.drawLine(QPointF(left, top + row / 2), QPointF(left + px(8), top + row / 2))
            painter.setPen(QColor(self._look.tokens.text))
            place = QRectF(left + px(12), top, width, row)
            painter.drawText(place, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | _LINE), shown)
            left += width + px(_SPACE)
        return top + row

    def _paint_line(
        self, painter: QPainter, room: QRectF, zero: float, scale: float, shares: list[float | None], pen: QPen
    ) -> None:
        step = room.width() / max(1, len(shares) - 1)
        points = [
            None if share is None else QPointF(room.left() + number * step, zero - share * scale)
            for number, share in enumerate(shares)
        ]
        painter.setPen(pen)
        pairs = pairwise(points)
        painter.drawLines([QLineF(one, two) for one, two in pairs if one is not None and two is not None])
        if len(points) <= 40:
            painter.setBrush(pen.color())
            for point in points:
                if point is not None:
                    painter.drawEllipse(point, 2.0, 2.0)
            painter.setBrush(Qt.BrushStyle.NoBrush)


def _legend(heading: tuple[str, ...], rows: list[tuple[str, ...]], place: int, shares: list[float | None]) -> str:
    """Return the name of a column, with its largest number as it stands in the table."""
    name = heading[place] if place < len(heading) else tr("column {place}", place=place + 1)
    largest = max(range(len(shares)), key=lambda row: abs(shares[row] or 0.0))
    return tr("{name}, largest {rows}", name=name, rows=rows[largest][place].strip())
