"""Handing over the outcome of a rehearsal: when a press counts, what the button says, and the digest that is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.review.approval import STOPPERS
from app.state import rehearsals
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.review.page import RequestPage
    from app.review.under_review import UnderReview
    from runner.model.events import EngineTroubled

REHEARSING = tr("Running without network. Wait for the outcome, or press Run for real.")
TO_LOOK_AT = tr("Look at {outcome} to the end to hand it over.", outcome=rehearsals.OUTCOME)
ANOTHER = tr("The outcome has changed.")
EXACTLY = tr("The agent gets exactly this outcome, and nothing runs again.")


class HandingOver:
    """Concerns the request as it was sent: a person's version of it was never rehearsed."""

    def __init__(self, under_review: UnderReview, page: RequestPage) -> None:
        self._under_review = under_review
        self._page = page

    @property
    def offered(self) -> bool:
        """Whether the button is on screen: the outcome is there, or on its way."""
        card = self._under_review.card
        return card is not None and self._under_review.shown is card and rehearsals.offered(card)

    @property
    def digest(self) -> str:
        """The digest of the outcome on screen; empty where there is none."""
        card = self._under_review.card
        found = None if card is None or not self.offered else rehearsals.outcome(card)
        return "" if found is None else found.digest

    def why_not(self, troubles: Mapping[str, EngineTroubled], pressed: str = "") -> str:
        """Return why nothing can be handed over now; empty where it can.

        `pressed` is the digest of the outcome that was on screen when the button was pressed, where it was.
        """
        if not self.digest:
            return REHEARSING
        if pressed and pressed != self.digest:
            return ANOTHER
        if stopped := next((words for room, words in STOPPERS.items() if room in troubles), ""):
            return stopped
        return TO_LOOK_AT if self._page.reading.outcome_unseen else ""

    def sentence(self, troubles: Mapping[str, EngineTroubled]) -> str:
        """Return what stands above the buttons."""
        return self.why_not(troubles) or EXACTLY

    def help_along(self, troubles: Mapping[str, EngineTroubled]) -> bool:
        """Show more of the outcome, or point at why it cannot be handed over; return whether it cannot."""
        why_not = self.why_not(troubles)
        if why_not == TO_LOOK_AT:
            self._page.reading.look_further(rehearsals.OUTCOME)
        elif why_not:
            self._page.foot.flash()
        return bool(why_not)

    def show_button(self, troubles: Mapping[str, EngineTroubled], *, free: bool, mouse_only: bool) -> None:
        """Show the button as it is now; `free` where an answer could be given."""
        button, why_not = self._page.foot.hand_over, self.why_not(troubles)
        button.mouse_only = mouse_only
        button.setText(tr("Hand over") if mouse_only else tr("Hand over  A"))
        button.setEnabled(self.offered and free and not why_not)
        ways = tr("With the mouse only") if mouse_only else "A"
        button.setToolTip(why_not or tr("{ways}. Exactly this outcome: sha256 {digest}", ways=ways, digest=self.digest))
        button.setAccessibleDescription(why_not or EXACTLY)
        button.setVisible(self.offered)
