"""The cards of what waits, one above the other: those that have room, and how many more there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from app.parts.plain import plain_label
from app.prompt.card import PromptCard
from app.prompt.resting import Resting
from app.state.attention import attention
from runner.model.assessment import Level
from runner.model.events import (
    EngineTroubled,
    QuestionAsked,
    QuestionPaused,
    QuestionsMoved,
    RehearsalMoved,
    RequestAssessed,
    RequestDecided,
    SandboxesChanged,
    TrialMoved,
    TroubleCleared,
)
from runner.model.translation import numeral, tr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from PySide6.QtCore import QEvent

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.cards import Card, Cards
    from runner.model.events import Event

MOST = 3
CHANGES = (RehearsalMoved, RequestAssessed, TrialMoved)
CONCERNS = (
    EngineTroubled,
    QuestionAsked,
    QuestionPaused,
    QuestionsMoved,
    RequestDecided,
    SandboxesChanged,
    TroubleCleared,
    *CHANGES,
)
BETWEEN = 10
BUILD_MS = 100
"""After a card was taken, before the next one is built."""


class PromptStack(QWidget):
    """What has a card keeps it until it is answered; cards that come stand above those that are there.

    Only what stands out more takes the place of another, and not under the pointer. With `urgent_first`, for a column
    that is read from its top, the most urgent stands there; under the pointer nothing moves until it has gone.
    """

    review = Signal(str)
    """A request is wanted in the window."""
    resized = Signal()
    """There are other cards than before, or they need another height."""

    def __init__(
        self, cases: Cards, bridge: EngineLink, look: Look, active: Callable[[], bool], parent: QWidget | None = None
    ) -> None:
        """`active` tells whether clicks may count where the cards are."""
        super().__init__(parent)
        self._cases = cases
        self._bridge = bridge
        self._look = look
        self._shown: list[PromptCard] = []
        """From the bottom up."""
        self._most = MOST
        self._urgent_first = False
        self._wanted: Callable[[Card], bool] = lambda card: True
        self._ready: PromptCard | None = None
        """A card that is built and has never shown anything, for the next request: building one takes time."""
        self._build = QTimer(self)
        self._build.setSingleShot(True)
        self._build.setInterval(BUILD_MS)
        self._build.timeout.connect(self._get_ready)
        self._build.start()
        self._live = False
        self.rest = Resting(self, active, self._buttons)
        self.rest.watch(self)
        self.more = plain_label(role="small")
        self.more.setContentsMargins(look.px(4), 0, 0, 0)
        self.more.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.more.hide()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(look.px(BETWEEN))
        self._column.addStretch()
        self._column.addWidget(self.more)
        cases.happened.connect(self._take)

    @property
    def cards(self) -> tuple[PromptCard, ...]:
        """Return the cards on screen, from the bottom up."""
        return tuple(self._shown)

    def bound(self, most: int) -> None:
        """Show at most `most` cards from now on, and at least one."""
        self._most = max(1, most)
        self.refresh()

    def put_urgent_first(self) -> None:
        """Order the cards by urgency from now on."""
        self._urgent_first = True

    def choose(self, wanted: Callable[[Card], bool]) -> None:
        """Show only what `wanted` says."""
        self._wanted = wanted
        self.refresh()

    def live(self, live: bool) -> None:
        """Show cards, or none."""
        self._live = live
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Take over what waits: drop the cards of what does not, and fill what is free with the most urgent."""
        waiting = [card for card in self._cases.waiting() if self._wanted(card)] if self._live else []
        before = [one.card for one in self._shown]
        for one in [one for one in self._shown if one.card not in waiting]:
            self._drop(one)
        while len(self._shown) > self._most:
            self._drop(self._shown[-1])
        left = self._left(waiting)
        if left and len(self._shown) == self._most and not self.underMouse():
            self._make_room(left[0])
            left = self._left(waiting)
        for card in left[: self._most - len(self._shown)]:
            self._add(card)
        self._count(self._left(waiting))
        if [one.card for one in self._shown] != before:
            self.rest.rearm()
            self.resized.emit()

    def _left(self, waiting: list[Card]) -> list[Card]:
        """Return what waits and has no card, the most urgent first."""
        shown = {one.card.id for one in self._shown if one.card is not None}
        return sorted((card for card in waiting if card.id not in shown), key=urgency)

    def _make_room(self, card: Card) -> None:
        """Drop the card of what stands out least, for one that stands out more."""
        least = max(self._shown, key=lambda one: urgency(one.card) if one.card is not None else (0, 0.0))
        if least.card is not None and urgency(card)[0] < urgency(least.card)[0]:
            self._drop(least)

    def _count(self, others: list[Card]) -> None:
        """Say how many more wait, and how many of them are CRITICAL."""
        critical = sum(card.level is Level.CRITICAL for card in others)
        self.more.setText(
            tr("+{count} more", count=numeral(len(others)))
            + (tr(", {critical} CRITICAL", critical=numeral(critical)) if critical else "")
        )
        self.more.setVisible(bool(others))

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        if not self._live or not any(isinstance(event, CONCERNS) for event in events):
            return
        self.refresh()
        changed = {event.request_id for event in events if isinstance(event, CHANGES)}
        for one in self._shown:
            if one.card is None:
                continue
            if one.card.id in changed:
                one.show_card(one.card, self._cases.troubles, self._cases.kept)
                self.rest.rearm()
                self.resized.emit()
            else:
                if one.take_kept(self._cases.kept):
                    self.rest.rearm()
                    self.resized.emit()
                one.follow()
                one.take_troubles(self._cases.troubles)

    @Slot()
    def _get_ready(self) -> None:
        if self._ready is None:
            self._ready = PromptCard(self._look, self._bridge, self.rest, self)
            self._ready.hide()
            for widget in (self._ready, *self._ready.findChildren(QWidget)):
                widget.ensurePolished()

    def _add(self, card: Card) -> None:
        one, self._ready = self._ready or PromptCard(self._look, self._bridge, self.rest, self), None
        self._build.start()
        # Two things stand above the cards: what stretches, and the line that counts the rest.
        self._column.insertWidget(2 + self._place(card), one)
        self._shown.append(one)
        one.review.connect(self.review)
        one.content.seen.connect(self.resized)
        one.show_card(card, self._cases.troubles, self._cases.kept)
        self.rest.watch(one)
        one.show()

    def _place(self, card: Card) -> int:
        """Return how many cards a new one stands below."""
        if not self._urgent_first:
            return 0
        if self.underMouse():
            return len(self._shown)
        mine = urgency(card)
        return sum(one.card is not None and urgency(one.card) <= mine for one in self._shown)

    def _sort(self) -> None:
        """Move up what is urgent and came while the pointer was here."""
        before = sorted(self._shown, key=self._column.indexOf)
        sorted_now = sorted(before, key=lambda one: urgency(one.card) if one.card is not None else (0, 0.0))
        if sorted_now != before:
            for place, one in enumerate(sorted_now):
                self._column.insertWidget(2 + place, one)
            self.rest.rearm()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        if self._urgent_first:
            self._sort()

    def _drop(self, one: PromptCard) -> None:
        self._shown.remove(one)
        self._column.removeWidget(one)
        one.let_go()
        one.hide()
        one.deleteLater()

    def _buttons(self) -> Iterator[QWidget]:
        for one in self._shown:
            yield from one.buttons()


def urgency(card: Card) -> tuple[int, float]:
    """Return what is looked at first: the worst of what was found, then what expires first."""
    worst = attention(card)
    return (-(worst or 0), card.deadline or 0.0)
