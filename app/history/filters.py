"""What is looked for in the history: words, an agent, a level, a decision, an end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QComboBox, QLineEdit, QSizePolicy, QWidget

from app import phrases
from app.parts.flow import Flow
from app.parts.fold import FoldingRow
from app.parts.roles import clearable
from runner.audit.search import ANYTHING, Filter
from runner.model.assessment import Level
from runner.model.decision import Verdict
from runner.model.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtGui import QResizeEvent

    from app.look.look import Look

PAUSE_MS = 150
"""Rest after a key before the search begins."""
LONGEST = 500
NARROW = 690
"""Width below which the choices stand under the field."""
_TEXT = 8
"""Letters of a choice that a combo box always has room for."""


class Filters(QWidget):
    """A search field and four choices, in one line."""

    changed = Signal()
    """Something else is wanted; typing has paused."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = QLineEdit()
        self.text.setPlaceholderText("Search titles, code and output")
        self.text.setAccessibleName("Search titles, code and output")
        clearable(self.text)
        self.text.setMaxLength(LONGEST)
        self.text.setMinimumWidth(look.px(150))
        self.agent = _choice("Agent", "All agents")
        self.level = _choice("Level", "All levels")
        for level in reversed(Level):
            self.level.addItem(level.name, level)
        self.verdict = _choice("Decision", "All decisions")
        for verdict in Verdict:
            self.verdict.addItem(phrases.verdict(verdict).capitalize(), verdict)
        self.outcome = _choice("End of the run", "All ends")
        for outcome in Outcome:
            self.outcome.addItem(outcome.value.capitalize(), outcome)
        self._look = look
        self._parts = FoldingRow()
        self._parts.setContentsMargins(0, 0, 0, 0)
        self._parts.setSpacing(look.px(8))
        self._parts.addWidget(self.text, 1)
        choices = (self.agent, self.level, self.verdict, self.outcome)
        self._choices = Flow(choices, look.px(8), left=True)
        self._parts.addLayout(self._choices)
        self.setLayout(self._parts)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self.changed)
        self.text.textChanged.connect(self._pause.start)
        self.text.returnPressed.connect(self._at_once)
        for choice in choices:
            choice.currentIndexChanged.connect(self._at_once)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._choices.fit(self.width())
        self._parts.fold(self.width() < self._look.px(NARROW))

    @property
    def wanted(self) -> Filter:
        """What is asked for at present."""
        # Qt keeps the plain values of enums.
        level, verdict, outcome = (one.currentData() for one in (self.level, self.verdict, self.outcome))
        return Filter(
            agent=self.agent.currentData() or "",
            level=None if level is None else Level(level),
            verdict=None if verdict is None else Verdict(verdict),
            outcome=None if outcome is None else Outcome(outcome),
            text=self.text.text(),
        )

    @property
    def open(self) -> bool:
        """Everything is listed."""
        return self.wanted == ANYTHING

    def know_agents(self, names: Iterable[str]) -> None:
        """Add agents to choose from, besides those known already."""
        known = {self.agent.itemData(place) for place in range(1, self.agent.count())}
        fresh = {name for name in names if name} - known
        if not fresh:
            return
        chosen = self.agent.currentData()
        with QSignalBlocker(self.agent):
            while self.agent.count() > 1:
                self.agent.removeItem(1)
            for name in sorted(known | fresh, key=str.casefold):
                self.agent.addItem(phrases.visible(name), name)
            self.agent.setCurrentIndex(max(0, self.agent.findData(chosen)) if chosen else 0)

    @Slot()
    def clear(self) -> None:
        """Ask for everything again."""
        with QSignalBlocker(self.text):
            self.text.clear()
        for choice in (self.agent, self.level, self.verdict, self.outcome):
            with QSignalBlocker(choice):
                choice.setCurrentIndex(0)
        self._at_once()

    @Slot()
    def _at_once(self) -> None:
        self._pause.stop()
        self.changed.emit()


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
