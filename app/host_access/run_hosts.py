"""All about the hosts of the run on screen: the strip above its output, and the tab with every host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QHBoxLayout, QTabWidget, QWidget

from app.host_access.buttons import ALWAYS, FOR_RUN, AllowButton
from app.host_access.hosts import HostDecisions
from app.host_access.strip import RefusedStrip
from app.network import words
from app.network.contacts import NO_NETWORK, NOTHING, NOTHING_YET, ContactsView
from app.parts.elide import ElidedLabel
from app.review.guard import ClickGuard
from app.review.moved_target import Steady
from runner.approval.deliberate import ApproveBy
from runner.model.request import NetworkMode

if TYPE_CHECKING:
    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.cards import Card

SOON_MS = 50


class RunHosts(QObject):
    """Made for the page of runs, which places the strip and says which run is shown."""

    def __init__(self, bridge: EngineLink, look: Look, page: QWidget) -> None:
        super().__init__(page)
        self._bridge = bridge
        self._card: Card | None = None
        self.decisions = HostDecisions(bridge, look, page)
        self.strip = RefusedStrip(look, self.decisions)
        self.tab = HostsTab(look, self.decisions)
        self._tabs: QTabWidget | None = None
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(SOON_MS)
        self._soon.timeout.connect(self.refresh)
        self.strip.all_wanted.connect(self._show_tab)
        self.decisions.changed.connect(self.changed)
        page.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Fit the strip to the page."""
        if event.type() == QEvent.Type.Resize and isinstance(watched, QWidget):
            self.strip.fit(watched.height())
        return super().eventFilter(watched, event)

    def join(self, tabs: QTabWidget) -> None:
        """Add the tab of hosts to those of the run."""
        self._tabs = tabs
        tabs.addTab(self.tab, self.tab.view.title)

    @Slot()
    def _show_tab(self) -> None:
        if self._tabs is not None:
            self._tabs.setCurrentWidget(self.tab)
            self.tab.view.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def contacted(self) -> None:
        """Take up soon what the run has tried: hosts come many at once."""
        if not self._soon.isActive():
            self._soon.start()

    def show_run(self, card: Card | None) -> None:
        """Show the hosts of another run."""
        self._card = card
        self.strip.show_run(card)
        self.tab.show_run(card)
        self.refresh()

    @Slot()
    def changed(self) -> None:
        """Take up what the run may reach by now."""
        if self._card is not None:
            self.strip.set_reachable(self._bridge.runs.reachable(self._card.id))

    @Slot()
    def refresh(self) -> None:
        """Take up what the run has tried since the last time."""
        card = self._card
        if card is None:
            self.strip.hide()
            return
        result = card.result
        contacts = result.contacts if result is not None else tuple(card.contacts.values())
        left_out = result.contacts_left_out if result is not None else 0
        by = self._bridge.decisions.approve_by()
        self.changed()
        self.strip.refresh(contacts, left_out, by)
        networked = card.request.network is not NetworkMode.NONE
        none = NO_NETWORK if not networked else NOTHING_YET if result is None else NOTHING
        self.tab.view.show_contacts(contacts, left_out, none)
        self.tab.set_by(by)
        if self._tabs is not None:
            self._tabs.setTabText(self._tabs.indexOf(self.tab), self.tab.view.title)


class HostsTab(QWidget):
    """Every host that the run tried to reach, and the buttons for the chosen one."""

    def __init__(self, look: Look, decisions: HostDecisions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._decisions = decisions
        self._card: Card | None = None
        self._shown: tuple[str, str, int] | None = None
        self.guard = ClickGuard(self._can_be_answered)
        self.view = ContactsView(look)
        self.said = ElidedLabel()
        self.allow = AllowButton(FOR_RUN, self.guard)
        self.always = AllowButton(ALWAYS, self.guard)
        row = QHBoxLayout()
        row.setSpacing(look.px(8))
        row.addWidget(self.said, 1)
        row.addWidget(self.allow)
        row.addWidget(self.always)
        self.view.column.addLayout(row)
        whole = QHBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.view)
        self.allow.decided.connect(self._allow)
        self.always.decided.connect(self._always)
        self._steady = Steady((self.allow, self.always), self)
        self._steady.moved.connect(self.guard.rearm)
        self.view.chosen.connect(self._show)
        decisions.changed.connect(self._show)
        self._show()

    def show_run(self, card: Card | None) -> None:
        self._card = card
        self.view.model.show(())

    def set_by(self, by: ApproveBy) -> None:
        self.allow.mouse_only = self.always.mouse_only = by is ApproveBy.MOUSE

    @Slot()
    def _show(self) -> None:
        card, contact = self._card, self.view.current
        if card is None or contact is None:
            self._shown = None
            for widget in (self.said, self.allow, self.always):
                widget.hide()
            return
        if self._shown != (shown := (card.id, contact.host, contact.port)):
            self._shown = shown
            self.guard.rearm()
        said = self._decisions.said(card, contact)
        can = contact.can_be_allowed and said.open
        self.said.setText(f"{words.place(contact)}: {said.words}" if said.words else "")
        self.said.show()
        self.allow.setVisible(can and card.result is None)
        self.always.setVisible(can)
        for button, what in ((self.allow, FOR_RUN), (self.always, ALWAYS.rstrip("\N{HORIZONTAL ELLIPSIS}"))):
            button.setAccessibleName(f"{what}: {words.place(contact)}")
        self._steady.watch()

    def _can_be_answered(self) -> bool:
        self._steady.look()
        return self.isVisible() and self.isActiveWindow()

    @Slot()
    def _allow(self) -> None:
        if self._card is not None and (contact := self.view.current) is not None:
            self._decisions.allow(self._card, contact)

    @Slot()
    def _always(self) -> None:
        if self._card is not None and (contact := self.view.current) is not None:
            self._decisions.always(self._card, contact)
