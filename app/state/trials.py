"""The acts of a request that was tried among decoys, in words, and how far its trial is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app import phrases
from runner.approval.rehearsable import kept_from_trial
from runner.model.rehearsal import RehearsalPhase
from runner.model.translation import tr

if TYPE_CHECKING:
    from app.state.cards import Card
    from runner.model.assessment import Level
    from runner.model.tried import Tried

TRIED = tr("Tried")
"""Name of the tab with all that was asked for."""
TRYING = tr("Trying it without network\N{HORIZONTAL ELLIPSIS}")
HELD = tr("It is being tried first. Approve is free again in a few seconds.")
BLOCKED = tr("Before you decide, nothing is started in a sandbox that your policy finds too weak for it.")
PROVES = tr("A trial shows what was asked for. That something is missing here proves nothing.")


def tried(card: Card) -> Tried | None:
    """Return the outcome of the trial; None where there is none."""
    moved = card.trial
    return moved.tried if moved is not None and moved.phase is RehearsalPhase.SHOWN else None


def level(card: Card) -> Level | None:
    """Return how grave that is which reading had not said; None for nothing."""
    found = tried(card)
    return None if found is None else found.level


def awaited(card: Card) -> bool:
    """Return whether the outcome is still to come."""
    moved = card.trial
    return card.waiting and moved is not None and moved.phase in (RehearsalPhase.QUEUED, RehearsalPhase.RUNNING)


def held(card: Card) -> str:
    """Return why Approve waits; empty where it does not."""
    return HELD if awaited(card) and card.trial is not None and card.trial.holds else ""


def offered(card: Card) -> bool:
    """Return whether a person may have it tried."""
    return card.waiting and card.original is None and not kept_from_trial(card.request)


def why_not(card: Card) -> str:
    """Return why it may not be tried; '' where it may. What the policy says stands behind it: that names the way on."""
    return f"{BLOCKED} {phrases.visible(card.blocked)}" if card.blocked else ""


def line(card: Card) -> str:
    """Return what stands on the band of it; empty where no trial was begun."""
    moved = card.trial
    if (found := tried(card)) is not None:
        return phrases.visible(found.sentence)
    if moved is None or not card.waiting:
        return ""
    return TRYING if awaited(card) else phrases.visible(tr("Not tried: {why}", why=moved.why))


def text(found: Tried) -> str:
    """Return all that was asked for, as text."""
    return "\n".join((found.sentence, "", *found.lines, "", PROVES))
