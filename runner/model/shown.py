"""The part of a text that a person can see before a decision: which characters, and how much of a line.

On a terminal the others are written out.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING
from unicodedata import category

from runner.model.expression import expression

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_SHOWN = 20_000
"""Characters that are shown of a line that holds others than plain ASCII. The rest is counted, and not approved."""

PLAIN = expression(r"(?=.*[/~*]|[\w-]+\.\w{1,8}$)[\w./~*+@%:=,-]+", re.ASCII)
"""A path or file name that nobody reads as words of a sentence."""

_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef"
"""Characters that count as letters, marks or signs and yet show nothing."""
_SEEN = expression(f"[^{_BLANK}]*")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})


@lru_cache(4096)
def hides(character: str) -> bool:
    """Return whether `character` shows nothing, or changes how its neighbors are shown."""
    if character in " \t":
        return False
    return category(character) in _UNSEEN or not _SEEN.fullmatch(character)


def cut_lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the lines of which not all is shown. Looks at little of a text without long lines."""
    start = 0
    while start + LONGEST_SHOWN < len(text):
        last = text.rfind("\n", start, start + LONGEST_SHOWN + 1)
        if last >= 0:
            start = last + 1
            continue
        found = text.find("\n", start + LONGEST_SHOWN)
        end = len(text) if found < 0 else found
        line = text[start:end]
        if not (line.isascii() and line.isprintable()):
            yield start, end
        start = end + 1


def visible(text: str) -> str:
    """Return `text` with every character that a terminal would interpret or hide written out."""
    return "".join(_written_out(c) if hides(c) and c != "\n" else c for c in text)


def in_one_line(text: str) -> str:
    """Return the same with the ends of lines written out as well: no value may look like lines of Assent's own."""
    return visible(text).replace("\n", _written_out("\n"))


def in_quotes(text: str) -> str:
    """Return `text` in quotes of which it has none itself: nobody can take it for words of Assent's own."""
    for mark in '"“”„‟«»':
        text = text.replace(mark, "'")
    return f"“{text}”"


def _written_out(character: str) -> str:
    return f"\\u{{{ord(character):x}}}"
