"""The button for the person's presence: shown in the toolbar, chosen from its menu and in the tray."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton, QWidget

from app import phrases
from app.chrome.presence import MINUTES
from runner.model.translation import numeral, tr

if TYPE_CHECKING:
    from PySide6.QtCore import SignalInstance

    from app.chrome.presence import Presence
    from app.look.look import Look
    from app.state.cards import Cards

HERE = tr("Notices and the compact prompt come up when the window is not in front.")
AWAY = tr("What agents ask of you waits until you are back, at most 12 hours. What passes unasked still passes.")


def words(cases: Cards, presence: Presence) -> str:
    """Return what is to be known: `Away, 3 wait`, `Quiet until 15:40`; empty where all is as usual."""
    if presence.away:
        waiting = cases.count_waiting()
        return tr("Away, {waiting} wait", waiting=numeral(waiting)) if waiting else tr("Away")
    return tr("Quiet until {clock}", clock=phrases.clock(time.time() + presence.left)) if presence.quiet else ""


class PresenceButton(QToolButton):
    """A bell, and words where something is out of the ordinary. Says what is wanted; the window does it."""

    away = Signal()
    back = Signal()

    def __init__(self, cases: Cards, presence: Presence, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cases = cases
        self._presence = presence
        self._look = look
        self.choices = QMenu(self)
        self.choices.aboutToShow.connect(self.fill)
        self.setMenu(self.choices)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        self.setProperty("kind", "mode")
        presence.changed.connect(self.refresh)
        cases.happened.connect(self.refresh)
        self._shown = ("", "", False)
        self._narrow = False
        self.refresh()

    def set_narrow(self, narrow: bool) -> None:
        """Show the bell alone, in its color."""
        self._narrow = narrow
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Say how it stands."""
        said = words(self._cases, self._presence)
        kind = "trust" if said else "guarded"
        if (said, kind, self._narrow) == self._shown:
            return
        self._shown = (said, kind, self._narrow)
        in_words = said if not self._narrow else ""
        self.setText(f" {in_words}" if in_words else "")  # the style leaves no room after an icon
        beside, alone = Qt.ToolButtonStyle.ToolButtonTextBesideIcon, Qt.ToolButtonStyle.ToolButtonIconOnly
        self.setToolButtonStyle(beside if in_words else alone)
        self._look.dress(self, "bell", "medium" if said else "muted", 14)
        self.setToolTip(AWAY if self._presence.away else said or HERE)
        self.setAccessibleName(
            tr("{said}. Opens a menu: do not disturb, away.", said=said or tr("You may be disturbed"))
        )
        self.setProperty("mode", kind)
        self.style().unpolish(self)
        self.style().polish(self)

    @Slot()
    def fill(self) -> None:
        """Fill the menu with what can be chosen now."""
        self.choices.clear()
        add_choices(self.choices, self._presence, self.away, self.back)


def add_choices(menu: QMenu, presence: Presence, away: SignalInstance, back: SignalInstance) -> None:
    """Add to `menu` what can be chosen now; `away` and `back` are emitted for those two."""
    if presence.quiet:
        menu.addAction(tr("Disturb me again"), presence.end)
    else:
        for minutes in MINUTES:
            menu.addAction(
                tr("Do not disturb for {minutes} minutes", minutes=minutes), partial(presence.begin, minutes)
            )
    menu.addSeparator()
    if presence.away:
        menu.addAction(tr("I'm back"), back.emit)
    else:
        menu.addAction(tr("I'm away: let requests wait"), away.emit)
