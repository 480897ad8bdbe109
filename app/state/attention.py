"""The attention that a request is worth: the worst found in it, apart from the class that sets its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app import phrases
from app.state import trials
from runner.model.assessment import Level, attention_words
from runner.model.sentence_translation import in_words, short_form
from runner.model.translation import tr, translated

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.state.cards import Card
    from runner.model.assessment import Assessment
    from runner.model.request import Request


def attention(card: Card) -> Level | None:
    """Return the level of the worst finding, or of what a trial found besides; None where nothing stands out. See `of`.

    It is worked out once for each assessment: lists, counts and the tray sort by it whenever anything happens.
    """
    if card.looked_at[0] is not card.assessment:
        card.looked_at = card.assessment, of_assessment(card.assessment)
    found, tried = card.looked_at[1], trials.level(card)
    return tried if found is None or (tried is not None and tried > found) else found


def of_assessment(assessment: Assessment | None) -> Level | None:
    """Return the attention of what was assessed so; None too for what was not assessed."""
    return None if assessment is None else of(assessment.level, assessment.attention)


def of(level: Level | None, worst: Level | None) -> Level | None:
    """Return the attention of a request of the class `level` in which `worst` is the worst finding.

    A request of the class CRITICAL is CRITICAL whatever was found: what is approved by a deliberate act alone must
    not look like any other.
    """
    return Level.CRITICAL if level is Level.CRITICAL else worst


def found(card: Card) -> bool:
    """Return whether anything was found, be it LOW."""
    return card.assessment is not None and bool(card.assessment.findings)


def rank(card: Card) -> int:
    """Return `attention` as a number, to sort by: 0 where nothing stands out."""
    return int(attention(card) or 0)


def worst(cards: Iterable[Card]) -> Level | None:
    """Return the highest attention among `cards`; None where nothing stands out in any."""
    found = max(map(rank, cards), default=0)
    return Level(found) if found else None


def worst_ink(cards: Iterable[Card]) -> str:
    """Return the token for what stands for several requests: a count, an icon."""
    level = worst(cards)
    return "neutral" if level is None else level.name.lower()


def words(card: Card) -> str:
    """Return the attention in a word: as on the badge; empty before it was assessed."""
    worst = attention(card)
    return words_of(card.assessment) if worst is None else translated(attention_words(worst, True))


def words_of(assessment: Assessment | None) -> str:
    """Return the attention of what was assessed so, as `words`."""
    if assessment is None:
        return ""
    return translated(attention_words(of_assessment(assessment), bool(assessment.findings)))


def ink(card: Card) -> str:
    """Return the token for rings and bars of a request."""
    level = attention(card)
    return "neutral" if level is None else level.name.lower()


def class_words(card: Card) -> str:
    """Return the class, which sets rules and windows: `HIGH class: runs code, 60 s to answer`."""
    if card.assessment is None:
        return ""
    left = (
        tr(", {window} to answer", window=phrases.span(round(card.window)))
        if card.waiting and card.window and not card.paused
        else ""
    )
    return tr("{name} class: {does}{left}", name=card.assessment.level.name, does=phrases.does(card.request), left=left)


def sentence(card: Card) -> str:
    """Return what the request would do in one sentence; empty before it was assessed."""
    return sentence_of(card.assessment)


def sentence_of(assessment: Assessment | None) -> str:
    """Return the same of what was assessed so."""
    if assessment is None:
        return ""
    return phrases.visible(in_words(assessment.verdict.sentence or assessment.reasons[0]))


def headline(card: Card) -> str:
    """Return what the request would do in some 36 characters: the first line of it in lists, menus and notices."""
    return headline_of(card.assessment, card.request)


def headline_of(assessment: Assessment | None, request: Request) -> str:
    """Return the same of what was assessed so."""
    if assessment is None:
        return tr("Not assessed: {does}", does=phrases.does(request))
    return phrases.visible(short_form(assessment.verdict)) or phrases.short(in_words(assessment.reasons[0].rstrip(".")))
