"""The choices of what is to be remembered: subject, for whom, until when, how often; only what the level allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QHBoxLayout,
    QRadioButton,
    QSizePolicy,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app import phrases
from app.parts.boxes import keep_from_edge
from app.parts.fold import FoldingRow
from app.parts.plain import plain_label
from app.remembering.words import SUBJECTS
from runner.model.translation import tr
from runner.policy.grants import Choice, Subject, longest_for, most_uses, subjects

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from app.look.look import Look
    from runner.model.assessment import Level

HOUR = 3600.0
DAY = 24 * HOUR
USUAL_USES = 10
NARROW = 500
"""Width below which what bounds a grant stands below each other, so that no words are cut."""


@dataclass(frozen=True, slots=True)
class End:
    """A way to end, as it is offered."""

    words: str
    seconds: float | None
    session: bool = False


ENDS = (
    End(tr("For 10 minutes"), HOUR / 6),
    End(tr("For 30 minutes"), HOUR / 2),
    End(tr("For 1 hour"), HOUR),
    End(tr("This session, 1 hour at most"), HOUR, session=True),
    End(tr("For 8 hours"), 8 * HOUR),
    End(tr("This session, 1 day at most"), DAY, session=True),
    End(tr("For 30 days"), 30 * DAY),
    End(tr("Always, up to the number of uses"), None),
)


def ends_for(level: Level) -> tuple[End, ...]:
    """Return the ends that `level` may have: no end only for levels that may be remembered for long."""
    longest = longest_for(level)
    return tuple(end for end in ENDS if (end.seconds or DAY) <= longest)


class Choosing(QWidget):
    """Starts with the narrowest and shortest, or with what is offered. Says so whenever the choice is another."""

    changed = Signal()

    def __init__(
        self,
        look: Look,
        agent: str,
        level: Level,
        offered: tuple[Subject, ...] = (),
        first: Choice | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """`offered`, the narrowest first; without it what `level` may have. `first` is what is chosen at first."""
        super().__init__(parent)
        self._look = look
        self._ends = ends_for(level)
        self.subjects: dict[Subject, QRadioButton] = {}
        self._group = QButtonGroup(self)
        self.who = _combo(tr("For whom"), [tr("Only {agent}", agent=phrases.visible(agent)), tr("Every agent")])
        self.end = _combo(tr("Until when"), [end.words for end in self._ends])
        self.uses = QSpinBox()
        keep_from_edge(self.uses)
        self.uses.setRange(1, most_uses(level))
        self.uses.setValue(USUAL_USES)
        self.uses.setAccessibleName(tr("Number of uses at most"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(look.px(4))
        offered = offered or subjects(level)
        for subject in offered:
            column.addLayout(self._subject(subject))
        column.addSpacing(look.px(6))
        column.addLayout(self._bounds())
        self._group.buttonToggled.connect(self._picked)
        for combo in (self.who, self.end):
            combo.currentIndexChanged.connect(self.changed)
        self.uses.valueChanged.connect(self.changed)
        self.subjects[first.subject if first is not None else offered[0]].setChecked(True)
        if first is not None:
            self.uses.setValue(first.uses)
            asked = (first.seconds, first.session)
            same = (place for place, end in enumerate(self._ends) if (end.seconds, end.session) == asked)
            self.end.setCurrentIndex(next(same, 0))

    @property
    def choice(self) -> Choice:
        subject = next(subject for subject, button in self.subjects.items() if button.isChecked())
        end = self._ends[self.end.currentIndex()]
        return Choice(subject, self.uses.value(), end.seconds, end.session, self.who.currentIndex() == 1)

    @Slot()
    def _picked(self) -> None:
        # A digest has its agent in it, and a sandbox is one agent's: there is nothing to choose.
        own = self.choice.subject in (Subject.EXACT, Subject.FILES, Subject.PACKAGES)
        if own:
            self.who.setCurrentIndex(0)
        self.who.setEnabled(not own)
        self.changed.emit()

    def _subject(self, subject: Subject) -> QHBoxLayout:
        words, more = SUBJECTS[subject]
        button = QRadioButton(words)
        button.setAccessibleDescription(more)
        self.subjects[subject] = button
        self._group.addButton(button)
        note = plain_label(more, "small", wrap=True)
        note.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        row = QHBoxLayout()
        row.setSpacing(self._look.px(10))
        row.addWidget(button)
        row.addWidget(note, 1)
        return row

    def _bounds(self) -> FoldingRow:
        uses = QHBoxLayout()
        self._row = FoldingRow()
        for row in (uses, self._row):
            row.setSpacing(self._look.px(8))
        uses.addWidget(plain_label(tr("At most")))
        uses.addWidget(self.uses)
        uses.addWidget(plain_label(tr("uses")))
        uses.addStretch()
        self._row.addWidget(self.who, 1)
        self._row.addWidget(self.end, 1)
        self._row.addLayout(uses)
        return self._row

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._row.fold(self.width() < self._look.px(NARROW))


def _combo(name: str, words: list[str]) -> QComboBox:
    combo = QComboBox()
    combo.addItems(words)
    combo.setAccessibleName(name)
    combo.setMinimumContentsLength(6)
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    return combo
