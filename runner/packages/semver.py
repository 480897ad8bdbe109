"""Versions and ranges of npm (semantic versioning 2.0, and the ranges of node-semver's documentation)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

_VERSION = re.compile(
    r"v?(0|[1-9]\d{0,15})\.(0|[1-9]\d{0,15})\.(0|[1-9]\d{0,15})(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?",
    re.ASCII,
)
_PARTIAL = re.compile(
    r"v?(?:(\d{1,16}|[xX*])(?:\.(\d{1,16}|[xX*])(?:\.(\d{1,16}|[xX*])"
    r"(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?)?)?)?",
    re.ASCII,
)
_HYPHEN = re.compile(r"\s*(\S+)\s+-\s+(\S+)\s*")
_SPACED = re.compile(r"(>=|<=|>|<|=|~>?|\^)\s+")
LONGEST = 256
"""Characters of a version or a range."""
Numbers = tuple[int, int, int]


class NotARange(ValueError):
    """A text that is no range of versions: an address, a tag, a folder."""


@dataclass(frozen=True, slots=True)
class SemVer:
    """One version. Build metadata does not count."""

    numbers: Numbers
    early: tuple[str, ...] = ()
    """The parts of a prerelease; empty for a release."""

    @property
    def key(self) -> tuple[Numbers, bool, tuple[tuple[int, int, str], ...]]:
        """What versions are ordered by: a number is below a word, a prerelease below its release."""
        parts = tuple((0, int(one), "") if one.isdigit() else (1, 0, one) for one in self.early)
        return self.numbers, not self.early, parts


@cache
def version(text: str) -> SemVer | None:
    """Return the version that `text` is; None for another text."""
    match = _VERSION.fullmatch(text) if len(text) <= LONGEST else None
    if match is None:
        return None
    return SemVer((int(match[1]), int(match[2]), int(match[3])), tuple(match[4].split(".")) if match[4] else ())


@dataclass(frozen=True, slots=True)
class _Comparator:
    operator: str
    version: SemVer

    def allows(self, found: SemVer) -> bool:
        key, bound = found.key, self.version.key
        match self.operator:
            case ">=":
                return key >= bound
            case ">":
                return key > bound
            case "<":
                return key < bound
            case "<=":
                return key <= bound
            case _:
                return key == bound


@dataclass(frozen=True, slots=True)
class Range:
    """A range: several sets of comparators, of which one has to allow a version."""

    sets: tuple[tuple[_Comparator, ...], ...]

    def allows(self, found: SemVer) -> bool:
        """Return whether a version is in the range; a prerelease only where the range names one of the same numbers."""
        for comparators in self.sets:
            if all(one.allows(found) for one in comparators) and (
                not found.early
                or any(one.version.early and one.version.numbers == found.numbers for one in comparators)
            ):
                return True
        return False


@cache
def range_of(text: str) -> Range:
    """Return the range that `text` is. Raises NotARange."""
    if len(text) > LONGEST:
        raise NotARange(text[:LONGEST])
    return Range(tuple(_comparators(one) for one in text.split("||")))


def _comparators(text: str) -> tuple[_Comparator, ...]:
    if (hyphen := _HYPHEN.fullmatch(text)) is not None:
        return (*_simple(f">={hyphen[1]}"), *_simple(f"<={hyphen[2]}"))
    words = _SPACED.sub(r"\1", text).split()
    return tuple(one for word in words or ["*"] for one in _simple(word))


def _simple(word: str) -> tuple[_Comparator, ...]:
    operator = next((one for one in (">=", "<=", "~>", ">", "<", "=", "~", "^") if word.startswith(one)), "")
    match = _PARTIAL.fullmatch(word[len(operator) :])
    if match is None:
        raise NotARange(word)
    given = [int(one) for one in match.groups()[:3] if one is not None and one.isdigit()]
    early = tuple(match[4].split(".")) if match[4] and len(given) == 3 else ()
    low = SemVer((*given, 0, 0, 0)[:3], early)  # type: ignore[arg-type]  # three of them
    match operator:
        case "^":
            return _between(low, _above(low.numbers, _first_nonzero(given)) if given else None)
        case "~" | "~>":
            return _between(low, _above(low.numbers, min(len(given), 2) - 1) if given else None)
        case ">" if given and len(given) < 3:
            return (_Comparator(">=", _above(low.numbers, len(given) - 1)),)
        case "<=" if given and len(given) < 3:
            return (_Comparator("<", _above(low.numbers, len(given) - 1)),)
        case "<" | ">" if not given:
            return (_Comparator("<", SemVer((0, 0, 0), ("0",))),)  # below or above everything: nothing
        case "<" | ">" | "<=" | ">=" if given or operator == ">=":
            # `<1.2` leaves out the prereleases of 1.2.0, too.
            return (_Comparator(operator, SemVer(low.numbers, ("0",)) if operator == "<" and len(given) < 3 else low),)
        case _ if len(given) == 3:
            return (_Comparator("=", low),)
        case _:
            return _between(low, _above(low.numbers, len(given) - 1) if given else None)


def _first_nonzero(given: list[int]) -> int:
    """Return the place that a caret holds: the first that is not zero, else the last that is given."""
    return next((place for place, one in enumerate(given) if one), len(given) - 1)


def _above(numbers: Numbers, place: int) -> SemVer:
    """Return what comes after all versions with the same numbers up to `place`, below its own prereleases."""
    raised = [*numbers[:place], numbers[place] + 1, 0, 0][:3]
    return SemVer((raised[0], raised[1], raised[2]), ("0",))


def _between(low: SemVer, high: SemVer | None) -> tuple[_Comparator, ...]:
    at_least = _Comparator(">=", low)
    return (at_least,) if high is None else (at_least, _Comparator("<", high))
