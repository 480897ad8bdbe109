"""How much of a line is shown to a person before a decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_SHOWN = 20_000
"""Characters that are shown of a line that holds others than plain ASCII. The rest is counted, and not approved."""


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
