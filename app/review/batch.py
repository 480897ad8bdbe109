"""Answering several requests at once: lists which, shows all of their code, and approves none that is CRITICAL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app import phrases
from app.parts.column import ScrollColumn
from app.parts.fold import FoldingLine, fit
from app.parts.gauges.ring import CountdownRing
from app.parts.order import tab_in_reading_order
from app.parts.plain import plain_label
from app.parts.text.code import CodeView
from app.review.approval import STOPPERS, too_long
from app.review.buttons import DecisionButton
from app.review.denial import ReasonField
from app.review.guard import REST_SECONDS, ClickGuard
from app.review.joined import joined
from app.review.limits import limit_pairs
from app.review.moved_target import Steady
from app.state import attention, rehearsals
from runner.approval.deliberate import ApproveBy
from runner.model.assessment import Level
from runner.model.events import RequestAssessed, RequestDecided
from runner.model.translation import numeral, plural, tr, within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from PySide6.QtGui import QShowEvent

    from app.look.look import Look
    from app.state.cards import Card, Cards
    from runner.model.events import Event
    from runner.model.request import Request

SHOWN = 50
"""Requests in one batch: more would not be read."""
_REST_MS = round(REST_SECONDS * 1000) + 10
_DOT = " \N{MIDDLE DOT} "


class Batch(QDialog):
    """Opened with `open`. What is listed is fixed by digest; whatever changes meanwhile leaves the list."""

    approved = Signal()

    def __init__(
        self,
        parent: QWidget,
        cases: Cards,
        approve: Callable[[str, str], None],
        look: Look,
        chosen: Iterable[str],
        by: ApproveBy = ApproveBy.KEY,
        deny: Callable[[str, str, str], None] | None = None,
    ) -> None:
        """`approve` takes the id and the digest of a request, `deny` the reason too; `by` is what approves."""
        super().__init__(parent)
        self._cases = cases
        self._approve_one = approve
        self._deny_one = deny
        self._by = by
        self.listed: list[Card] = []
        self.skipped: list[tuple[Card, str]] = []
        self._digests: dict[str, str] = {}
        """Of everything that was chosen: what is answered is what was listed."""
        self._sort([card for one in chosen if (card := cases.card(one)) is not None and card.waiting])
        self.guard = ClickGuard(self._can_be_answered)
        self.heading = plain_label(role="title", wrap=True)
        self.ring = CountdownRing(look)
        self.ring.setToolTip(tr("Until the first of them expires"))
        self.what = plain_label(role="muted", wrap=True)
        self.left_out = plain_label(role="muted", wrap=True)
        self.code = CodeView(look)
        self._make_buttons()
        self._steady = Steady((self.yes, self.deny), self)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._show_state)
        self._lay_out(look)
        tab_in_reading_order(self)
        self._steady.moved.connect(self.rearm)
        self.code.seen_to_end.connect(self._show_state)
        cases.happened.connect(self._take)
        self._show_all()
        self.no.setFocus()

    def _make_buttons(self) -> None:
        """Make the two buttons that answer, the one that does not, and what is said and written beside them."""
        self.sentence = plain_label(role="muted", wrap=True)
        self.sentence.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.no = QPushButton(tr("Cancel"))
        self.no.setDefault(True)
        self.no.clicked.connect(self.reject)
        self.yes = DecisionButton("", self.guard)
        self.yes.mouse_only = self._by is ApproveBy.MOUSE
        self.yes.setProperty("kind", "primary")
        self.yes.decided.connect(self._approve)
        self.reason = ReasonField()
        self.reason.setMaxLength(phrases.REASON_LENGTH)
        self.reason.setPlaceholderText(tr("Reason, if you deny them (optional)"))
        self.reason.setAccessibleName(tr("Reason for denying all of them, sent to their agents"))
        self.reason.back.connect(self.reject)
        self.deny = DecisionButton("", self.guard)
        self.deny.setProperty("kind", "danger")
        self.deny.decided.connect(self._deny)

    @Slot()
    def rearm(self) -> None:
        """Ignore input for a moment."""
        self.guard.rearm()
        self._rest.start()
        self._show_state()

    def _can_be_answered(self) -> bool:
        self._steady.look()
        return self.isVisible() and self.isActiveWindow()

    def _sort(self, cards: list[Card]) -> None:
        for card in cards:
            self._digests[card.id] = card.digest
            if why := _skipped_because(card, len(self.listed), self._by):
                self.skipped.append((card, why))
            else:
                self.listed.append(card)

    def _show_all(self) -> None:
        """Show the list and the code of everything in it."""
        self.setWindowTitle(tr("Answer selected"))
        self.what.setText("\n".join(_lines(self.listed)))
        self.left_out.setText(
            "\n".join(
                tr("Left out: {quoted_title}. {why}", quoted_title=phrases.quoted_title(card.request), why=why)
                for card, why in self.skipped
            )
        )
        self.left_out.setVisible(bool(self.skipped))
        shown = joined(self.listed)
        languages = {card.request.language for card in self.listed}
        language = next(iter(languages)) if len(languages) == 1 else None
        self.code.set_code(shown.text, language.value if language else "", shown.findings)
        if shown.lines:
            self.code.annotate(shown.numbers, shown.places)
        self.yes.setText(tr("Approve {count} once", count=len(self.listed)))
        self._count_down()
        self.rearm()

    @Slot()
    def _show_state(self) -> None:
        why_not = self._why_not()
        self.sentence.setText(why_not)
        self.yes.setEnabled(not why_not and not self._rest.isActive())
        waiting = self._waiting()
        self.heading.setText(self._title(len(waiting)))
        self.deny.setText(tr("Deny {count}", count=len(waiting)))
        self.deny.setAccessibleName(
            plural(
                "Deny {count} request, with those left out", "Deny {count} requests, with those left out", len(waiting)
            )
        )
        self.deny.setToolTip(tr("With those that are left out of approving"))
        self.deny.setEnabled(bool(waiting) and not self._rest.isActive())

    def _title(self, waiting: int) -> str:
        """Return the heading. Deny counts those left out too, whose names may have to be scrolled to."""
        apart = waiting - len(self.listed)
        if not self.listed:
            return (
                plural("{count} request can only be denied here", "{count} requests can only be denied here", apart)
                if apart
                else tr("Nothing is left to answer")
            )
        more = tr("; {apart} more can only be denied here", apart=numeral(apart)) if apart else ""
        return plural(
            "Answer {count} request, each once{more}",
            "Answer {count} requests, each once{more}",
            len(self.listed),
            more=more,
        )

    def _count_down(self) -> None:
        """Show the time of what expires first."""
        ends = [(card.deadline, card.window) for card in self._waiting() if card.deadline is not None]
        self.ring.set_deadline(*min(ends, default=(None, 0.0)))

    def _waiting(self) -> list[Card]:
        """Return everything that was chosen and still waits, with what is left out of approving."""
        return [card for card in (*self.listed, *(card for card, _ in self.skipped)) if card.waiting]

    def _why_not(self) -> str:
        if not self.listed:
            return tr("Nothing is left to approve.")
        for room in STOPPERS:
            if trouble := self._cases.troubles.get(room):
                # The dialog covers the banner, so the whole of it is said here.
                return f"{trouble.what} {trouble.remedy}".strip()
        return "" if self.code.is_seen_to_end else tr("Scroll to the end of the code to approve.")

    @Slot()
    def _approve(self) -> None:
        if self._why_not():
            return
        for card in self.listed:
            self._approve_one(card.id, self._digests[card.id])
        self.approved.emit()
        self.accept()

    @Slot()
    def _deny(self) -> None:
        assert self._deny_one is not None
        reason = phrases.cleaned(self.reason.text())
        for card in self._waiting():
            self._deny_one(card.id, self._digests[card.id], reason)
        self.accept()

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        mine = {card.id for card in self.listed}
        changed = {event.request_id for event in events if isinstance(event, (RequestDecided, RequestAssessed))} & mine
        if changed:
            gone = [card for card in self.listed if card.id in changed]
            self.listed = [card for card in self.listed if card.id not in changed]
            self.skipped += [(card, tr("It has changed or is over.")) for card in gone]
            self._show_all()
        else:
            self._show_state()
        self._count_down()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.installEventFilter(self)
        self._steady.watch()
        self.rearm()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.WindowActivate:
            self.rearm()
        return super().eventFilter(watched, event)

    def _lay_out(self, look: Look) -> None:
        px = look.px
        buttons = QWidget()
        row = QHBoxLayout(buttons)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(px(8))
        row.addWidget(self.no)
        row.addWidget(self.deny)
        row.addWidget(self.yes)
        for part in (self.deny, self.reason):
            part.setVisible(self._deny_one is not None)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(18), px(16), px(18), px(14))
        column.setSpacing(px(8))
        head = QHBoxLayout()
        head.addWidget(self.heading, 1)
        head.addWidget(self.ring)
        column.addLayout(head)
        listed = ScrollColumn(tr("What would be approved"))
        listed.column.addWidget(self.what)
        listed.column.addWidget(self.left_out)
        listed.setMinimumHeight(px(60))
        listed.setMaximumHeight(px(150))
        column.addWidget(listed, 1)
        column.addWidget(self.code, 2)
        column.addWidget(self.reason)
        self.sentence.setMinimumWidth(px(140))
        column.addWidget(FoldingLine(self.sentence, buttons, px(8)))
        fit(self, px(720), px(560))


def _skipped_because(card: Card, listed: int, by: ApproveBy) -> str:
    if card.level is None:
        return tr("It has not been assessed yet.")
    if card.level is Level.CRITICAL:
        return tr("CRITICAL is approved one by one.")
    if rehearsals.offered(card):
        return tr("Its outcome is there: open it and look at that to hand it over.")
    if by.asks_word(card.level):
        return tr("It is approved by itself, with its word.")
    if by.asks_pin(card.level):
        return tr("It is approved by itself, with your PIN.")
    if why := card.blocked or too_long(card.request):
        return why
    return tr("At most {shown} at once.", shown=SHOWN) if listed >= SHOWN else ""


def _lines(cards: list[Card]) -> Iterator[str]:
    """Yield a line for each request; above them where they run, where that is the same for all."""
    places = {_where(card.request) for card in cards}
    if len(places) == 1 and len(cards) > 1:
        yield tr("Each: {pop}", pop=places.pop())
    for number, card in enumerate(cards, 1):
        request = card.request
        # What the agent calls it comes last: it may look like all the rest.
        parts = (
            attention.words(card),
            attention.sentence(card),
            phrases.visible(request.agent),
            phrases.asks_for(request),
            _where(request) if places else "",
            card.digest[:8],
            phrases.quoted_title(request),
        )
        yield f"{number}. {_DOT.join(part for part in parts if part)}"


def _where(request: Request) -> str:
    """Return place, network and limits of a run; a tool of the agent's own program has none of Assent's."""
    if request.client is not None:
        return phrases.visible(tr("{name} in {folder}", name=request.client.name, folder=request.client.folder))
    limits = ", ".join(f"{within(name)} {words}" for name, words in limit_pairs(request, request.limits))
    return _DOT.join((phrases.place(request), tr("network {network}", network=phrases.network(request)), limits))
