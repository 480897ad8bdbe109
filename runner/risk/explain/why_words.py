"""The reasons for a class as sentences: the same in the window and on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.assessment import WHOLE, Finding, Level
from runner.risk.explain.why import MOST_PLACES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from runner.risk.explain.why import ClassReasons, HoldingPlace, LowerClass

COUNTED = "Counted from these findings; changed code is assessed again."
HIGHEST = "Nothing is above CRITICAL."
YOUR_RULES = "A rule of yours can set a higher class; nothing sets a lower one."
SANDBOX = "Where it would run does not change the class. Settings say how strong a sandbox each class needs."
OLDER = "What this kind of request has by itself was not recorded, so nobody can say what would remain."
CAPPED = f"A rule notes at most {MOST_PLACES} places, so there may be more."
MOST_LINES = 6
"""Lines that one sentence names."""


def summary(reasons: ClassReasons) -> str:
    """Return in a sentence or two what sets the class."""
    name, places = reasons.level.name, reasons.holding
    if reasons.ruled:
        return reasons.ruled
    if reasons.base is reasons.level:
        many = sum(len(place.findings) for place in places)
        also = "" if not many else f" {_counted(many, 'finding is', 'findings are')} {name} as well."
        return f"{name}: {_by_itself(reasons)}.{also}"
    if not places:
        return f"{name}. {OLDER}"
    if len(places) == 1 and not places[0].line:
        return f"{name}: {places[0].findings[0].reason}"
    found = [one for place in places for one in place.findings]
    each = "" if len(places) == 1 else "; each place is enough"
    return f"{name} because of {places_of(found)}{each}."


def place(holding: HoldingPlace) -> str:
    """Return where it is, with what stands there."""
    return f"Line {holding.line:,}: {holding.text}".rstrip(": ") if holding.line else "The request itself"


def without(reasons: ClassReasons, holding: HoldingPlace) -> str:
    """Return which class would remain without what stands at a place."""
    if holding.unread:
        return f"If it could be read: {_or_higher(holding.remains)}, by what it does."
    if holding.remains is None:
        return "Which class would remain without it was not recorded."
    if holding.remains < reasons.level:
        return f"Without it: {holding.remains.name}."
    others = [one for place in reasons.holding if place is not holding for one in place.findings]
    if reasons.ruled:
        why = "your rule sets it"
    elif reasons.base is reasons.level:
        why = _by_itself(reasons)
    else:
        why = f"because of {places_of(others)}"
    return f"Without it: still {reasons.level.name}, {why}."


def lower(reasons: ClassReasons) -> tuple[str, ...]:
    """Return what each lower class would take, or why there is none."""
    if not reasons.lower and reasons.level is not Level.LOW:
        return (OLDER,)
    # Where a class is left that is lower still, it stands there for those between as well.
    lines = list(dict.fromkeys(_lower(one) for one in reasons.lower if one.possible))
    never = [one.level.name for one in reasons.lower if not one.possible]
    if never:
        why = "your rule sets it" if reasons.ruled else _by_itself(reasons)
        lines.append(f"{_or(never)}: not possible; {why}.")
    return tuple(lines) or ("Nothing is below LOW.",)


def _lower(one: LowerClass) -> str:
    if one.unread:
        return f"{one.remains.name} or higher: if all of it could be read, and without {places_of(one.without)}."
    return f"{one.remains.name}: without {places_of(one.without)}."


def higher(reasons: ClassReasons) -> tuple[str, ...]:
    """Return what would raise the class."""
    if reasons.level is Level.CRITICAL:
        return (HIGHEST,)
    lines = [f"{level.name}: with {_or(words)}." for level, words in reasons.raised_by]
    found = [one for one in Level if one > reasons.level]
    lines.insert(0, f"Nothing was found that is {_or([one.name for one in found])}.")
    return (*lines, YOUR_RULES, *([SANDBOX] if reasons.confined else []))


def badge(reasons: ClassReasons) -> str:
    """Return what colors the badge where that is not the class; '' where it is."""
    if not reasons.worst or reasons.level is Level.CRITICAL:
        return ""
    left = reasons.without_worst
    rest = "nothing would stand out" if left is None else f"it would be {left.name}"
    name, at = reasons.worst[0].level.name, places_of(reasons.worst)
    return f"The color is that of the worst finding: {name}, because of {at}. Without that, {rest}."


def report(reasons: ClassReasons, most: int = 20) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return everything as headings with lines; of the places that hold the class at most `most`."""
    held: list[str] = []
    for one in reasons.holding[:most]:
        held += [
            place(one),
            *(f"    {finding_line(finding, one.text)}" for finding in one.findings),
            f"    {without(reasons, one)}",
        ]
    if len(reasons.holding) > most:
        held.append(f"and {len(reasons.holding) - most:,} more places")
    parts = (
        ("Why this class", (summary(reasons), *filter(None, (badge(reasons),)))),
        ("What holds it there", tuple(held)),
        ("Why not lower", lower(reasons)),
        ("Why not higher", higher(reasons)),
        ("", (footnote(reasons),) if reasons.holding else ()),
    )
    return tuple((heading, lines) for heading, lines in parts if lines)


def footnote(reasons: ClassReasons) -> str:
    """Return what all of it is counted from."""
    return f"{COUNTED} {CAPPED}" if reasons.capped else COUNTED


def finding_line(finding: Finding, beside: str) -> str:
    """Return what a finding says, by which rule, and what shows it where that is not in `beside` already."""
    evidence = " ".join(finding.evidence.split())
    shows = f"  {evidence}" if evidence and evidence not in " ".join(beside.split()) else ""
    return f"{finding.reason} [{finding.id}]{shows}"


def places_of(findings: Iterable[Finding]) -> str:
    """Return where findings are: `lines 3 and 8`, `line 3 and what it asks for`."""
    lines = sorted({one.span.line for one in findings if one.span != WHOLE})
    whole = any(one.span == WHOLE for one in findings)
    named = [f"{line:,}" for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        named.append(f"{len(lines) - MOST_LINES:,} more")
    words = [f"{'line' if len(lines) == 1 else 'lines'} {_and(named)}"] if named else []
    return _and([*words, *(["what the request asks for"] if whole else [])])


def _by_itself(reasons: ClassReasons) -> str:
    base = "" if reasons.base is None else reasons.base.name
    kind = reasons.kind[0].lower() + reasons.kind[1:]
    return f"{kind} is {base} by itself, whatever is found"


def _or_higher(level: Level | None) -> str:
    return "the class of its kind or higher" if level is None else f"{level.name} or higher"


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _and(words: Sequence[str]) -> str:
    return _joined(words, "and")


def _or(words: Sequence[str]) -> str:
    return _joined(words, "or")


def _joined(words: Sequence[str], last: str) -> str:
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"
