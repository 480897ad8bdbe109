"""A line of text as it is shown: tabs become spaces, and what cannot be seen becomes an escape that can."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import category, combining, east_asian_width

from runner.model.shown import hides

WIDEST = len("\u2039U+10FFFF\u203a")
"""Cells that one character takes at most."""
_MARKS = 2
"""Marks stacked on one letter that are drawn as they are; real scripts need no more."""


@dataclass(frozen=True, slots=True)
class Shown:
    """`text` has the same cells from left to right as the screen will have."""

    text: str
    escapes: tuple[tuple[int, int], ...] = ()
    """(start, end) in `text` of each escape."""
    starts: tuple[int, ...] | None = None
    """Where each character of the source begins in `text`, and the end; None: the same place."""
    narrow: bool = True
    """Each character is one cell wide."""

    def place(self, column: int) -> int:
        """Return where column `column` of the source is in `text`."""
        if self.starts is None:
            return min(max(0, column), len(self.text))
        return self.starts[min(max(0, column), len(self.starts) - 1)]

    def column(self, place: int) -> int:
        """Return the column of the source that is shown at `place` of `text`."""
        if self.starts is None:
            return min(max(0, place), len(self.text))
        low, high = 0, len(self.starts) - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.starts[middle] <= place else (low, middle - 1)
        return low


def plain(line: str) -> bool:
    """Return whether `line` is shown as it is, one cell for each character."""
    return line.isascii() and line.isprintable()


def expose(line: str, tab: int = 4) -> Shown:
    """Return `line`, without its line break, as it is shown. Tabs go to the next multiple of `tab` cells."""
    if plain(line):
        return Shown(line)
    parts: list[str] = []
    starts: list[int] = []
    escapes: list[tuple[int, int]] = []
    length = cells = marks = 0
    narrow = True
    for character in line:
        starts.append(length)
        is_mark, is_hidden, width = _facts(character)
        marks = marks + 1 if is_mark else 0
        if character == "\t":
            part = " " * (tab - cells % tab)
            width = len(part)
        elif is_hidden or marks > _MARKS:
            part = escape(character)
            width = len(part)
            escapes.append((length, length + width))
        else:
            part = character
        narrow = narrow and width == len(part)
        parts.append(part)
        length += len(part)
        cells += width
    starts.append(length)
    return Shown("".join(parts), tuple(escapes), tuple(starts), narrow)


def visible(text: str) -> str:
    """Return `text` as one line in which nothing hides: what cannot be seen becomes an escape that can."""
    return expose(" ".join(text.split())).text


def cells(text: str) -> int:
    """Return how many cells wide `text` is in a font of one width."""
    return len(text) if text.isascii() else sum(map(_width, text))


@lru_cache(4096)
def _facts(character: str) -> tuple[bool, bool, int]:
    """Return whether it is a mark, whether it hides, and how many cells it takes."""
    return _is_mark(character), hides(character), _width(character)


@lru_cache(4096)
def _width(character: str) -> int:
    if _is_mark(character):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


@lru_cache(4096)
def _is_mark(character: str) -> bool:
    return combining(character) != 0 or category(character) in ("Mn", "Me")


@lru_cache(4096)
def escape(character: str) -> str:
    return f"\u2039U+{ord(character):04X}\u203a"


def lines_of(text: str, every_return: bool) -> list[str]:
    """Return `text` in lines as its language counts them; `every_return`: a lone carriage return ends one too.

    Other signs that some programs take for the end of a line stay in the line and are shown as escapes.
    """
    text = text.replace("\r\n", "\n")
    return (text.replace("\r", "\n") if every_return else text).split("\n")


def indent(shown: Shown) -> int:
    """Return how many cells of blanks a line begins with."""
    return len(shown.text) - len(shown.text.lstrip(" "))


def segments(shown: Shown, width: int, hang: int = 0) -> list[tuple[int, int]]:
    """Return `shown.text` cut into (start, end) pieces of at most `width` cells; at least one.

    Pieces after the first have `hang` cells less, and begin between two words where one ends within reach.
    """
    length = len(shown.text)
    pieces: list[tuple[int, int]] = []
    start, room = 0, width
    while (end := _reach(shown, start, room)) < length:
        end = _between_words(shown, start, end)
        pieces.append((start, end))
        start, room = end, max(1, width - hang)
    return [*pieces, (start, length)]


def _reach(shown: Shown, start: int, room: int) -> int:
    """Return the end of the longest piece from `start` on that has at most `room` cells; at least one character."""
    length = len(shown.text)
    if shown.narrow:
        return min(start + room, length)
    used = 0
    for at in range(start, length):
        used += _width(shown.text[at])
        if used > room and at > start:
            return at
    return length


def _between_words(shown: Shown, start: int, end: int) -> int:
    """Return the last place between two words before `end`, not before the middle of the piece; `end` without one."""
    least = start + (end - start) // 2
    text = shown.text
    found = 0
    for at in range(end, least, -1):
        if text[at - 1] == " " and text[at] != " ":
            found = at
            break
        if not found and _is_word(text[at - 1]) is not _is_word(text[at]):
            found = at
    return _before_escape(shown, found or end, least) or end


def _before_escape(shown: Shown, at: int, least: int) -> int:
    """Return `at`, or the beginning of the escape that it would cut through; 0 where that is before `least`."""
    nth = bisect_left(shown.escapes, (at, at)) - 1
    if nth >= 0 and shown.escapes[nth][0] < at < shown.escapes[nth][1]:
        return shown.escapes[nth][0] if shown.escapes[nth][0] > least else 0
    return at


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
