"""The progress of a request's rehearsal, in words, and what may be handed over of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app import phrases
from app.parts.chips import Fact
from runner.model.rehearsal import RehearsalPhase, outcome_words
from runner.model.result import Outcome
from runner.model.translation import tr

if TYPE_CHECKING:
    from app.state.cards import Card
    from runner.model.rehearsal import Rehearsal

OUTCOME = tr("Outcome")
"""Name of the tab with what a rehearsal did."""


def outcome(card: Card) -> Rehearsal | None:
    """Return the outcome that may be handed over; None where there is none."""
    moved = card.rehearsal
    return moved.rehearsal if card.waiting and moved is not None and moved.phase is RehearsalPhase.SHOWN else None


def nothing_ran(card: Card) -> str:
    """Return whether anything ran of a request that was not approved: nothing, or its rehearsal."""
    return phrases.nothing_ran(card.rehearsal is not None and card.rehearsal.began)


def awaited(card: Card) -> bool:
    """Return whether the outcome is still to come."""
    moved = card.rehearsal
    return card.waiting and moved is not None and moved.phase in (RehearsalPhase.QUEUED, RehearsalPhase.RUNNING)


def offered(card: Card) -> bool:
    """Return whether this request is answered by its outcome, which is there or on its way."""
    return awaited(card) or outcome(card) is not None


def facts(card: Card) -> list[Fact]:
    """Return how far the rehearsal is, to stand beside the chips of containment; nothing where none is switched on."""
    moved = card.rehearsal
    if moved is None or not card.waiting:
        return []
    match moved.phase:
        case RehearsalPhase.QUEUED:
            return [Fact(tr("waits to be run without network"), "timer", "muted")]
        case RehearsalPhase.RUNNING:
            return [Fact(tr("running without network\N{HORIZONTAL ELLIPSIS}"), "play", "accent_ink")]
        case RehearsalPhase.SHOWN if moved.rehearsal is not None:
            result = moved.rehearsal.result
            ink = "low" if result.outcome is Outcome.OK else "medium"
            return [Fact(tr("outcome: {outcome_words}", outcome_words=outcome_words(result)), "play", ink)]
        case _:
            return [Fact(tr("no outcome: {why}", why=phrases.visible(moved.why)).rstrip(". "), "info", "muted")]
