"""The state that every part of a review shares: the request, a person's version of it, and how far its answer is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.link.bridge import EngineLink
    from app.state.cards import Card
    from runner.approval.draft import Draft


class UnderReview:
    """The request on screen. `card` and `sent` are for reading elsewhere; `change` begins with another request."""

    def __init__(self, bridge: EngineLink) -> None:
        self._bridge = bridge
        self.card: Card | None = None
        self.draft: Card | None = None
        """The card with the person's version in it, once that has been assessed."""
        self.sent = False
        """An answer to it is on its way."""
        self.accepted = ""
        """The sandbox below the minimum that the person has accepted for the request as it was sent."""
        self._paused = False
        """Its countdown has been paused from here."""

    @property
    def shown(self) -> Card | None:
        """What would run: the card, or the person's version of it."""
        return self.draft or self.card

    def change(self, card: Card | None) -> None:
        """Begin with `card`; nothing of what was done with one request counts for the next."""
        self.card = card
        self.draft = None
        self.sent = self._paused = False
        self.accepted = ""

    def take_version(self, found: Draft | None) -> None:
        """Let the person's version `found` be what would run; None for the request as it was sent."""
        card = self.card
        assert card is not None
        self.draft = None
        self.accepted = ""
        if found is not None:
            self.draft = replace(
                card,
                request=found.request,
                digest=found.request.digest,
                assessment=found.assessment,
                blocked=found.blocked,
                accepts="",
                original=card.request,
                rehearsal=None,  # what was rehearsed is the request as it was sent
                trial=None,
            )

    def follow_countdown(self) -> None:
        """Give the person's version the countdown of the request."""
        if self.card is not None and self.draft is not None:
            self.draft.deadline, self.draft.window = self.card.deadline, self.card.window
            self.draft.paused = self.card.paused

    def pause_countdown(self) -> None:
        """Ask for the countdown to stand: any interaction does that (spec D4)."""
        card = self.card
        if card is not None and card.waiting and not card.paused and not self._paused:
            self._paused = True
            self._bridge.decisions.look_at(card.id)
