"""Has a screen reader say that a request has come which is CRITICAL, or which is the only one.

It moves no focus and decides nothing. Of one that comes behind others nothing is said: it is not on screen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from app import phrases
from app.parts.amounts import time_left
from app.parts.roles import announce
from app.state import attention
from runner.model.assessment import Level
from runner.model.events import QuestionAsked
from runner.model.translation import plural, tr
from runner.system.clock import since_boot

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from app.state.cards import Card, Cards
    from runner.model.events import Event


SETTLED_MS = 700
"""From a request to what is said of it: Orca drops events that come in a flood, as they do where a page fills."""


class Announcing(QObject):
    """One sentence for all requests of a moment, however many they are."""

    def __init__(self, cases: Cards, window: QWidget, say: Callable[[QWidget, str], None] = announce) -> None:
        """`say` is how words become speech."""
        super().__init__(window)
        self._cases = cases
        self._window = window
        self._say = say
        self._came: list[str] = []
        """Ids of requests of which nothing was said yet."""
        self._settled = QTimer(self, singleShot=True, interval=SETTLED_MS)
        self._settled.timeout.connect(self._speak)
        cases.happened.connect(self._take)

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        self._came += [event.request_id for event in events if isinstance(event, QuestionAsked)]
        if self._came and not self._settled.isActive():
            self._settled.start()

    @Slot()
    def _speak(self) -> None:
        came, self._came = self._came, []
        cards = [card for one in came if (card := self._cases.card(one)) is not None and card.waiting]
        worst = [card for card in cards if card.level is Level.CRITICAL]
        if worst:
            self._say(self._window, _sentence(worst))
        elif cards and len(self._cases.waiting()) == 1:
            self._say(self._window, _of_one(cards[0]))


def _what(card: Card) -> str:
    left = time_left((card.deadline or 0.0) - since_boot())
    return f"{attention.headline(card)}, {left}"


def _of_one(card: Card) -> str:
    agent = phrases.visible(card.request.agent)
    return tr("Request by {agent}: {level}, {what}.", agent=agent, level=attention.words(card), what=_what(card))


def _sentence(cards: list[Card]) -> str:
    first = cards[0]
    more = plural(" And {count} other.", " And {count} others.", len(cards) - 1) if len(cards) > 1 else ""
    return tr(
        "CRITICAL request by {agent}: {what}.{more}",
        agent=phrases.visible(first.request.agent),
        what=_what(first),
        more=more,
    )
