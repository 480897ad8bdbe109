"""The code of several requests as one text: what is alike stands there once, with the lines that differ below it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app import phrases
from app.parts.amounts import counted
from runner.model.request import CODE
from runner.model.span import Span

if TYPE_CHECKING:
    from app.cards import Card
    from runner.model.assessment import Finding

LEAST_LINES = 5
"""Lines of a code of which only those that differ are shown; a shorter one is shown whole each time."""
MOST_DIFFERENT = 3
"""At most one line in so many may differ."""


def joined(cards: list[Card]) -> tuple[str, tuple[Finding, ...]]:
    """Return the deciding parts of all requests, one below the other, and the findings at their new lines."""
    lines: list[str] = []
    findings: list[Finding] = []
    whole: list[tuple[int, Card]] = []
    """Those that are shown whole, by their numbers."""
    for number, card in enumerate(cards, 1):
        title = phrases.quoted_title(card.request)
        lines.append("\N{BOX DRAWINGS HEAVY HORIZONTAL}" * 3 + f" {number} of {len(cards)}: {title}")
        alike = next(((n, differ) for n, one in whole if (differ := differing(one, card)) is not None), None)
        if alike is None:
            whole.append((number, card))
            _add_whole(card, lines, findings)
        else:
            _add_differing(card, *alike, lines, findings)
        lines.append("")
    return "\n".join(lines), tuple(findings)


def differing(one: Card, other: Card) -> tuple[int, ...] | None:
    """Return the lines of code, from 0, in which `other` differs from `one`; None where it is to be shown whole.

    Everything else that decides, and what was found in the other lines, is the same then.
    """
    if _beside_code(one) != _beside_code(other):
        return None
    before, after = one.request.code.split("\n"), other.request.code.split("\n")
    if before == after:
        return ()
    if len(before) != len(after) or len(before) < LEAST_LINES or "\r" in one.request.code + other.request.code:
        return None
    differ = tuple(number for number, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1])
    if len(differ) * MOST_DIFFERENT > len(before) or _found(one, differ) != _found(other, differ):
        return None
    return differ


def _beside_code(card: Card) -> tuple[object, ...]:
    request = card.request
    # By its parts: joined to one text, others might read the same.
    parts = tuple(part for part in request.parts if part.name != CODE)
    return (request.tool, request.language, parts, request.beside)


def _found(card: Card, without: tuple[int, ...]) -> set[tuple[object, ...]]:
    """Return what was found in the lines other than `without`."""
    findings = card.assessment.findings if card.assessment else ()
    return {
        (one.id, one.level, one.reason, one.span)
        for one in findings
        if not one.span.place or one.span.line - 1 not in without
    }


def _add_whole(card: Card, lines: list[str], findings: list[Finding]) -> None:
    request = card.request
    about = [f"{part.name}: {phrases.visible(part.text)}" for part in request.beside]
    for finding in card.assessment.findings if card.assessment else ():
        span = finding.span
        # What belongs to no line of the code stands at the title.
        down = len(lines) + len(about) if span.place else len(lines) - 1
        findings.append(replace(finding, span=replace(span, line=span.line + down, end_line=span.end_line + down)))
    parts = (part.text if part.name == CODE else f"{part.name}: {part.text}" for part in request.parts)
    # The end of the last line is not a line of its own.
    lines += [*about, *"\n".join(parts).removesuffix("\n").split("\n")]


def _add_differing(card: Card, like: int, differ: tuple[int, ...], lines: list[str], findings: list[Finding]) -> None:
    """Add the lines that differ from request `like`, with what was found in them."""
    if not differ:
        lines.append(f"The same as {like}.")
        return
    lines.append(f"The same as {like} but for {counted(len(differ), 'line')}:")
    code = card.request.code.split("\n")
    places = {}
    for line in differ:
        places[line + 1] = len(lines) + 1
        lines.append(f"{line + 1:>4}: {code[line]}")
    for finding in card.assessment.findings if card.assessment else ():
        if finding.span.place and (place := places.get(finding.span.line)) is not None:
            findings.append(replace(finding, span=Span(place, 0, place, 0)))
