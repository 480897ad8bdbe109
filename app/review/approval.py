"""The reasons for a disabled Approve, and what became of a request, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from app import phrases
from app.parts.key_names import key_text
from app.state import rehearsals, trials
from runner.model.assessment import Level
from runner.model.decision import Decider, Verdict
from runner.model.request import CODE, Isolation
from runner.model.translation import plural, tr
from runner.policy.grants import offered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.state.cards import Card
    from runner.model.decision import Decision
    from runner.model.events import EngineTroubled
    from runner.model.request import Request

NETWORK_ALONE = tr("Cannot run here: with network it is CRITICAL, and your minimum for that is a stronger sandbox.")
STOPPERS = {
    "ledger": tr("Nothing can be approved while the history does not work: see the top of the window."),
    "sandbox": tr("Nothing can be approved while no sandbox works: see the top of the window."),
}
"""A short text for each part whose trouble keeps everything from running. The banner has the reason and the remedy."""


def why_not(card: Card, unseen: Sequence[str], troubles: Mapping[str, EngineTroubled], accepted: str = "") -> str:
    """Return why `card` cannot be approved now; empty when it can. `unseen` are parts whose end was not shown.

    `accepted` is the sandbox below the minimum that the person accepts for it.
    """
    if card.missed and card.armed is not None:
        agent = phrases.visible(card.request.agent)
        return tr(
            "Approved for later: it runs once, when {agent} sends exactly this again. You can take that back.",
            agent=agent,
        )
    if not card.waiting and not card.missed:
        return became(card)
    if stopped := next((words for room, words in STOPPERS.items() if room in troubles), ""):
        return stopped
    if card.blocked and not (accepted and accepted == card.accepts):
        return NETWORK_ALONE if card.accepts else card.blocked
    if card.assessment is None:
        return tr("Not assessed yet.")
    return trials.held(card) or too_long(card.request) or to_look_at(unseen)


def too_long(request: Request) -> str:
    """Why `request` cannot be seen to its end, however one looks; empty where it can."""
    part = next((part for part in request.parts if not part.is_shown_whole), None)
    if part is None:
        return ""
    return tr(
        "{name}: a line is too long to be shown to its end. Deny it and ask for shorter lines, or edit the code.",
        name=phrases.part_name(part.name),
    )


def to_look_at(unseen: Sequence[str]) -> str:
    """Return what is to be looked at before approving; empty when nothing is."""
    if not unseen:
        return ""
    if list(unseen) == [CODE]:
        return tr("Scroll to the end of the code to approve.")
    parts = [phrases.part_name(one) for one in unseen]
    names = tr(" and ").join(filter(None, (", ".join(parts[:-1]), parts[-1])))
    return tr("Look at {names} to the end to approve.", names=names)


def needs_holding(card: Card) -> bool:
    """Return whether Approve must be held: CRITICAL asks for a deliberate act (spec D2)."""
    return card.level is Level.CRITICAL


def below_minimum(accepted: str) -> str:
    """Return what it means to accept a sandbox below the minimum, for the sentence beside the button."""
    where = phrases.isolation(Isolation(accepted))
    return tr(
        "This one request would run in the {where}, below your minimum. The history keeps that you accepted it.",
        where=where,
    )


def never_remembered(card: Card, why_not: str) -> str:
    """Return why `card` cannot be remembered; empty when it can. `why_not` is why it cannot be approved now."""
    if card.level is Level.CRITICAL:
        return tr("CRITICAL requests are asked every time.")
    if card.level is not None and not offered(card.request, card.level):
        return tr("What runs in a sandbox that is kept is asked every time: what lies in it may have changed.")
    return why_not


def button_words(shown: Card, holding: bool, mouse_only: bool, rehearsed: bool = False) -> str:
    """Return what the button does, in the fewest words, with its key where that counts."""
    if rehearsed:
        return tr("Run for real") if mouse_only else tr("Run for real  Shift+A")
    what = tr("your version once") if shown.original else tr("once")
    if holding:
        return tr("Hold to approve {what}", what=what)
    return tr("Approve {what}", what=what) if mouse_only else tr("Approve {what}  A", what=what)


def later_words(holding: bool) -> str:
    """Return what the button of a late approval does; no key stands for it."""
    return tr("Hold to approve for later") if holding else tr("Approve for later")


def next_words(card: Card, others: bool) -> str:
    """Return what the button does that leaves a request that is over; `others` wait."""
    if card.missed and card.armed is None:
        return tr("Dismiss")
    return tr("Next  J") if others else tr("Close")


def ways(holding: bool, mouse_only: bool, rehearsed: bool = False) -> str:
    """Return what presses the button, for its tool tip."""
    if rehearsed and not mouse_only:
        return tr("Shift+A: approve it once, and run it in its sandbox with the limits it asked for")
    if mouse_only:
        return tr("Hold with the mouse") if holding else tr("With the mouse only")
    return tr("Hold {key}", key=key_text("Ctrl+Shift+A")) if holding else "A"


def became(card: Card) -> str:
    """Return the outcome of a request that no longer waits; empty while it waits."""
    if card.used:
        return tr(
            "Approved for later, and used: {agent} has sent exactly this again.",
            agent=phrases.visible(card.request.agent),
        )
    if card.decision is not None:
        return _decided(card, card.decision)
    return "" if card.waiting else tr("Being assessed.")


def _decided(card: Card, decision: Decision) -> str:
    match decision.verdict:
        case Verdict.APPROVED:
            return phrases.decided(decision) if card.result is None else phrases.ended(card.result)
        case Verdict.DENIED:
            reason = f" {phrases.visible(decision.reason)}" if decision.by is not Decider.PERSON else ""
            return f"{phrases.decided(decision)}{reason} {rehearsals.nothing_ran(card)}"
        case Verdict.EXPIRED:
            seconds = plural("{count} second", "{count} seconds", round(decision.after_seconds))
            return tr(
                "Expired after {seconds} without an answer. {nothing_ran}",
                seconds=seconds,
                nothing_ran=rehearsals.nothing_ran(card),
            )
        case Verdict.WITHDRAWN:
            return tr("The agent withdrew this request. {nothing_ran}", nothing_ran=rehearsals.nothing_ran(card))
        case _:
            assert_never(decision.verdict)
