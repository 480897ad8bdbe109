"""The filter row of the history: words, and what they are found in."""

from __future__ import annotations

import time
from enum import Enum
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QComboBox, QLineEdit, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from app import phrases
from app.parts import dates
from app.parts.clearing import clearable
from app.parts.flow import Flow
from app.parts.fold import FoldingRow
from runner.audit.history.filter import UNFORESEEN
from runner.audit.history.search import Filter
from runner.model.assessment import Level
from runner.model.decision import Verdict
from runner.model.request import Isolation, Language
from runner.model.result import Outcome
from runner.model.translation import capital, tr, translated
from runner.system.clock import LAST_TIME

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from PySide6.QtGui import QResizeEvent

    from app.look.look import Look

E = TypeVar("E", bound=Enum)

PAUSE_MS = 150
"""Rest after a key before the search begins."""
LONGEST = 500
LEAST_TEXT = 300
"""Width of the field, and of what the words of a button may grow, below which the choices stand under it."""
LEAST_FIELD = 160
"""Width of the field below which the buttons stand under it."""
PERIODS = (
    (tr("Today"), 0),
    (tr("Since yesterday"), 1),
    (tr("Last 7 days"), 6),
    (tr("Last 30 days"), 29),
    (tr("Last 365 days"), 364),
)
"""Periods to choose from, and on which day before today each begins."""
_MINUTE = 60.0
_TEXT = 9
"""Letters of a choice that a combo box always has room for."""


class Filters(QWidget):
    """A search field, four choices in one line with it, and further ones that open below."""

    changed = Signal()
    """Something else is wanted; typing has paused."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = QLineEdit()
        self.text.setPlaceholderText(tr("Search titles, code, output, hosts and programs"))
        self.text.setAccessibleName(tr("Search titles, code, output, hosts and programs"))
        self.text.setToolTip(tr('Words in any order; "in quotes" as they stand'))
        clearable(self.text, look)
        self.text.setMaxLength(LONGEST)
        self.text.setMinimumWidth(look.px(150))
        self.agent = _choice(tr("Agent"), tr("All agents"))
        self.level = _choice(tr("Class"), tr("Any class"))
        for level in reversed(Level):
            self.level.addItem(level.name, level)
        self.verdict = _choice(tr("Decision"), tr("All decisions"))
        for verdict in Verdict:
            self.verdict.addItem(capital(phrases.verdict(verdict)), verdict)
        self.outcome = _choice(tr("End of the run"), tr("Any result"))
        for outcome in Outcome:
            self.outcome.addItem(capital(translated(outcome.value)), outcome)
        self.period = _choice(tr("Time"), tr("Any time"))
        for words, days in PERIODS:
            self.period.addItem(words, days)
        self.language = _choice(tr("Language"), tr("All languages"))
        for language in Language:
            self.language.addItem(phrases.language(language), language)
        self.sandbox = _choice(tr("Sandbox"), tr("All sandboxes"))
        for isolation in Isolation:
            self.sandbox.addItem(isolation.label[0].upper() + isolation.label[1:], isolation)
        self.finding = _choice(tr("Finding"), tr("All findings"))
        self.host = _choice(tr("Host"), tr("All hosts"))
        self.unforeseen = _choice(tr("What it did"), tr("Any behaviour"))
        self.unforeseen.addItem(tr("Not foreseen"), UNFORESEEN[1])
        self.further = QToolButton()
        self._look = look
        self._lay_out()
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self.changed)
        self.text.textChanged.connect(self._pause.start)
        self.text.returnPressed.connect(self._at_once)
        for choice in self._all:
            choice.currentIndexChanged.connect(self._at_once)
        self.further.toggled.connect(self._show_further)
        self._show_further(False)

    @property
    def wanted(self) -> Filter:
        """What is asked for at present."""
        since, until = _bounds(self.period.currentData())
        return Filter(
            agent=self.agent.currentData() or "",
            level=_member(Level, self.level),
            verdict=_member(Verdict, self.verdict),
            outcome=_member(Outcome, self.outcome),
            text=self.text.text(),
            since=since,
            until=until,
            language=_member(Language, self.language),
            sandbox=_member(Isolation, self.sandbox),
            finding=self.finding.currentData() or "",
            host=self.host.currentData() or "",
            unforeseen=self.unforeseen.currentData() or "",
        )

    @property
    def name(self) -> str:
        """What is asked for, in words; empty where that is everything."""
        chosen = [choice.currentText() for choice in self._all if choice.currentIndex() > 0]
        return ", ".join(filter(None, (self.text.text().strip(), *chosen)))

    @property
    def state(self) -> dict[str, str]:
        """What is asked for, as JSON data; times by their name, so that they mean the same another day."""
        chosen = {name: choice.currentData() for name, choice in self._named.items()}
        return {"text": self.text.text()} | {name: str(value) for name, value in chosen.items() if value is not None}

    def restore(self, state: Mapping[str, object]) -> None:
        """Ask for what `state` was read from; what is no longer there is left out."""
        text = state.get("text", "")
        with QSignalBlocker(self.text):
            self.text.setText(text if isinstance(text, str) else "")
        for name, choice in self._named.items():
            value = state.get(name)
            with QSignalBlocker(choice):
                if choice is self.period:
                    self._offer_stretch(value)
                elif isinstance(value, str) and choice in self._open_ended and choice.findData(value) < 0:
                    choice.addItem(phrases.visible(value), value)
                named = (place for place in range(1, choice.count()) if str(choice.itemData(place)) == value)
                choice.setCurrentIndex(next(named, 0))
        if self._hidden_ones:
            self.further.setChecked(True)
        self._at_once()

    def _offer_stretch(self, value: object) -> None:
        """Offer a stretch of time besides the usual periods, in the place of one that was asked for before."""
        while self.period.count() > 1 + len(PERIODS):
            self.period.removeItem(self.period.count() - 1)
        if (found := stretch(value)) is not None:
            self.period.addItem(stretch_name(*found), value)

    def stand_beside(self, button: QWidget) -> None:
        """Put a button behind the search field."""
        self._buttons.addWidget(button)

    def know_agents(self, names: Iterable[str]) -> None:
        """Add agents to choose from, besides those known already."""
        self._know(self.agent, names)

    def know_content(self, findings: Iterable[str], hosts: Iterable[str]) -> None:
        """Add findings and hosts to choose from, besides those known already."""
        self._know(self.finding, findings)
        self._know(self.host, hosts)

    def _know(self, choice: QComboBox, names: Iterable[str]) -> None:
        known = {choice.itemData(place) for place in range(1, choice.count())}
        fresh = {name for name in names if name} - known
        if not fresh:
            return
        chosen = choice.currentData()
        with QSignalBlocker(choice):
            while choice.count() > 1:
                choice.removeItem(1)
            for name in sorted(known | fresh, key=str.casefold):
                choice.addItem(phrases.visible(name), name)
            choice.setCurrentIndex(max(0, choice.findData(chosen)) if chosen else 0)

    @Slot()
    def clear(self) -> None:
        """Ask for everything again."""
        self.restore({})

    @Slot()
    def _at_once(self) -> None:
        self._pause.stop()
        self._count_hidden()
        self.changed.emit()

    @Slot(bool)
    def _show_further(self, shown: bool) -> None:
        self._further_line.setVisible(shown)
        self._count_hidden()

    @property
    def _hidden_ones(self) -> int:
        return sum(choice.currentIndex() > 0 for choice in self._below)

    def _count_hidden(self) -> None:
        """Say how many of the further choices are made, as they may not be in sight."""
        number = self._hidden_ones
        words = tr("More filters ({number})", number=number) if number else tr("More filters")
        self.further.setText(words)
        self.further.setAccessibleName(words)

    # ---- building ----

    def _lay_out(self) -> None:
        gap = self._look.px(8)
        beside = (self.agent, self.level, self.verdict, self.outcome)
        self._below = (self.period, self.language, self.sandbox, self.finding, self.host, self.unforeseen)
        self._all = (*beside, *self._below)
        self._open_ended = (self.agent, self.finding, self.host)
        further = ("period", "language", "sandbox", "finding", "host", "unforeseen")
        self._named = dict(zip(("agent", "level", "verdict", "outcome", *further), self._all, strict=True))
        self.further.setCheckable(True)
        self.further.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        self.further.setToolTip(tr("Time, language, sandbox, finding, host and behaviour"))
        self._parts = FoldingRow()
        self._parts.setContentsMargins(0, 0, 0, 0)
        self._parts.setSpacing(gap)
        self._search = FoldingRow()
        self._search.setContentsMargins(0, 0, 0, 0)
        self._search.setSpacing(gap)
        self._search.addWidget(self.text, 1)
        self._buttons = Flow((), gap, left=True)
        self._search.addLayout(self._buttons)
        self._parts.addLayout(self._search, 1)
        self._choices = Flow((*beside, self.further), gap, left=True)
        self._parts.addLayout(self._choices)
        self._further_choices = Flow(self._below, gap, left=True)
        self._further_line = QWidget()
        self._further_line.setLayout(self._further_choices)
        self._further_choices.setContentsMargins(0, 0, 0, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(gap)
        column.addLayout(self._parts)
        column.addWidget(self._further_line)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._choices.fit(self.width())
        self._buttons.fit(self.width())
        self._search.fold(self.width() < self._buttons.length + self._look.px(LEAST_FIELD))
        self._further_choices.fit(self.width())
        beside = self._buttons.length + self._choices.length
        self._parts.fold(self.width() < beside + self._look.px(LEAST_TEXT))


def _member(kind: type[E], choice: QComboBox) -> E | None:
    """Return what is chosen, None for everything. Qt keeps the plain values of enums."""
    value = choice.currentData()
    return None if value is None else kind(value)


def stretch(value: object) -> tuple[float, float] | None:
    """Return the moments of `1700000000..1700003600` in seconds since the epoch; None for anything else."""
    begin, dots, end = value.partition("..") if isinstance(value, str) else ("", "", "")
    try:
        moments = float(begin), float(end)
    except ValueError:
        return None
    return moments if dots and 0 <= moments[0] <= moments[1] <= LAST_TIME else None


def stretch_name(begin: float, end: float) -> str:
    """Return a stretch of time in words: `21 Nov, 10:12 to 10:40`."""
    first, last = time.localtime(begin), time.localtime(end)
    if first[3:6] == last[3:6] == (0, 0, 0):
        final = time.localtime(end - 1)
        days = [dates.written(one, dates.SHORT_DAY) for one in (first, final)]
        return (
            days[0]
            if days[0] == days[1] and first[0] == final[0]
            else tr("{first} to {last}", first=days[0], last=days[1])
        )
    words = f"{dates.written(first, dates.SHORT_DAY)}, {phrases.clock(begin)}"
    return words if end - begin < _MINUTE else tr("{words} to {clock}", words=words, clock=phrases.clock(end))


def _bounds(chosen: object) -> tuple[float | None, float | None]:
    """Return since and until for what is chosen: nothing, a number of days back, or a stretch."""
    if isinstance(chosen, int):
        return _midnight(chosen), None
    return stretch(chosen) or (None, None)


def _midnight(days: int) -> float:
    """Return the beginning of the day that many days ago, in local time."""
    now = time.localtime()
    return time.mktime((now.tm_year, now.tm_mon, now.tm_mday - days, 0, 0, 0, 0, 0, -1))


def _choice(name: str, everything: str) -> QComboBox:
    choice = QComboBox()
    choice.setAccessibleName(name)
    choice.setToolTip(name)
    choice.addItem(everything, None)
    # As wide as what is chosen may be at most: names of agents differ, and nothing else moves for them.
    choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    choice.setMinimumContentsLength(_TEXT)
    choice.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    choice.view().setTextElideMode(Qt.TextElideMode.ElideRight)
    return choice
