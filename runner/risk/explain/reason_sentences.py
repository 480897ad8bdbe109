"""The reasons for a class as sentences: the same in the window, in its language, and on the terminal, in English."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.assessment import WHOLE, Finding, Level
from runner.model.translation import numeral, plural, tr, translated, within
from runner.risk.explain.class_reasons import MOST_PLACES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from runner.risk.explain.class_reasons import ClassReasons, HoldingPlace, LowerClass

COUNTED = tr("Counted from these findings; changed code is assessed again.")
HIGHEST = tr("Nothing is above CRITICAL.")
YOUR_RULES = tr("A rule of yours can set a higher class; nothing sets a lower one.")
SANDBOX = tr("Where it would run does not change the class. Settings say how strong a sandbox each class needs.")
OLDER = tr("What this kind of request has by itself was not recorded, so nobody can say what would remain.")
CAPPED = tr("A rule notes at most {most} places, so there may be more.", most=MOST_PLACES)
MOST_LINES = 6
"""Lines that one sentence names."""


def summary(reasons: ClassReasons) -> str:
    """Return in a sentence or two what sets the class."""
    name, places = reasons.level.name, reasons.holding
    if reasons.ruled:
        return reasons.ruled
    if reasons.base is reasons.level:
        many = sum(len(place.findings) for place in places)
        also = plural(" {count} finding is {name} as well.", " {count} findings are {name} as well.", many, name=name)
        return f"{name}: {_by_itself(reasons)}.{also if many else ''}"
    if not places:
        return f"{name}. {OLDER}"
    if len(places) == 1 and not places[0].line:
        return f"{name}: {translated(places[0].findings[0].reason)}"
    found = [one for place in places for one in place.findings]
    if len(places) == 1:
        return tr("{name} because of {places}.", name=name, places=places_of(found))
    return tr("{name} because of {places}; each place is enough.", name=name, places=places_of(found))


def place(holding: HoldingPlace) -> str:
    """Return where it is, with what stands there."""
    if not holding.line:
        return tr("The request itself")
    return tr("Line {line}: {text}", line=numeral(holding.line), text=holding.text).rstrip(": ")


def without(reasons: ClassReasons, holding: HoldingPlace) -> str:
    """Return which class would remain without what stands at a place."""
    if holding.unread:
        return tr("If it could be read: {level}, by what it does.", level=_or_higher(holding.remains))
    if holding.remains is None:
        return tr("Which class would remain without it was not recorded.")
    if holding.remains < reasons.level:
        return tr("Without it: {name}.", name=holding.remains.name)
    others = [one for place in reasons.holding if place is not holding for one in place.findings]
    if reasons.ruled:
        why = tr("your rule sets it")
    elif reasons.base is reasons.level:
        why = _by_itself(reasons)
    else:
        why = tr("because of {places}", places=places_of(others))
    return tr("Without it: still {name}, {why}.", name=reasons.level.name, why=why)


def lower(reasons: ClassReasons) -> tuple[str, ...]:
    """Return what each lower class would take, or why there is none."""
    if not reasons.lower and reasons.level is not Level.LOW:
        return (OLDER,)
    # Where a class is left that is lower still, it stands there for those between as well.
    lines = list(dict.fromkeys(_lower(one) for one in reasons.lower if one.possible))
    never = [one.level.name for one in reasons.lower if not one.possible]
    if never:
        why = tr("your rule sets it") if reasons.ruled else _by_itself(reasons)
        lines.append(tr("{names}: not possible; {why}.", names=_or(never), why=why))
    return tuple(lines) or (tr("Nothing is below LOW."),)


def _lower(one: LowerClass) -> str:
    if one.unread:
        return tr(
            "{name} or higher: if all of it could be read, and without {places}.",
            name=one.remains.name,
            places=places_of(one.without),
        )
    return tr("{name}: without {places}.", name=one.remains.name, places=places_of(one.without))


def higher(reasons: ClassReasons) -> tuple[str, ...]:
    """Return what would raise the class."""
    if reasons.level is Level.CRITICAL:
        return (HIGHEST,)
    lines = [
        tr("{name}: with {what}.", name=level.name, what=_or([translated(one) for one in words]))
        for level, words in reasons.raised_by
    ]
    found = [one for one in Level if one > reasons.level]
    lines.insert(0, tr("Nothing was found that is {names}.", names=_or([one.name for one in found])))
    return (*lines, YOUR_RULES, *([SANDBOX] if reasons.confined else []))


def badge(reasons: ClassReasons) -> str:
    """Return what colors the badge where that is not the class; '' where it is."""
    if not reasons.worst or reasons.level is Level.CRITICAL:
        return ""
    left = reasons.without_worst
    rest = tr("nothing would stand out") if left is None else tr("it would be {name}", name=left.name)
    name, at = reasons.worst[0].level.name, places_of(reasons.worst)
    return tr(
        "The color is that of the worst finding: {name}, because of {places}. Without that, {rest}.",
        name=name,
        places=at,
        rest=rest,
    )


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
        held.append(tr("and {count} more places", count=numeral(len(reasons.holding) - most)))
    parts = (
        (tr("Why this class"), (summary(reasons), *filter(None, (badge(reasons),)))),
        (tr("What holds it there"), tuple(held)),
        (tr("Why not lower"), lower(reasons)),
        (tr("Why not higher"), higher(reasons)),
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
    return f"{translated(finding.reason)} [{finding.id}]{shows}"


def places_of(findings: Iterable[Finding]) -> str:
    """Return where findings are: `lines 3 and 8`, `line 3 and what it asks for`."""
    lines = sorted({one.span.line for one in findings if one.span != WHOLE})
    whole = any(one.span == WHOLE for one in findings)
    named = [numeral(line) for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        named.append(tr("{count} more", count=numeral(len(lines) - MOST_LINES)))
    words = [plural("line {lines}", "lines {lines}", len(lines), lines=_and(named))] if named else []
    return _and([*words, *([tr("what the request asks for")] if whole else [])])


def _by_itself(reasons: ClassReasons) -> str:
    base = "" if reasons.base is None else reasons.base.name
    kind = within(translated(reasons.kind))
    return tr("{kind} is {name} by itself, whatever is found", kind=kind, name=base)


def _or_higher(level: Level | None) -> str:
    return tr("the class of its kind or higher") if level is None else tr("{name} or higher", name=level.name)


def _and(words: Sequence[str]) -> str:
    if len(words) < 2:
        return "".join(words)
    return tr("{several} and {last}", several=", ".join(words[:-1]), last=words[-1])


def _or(words: Sequence[str]) -> str:
    if len(words) < 2:
        return "".join(words)
    return tr("{several} or {last}", several=", ".join(words[:-1]), last=words[-1])
