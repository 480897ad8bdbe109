"""What can be asked of the whole window: going anywhere, the sheet of keys, and the modes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from app import phrases
from app.chrome.navigation import PAGES
from app.chrome.palette import Palette, Way

if TYPE_CHECKING:
    from app.bridge import Bridge
    from app.cards import Card, Cards
    from app.chrome.window import Window
    from app.look.look import Look


class Commands(QObject):
    """Asks before it changes a mode to one that decides by itself; going somewhere decides nothing."""

    def __init__(self, window: Window, cases: Cards, bridge: Bridge, look: Look) -> None:
        super().__init__(window)
        self._window = window
        self._cases = cases
        self._bridge = bridge
        self._look = look
        mode = window.toolbar.mode
        mode.guard.connect(bridge.guard)
        mode.lock.connect(self.ask_lock)
        mode.trust.connect(self.ask_trust)
        window.toolbar.go.connect(self.open_palette)

    @Slot()
    def open_palette(self) -> None:
        """Ctrl+K."""
        palette = Palette(self._window, self._look, self.ways())
        palette.open()
        palette.field.setFocus()

    @Slot()
    def open_keys(self) -> None:
        """`?`"""
        from app.chrome.keys import KeySheet

        KeySheet(self._window, self._look).open()

    def ways(self) -> list[Way]:
        """Everywhere one can go now: pages, what waits and runs, agents, commands, settings."""
        from app.settings.words import title_of
        from runner.settings.declared import declared

        show = self._window.show_page
        ways = [Way(page.name, "page", partial(show, page.name)) for page in PAGES]
        ways += [
            Way(phrases.title(card.request), f"{_agent(card)}, waits", partial(self._review, card.id))
            for card in self._cases.waiting()
        ]
        ways += [
            Way(phrases.title(card.request), f"{_agent(card)}, runs", partial(show, "Running"))
            for card in self._cases.running()
        ]
        agents = self._cases.agents or ()
        ways += [Way(phrases.visible(agent.name), "agent", partial(show, "Agents")) for agent in agents]
        ways += [
            Way("Add an agent", "command", self._window.show_add_agent),
            Way("Pause all, resume all", "command", self._window.hold_all),
            Way("Stop all", "command, asks first", self._window.stop_all),
            Way("Guarded: ask me", "command", self._bridge.guard),
            Way("Lockdown: deny everything", "command, asks first", self.ask_lock),
            Way("Keys", "command", self.open_keys),
            Way("Quit", "command", self._window.frame.close_wanted.emit),
        ]
        ways += [
            Way(title_of(one.name), "setting", partial(self._setting, one.name)) for one in declared() if not one.later
        ]
        return ways

    @Slot()
    def ask_lock(self) -> None:
        """Lockdown denies what waits, so it asks."""
        waiting = self._cases.count_waiting()
        also = f" {waiting} open question{'s' if waiting != 1 else ''} will be denied." if waiting else ""
        what = f"Every request is denied at once and agents are told so, until you choose Guarded again.{also}"
        self._window.ask("Lock down?", what, "Lock down", lambda yes: self._bridge.lock() if yes else None)

    @Slot(str, int)
    def ask_trust(self, agent: str, minutes: int) -> None:
        """A trust window approves by itself, so it asks."""
        what = (
            f"For {minutes} minutes, what {phrases.visible(agent)} asks is approved without asking you, up to HIGH. "
            "CRITICAL asks you all the same. The toolbar shows the time that is left; Guarded ends it."
        )
        self._window.ask(
            f"Trust {phrases.visible(agent)}?",
            what,
            f"Trust for {minutes} minutes",
            lambda yes: self._bridge.trust(agent, minutes * 60.0) if yes else None,
        )

    def _review(self, request_id: str) -> None:
        """Brings it on screen; the guard rests as for anything that appears there."""
        self._window.show_page("Queue")
        self._window.deciding.show_request(request_id)

    def _setting(self, name: str) -> None:
        self._window.show_page("Settings")
        self._window.page("Settings").reveal(name)  # type: ignore[attr-defined]


def _agent(card: Card) -> str:
    return phrases.visible(card.request.agent)
