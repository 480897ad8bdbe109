"""Texts that make a regular expression take long, put together from what the expression itself speaks of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

PARSER: Any = re._parser  # type: ignore[attr-defined]
MANY = 30
"""Repetitions allowed by the expression from which on a repeat counts as unbounded."""
ORDINARY = "a 0_-./=\n\"'"
END = "\n\x00"
"""What hardly any expression takes, so that a match that needs its end fails only there."""
VARIANTS = 3
"""Texts that are made of an expression, each with other branches and characters."""
MOST_SIGNS = 5
"""Characters that are no letters, of which all pairs are tried."""
CATEGORIES = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}

Pump = tuple[str, str]
"""What stands first, and what is repeated."""


def pumps(pattern: str, flags: int) -> list[Pump]:
    """Return what to try an expression with, each once."""
    tree = PARSER.parse(pattern, flags)
    made: dict[Pump, None] = {}
    for variant in range(VARIANTS):
        sampler = Sampler(tree, variant)
        for before, body in sampler.repeats:
            made.update(dict.fromkeys([("", body), (before, body), ("", before + body), ("", before + " ")]))
    letters = literals(tree)
    signs = [one for one in dict.fromkeys([*letters, *'"\\ ']) if not one.isalnum()][:MOST_SIGNS]
    made.update(dict.fromkeys(("", one + other) for one in signs for other in signs if one != other))
    made.update(dict.fromkeys(("", one) for one in [*"a \n", *letters[:MOST_SIGNS]]))
    return [one for one in made if one[1]]


def literals(items: Any) -> list[str]:
    """Return the characters that an expression names, in their order and each once."""
    return list(dict.fromkeys(_named(items)))


def _named(value: Any) -> Iterator[str]:
    match value:
        case (operation, int(code)) if str(operation) in ("LITERAL", "NOT_LITERAL"):
            yield chr(code)
        case (operation, (int(low), int())) if str(operation) == "RANGE":
            yield chr(low)
        case list() | tuple() | PARSER.SubPattern():
            for one in value:
                yield from _named(one)


class Sampler:
    """A text that an expression takes, and for each of its unbounded repeats what stands before and what in it."""

    def __init__(self, tree: Any, variant: int) -> None:
        named = literals(tree)
        self._variant = variant
        self._wanted = [[*ORDINARY, *named], [*named, *ORDINARY], [*reversed(named), *ORDINARY]][variant]
        self._groups: dict[int, str] = {}
        self.repeats: list[tuple[str, str]] = []
        self.text = self._walk(tree, "")

    def _walk(self, items: Any, before: str) -> str:
        text = ""
        for operation, value in items:
            text += self._taken(str(operation), value, before + text)
        return text

    def _taken(self, operation: str, value: Any, before: str) -> str:
        match operation:
            case "LITERAL":
                return chr(value)
            case "NOT_LITERAL" | "IN" | "ANY":
                return self._character(operation, value)
            case "BRANCH":
                each = [self._walk(branch, before) for branch in value[1]]
                return each[(0, -1, len(each) // 2)[self._variant]]
            case "SUBPATTERN":
                group, _, _, inner = value
                text = self._walk(inner, before)
                self._groups[group] = text
                return text
            case "GROUPREF":
                return self._groups.get(value, "")
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                return self._repeated(value, before)
            case "ATOMIC_GROUP":
                return self._walk(value, before)
            case "ASSERT" | "ASSERT_NOT":
                self._walk(value[1], before)
        return ""

    def _repeated(self, value: Any, before: str) -> str:
        least: int = value[0]
        most, inner = value[1:]
        body = self._walk(inner, before)
        if most == PARSER.MAXREPEAT or most >= MANY:
            self.repeats.append((before, body))
        return body * max(least, int(self._variant == 0))

    def _character(self, operation: str, value: Any) -> str:
        if operation == "ANY":
            return self._wanted[0] if self._wanted[0] != "\n" else "a"
        kinds = [("NEGATE", None), ("LITERAL", value)] if operation == "NOT_LITERAL" else value
        ranges = [chr(what[0]) for kind, what in kinds if str(kind) == "RANGE"]
        return next((one for one in [*self._wanted, *ranges, *map(chr, range(128))] if _within(kinds, one)), "")


def _within(kinds: Any, character: str) -> bool:
    """Whether a class of characters has this one."""
    negated = False
    for kind, what in kinds:
        match str(kind):
            case "NEGATE":
                negated = True
            case "LITERAL" if what == ord(character):
                return not negated
            case "RANGE" if what[0] <= ord(character) <= what[1]:
                return not negated
            case "CATEGORY":
                name = str(what).removeprefix("CATEGORY_")
                if bool(re.match(CATEGORIES[name.removeprefix("NOT_")], character)) is not name.startswith("NOT_"):
                    return not negated
    return negated
