"""The mode in the toolbar: always visible, changed from its menu, with a clock while an agent is trusted."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton, QWidget

from app import phrases
from app.parts.amounts import clock
from runner.approval.modes import Mode
from runner.system.clock import since_boot

if TYPE_CHECKING:
    from app.cards import Cards
    from app.look.look import Look

MINUTES = (5, 15, 60)
MEANINGS = {
    Mode.GUARDED: "Every request above LOW asks you.",
    Mode.LOCKDOWN: "Every request is denied at once, and agents are informed.",
    Mode.TRUST: "Requests of this agent up to HIGH are approved without asking. CRITICAL asks you.",
}
_TICK_MS = 500


def words(cases: Cards) -> str:
    """Return the mode and, while an agent is trusted, whom and how long: `Trust: codex 14:59`."""
    now = cases.mode
    match Mode(now.mode):
        case Mode.GUARDED:
            return "Guarded"
        case Mode.LOCKDOWN:
            return "Lockdown"
        case Mode.TRUST:
            return f"Trust: {phrases.visible(now.agent)} {clock(max(0.0, now.deadline - since_boot()))}"


class ModeButton(QToolButton):
    """Says what is wanted; the window asks and does it."""

    guard = Signal()
    lock = Signal()
    trust = Signal(str, int)
    """Agent and minutes."""

    def __init__(self, cases: Cards, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cases = cases
        self.choices = QMenu(self)
        self.choices.aboutToShow.connect(self.fill)
        self.setMenu(self.choices)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
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

    @Slot()
    def refresh(self) -> None:
        """Say which mode counts now."""
        mode, said = Mode(self._cases.mode.mode), words(self._cases)
        if said != self.text():
            self.setText(said)
            self.setToolTip(MEANINGS[mode])
            self.setAccessibleName(f"Mode: {said}. {MEANINGS[mode]} Opens a menu of modes.")
        if self.property("mode") != mode.value:
            self.setProperty("mode", mode.value)
            self.style().unpolish(self)
            self.style().polish(self)
        (self._tick.start if mode is Mode.TRUST else self._tick.stop)()

    @Slot()
    def fill(self) -> None:
        """Fill the menu with the modes that can be chosen now."""
        self.choices.clear()
        mode = Mode(self._cases.mode.mode)
        guarded = self.choices.addAction("Guarded: ask me", self.guard.emit)
        guarded.setEnabled(mode is not Mode.GUARDED)
        lockdown = self.choices.addAction("Lockdown: deny everything", self.lock.emit)
        lockdown.setEnabled(mode is not Mode.LOCKDOWN)
        agents = [agent.name for agent in self._cases.agents or () if not agent.revoked]
        trusted = self.choices.addMenu("Trust an agent for a while")
        trusted.setEnabled(bool(agents))
        for name in agents:
            one = trusted.addMenu(_as_label(phrases.visible(name)))
            for minutes in MINUTES:
                one.addAction(f"{minutes} minutes", partial(self.trust.emit, name, minutes))


def _as_label(text: str) -> str:
    """Return `text` for a menu, which takes & for the sign of a shortcut."""
    return text.replace("&", "&&")
