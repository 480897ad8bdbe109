"""Has a screen reader say that a CRITICAL request has come. It moves no focus and decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

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


class Announcing(QObject):
    """One sentence for each batch of events, however many requests are in it."""

    def __init__(self, cases: Cards, window: QWidget, say: Callable[[QWidget, str], None] = announce) -> None:
        """`say` is how words become speech."""
        super().__init__(window)
        self._cases = cases
        self._window = window
        self._say = say
        cases.happened.connect(self._take)

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        asked = (self._cases.card(event.request_id) for event in events if isinstance(event, QuestionAsked))
        worst = [card for card in asked if card is not None and card.waiting and card.level is Level.CRITICAL]
        if worst:
            self._say(self._window, _sentence(worst))


def _sentence(cards: list[Card]) -> str:
    first = cards[0]
    left = time_left((first.deadline or 0.0) - since_boot())
    what = f"{attention.headline(first)}, {left}"
    more = plural(" And {count} other.", " And {count} others.", len(cards) - 1) if len(cards) > 1 else ""
    return tr(
        "CRITICAL request by {agent}: {what}.{more}", agent=phrases.visible(first.request.agent), what=what, more=more
    )
