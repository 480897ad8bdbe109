"""Daily figures on other pages: tiles where nothing waits, and lanes where nothing runs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import phrases
from app.parts.sections import Pairs
from app.today.bars import lanes, session_bars
from app.today.cards import SpanCard
from app.today.lane_view import LANE
from app.today.reading import MOST_BARS
from app.today.spans import answers, kinds, passed, stopped, waits
from runner.audit.history.counting import percentile
from runner.model.translation import numeral, plural, tr

if TYPE_CHECKING:
    from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent

    from app.look.look import Look
    from app.today.bars import AgentLane
    from app.today.day_reader import DayReader
    from app.today.reading import DayRead
    from app.today.spans import SpanFigures

WORDS, FRAME, LINES = 200, 110, 120
"""Pixels of height for the words of an empty page, for heading, axis and edges of the card, and for the lines."""
NOTE = tr("The newest {most_bars} requests of the day", most_bars=numeral(MOST_BARS))


class OfToday(QWidget):
    """Has the day read when it is shown. Where nothing can be read it is empty."""

    def __init__(self, day: DayReader, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.day = day
        day.add_viewer(self)
        day.read.connect(self._take)

    @Slot(object)
    def _take(self, read: DayRead | None) -> None:
        self.show_day(read)

    def show_day(self, read: DayRead | None) -> None:
        """Show the day; None where it cannot be read, which the page Today says."""
        raise NotImplementedError

    def fit(self) -> None:
        """Show as much as there is room for."""
        raise NotImplementedError

    @property
    def room(self) -> int:
        """Pixels of height beside the words of the page on which this stands."""
        place = self.parentWidget()
        return 0 if place is None else place.height() - self._look.px(WORDS)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # After the layout is done: it must not be changed from inside.
        QTimer.singleShot(0, self, self.fit)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self.day.look()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.day.rest()


class TodayInBrief(OfToday):
    """The four figures of the day in lines, for a narrow place."""

    def __init__(self, day: DayReader, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(day, look, parent)
        self._shown: list[tuple[str, str]] = []
        self.pairs = Pairs(look, tr("Today"))
        column = QVBoxLayout(self)
        column.setContentsMargins(look.px(14), 0, look.px(14), look.px(8))
        column.addWidget(self.pairs)
        self.show_day(None)

    def show_day(self, read: DayRead | None) -> None:
        self._shown = in_brief(read.shown) if read is not None else []
        self.fit()

    def fit(self) -> None:
        """Show the lines where they have room below the words of the page."""
        self.pairs.show_pairs(self._shown if self.room >= self._look.px(LINES) else ())


class TodayLanes(OfToday):
    """The lane of each agent through the day, as many as there is room for; the others are in Today."""

    history_wanted = Signal(object)
    """Requests to be shown in History, as `Filters.restore` takes them."""

    def __init__(self, day: DayReader, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(day, look, parent)
        self._shown: tuple[list[AgentLane], str] = [], ""
        self.card = SpanCard(look)
        self.card.hide()
        # Lanes that were there in a large window must not keep it from becoming small.
        self.setMinimumSize(1, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(look.px(14), 0, look.px(14), look.px(14))
        column.addWidget(self.card)
        self.card.lanes.chosen.connect(lambda agent, at: self._open(agent, at, at))
        self.card.lanes.selected.connect(self._open)

    def show_day(self, read: DayRead | None) -> None:
        if read is None:
            self._shown = [], ""
        else:
            worked = session_bars(read.sessions, self.day.at_work(), time.time())
            self._shown = lanes([*read.bars, *worked]), NOTE if read.cut else ""
        self.fit()

    def fit(self) -> None:
        """Show as many lanes as there is room for beside the words of the page."""
        found, note = self._shown
        px = self._look.px
        most = max(0, (self.room - px(FRAME)) // px(LANE))
        if len(found) > most:
            note = plural(
                "{most} of {count} lane; Today has all",
                "{most} of {count} lanes; Today has all",
                len(found),
                most=numeral(most),
            )
        self.card.show_day(found[:most], note)
        self.card.setVisible(bool(found[:most]))

    @Slot(str, float, float)
    def _open(self, agent: str, first: float, last: float) -> None:
        self.history_wanted.emit(stretch(agent, first, last))


def stretch(agent: str, first: float, last: float) -> dict[str, str]:
    """Return the filter of History for what an agent asked between two moments, both included; '' for all agents."""
    state = {"period": f"{first:.6f}..{last + 0.000_01:.6f}"}
    return {"agent": agent, **state} if agent else state


def in_brief(shown: SpanFigures) -> list[tuple[str, str]]:
    """Return the figures of a span as pairs; none where nothing was asked in it."""
    found = kinds(shown)
    if not found.total():
        return []
    by_you = answers(found)
    words = [
        tr("{approved} approved", approved=numeral(by_you.approved)),
        tr("{denied} denied", denied=numeral(by_you.denied)),
    ]
    pairs = [
        (
            tr("You"),
            ", ".join([*words, tr("{missed} missed", missed=numeral(by_you.missed))] if by_you.missed else words),
        )
    ]
    median = percentile(waits(shown, shown.first, shown.last), 0.5)
    if median is not None:
        pairs.append((tr("Median"), tr("{median} to decide", median=phrases.span(median))))
    if by_itself := sum(number for kind, number in found.items() if passed(kind)):
        pairs.append((tr("Passed"), tr("{by_itself} without asking", by_itself=numeral(by_itself))))
    if tries := sum(one.tries for one in stopped(shown).values()):
        pairs.append((tr("Refused"), plural("{count} try of running code", "{count} tries of running code", tries)))
    return pairs
