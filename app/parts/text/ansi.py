"""The colors a program gives its output, and no other terminal command."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_SEQUENCE = re.compile(
    r"\x1b\[([0-9;:]*)m"  # colors: the only kind that is kept
    r"|\x1b\[[0-?]*[ -/]*[@-~]?"  # cursor, screen and mode
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles, links and other strings
    r"|\x1b[ -/]*[0-~]?"
    r"|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f]"
)
_STYLES: dict[int, dict[str, bool]] = {
    1: {"bold": True},
    2: {"faint": True},
    3: {"italic": True},
    4: {"underline": True},
    7: {"swapped": True},
    22: {"bold": False, "faint": False},
    23: {"italic": False},
    24: {"underline": False},
    27: {"swapped": False},
}
_TEXT = {**{30 + n: n for n in range(8)}, **{90 + n: 8 + n for n in range(8)}, 39: None}
_GROUND = {**{40 + n: n for n in range(8)}, **{100 + n: 8 + n for n in range(8)}, 49: None}
"""What each code turns on or off, and the color of the theme that it names; None for the theme's own."""
MOST_CHANGES = 256
"""Changes of color in one line that are followed; what comes after them is plain. Rows of colored text have fewer."""
_LEVELS = (0, 95, 135, 175, 215, 255)


@dataclass(frozen=True, slots=True)
class Ink:
    """How a stretch of output is drawn. Colors are 0 to 15 of the theme or `#rrggbb`; None is the theme's own."""

    text: int | str | None = None
    ground: int | str | None = None
    bold: bool = False
    italic: bool = False
    underline: bool = False
    faint: bool = False
    swapped: bool = False


PLAIN = Ink()

Stretch = tuple[int, int, Ink]
"""(start, end, ink) in the text without sequences."""


def parse(line: str) -> tuple[str, list[Stretch]]:
    """Return the text of one line and the stretches of it that are not plain.

    What a lone carriage return would overwrite is left out, as a terminal would.
    """
    if line.isprintable():
        return line, []
    line = _written_last(line)
    parts: list[str] = []
    stretches: list[Stretch] = []
    ink = PLAIN
    length = done = changes = 0
    for found in _SEQUENCE.finditer(line):
        length = _add(line[done : found.start()], ink, length, parts, stretches)
        done = found.end()
        if found[1] is not None:
            if changes == MOST_CHANGES:
                break
            changes += 1
            ink = _changed(ink, found[1])
    else:
        _add(line[done:], ink, length, parts, stretches)
        return "".join(parts), stretches
    parts.append(_SEQUENCE.sub("", line[done:]))
    return "".join(parts), stretches


def text_alone(line: str) -> str:
    """Return the text that `parse` returns, without the work on its colors."""
    return line if line.isprintable() else _SEQUENCE.sub("", _written_last(line))


def _written_last(line: str) -> str:
    line = line.rstrip("\r")
    return line[line.rfind("\r") + 1 :]


def _add(text: str, ink: Ink, length: int, parts: list[str], stretches: list[Stretch]) -> int:
    if text:
        parts.append(text)
        if ink != PLAIN:
            stretches.append((length, length + len(text), ink))
    return length + len(text)


def _changed(ink: Ink, codes: str) -> Ink:
    """Return `ink` after a "select graphic rendition" sequence (ECMA-48, 8.3.117); unknown codes change nothing."""
    numbers = iter([int(code[:6] or 0) for code in codes.replace(":", ";").split(";")])
    for number in numbers:
        if number == 0:
            ink = PLAIN
        elif number in _STYLES:
            ink = replace(ink, **_STYLES[number])
        elif number in _TEXT:
            ink = replace(ink, text=_TEXT[number])
        elif number in _GROUND:
            ink = replace(ink, ground=_GROUND[number])
        elif number == 38:
            ink = replace(ink, text=_color(numbers))
        elif number == 48:
            ink = replace(ink, ground=_color(numbers))
    return ink


def _color(numbers: Iterator[int]) -> int | str | None:
    match next(numbers, 0):
        case 5:
            return _indexed(next(numbers, 0) & 255)
        case 2:
            red, green, blue = (next(numbers, 0) & 255 for _ in range(3))
            return f"#{red:02x}{green:02x}{blue:02x}"
        case _:
            return None


def _indexed(number: int) -> int | str:
    """Return color 0 to 255 of the usual palette: 16 of the theme, a cube of 216, and 24 grays."""
    if number < 16:
        return number
    if number < 232:
        cube = number - 16
        red, green, blue = _LEVELS[cube // 36], _LEVELS[cube // 6 % 6], _LEVELS[cube % 6]
        return f"#{red:02x}{green:02x}{blue:02x}"
    gray = 8 + 10 * (number - 232)
    return f"#{gray:02x}{gray:02x}{gray:02x}"
