"""One code, many values: what programs have in common letter by letter, and the texts and numbers that differ."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LITERALS = re.compile(r'"[^"\n]*"|\'[^\'\n]*\'|\b\d[\w.]*')
"""Quoted texts and numbers, in whatever language."""
LONGEST = 50_000
"""Characters of code above which nothing is compared."""
MOST_NUMBERS = 12
"""Different values that are told apart: more of them are no pattern that a person sees."""
LONGEST_VALUE = 200
"""Characters of a value that can stand in a row; a longer one is read in its code."""
LINE_ENDS = frozenset("\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
"""What some take for the end of a line: with it, no place in the code is surely the same for all."""


@dataclass(frozen=True, slots=True)
class CodeValue:
    """A text or number as it stands in the code. Lines count from 1, columns from 0."""

    line: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class CodePattern:
    """What differs between programs that are alike. Putting a row in the places gives that program, to the letter."""

    places: tuple[tuple[CodeValue, int], ...]
    """Where in the first program, and the number of what stands there, from 1; the same number for the same values."""
    rows: tuple[tuple[str, ...], ...]
    """For each program its values, by their numbers."""


def split(code: str) -> tuple[tuple[str, ...], tuple[CodeValue, ...]]:
    """Return the text between the values of a program, and these."""
    found = list(LITERALS.finditer(code))
    ends = [0, *(at for one in found for at in one.span()), len(code)]
    # The text between the values, not one with a mark in their place: code may hold any mark itself.
    between = tuple(code[start:end] for start, end in list(pairwise(ends))[::2])
    values, line, at, begin = [], 1, 0, 0
    for one in found:
        line += code.count("\n", at, one.start())
        at = one.start()
        begin = code.rfind("\n", 0, at) + 1
        values.append(CodeValue(line, at - begin, one.end() - begin, one.group()))
    return between, tuple(values)


def pattern(codes: Sequence[str]) -> CodePattern | None:
    """Return what differs between `codes`; None where they are not alike, or a value cannot stand in a row."""
    if any(len(code) > LONGEST or LINE_ENDS & set(code) for code in codes):
        return None
    parted = [split(code) for code in codes]
    if len({between for between, _ in parted}) > 1:
        return None
    numbers: dict[tuple[str, ...], int] = {}
    places = []
    for column in zip(*(values for _, values in parted), strict=True):
        texts = tuple(value.text for value in column)
        if len(set(texts)) > 1:
            places.append((column[0], numbers.setdefault(texts, len(numbers) + 1)))
    if len(numbers) > MOST_NUMBERS or any(len(text) > LONGEST_VALUE for texts in numbers for text in texts):
        return None
    rows = zip(*numbers, strict=True) if numbers else (() for _ in codes)
    return CodePattern(tuple(places), tuple(rows))
