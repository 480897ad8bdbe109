"""The reasons for a request's class: what holds it there, what would remain without that, what would raise it.

For the person alone. It names the action that counts, and never how a rule could be evaded.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from runner.model.assessment import WHOLE, Assessment, Capability, Finding, Level, combined
from runner.model.request import NetworkMode, Request, Tool
from runner.model.tool_facts import FACTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

MOST_PLACES = 20
"""Places that a rule of the classifier notes in one request."""
LONGEST_LINE = 200
"""Characters that are shown of a line."""


@dataclass(frozen=True, slots=True)
class HoldingPlace:
    """Findings at one place, each of which is enough for the class that the request has."""

    findings: tuple[Finding, ...]
    text: str
    """The line of the code, cut; '' for what belongs to none."""
    remains: Level | None
    """The class without them; None where that is not known."""

    @property
    def line(self) -> int:
        """The line of the code, from 1; 0 for what belongs to none."""
        return 0 if self.findings[0].span == WHOLE else self.findings[0].span.line

    @property
    def unread(self) -> bool:
        """Whether it says that something could not be read: what that would be is not known."""
        return _unread(self.findings)


@dataclass(frozen=True, slots=True)
class LowerClass:
    """What it takes for a lower class."""

    level: Level
    without: tuple[Finding, ...]
    """The fewest findings that would have to go."""
    remains: Level
    """The class that is left then; above `level` where no finding decides about it."""

    @property
    def possible(self) -> bool:
        return self.remains <= self.level

    @property
    def unread(self) -> bool:
        """As that of a place."""
        return _unread(self.without)


@dataclass(frozen=True, slots=True)
class ClassReasons:
    """All reasons for the class of a request, and what would change it."""

    level: Level
    base: Level | None
    """The class of this kind of request by itself; None where that is not known."""
    kind: str
    """What kind of request it is, to begin a sentence with."""
    confined: bool
    """Whether it would run in a sandbox of Assent."""
    ruled: str
    """Which rule of the person sets the class, in a sentence; '' where none does."""
    holding: tuple[HoldingPlace, ...]
    lower: tuple[LowerClass, ...]
    """Every lower class, the highest first; none where `base` is not known."""
    worst: tuple[Finding, ...]
    """The findings of the worst level that stands out, which colors the badge."""
    without_worst: Level | None
    """The level that would stand out without those; None where nothing would."""
    capped: bool
    """Whether a rule that holds the class has noted as many places as it does; there may be more."""
    raised_by: tuple[tuple[Level, tuple[str, ...]], ...]
    """What such a request could have besides that gives it a higher class, by that class."""


def reasons_for(request: Request, assessment: Assessment) -> ClassReasons:
    """Return why `request` has the class that `assessment`, with the person's rules, gives it. Pure; reads no code."""
    level = assessment.level
    holding = [one for one in assessment.findings if one.level >= level]
    lines = request.code.split("\n") if holding else []
    worst = assessment.attention
    rest = tuple(one for one in assessment.findings if one.level is not worst)
    places = _by_place(holding)
    # Where there are several, each of the others holds the class alone.
    alone = remaining(assessment, places[0]) if len(places) == 1 else level
    return ClassReasons(
        level=level,
        base=assessment.base,
        kind=kind_of(request, assessment.base),
        confined=request.client is None,
        ruled=assessment.reasons[0] if _ruled(assessment) else "",
        holding=tuple(_holding(lines, group, alone) for group in places),
        lower=tuple(_lower(assessment)),
        worst=tuple(one for one in assessment.findings if one.level is worst),
        without_worst=replace(assessment, findings=rest).attention,
        capped=max(Counter(one.id for one in holding).values(), default=0) >= MOST_PLACES,
        raised_by=tuple(_raised_by(request, level)),
    )


def _holding(lines: list[str], findings: tuple[Finding, ...], remains: Level | None) -> HoldingPlace:
    at = 0 if findings[0].span == WHOLE else findings[0].span.line
    text = lines[at - 1][:LONGEST_LINE].strip() if 0 < at <= len(lines) else ""
    return HoldingPlace(findings, text, remains)


def remaining(assessment: Assessment, without: Collection[Finding]) -> Level | None:
    """Return the class of what was assessed so if `without` had not been found; None where that is not known."""
    gone = set(without)
    rest = [one for one in assessment.findings if one not in gone]
    if assessment.base is None:
        # The record is of a version that did not keep it: what is left holds the class, or nobody knows.
        return assessment.level if any(one.level >= assessment.level for one in rest) else None
    left = combined(assessment.base, rest)
    return max(left, assessment.level) if _ruled(assessment) else left


def by_findings(assessment: Assessment) -> Level:
    """Return the class without the rules of the person, which raise it for themselves."""
    base = assessment.base
    return assessment.level if base is None else combined(base, assessment.findings)


def _ruled(assessment: Assessment) -> bool:
    """Return whether a rule of the person sets the class: nothing else raises it above base and findings."""
    return assessment.level > by_findings(assessment)


def _lower(assessment: Assessment) -> Iterator[LowerClass]:
    for level in sorted((one for one in Level if one < assessment.level), reverse=True):
        # Findings count by the worst of them, so all above a class have to go for it, and no others.
        above = tuple(one for one in assessment.findings if one.level > level)
        left = remaining(assessment, above)
        if left is not None and assessment.base is not None:
            yield LowerClass(level, above, left)


def _by_place(findings: Iterable[Finding]) -> list[tuple[Finding, ...]]:
    """Return the findings of each line together; those that belong to none each for itself."""
    groups: dict[tuple[int, str], list[Finding]] = {}
    for one in findings:
        key = (0, f"{one.id} {one.evidence} {one.reason}") if one.span == WHOLE else (one.span.line, "")
        groups.setdefault(key, []).append(one)
    return [tuple(group) for _, group in sorted(groups.items(), key=lambda pair: pair[0])]


def _unread(findings: Iterable[Finding]) -> bool:
    return any(one.capability is Capability.UNREADABLE for one in findings)


# ---- what kind of request it is, and what raises it ----

STARTED = " that can be run"
BUILT = "packages that run programs of their own while they are installed"
BUILDING = {
    Tool.CODE_CREATE_SANDBOX: f"Making a sandbox with {BUILT}",
    Tool.CODE_INSTALL_PACKAGE: f"Installing {BUILT}",
}


def kind_of(request: Request, base: Level | None) -> str:
    """Return the kind of a request, with what gives it `base`."""
    words = FACTS[request.tool].kind
    if request.builds:
        return BUILDING.get(request.tool, f"{words} with {BUILT}")
    if request.tool in (Tool.CODE_WRITE_FILE, Tool.CLIENT_EDIT) and base is not None and base >= Level.HIGH:
        return f"{words}{STARTED}"
    return words


NETWORK = "network access"
UNREAD = "code that cannot be read (too long, nested too deeply)"
STARTABLE = "a file that can be run"
RAISING: dict[Tool, tuple[tuple[Level, str], ...]] = {
    Tool.CODE_EXECUTE: ((Level.CRITICAL, NETWORK), (Level.CRITICAL, BUILT), (Level.CRITICAL, UNREAD)),
    Tool.CODE_CREATE_SANDBOX: ((Level.CRITICAL, BUILT),),
    Tool.CODE_INSTALL_PACKAGE: ((Level.CRITICAL, NETWORK), (Level.CRITICAL, BUILT)),
    Tool.CODE_WRITE_FILE: (
        (Level.HIGH, STARTABLE),
        (Level.CRITICAL, "a place outside its workspace"),
        (Level.CRITICAL, "a place that is read at start-up or log-in"),
    ),
    Tool.CLIENT_SHELL: ((Level.CRITICAL, UNREAD),),
    Tool.CLIENT_EDIT: (
        (Level.HIGH, STARTABLE),
        (Level.HIGH, "a place outside the folder the agent works in"),
        (Level.CRITICAL, "a file that configures programs of agents"),
        (Level.CRITICAL, "a place that is read at start-up or log-in"),
    ),
    Tool.CLIENT_FETCH: ((Level.CRITICAL, "an address that is long enough to carry data out"),),
}
"""What the classifier raises whatever the code does, by tool; a test assesses a request with each of it."""


def _raised_by(request: Request, level: Level) -> Iterator[tuple[Level, tuple[str, ...]]]:
    known = RAISING.get(request.tool, ())
    has = {
        NETWORK: request.network is not NetworkMode.NONE,
        BUILT: request.builds,
    }
    for higher in sorted(one for one in Level if one > level):
        words = tuple(word for to, word in known if to is higher and not has.get(word, False))
        if words:
            yield higher, words
