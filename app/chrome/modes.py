"""The mode in the toolbar: always visible, with what can be chosen below it, and a clock while an agent is trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from app import phrases
from app.chrome.mode_choices import MEANINGS, ModeChoices
from app.parts.amounts import clock
from app.parts.plain import set_tip
from runner.approval.modes import Mode
from runner.model.translation import tr
from runner.system.clock import since_boot

if TYPE_CHECKING:
    from app.look.look import Look
    from app.state.cards import Cards

_TICK_MS = 500
NAME_WIDTH = 62
"""Pixels of an agent's name where there is little room."""


def words(cases: Cards) -> str:
    """Return the mode and, while an agent is trusted, whom and how long: `Trust: codex 14:59`."""
    now = cases.mode
    match Mode(now.mode):
        case Mode.GUARDED:
            return tr("Guarded")
        case Mode.LOCKDOWN:
            return tr("Lockdown")
        case Mode.TRUST:
            return tr(
                "Trust: {agent} {clock}",
                agent=phrases.visible(now.agent),
                clock=clock(max(0.0, now.deadline - since_boot())),
            )


class ModeButton(QToolButton):
    """Says what is wanted; the window asks and does it."""

    guard = Signal()
    lock = Signal()
    trust = Signal(str, int)
    """Agent and minutes."""

    def __init__(self, cases: Cards, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cases = cases
        self._look = look
        self._narrow = False
        self.choices = ModeChoices(look, self)
        self.choices.chosen.connect(self._chosen)
        self.choices.trusted.connect(self.trust)
        self.choices.closed.connect(self._released)
        self.clicked.connect(self.open)
        self.setProperty("kind", "mode")
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the arrow stands after the words
        # A tool button gives way; what decides by itself is to be read in full.
        self.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        look.dress(self, "chevron-down", size=14)
        self._tick = QTimer(self)
        self._tick.setInterval(_TICK_MS)
        self._tick.timeout.connect(self.refresh)
        cases.happened.connect(self.refresh)
        self.refresh()

    def set_narrow(self, narrow: bool) -> None:
        """Shorten the name of a trusted agent where there is little room: mode and clock are read in full."""
        self._narrow = narrow
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Say which mode counts now."""
        mode, said = Mode(self._cases.mode.mode), words(self._cases)
        shown = said
        if self._narrow and (name := phrases.visible(self._cases.mode.agent)):
            room = self._look.px(NAME_WIDTH)
            shown = said.replace(name, self.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, room), 1)
        if shown != self.text():
            self.setText(shown)
            set_tip(self, f"{said}\n{MEANINGS[mode]}" if shown != said else MEANINGS[mode])
            self.setAccessibleName(
                tr("Mode: {said}. {meanings} Opens the modes to choose from.", said=said, meanings=MEANINGS[mode])
            )
        if self.property("mode") != mode.value:
            self.setProperty("mode", mode.value)
            self.style().unpolish(self)
            self.style().polish(self)
        (self._tick.start if mode is Mode.TRUST else self._tick.stop)()

    @Slot()
    def open(self) -> None:
        """Show the modes to choose from."""
        self.fill()
        self.choices.open_below(self)

    def fill(self) -> None:
        """Bring the choices in line with the mode and the agents there are."""
        agents = [agent.name for agent in self._cases.agents or () if not agent.revoked]
        self.choices.offer(Mode(self._cases.mode.mode), agents, self._cases.mode.agent)

    @Slot(Mode)
    def _chosen(self, mode: Mode) -> None:
        (self.lock if mode is Mode.LOCKDOWN else self.guard).emit()

    @Slot()
    def _released(self) -> None:
        """The click that closes the choices outside of the button never releases it."""
        self.setDown(False)
