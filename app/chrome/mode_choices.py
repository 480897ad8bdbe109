"""The modes to choose from, below their button: a row each with what it means; trust asks whom and how long at once."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QPushButton, QRadioButton, QVBoxLayout, QWidget

from app import phrases
from app.parts.plain import plain_label
from runner.approval.modes import Mode
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QHideEvent, QKeyEvent

    from app.look.look import Look

WIDTH = 320
MINUTES = (5, 15, 60)
NAMES = {Mode.GUARDED: tr("Guarded"), Mode.LOCKDOWN: tr("Lockdown"), Mode.TRUST: tr("Trust one agent for a while")}
MEANINGS = {
    Mode.GUARDED: (
        tr(
            "Code asks you before it runs, also where nothing was found: its class is HIGH. What is LOW, and what you"
            " have allowed, passes by itself."
        )
    ),
    Mode.LOCKDOWN: tr("Every request is denied at once, programs at work are ended, and agents are informed."),
    Mode.TRUST: tr("Requests of this agent up to HIGH are approved without asking. CRITICAL asks you."),
}


class ModeChoices(QFrame):
    """A frame that closes when it loses the focus. Choosing does nothing by itself: the window asks, then does it."""

    chosen = Signal(Mode)
    """Guarded or Lockdown."""
    trusted = Signal(str, int)
    """Agent and minutes."""
    closed = Signal()

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self._agents: tuple[str, ...] = ()
        px = look.px
        self.setProperty("framed", True)
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self.setAccessibleName(tr("Modes"))
        self.setFixedWidth(px(WIDTH))
        column = QVBoxLayout(self)
        column.setContentsMargins(px(14), px(12), px(14), px(12))
        column.setSpacing(px(4))
        self.rows: dict[Mode, QRadioButton] = {}
        for mode, name in NAMES.items():
            row = self.rows[mode] = QRadioButton(name)
            row.setAutoExclusive(False)
            row.setAccessibleDescription(MEANINGS[mode])
            meaning = plain_label(MEANINGS[mode], "small", wrap=True)
            meaning.setContentsMargins(px(24), 0, 0, px(8))
            column.addWidget(row)
            column.addWidget(meaning)
        self.agent = QComboBox()
        self.agent.setAccessibleName(tr("The agent to trust"))
        self.minutes = [self._minutes(minutes) for minutes in MINUTES]
        whom = QVBoxLayout()
        whom.setContentsMargins(px(24), 0, 0, 0)
        whom.setSpacing(px(6))
        whom.addWidget(self.agent)
        row_of_minutes = QHBoxLayout()
        row_of_minutes.setSpacing(px(6))
        for button in self.minutes:
            row_of_minutes.addWidget(button, 1)
        whom.addLayout(row_of_minutes)
        column.addLayout(whom)
        self.nobody = plain_label(tr("No agent is registered."), "small")
        self.nobody.setContentsMargins(px(24), 0, 0, 0)
        column.addWidget(self.nobody)
        self.rows[Mode.GUARDED].clicked.connect(partial(self._choose, Mode.GUARDED))
        self.rows[Mode.LOCKDOWN].clicked.connect(partial(self._choose, Mode.LOCKDOWN))
        self.rows[Mode.TRUST].clicked.connect(self._ask_whom)

    def offer(self, mode: Mode, agents: Sequence[str], trusted: str) -> None:
        """Show which mode counts now, and whom one can trust; `trusted` is who is."""
        self._mode = mode
        self._agents = tuple(agents)
        self.agent.clear()
        self.agent.addItems([phrases.visible(name) for name in agents])
        if trusted in self._agents:
            self.agent.setCurrentIndex(self._agents.index(trusted))
        self._mark()
        for widget in (self.agent, *self.minutes):
            widget.setEnabled(bool(agents))
        self.rows[Mode.TRUST].setEnabled(bool(agents))
        self.nobody.setHidden(bool(agents))

    def open_below(self, button: QWidget) -> None:
        """Appear below `button`, inside of its window, with the focus on the mode that counts."""
        self.adjustSize()
        window = button.window()
        corner = button.mapTo(window, QPoint(0, button.height() + 4))
        corner.setX(max(0, min(corner.x(), window.width() - self.width())))
        self.move(window.mapToGlobal(corner))
        self.show()
        self.rows[self._mode].setFocus(Qt.FocusReason.PopupFocusReason)

    _mode = Mode.GUARDED

    def _mark(self) -> None:
        for mode, row in self.rows.items():
            row.setChecked(mode is self._mode)

    def _choose(self, mode: Mode, _checked: bool = False) -> None:
        changed = mode is not self._mode
        self.hide()
        if changed:
            self.chosen.emit(mode)

    @Slot()
    def _ask_whom(self) -> None:
        """Trust needs an agent and a time: the row alone chooses nothing."""
        self._mark()
        self.agent.setFocus()

    def _trust(self, minutes: int) -> None:
        if 0 <= self.agent.currentIndex() < len(self._agents):
            name = self._agents[self.agent.currentIndex()]
            self.hide()
            self.trusted.emit(name, minutes)

    def _minutes(self, minutes: int) -> QPushButton:
        button = QPushButton(tr("{minutes} min", minutes=minutes))
        button.setAutoDefault(False)
        button.setAccessibleName(tr("Trust this agent for {minutes} minutes, asks first", minutes=minutes))
        button.clicked.connect(partial(self._trust, minutes))
        return button

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.hide()
        else:
            super().keyPressEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._mark()
        self.closed.emit()
