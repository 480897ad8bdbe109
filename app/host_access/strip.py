"""The hosts that a run was refused, above its output: the first few with buttons, and how many more there are."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.host_access.buttons import ALWAYS, FOR_RUN
from app.host_access.host_row import HostAnswers
from app.network import words
from app.parts.elide import ElidedLabel
from app.parts.plain import plain_label
from runner.model.network import Destination, UnusableHost
from runner.model.request import NetworkMode
from runner.model.translation import numeral, plural, tr

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.host_access.hosts import HostDecisions
    from app.look.look import Look
    from app.state.cards import Card
    from runner.approval.deliberate import ApproveBy
    from runner.model.network import Contact

ROWS = 2
NARROW = 560
"""Width of a row below which its buttons say less."""
_ROW = 40
_LOW = 620
"""Height of the page below which there is one row only: the output needs the space."""
APPEAR = tr("Hosts that are refused appear here at once, and can be allowed.")
_LISTED = 3
"""Hosts that are named where others are counted."""

_ANY = 1 << 20

Key = tuple[str, int]


class RefusedStrip(QFrame):
    """Has the same height from the start of a run with network to its end, so that nothing below it jumps.

    A row keeps its host until the person has allowed it and another one waits for the place.
    """

    all_wanted = Signal()
    """Somebody wants to see the other hosts too."""

    def __init__(self, look: Look, decisions: HostDecisions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._decisions = decisions
        self._card: Card | None = None
        self._refused: dict[Key, Contact] = {}
        self._left_out = 0
        self._reachable: tuple[str, ...] | None = None
        self._contacts: tuple[Contact, ...] = ()
        self._stays = False
        self.rows = [RefusedRow(look, decisions) for _ in range(ROWS)]
        self.said = ElidedLabel()
        self.said.setProperty("role", "muted")
        self.more = QPushButton()
        self.more.setProperty("kind", "quiet")
        self.more.setAutoDefault(False)
        self.more.clicked.connect(self.all_wanted)
        self.none = plain_label(APPEAR, "small", wrap=True)
        self.none.setAlignment(Qt.AlignmentFlag.AlignCenter)
        upper = QWidget()
        # The button comes and goes: what is below it stays where it is.
        upper.setFixedHeight(look.px(30))
        head = QHBoxLayout(upper)
        head.setContentsMargins(0, 0, 0, 0)
        head.setSpacing(look.px(8))
        head.addWidget(self.said, 1)
        head.addWidget(self.more)
        column = QVBoxLayout(self)
        column.setContentsMargins(look.px(12), look.px(2), look.px(8), look.px(4))
        column.setSpacing(look.px(2))
        column.addWidget(upper)
        column.addWidget(self.none, 1)
        for row in self.rows:
            row.setFixedHeight(look.px(_ROW))
            column.addWidget(row)
        column.addStretch()
        self.setProperty("card", True)
        self._used = 0
        self.fit(_ANY)
        self.setAccessibleName(tr("Hosts that this run was refused"))
        decisions.changed.connect(self._show)
        self.hide()

    def fit(self, height: int) -> None:
        """Take over the height of the page: a low one leaves space for one row."""
        used = 1 if height < self._look.px(_LOW) else ROWS
        if used == self._used:
            return
        self._used = used
        for row in self.rows[used:]:
            row.clear()
        for number, row in enumerate(self.rows):
            row.setVisible(number < used)
        self.setFixedHeight(self._look.px(_ROW * used + 2 * used + 39))
        self._show()

    def show_run(self, card: Card | None) -> None:
        """Show another run, or none; its hosts are those that `refresh` gives next."""
        self._card = card
        # One that ends while it is on screen keeps its place.
        self._stays = card is not None and card.result is None and card.request.network is not NetworkMode.NONE
        self._refused = {}
        self._reachable, self._contacts = None, ()
        for row in self.rows:
            row.clear()

    def set_reachable(self, hosts: tuple[str, ...] | None) -> None:
        """Take up what the run may reach by now; None where it is over."""
        if hosts != self._reachable:
            self._reachable = hosts
            self._show()

    def refresh(self, contacts: Iterable[Contact], left_out: int, by: ApproveBy) -> None:
        """Take up the contacts of the run; `by` is what the person approves with."""
        card = self._card
        if card is None:
            self.hide()
            return
        contacts = self._contacts = tuple(contacts)
        # One that was refused and then not reached, or the other way round, has one row: that of the refusal.
        troubled = sorted((one for one in contacts if not one.allowed), key=lambda one: one.allowed is False)
        latest = {(one.host, one.port): one for one in troubled}
        self._refused = {(one.host, one.port): latest[one.host, one.port] for one in contacts if not one.allowed}
        self.setVisible(self._stays or bool(self._refused))
        for row in self.rows:
            row.set_by(by)
        self._left_out = left_out
        self._show()

    @Slot()
    def _show(self) -> None:
        card = self._card
        if card is None:
            return
        self._fill(card)
        shown = {row.key for row in self.rows if row.key is not None}
        others = len(self._refused.keys() - shown) + self._left_out
        self.said.setText(self._summary(card))
        self.more.setText(tr("Show {others} more", others=numeral(others)))
        self.more.setVisible(bool(others))
        self.none.setVisible(not self._refused and card.result is None)
        for row in self.rows[: self._used]:
            row.setVisible(bool(self._refused))

    def _fill(self, card: Card) -> None:
        """Give each waiting host a row while there is one; a row changes its host only where that was answered."""
        shown = {row.key for row in self.rows}
        waiting = [key for key in self._refused if key not in shown and self._is_open(card, self._refused[key])]
        for row in self.rows[: self._used]:
            contact = self._refused.get(row.key) if row.key is not None else None
            if waiting and (contact is None or not self._is_open(card, contact)):
                contact = self._refused[waiting.pop(0)]
            if contact is None:
                row.clear()
            else:
                row.show_contact(card, contact)

    def _is_open(self, card: Card, contact: Contact) -> bool:
        return self._decisions.said(card, contact).open

    def _hosts(self, card: Card) -> tuple[str, ...]:
        """Return what the run may reach; once it is over, what it was approved for and what else it has reached."""
        asked = card.request.domains
        if self._reachable is not None:
            return tuple(sorted(self._reachable, key=lambda one: (one not in asked, one)))
        listed = []
        for entry in asked:
            with contextlib.suppress(UnusableHost):
                listed.append(Destination.parse(entry))
        reached = (Destination(one.host, one.port) for one in self._contacts if one.allowed)
        later = (str(one) for one in reached if not any(host.fits(one.host, one.port) for host in listed))
        return *asked, *dict.fromkeys(later)

    def _summary(self, card: Card) -> str:
        """Return how many hosts were refused, and which ones may be reached."""
        hosts = self._hosts(card)
        named = ", ".join(words.entry(host).name for host in hosts[:_LISTED])
        more = tr(" and {count} more", count=len(hosts) - _LISTED) if len(hosts) > _LISTED else ""
        may = tr("May reach {named}{more}.", named=named, more=more) if hosts else tr("May reach no host.")
        count = sum(one.allowed is False for one in self._refused.values())
        if not count:
            return (
                tr("{may} Nothing refused.", may=may)
                if card.result is not None
                else tr("{may} Nothing refused so far.", may=may)
            )
        return plural("{count} host refused. {may}", "{count} hosts refused. {may}", count, may=may)


class RefusedRow(HostAnswers):
    """One host with its two buttons, or an empty place of the same height."""

    def __init__(self, look: Look, decisions: HostDecisions) -> None:
        super().__init__(look, (FOR_RUN, ALWAYS), NARROW)
        self._decisions = decisions
        self._card: Card | None = None
        texts = QVBoxLayout()
        texts.setSpacing(0)
        texts.addStretch()
        texts.addWidget(self.place)
        texts.addWidget(self.became)
        texts.addStretch()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(look.px(8))
        row.addWidget(self._picture)
        row.addLayout(texts, 1)
        row.addWidget(self.allow)
        row.addWidget(self.always)
        look.changed.connect(self._paint_icon)
        self.clear()

    def clear(self) -> None:
        self._card = self._contact = None
        for widget in (self._picture, self.place, self.became, self.allow, self.always):
            widget.hide()

    def show_contact(self, card: Card, contact: Contact) -> None:
        """Show a host."""
        self._take(contact, same=self._card is card)
        self._card = card
        said = self._decisions.said(card, contact)
        outcome = words.outcome(contact)
        state = said.words or "; ".join(part for part in (outcome, words.below(contact)) if part)
        if said.words and said.open:
            state = tr("{outcome}. Not allowed: {words}", outcome=outcome, words=said.words)
        self._ink(said.ink if said.words else words.ink(contact))
        can = contact.can_be_allowed and said.open
        self.allow.setVisible(can and card.result is None)
        self.always.setVisible(can)
        for widget in (self._picture, self.place, self.became):
            widget.show()
        self._paint_icon()
        self._say(words.place(contact), state)

    def _ink(self, ink: str) -> None:
        role = {"low": "ok", "high": "bad", "medium": "warn"}.get(ink, "muted")
        if self.became.property("role") != role:
            self.became.setProperty("role", role)
            self.became.style().unpolish(self.became)
            self.became.style().polish(self.became)

    def _decide(self, *, always: bool) -> None:
        if self._card is not None and self._contact is not None:
            (self._decisions.always if always else self._decisions.allow)(self._card, self._contact)

    @Slot()
    def _paint_icon(self) -> None:
        role = self.became.property("role")
        name, ink = ("circle-check", "low") if role == "ok" else ("ban", "muted")
        self._picture.setPixmap(self._look.pixmap(name, ink, 16))
