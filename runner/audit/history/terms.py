"""The words of a search, and texts as the search index holds them.

The index holds, for every request, which groups of three characters occur in it. It only finds candidates: each is
compared with the text in the ledger before it is shown, so that the form here may lose differences but no match.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_GROUPS = 16
"""Most groups of three that are looked up for one word; more of them find hardly fewer candidates."""
LONGEST_LINE = 20_000
MOST_SPANS = 1_000
_CONTROL = bytes(32 if byte < 32 or byte == 127 else byte for byte in range(256))
_LOWER_CASE = (*range(32, 65), *range(91, 127))
_BEGINNINGS = range(0xC2, 0xF5)
_THIRDS = "".join(map(chr, (*_LOWER_CASE, *_BEGINNINGS)))
"""Whatever may follow a whole character."""


@dataclass(frozen=True)
class SoughtWords:
    """The words of a search; all of them must occur, in any order."""

    text: str

    @cached_property
    def all(self) -> tuple[str, ...]:
        """The words, without case. One that begins with a quotation mark reaches to the next one, spaces included."""
        return tuple(dict.fromkeys(word.casefold() for word in _split(self.text)))

    def __bool__(self) -> bool:
        return bool(self.all)

    @staticmethod
    def missing(words: Iterable[str], texts: Iterable[str]) -> tuple[str, ...]:
        """Return those of `words` that occur in none of `texts`, whatever the case there."""
        found = [text.casefold() for text in texts]
        return tuple(word for word in words if not any(word in text for text in found))

    def spans(self, line: str) -> list[tuple[int, int]]:
        """Return where words stand in one line, as (start, end); none in a line that is too long to be looked at."""
        if len(line) > LONGEST_LINE or self._pattern is None:
            return []
        return [found.span() for found in islice(self._pattern.finditer(line), MOST_SPANS)]

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        longest_first = sorted(self.all, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE) if longest_first else None

    @property
    def expression(self) -> str:
        """The condition for the index; empty where it cannot narrow the search."""
        return " AND ".join(filter(None, map(_condition, self.all)))


def folded(texts: Iterable[str]) -> str:
    """Return the text to index: without case, a character for each byte of UTF-8, and a space for each control one."""
    return _folded("  ".join((*texts, "  ")).casefold())


def quoted(group: str) -> str:
    """Return `group` as a phrase of an FTS5 query."""
    return '"' + group.replace('"', '""') + '"'


def _folded(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").translate(_CONTROL).decode("latin-1")


def _condition(word: str) -> str:
    text = _folded(word)
    match len(text):
        case 0 | 1:
            # In nearly every request: the newest ones have it.
            return ""
        case 2:
            return f"({' OR '.join(quoted(text + third) for third in _THIRDS)})"
        case length:
            places = length - 2
            step = max(1, -(-places // MOST_GROUPS))
            groups = dict.fromkeys(text[at : at + 3] for at in (*range(0, places, step), places - 1))
            return " AND ".join(map(quoted, groups))


def _split(text: str) -> list[str]:
    words: list[str] = []
    rest = text.strip()
    while rest:
        if rest[0] == '"' and len(rest) > 1:
            word, _, rest = rest[1:].partition('"')
            words.append(word)
        else:
            word, *more = rest.split(maxsplit=1)
            words.append(word)
            rest = more[0] if more else ""
        rest = rest.lstrip()
    return [word for word in words if word]
