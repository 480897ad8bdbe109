"""The code of several requests as one text: what is alike stands there once, with a row of values for each request."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from app import phrases
from app.parts.text.alike import circled, marked
from runner.approval.pattern import pattern
from runner.model.request import CODE
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.parts.text.code_painting import MarkedPlace
    from app.state.cards import Card
    from runner.approval.pattern import CodePattern
    from runner.model.assessment import Finding


@dataclass(slots=True)
class Joined:
    """Lines to be shown, one below the other."""

    lines: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    """For each line its number in its own code; empty for what stands in no code, which no code can look like."""
    findings: list[Finding] = field(default_factory=list)
    places: list[MarkedPlace] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def add(self, *lines: str) -> None:
        """Add lines that are of no code."""
        self.lines += lines
        self.numbers += [""] * len(lines)


def joined(cards: list[Card]) -> Joined:
    """Return the deciding parts of all requests: each code once, and what differs in those that are alike."""
    whole = Joined()
    groups = grouped(cards)
    last = groups[-1][-1][0] if groups else 0
    for numbered in groups:
        numbers = [number for number, _ in numbered]
        first = numbered[0][1]
        title = phrases.quoted_title(first.request)
        whole.add(
            tr("{of} of {count}: {title}", of=_of(numbers), count=len(cards), title=title)
            + tr(" and the like") * (len(numbers) > 1)
        )
        found = pattern([card.request.code for _, card in numbered])
        assert found is not None or len(numbered) == 1
        _add_whole(first, whole, found)
        if len(numbered) > 1 and found is not None:
            _add_rows(numbers, found, whole)
        if numbers[-1] != last:
            whole.add("")
    return whole


def grouped(cards: list[Card]) -> list[list[tuple[int, Card]]]:
    """Return the requests with their numbers, those together that are the same but for values that fit in a row."""
    groups: list[list[tuple[int, Card]]] = []
    for number, card in enumerate(cards, 1):
        for group in groups:
            if _same_beside(group[0][1], card) and pattern(
                [*(one.request.code for _, one in group), card.request.code]
            ):
                group.append((number, card))
                break
        else:
            groups.append([(number, card)])
    return groups


def _same_beside(one: Card, other: Card) -> bool:
    """Return whether everything that decides but the code is the same, and what was found, at the same lines."""
    return _beside_code(one) == _beside_code(other) and _found(one) == _found(other)


def _beside_code(card: Card) -> tuple[object, ...]:
    request = card.request
    # By its parts: joined to one text, others might read the same.
    parts = tuple(part for part in request.parts if part.name != CODE)
    return (request.tool, request.language, parts, request.beside)


def _found(card: Card) -> set[tuple[object, ...]]:
    findings = card.assessment.findings if card.assessment else ()
    return {(one.id, one.level, one.reason, one.span.place and (one.span.line, one.span.end_line)) for one in findings}


def _of(numbers: list[int]) -> str:
    """Return the numbers of requests in words: `1 to 10`, `2 and 6`, `1, 3 and 4`."""
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return tr("{numbers} to {numbers_2}", numbers=numbers[0], numbers_2=numbers[-1])
    *before, last = map(str, numbers)
    return tr("{before} and {last}", before=", ".join(before), last=last) if before else last


def _add_whole(card: Card, whole: Joined, found: CodePattern | None) -> None:
    request = card.request
    title = len(whole.lines) - 1
    whole.add(*(f"{part.name}: {phrases.visible(part.text)}" for part in request.beside))
    down = len(whole.lines)
    for finding in card.assessment.findings if card.assessment else ():
        span = finding.span
        # What belongs to no line of the code stands at the title.
        by = down if span.place else title
        whole.findings.append(replace(finding, span=replace(span, line=span.line + by, end_line=span.end_line + by)))
    whole.places += marked(found, down) if found is not None else []
    parts = (part.text if part.name == CODE else f"{part.name}: {part.text}" for part in request.parts)
    # The end of the last line is not a line of its own.
    lines = "\n".join(parts).removesuffix("\n").split("\n")
    whole.lines += lines
    whole.numbers += map(str, range(1, len(lines) + 1))


def _add_rows(numbers: Iterable[int], found: CodePattern, whole: Joined) -> None:
    """Add a row for each request: its number, and its values."""
    if not found.places:
        whole.add(tr("All are the same, to the letter."))
        return
    whole.add(tr("What differs; everything else is the same, to the letter:"))
    widths = [max(map(len, column)) for column in zip(*found.rows, strict=True)]
    for number, row in zip(numbers, found.rows, strict=True):
        cells = (f"{circled(n)} {text:<{width}}" for n, (text, width) in enumerate(zip(row, widths, strict=True), 1))
        whole.add(f"{number:>4}   {'   '.join(cells)}".rstrip())
