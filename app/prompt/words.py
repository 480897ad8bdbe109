"""The words of the compact card: who asks, what the request would do in a sentence, and what holds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app import phrases
from app.parts.amounts import size
from app.review.containment import about_request, of_card, refusals
from app.state import attention, rehearsals
from runner.model.assessment import Level, attention_words
from runner.model.request import CODE, Tool
from runner.model.tool_facts import FACTS
from runner.model.translation import numeral, tr, translated

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.state.cards import Card
    from runner.model.kept_sandbox import Kept
    from runner.model.request import Request

MOST_LINES = 8
"""Lines of a request that is approved on the card: more are read in the window."""
MOST_ROWS = 16
"""Rows that these lines may take where they are longer than the card is wide, with what is said at them."""
MOST_OUTCOME_ROWS = 12
"""Rows more, for the outcome of a rehearsal."""
MOST_CHARACTERS = 1600
EXCERPT = 2
"""Lines shown of a request that does not fit: the first of those that matter."""


@dataclass(frozen=True, slots=True)
class CardChip:
    """A few words on a ground."""

    text: str
    ink: str
    """A token: `low` where it holds, `medium` where something is to be looked at, `neutral` for what is refused."""


def wants(request: Request) -> str:
    """Return what the agent wants, after its name: `wants to run Python`."""
    if request.tool is Tool.CODE_EXECUTE:
        return tr("wants to run {language}", language=phrases.language(request.language) or tr("code"))
    return translated(FACTS[request.tool].wants)


def sentence(card: Card) -> str:
    """Return what the request would do."""
    return attention.sentence(card) or tr("Not assessed yet.")


def chips(card: Card, kept: Iterable[Kept] = ()) -> list[CardChip]:
    """Return the level of attention first, then what contains the request, in the words of the window.

    `kept` are the sandboxes that agents keep.
    """
    kept = tuple(kept)
    worst = attention.attention(card)
    words = translated(attention_words(worst, attention.found(card)))
    found = [CardChip(words, "low" if worst is None else worst.name.lower())]
    found += [CardChip(one.words, "low" if one.holds else "medium") for one in of_card(card, kept)]
    found += [CardChip(phrases.visible(one), "neutral") for one in refusals(card, kept)]
    found += [
        CardChip(phrases.visible(one), "neutral" if level is Level.LOW else "medium")
        for one, level in about_request(card)
    ]
    return found + [
        CardChip(fact.words, "medium" if fact.ink == "medium" else "low") for fact in rehearsals.facts(card)
    ]


def where(request: Request) -> list[tuple[str, str]]:
    """Return where it would be done and within which limits: all in the digest that is neither a part nor a chip."""
    if request.client is not None:
        return []  # the chips say it
    parts = [phrases.place(request), *limits(request)]
    if request.image:
        parts.append(tr("image {image}", image=phrases.visible(request.image[:19])))
    if request.offset or request.most_bytes:
        parts.append(tr("{size} from byte {offset}", size=size(request.most_bytes), offset=numeral(request.offset)))
    return [(tr("Where"), ", ".join(parts))]


def limits(request: Request) -> list[str]:
    """Return every limit in a word or two."""
    asked = request.limits
    return [
        f"{numeral(asked.seconds, 'g')} s",
        tr("{memory_mb} MB memory", memory_mb=numeral(asked.memory_mb)),
        tr("{cpu_cores} cores", cpu_cores=numeral(asked.cpu_cores, "g"))
        if request.limits_cpu
        else tr("CPU not limited"),
        tr("{disk_mb} MB disk", disk_mb=numeral(asked.disk_mb)),
        tr("{size} output", size=size(asked.output_bytes)),
        tr("{processes} processes", processes=numeral(asked.processes)),
    ]


def may_fit(request: Request) -> bool:
    """Return whether a request may be short enough for the card; that it is, shows once it has been laid out.

    Packages and what else is shown as a table are read in the window.
    """
    if request.plan is not None or request.packages or not all(part.is_shown_whole for part in request.parts):
        return False
    parts = [part.text for part in request.parts]
    lines = sum(len(text.splitlines()) for text in parts)
    return lines <= MOST_LINES and sum(map(len, parts)) <= MOST_CHARACTERS


def excerpt(card: Card) -> tuple[int, str]:
    """Return the number of the first line that matters and the text from there, of a request that does not fit."""
    part = next((part for part in card.request.parts if part.name == CODE), None)
    if part is None:
        return 1, ""
    # As the findings count them: another sign for the end of a line must not show another line.
    lines = part.text.split("\n")
    first = min(max(1, _line_to_look_at(card)), len(lines))
    return first, "\n".join(lines[first - 1 : first - 1 + EXCERPT]).rstrip("\n")


def _line_to_look_at(card: Card) -> int:
    """Return the line of the verdict, else that of the worst finding."""
    if card.assessment is None:
        return 1
    if card.assessment.verdict.look_at is not None:
        return card.assessment.verdict.look_at.line
    worst = max(card.assessment.findings, key=lambda one: (one.level, -one.span.line), default=None)
    return 1 if worst is None else worst.span.line
