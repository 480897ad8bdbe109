"""The parts of the page beside the tiles: the choice of span, the day, what is worth a look, and plots."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.parts.elide import ElidedLabel
from app.parts.flow import FlowRow
from app.parts.fold import FoldingRow
from app.parts.plain import plain_label
from app.parts.roles import Role
from app.today import overview
from app.today.bars import LEGEND
from app.today.lane_view import LanesView
from app.today.plots import ColumnsPlot, SharesPlot
from app.today.spans import TimeSpan
from runner.audit.history.counting import Unit
from runner.model.translation import tr, translated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QResizeEvent

    from app.look.look import Look
    from app.today.bars import AgentLane
    from app.today.highlights import Notable
    from app.today.plots import Column
    from app.today.spans import SpanFigures

NARROW = 600
"""Pixels below which the choice of span stands under the title."""
WIDE, MIDDLE = 980, 640
"""Pixels from which on three cards stand side by side, and two."""
HISTOGRAM = 132
ALL_WELL = tr("Nothing stands out.")
NO_BARS = tr("No request today yet. Each appears here as it comes.")


class Heading(QWidget):
    """Title, state, the choice of span, and the export."""

    chosen = Signal()

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._title = plain_label(tr("Today"), "title")
        self._state = ElidedLabel()
        self._state.setProperty("role", "muted")
        self._group = QButtonGroup(self)
        self.buttons: dict[TimeSpan, QToolButton] = {}
        choices = QWidget()
        self._choices = QHBoxLayout(choices)
        self._choices.setContentsMargins(0, 0, 0, 0)
        self._choices.setSpacing(look.px(2))
        for span in TimeSpan:
            self._add(span)
        self.export = QPushButton(tr("Export"))
        self.export.setToolTip(tr("Write the figures into a table (CSV)"))
        self.export.setAccessibleName(tr("Export the figures"))
        self.export.setAutoDefault(False)
        look.dress(self.export, "download", size=14)
        titles = QHBoxLayout()
        titles.setSpacing(look.px(10))
        titles.addWidget(self._title)
        titles.addWidget(self._state, 1)
        self._row = FoldingRow()
        self._row.setContentsMargins(look.px(4), 0, 0, 0)
        self._row.setSpacing(look.px(6))
        self._row.addLayout(titles, 1)
        self._row.addWidget(FlowRow((choices, self.export), look.px(10), look.px(6)))
        self.setLayout(self._row)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._row.fold(self.width() < self._look.px(NARROW))

    @property
    def span(self) -> TimeSpan:
        return next(span for span, button in self.buttons.items() if button.isChecked())

    def tell(self, state: str) -> None:
        """Say how things stand now."""
        self._state.setText(state)
        words = {
            TimeSpan.TODAY: tr("Today"),
            TimeSpan.WEEK: tr("Last 7 days"),
            TimeSpan.MONTH: tr("Last 30 days"),
            TimeSpan.ALL: tr("All of it"),
        }
        self._title.setText(words[self.span])

    def _add(self, span: TimeSpan) -> None:
        button = QToolButton()
        button.setText(translated(span.value))
        button.setCheckable(True)
        button.setChecked(span is TimeSpan.TODAY)
        button.setProperty("kind", "span")
        # By a click too: else the ring would stay on another one than that which was chosen.
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.setAccessibleName(tr("Show {value}", value=translated(span.value)))
        button.clicked.connect(self.chosen)
        self._group.addButton(button)
        self.buttons[span] = button
        self._choices.addWidget(button)


class Legend(QWidget):
    """Inks with their words, in one line or as many as they need at the present width."""

    accessible_role = Role.Graphic

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._entries: tuple[tuple[str, str], ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        look.changed.connect(self.update)

    def show_entries(self, entries: Sequence[tuple[str, str]]) -> None:
        self._entries = tuple(entries)
        self.setAccessibleName(", ".join(name for _, name in entries))
        self._fit()
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(sum(map(self._length, self._entries)), self.minimumHeight())

    def minimumSizeHint(self) -> QSize:
        return QSize(max(map(self._length, self._entries), default=0), self.minimumHeight())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def places(self) -> list[tuple[int, int]]:
        """Return where each entry begins: pixels from the left, and which line."""
        found, left, line = [], 0, 0
        for entry in self._entries:
            length = self._length(entry)
            if left and left + length > self.width():
                left, line = 0, line + 1
            found.append((left, line))
            left += length
        return found

    @property
    def _line(self) -> int:
        return max(self.fontMetrics().height(), self._look.px(18))

    def _length(self, entry: tuple[str, str]) -> int:
        return self._look.px(10 + 6) + self.fontMetrics().horizontalAdvance(entry[1]) + self._look.px(14)

    def _fit(self) -> None:
        places = self.places()
        self.setFixedHeight(self._line * (1 + (places[-1][1] if places else 0)))

    def paintEvent(self, event: QPaintEvent) -> None:
        px = self._look.px
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for entry, (left, line) in zip(self._entries, self.places(), strict=True):
            ink, name = entry
            top = line * self._line
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(getattr(self._look.tokens, ink)))
            painter.drawRoundedRect(QRectF(left, top + (self._line - px(10)) / 2, px(10), px(10)), 2, 2)
            painter.setPen(QColor(self._look.tokens.muted))
            room = QRectF(left + px(16), top, self._length(entry) - px(16), self._line)
            painter.drawText(room, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, name)
        painter.end()


class TitledCard(QFrame):
    """A card with a heading; put what it holds into `column`."""

    accessible_role = Role.Grouping

    def __init__(self, look: Look, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        self.setAccessibleName(title)
        self.title = plain_label(title, "strong")
        self.head = FoldingRow()
        self.head.setSpacing(look.px(6))
        self.head.addWidget(self.title)
        self.head.addStretch(1)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(look.px(14), look.px(10), look.px(14), look.px(12))
        self.column.setSpacing(look.px(6))
        self.column.addLayout(self.head)


class SpanCard(TitledCard):
    """The lanes of the day, or columns over a longer span."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(look, tr("Agents through the day"), parent)
        self._look = look
        self.lanes = LanesView(look)
        self.columns = ColumnsPlot(look, tr("Requests over time"))
        self.legend = Legend(look)
        self.note = plain_label(role="small")
        self.no_bars = plain_label(NO_BARS, "muted")
        self.head.addWidget(self.note)
        self.head.addWidget(self.legend)
        # No stack: that would be as high as the highest of them.
        for part in (self.no_bars, self.lanes, self.columns):
            self.column.addWidget(part)
        self._show_only(self.no_bars)

    def show_day(self, lanes: list[AgentLane], note: str) -> None:
        self.title.setText(tr("Agents through the day"))
        self.note.setText(note)
        self.note.setVisible(bool(note))
        self.legend.show_entries(LEGEND)
        self.lanes.show_lanes(lanes)
        self._show_only(self.lanes if lanes else self.no_bars)

    def show_columns(self, columns: Sequence[Column], shown: SpanFigures) -> None:
        by_day = shown.figures.unit is Unit.DAY
        self.title.setText(tr("Requests by day") if by_day else tr("Requests by month"))
        self.note.hide()
        self.legend.show_entries([(piece.ink, piece.name) for piece in overview.STACKED])
        self.columns.show_columns(columns, leads=True)
        self._show_only(self.columns)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.head.fold(self.width() < self._look.px(NARROW))

    def _show_only(self, wanted: QWidget) -> None:
        for part in (self.no_bars, self.lanes, self.columns):
            part.setVisible(part is wanted)


class WorthCard(TitledCard):
    """Sentences, each with a colored edge and one button."""

    acted = Signal(object)
    """The `worth.Act` of the sentence whose button was pressed."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(look, tr("Worth a look"), parent)
        self._look = look
        self._shown: list[Notable] | None = None
        self.rows: list[NotableRow] = []
        self._none = plain_label(ALL_WELL, "muted", wrap=True)
        self.column.addWidget(self._none)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(look.px(10))
        self.column.addLayout(self._rows)
        self.column.addStretch(1)

    def show_notables(self, found: list[Notable]) -> None:
        """Show other sentences; nothing is rebuilt where they are the same, so that the focus stays."""
        if found == self._shown:
            return
        self._shown = found
        for row in self.rows:
            self._rows.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.rows = [NotableRow(self._look, one) for one in found]
        for row, one in zip(self.rows, found, strict=True):
            self._rows.addWidget(row)
            row.button.clicked.connect(partial(self.acted.emit, one.act))
            if row.look is not None:
                row.look.clicked.connect(partial(self.acted.emit, one.look))
        self._none.setVisible(not found)


class NotableRow(QWidget):
    """One sentence, what is known beside it, and its button."""

    def __init__(self, look: Look, one: Notable, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._ink = one.ink
        self.button = QPushButton(one.button)
        self.button.setAutoDefault(False)
        self.button.setProperty("kind", "action")
        self.button.setAccessibleName(f"{one.button}: {one.words}")
        words, below = plain_label(one.words, wrap=True), plain_label(one.below, "small", wrap=True)
        for label in (words, below):
            label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        texts = QVBoxLayout()
        texts.setSpacing(look.px(1))
        texts.addWidget(words)
        texts.addWidget(below)
        row = QHBoxLayout(self)
        row.setContentsMargins(look.px(12), 0, 0, 0)
        row.setSpacing(look.px(8))
        row.addLayout(texts, 1)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignTop)
        self.look: QPushButton | None = None
        if one.look is not None:
            self.look = QPushButton(tr("Show"))
            self.look.setAutoDefault(False)
            self.look.setProperty("kind", "action")
            self.look.setAccessibleName(tr("Show: {words}", words=one.words))
            row.insertWidget(1, self.look, 0, Qt.AlignmentFlag.AlignTop)
        look.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        painter.fillRect(0, 0, self._look.px(3), self.height(), QColor(getattr(self._look.tokens, self._ink)))
        painter.end()


class PlotCards(QWidget):
    """Worth a look, and the plots of the span: three side by side, or two, or one below the other."""

    history_wanted = Signal(object)

    def __init__(self, look: Look, worth: WorthCard, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.deciders = SharesPlot(look, tr("Decided by"), tr("Nothing was decided in this time."))
        self.times = ColumnsPlot(look, tr("Time to decide"), height=HISTOGRAM)
        self.agents = SharesPlot(look, tr("Requests by agent"), tr("No request in this time."))
        self.levels = SharesPlot(look, tr("Requests by class"), tr("No request in this time."))
        self.ends = SharesPlot(look, tr("Ends of runs"), tr("Nothing ran in this time."))
        self.refused = SharesPlot(look, tr("Refused to code and programs"), tr("Nothing was refused in this time."))
        self._cards: list[QWidget] = [
            worth,
            self._card(tr("Decided by"), self.deciders),
            self._card(tr("Your time to decide"), self.times),
            self._card(tr("Agents"), self.agents),
            self._card(tr("Classes and ends of runs"), self.levels, self.ends),
            self._card(tr("Refused to code and programs"), self.refused),
        ]
        self._columns = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(look.px(8))
        for plot in (self.agents, self.levels, self.ends, self.refused):
            plot.chosen.connect(partial(self._open, plot))
        self._arrange()

    def show_figures(self, shown: SpanFigures) -> None:
        """Show the plots of a span."""
        self.deciders.show_shares(overview.deciders(shown))
        self.times.show_columns(overview.times_to_decide(shown))
        self.agents.show_shares(overview.agents(shown))
        self.levels.show_shares(overview.levels(shown))
        self.ends.show_shares(overview.ends(shown))
        self.refused.show_shares(overview.refused(shown))

    def _open(self, plot: SharesPlot, place: int) -> None:
        self.history_wanted.emit(plot.shares[place].target)

    def _card(self, title: str, *plots: QWidget) -> TitledCard:
        card = TitledCard(self._look, title)
        for number, plot in enumerate(plots):
            if number:
                card.column.addSpacing(self._look.px(6))
            card.column.addWidget(plot)
        card.column.addStretch(1)
        return card

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        px = self._look.px
        columns = 3 if self.width() >= px(WIDE) else 2 if self.width() >= px(MIDDLE) else 1
        if columns == self._columns:
            return
        self._columns = columns
        for number, card in enumerate(self._cards):
            card.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            self._grid.addWidget(card, number // columns, number % columns)
        for column in range(3):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)
