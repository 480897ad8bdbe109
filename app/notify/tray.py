"""The icon in the system tray: how many wait and which, the mode, and quiet. It cannot decide anything."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from app import phrases
from app.chrome.presence_button import add_choices
from app.chrome.presence_button import words as presence_words
from app.notify.tray_picture import tray_icon
from app.prompt.stack import urgency
from app.state.attention import attention, headline
from runner.approval.modes import Mode
from runner.model.assessment import Level
from runner.model.translation import capital, numeral, tr, translated, within

if TYPE_CHECKING:
    from PySide6.QtGui import QIcon

    from app.chrome.window import Window
    from app.look.look import Look
    from app.state.cards import Card, Cards

NOTICE_MS = 8000
LISTED = 8
"""Requests in the menu; the queue has all."""
TITLE = 40
"""Characters of a title in the menu."""
NO_TRAY = tr("No system tray here: notices appear on the desktop and in this window.")


class Tray(QObject):
    """A click brings the queue to the front; what its menu can do asks in the window first."""

    def __init__(self, cases: Cards, look: Look, window: Window, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cases = cases
        self._look = look
        self._window = window
        self._shown: tuple[object, ...] = ()
        self._icon: QSystemTrayIcon | None = None
        self._menu = QMenu()
        if QSystemTrayIcon.isSystemTrayAvailable():
            self._icon = self._make_icon()
        else:
            window.toolbar.say(NO_TRAY)
        cases.happened.connect(self._show_count)
        window.presence.changed.connect(self._repaint)
        look.changed.connect(self._repaint)
        self._show_count()

    @Slot(str, str)
    def say(self, title: str, text: str) -> None:
        """Show a notice by the tray, where the desktop has no other way."""
        if self._icon is not None:
            self._icon.showMessage(title, text, self._icon.icon(), NOTICE_MS)

    # ---- the icon ----

    @Slot()
    def _show_count(self) -> None:
        waiting = sorted(self._cases.waiting(), key=urgency)
        mode = Mode(self._cases.mode.mode)
        shown = (mode, len(waiting), *((card.id, card.level) for card in waiting[:LISTED]))
        if self._icon is not None and shown != self._shown:
            self._shown = shown
            self._icon.setIcon(self._picture(len(waiting), mode))
            self._icon.setToolTip(self.words())
            self.fill(waiting)

    def words(self) -> str:
        """Return the tool tip: mode and number."""
        mode = capital(translated(Mode(self._cases.mode.mode).value))
        count = self._cases.count_waiting()
        said = presence_words(self._cases, self._window.presence)
        parts = (
            tr("Assent, {mode}", mode=mode),
            said and f", {within(said)}",
            tr(": {count} waiting", count=count) if count else "",
        )
        return "".join(parts)

    def fill(self, waiting: list[Card]) -> None:
        """Fill the menu: what waits, each leading to its request, then what concerns all of Assent."""
        self._menu.clear()
        for card in waiting[:LISTED]:
            self._menu.addAction(entry(card), partial(self._window.show_waiting, card.id))
        if len(waiting) > LISTED:
            self._menu.addAction(tr("and {count} more", count=numeral(len(waiting) - LISTED)), self._window.review)
        if waiting:
            self._menu.addSeparator()
        self._menu.addAction(tr("Open Assent"), self._window.review)
        toolbar = self._window.toolbar
        add_choices(self._menu, self._window.presence, toolbar.presence.away, toolbar.presence.back)
        self._menu.addSeparator()
        self._menu.addAction(tr("Stop all\N{HORIZONTAL ELLIPSIS}"), self._window.stop_all_in_front)
        self._menu.addAction(tr("Lockdown\N{HORIZONTAL ELLIPSIS}"), self._window.lock_in_front)
        self._menu.addAction(tr("Quit"), self._window.frame.close_wanted.emit)

    @Slot()
    def _repaint(self) -> None:
        self._shown = ()
        self._show_count()

    def _picture(self, count: int, mode: Mode) -> QIcon:
        worst = max((attention(card) or Level.LOW for card in self._cases.waiting()), default=None)
        return tray_icon(self._look, mode, count, worst, quiet=not self._window.presence.may_disturb)

    def _make_icon(self) -> QSystemTrayIcon:
        icon = QSystemTrayIcon(self)
        self.fill([])
        icon.setContextMenu(self._menu)
        icon.setIcon(self._picture(0, Mode.GUARDED))
        icon.activated.connect(self._clicked)
        icon.messageClicked.connect(self._window.review)
        icon.show()
        return icon

    @Slot(QSystemTrayIcon.ActivationReason)
    def _clicked(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason is not QSystemTrayIcon.ActivationReason.Context:
            self._window.review()


def entry(card: Card) -> str:
    """Return a request in a menu, which takes & for the sign of a shortcut and a tab for the start of its keys."""
    title = phrases.title(card.request)
    request = replace(
        card.request, title=f"{title[: TITLE - 1]}\N{HORIZONTAL ELLIPSIS}" if len(title) > TITLE else title
    )
    worst = attention(card)
    level = "" if worst is None else f"{worst.name}: "
    return f"{level}{headline(card)} \N{EN DASH} {phrases.claim_of(request)}".replace("&", "&&")
