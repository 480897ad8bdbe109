"""One step of a disguise, and what steps share: names that the program does not use, lines to put before it."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

SHORTEST = 3
"""Characters of a text from which on it is worth hiding."""
LONGEST = 1_200
"""Characters of a text beyond which it stays as it is, so that programs do not grow without end."""
MOST_PLACES = 8
"""Places in a program that one step changes."""
PLACES = re.compile(r"(?m)^(?P<indent> +)IT\b|\b(?:IT|(?P<place>LEFT|RIGHT|NAME|OTHER))\b")


@dataclass(slots=True)
class Maker:
    """What a step makes beside its expression. One for each step of one program."""

    code: str
    random: Random
    lines: list[str] = field(default_factory=list)
    """Statements that must stand before the expression."""

    def name(self) -> str:
        """Return a name that the program does not use."""
        while True:
            made = "v" + "".join(self.random.choices("abcdefghijkmnpqrstuwxyz", k=4))
            if made not in self.code:
                self.code += f" {made}"
                return made

    def before(self, line: str) -> None:
        self.lines.append(line)

    def cut(self, text: str) -> tuple[str, str]:
        """Return `text` in two parts, neither of them empty."""
        at = self.random.randrange(1, len(text))
        return text[:at], text[at:]

    def letter(self, text: str) -> str:
        """Return a letter that `text` does not contain; '' where it has all of them."""
        return next((one for one in "QZXJKVW" if one not in text), "")

    def absent(self, text: str) -> str:
        """Return a character that `text` does not contain."""
        return self.random.choice([one for one in "QZXJKVW#@^|" if one not in text] or ["\x7f"])


@dataclass(frozen=True, slots=True)
class Step:
    """A change of a program that leaves what it does. Its code stays the same where there is nothing to change."""

    name: str
    change: Callable[[str, Maker], str]
    hides: bool = False
    """Whether it makes hidden code that is then run, which is a danger by itself, whatever the code does."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """Writes what it is given into a text: IT all of it, LEFT and RIGHT its two parts, NAME and OTHER new names.

    Where a line begins with spaces before IT, every line of it does.
    """

    name: str
    text: str
    before: str = ""
    """Likewise, for a statement that must stand before."""
    write: Callable[[str], str] = str
    """Return the literal for a text; `str` for what is code."""

    def __call__(self, given: str, maker: Maker) -> str:
        used = {found["place"] for found in PLACES.finditer(f"{self.before}\n{self.text}")}
        values = {"": self.write(given)}
        if "LEFT" in used:
            left, right = maker.cut(given)
            values |= {"LEFT": self.write(left), "RIGHT": self.write(right)}
        values |= {one: maker.name() for one in ("NAME", "OTHER") if one in used}

        def fill(found: re.Match[str]) -> str:
            indent = found["indent"]
            return (
                values[found["place"] or ""] if indent is None else textwrap.indent(values[""], indent, lambda _: True)
            )

        if self.before:
            maker.before(PLACES.sub(fill, self.before))
        return PLACES.sub(fill, self.text)


def named(change: Callable[..., str]) -> str:
    """Return the name of a step that is made with `change`."""
    return change.name if isinstance(change, Pattern) else change.__name__.strip("_").replace("_", " ")


def steps(*changes: Callable[[str, Maker], str], hides: bool = False) -> tuple[Step, ...]:
    return tuple(Step(named(change), change, hides) for change in changes)


def worth(text: str) -> bool:
    """Return whether a text may be hidden: long enough to say something, short enough to be written in another way."""
    return SHORTEST <= len(text) <= LONGEST and re.search(r"\w", text) is not None


def all_of(
    builders: Sequence[Callable[[str, Maker], str]], kind: Callable[[Callable[[str, Maker], str]], Step]
) -> tuple[Step, ...]:
    """Return a step of one kind for each builder."""
    return tuple(map(kind, builders))
