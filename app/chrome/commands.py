"""The palette and the sheet of keys: where one can go, and what one can do, from anywhere."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from app import phrases
from app.chrome.palette import RUNS, WAITS, Palette, Way
from app.look.look import Theme
from app.parts.key_names import key_text
from app.state import attention
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PySide6.QtWidgets import QWidget

    from app.chrome.overall import OverallCommands
    from app.chrome.pages import PageShelf
    from app.look.look import Look
    from app.state.cards import Cards
    from app.state.work_cards import WorkCards


class Commands(QObject):
    """Going somewhere decides nothing; what does more asks first, as it does from its own place."""

    def __init__(
        self,
        window: QWidget,
        cases: Cards,
        work: WorkCards,
        look: Look,
        pages: PageShelf,
        overall: OverallCommands,
        review: Callable[[str], None],
        quit: Callable[[], None],
        show_run: Callable[[str], None],
        docking: Callable[[], None],
        ledger: Path,
    ) -> None:
        """`review` and `show_run` bring a request on screen; `quit` is the wish to leave.

        `docking` turns between a narrow column and the whole window.
        """
        super().__init__(window)
        self._window = window
        self._cases = cases
        self._work = work
        self._look = look
        self._pages = pages
        self._overall = overall
        self._review = review
        self._quit = quit
        self._show_run = show_run
        self._docking = docking
        self._ledger = ledger

    @Slot()
    def open_palette(self) -> None:
        """Open the palette (Ctrl+K)."""
        from app.chrome.past import PastRequests

        past = PastRequests(self._ledger, self._pages.show_past, self._work, self._window)
        palette = Palette(self._window, self._look, self.ways(), past.find)
        palette.finished.connect(past.close)
        palette.finished.connect(past.deleteLater)
        palette.open()
        palette.field.setFocus()

    def _turn_theme(self) -> None:
        """Switch between light and dark until Assent ends; the setting has what it begins with."""
        self._look.choose(Theme.LIGHT if self._look.dark else Theme.DARK)

    @Slot()
    def open_keys(self) -> None:
        """Open the sheet of keys (`?`)."""
        from app.chrome.keys import KeySheet

        KeySheet(self._window, self._look).open()

    def ways(self) -> list[Way]:
        """Return everywhere one can go now: pages, what waits, runs and works, agents, help, commands, settings."""
        from app.settings.words import title_of
        from app.work import words as work_words
        from runner.settings.declared import declared
        from runner.settings.manual import PAGES as HELP

        show = self._pages.show
        ways = [Way(page.title, tr("page"), partial(show, page.name), page.keys) for page in self._pages.specs.values()]
        ways += [
            Way(attention.headline(card), f"{phrases.claim_of(card.request)}, {WAITS}", partial(self._review, card.id))
            for card in self._cases.waiting()
        ]
        ways += [
            Way(attention.headline(card), f"{phrases.claim_of(card.request)}, {RUNS}", partial(self._show_run, card.id))
            for card in self._cases.running()
        ]
        ways += [
            Way(
                tr("{client} on {title}", client=work_words.client(one), title=work_words.title(one)),
                f"{(tr('at work') if one.at_work else tr('work'))}, {phrases.visible(one.name)}",
                partial(self._pages.show_work, one.name),
            )
            for one in self._work.sessions
        ]
        agents = self._cases.agents or ()
        ways += [
            Way(phrases.visible(agent.name), tr("agent"), partial(self._pages.show_agent, agent.name))
            for agent in agents
        ]
        ways += [
            Way(
                tr("What {name} asked", name=phrases.visible(agent.name)),
                tr("history"),
                partial(self._pages.show_history, {"agent": agent.name}),
            )
            for agent in agents
        ]
        ways += [Way(page.title, tr("help"), partial(self._pages.show_help, page.title)) for page in HELP]
        ways += [
            Way(heading, tr("help, {title}", title=page.title), partial(self._pages.show_help, page.title, heading))
            for page in HELP
            for heading in page.headings()
        ]
        ways += [
            Way(tr("Work on a project"), tr("command"), self._pages.ask_work),
            Way(tr("Add an agent"), tr("command"), self._pages.show_add_agent),
            Way(tr("Pause all, resume all"), tr("command"), self._overall.hold_all, key_text("Ctrl+Shift+H")),
            Way(tr("Stop all"), tr("command, asks first"), self._overall.stop_all, key_text("Ctrl+Shift+S")),
            Way(tr("Guarded: ask me"), tr("command"), self._overall.guard),
            Way(tr("Lockdown: deny everything"), tr("command, asks first"), self._overall.ask_lock),
            Way(tr("Narrow column, whole window"), tr("command"), self._docking, key_text("Ctrl+Shift+D")),
            Way(
                tr("Theme: {rest}", rest=tr("light") if self._look.dark else tr("dark")),
                tr("command"),
                self._turn_theme,
            ),
            Way(tr("Keys"), tr("command"), self.open_keys, "?"),
            Way(tr("Quit"), tr("command"), self._quit, key_text("Ctrl+Q")),
        ]
        ways += [
            Way(title_of(one.name), tr("setting"), partial(self._pages.show_setting, one.name))
            for one in declared()
            if not one.idle
        ]
        return ways
