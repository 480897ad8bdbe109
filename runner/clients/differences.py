"""The difference that a change makes to a configuration file, for a person: no token, no endless line."""

from __future__ import annotations

import difflib
import re

TOKEN = re.compile(r"assent_[A-Za-z0-9_-]{16,}")
MASKED = "assent_********"
"""Stands in the place of a token."""
CONTEXT = 2
"""Unchanged lines that are shown around a change."""
LONGEST_LINE = 160


def masked(text: str) -> str:
    return TOKEN.sub(MASKED, text)


def unified(name: str, before: str, after: str) -> str:
    """Return the difference in the form of `diff -u`, with tokens masked; '' where nothing would change."""
    old, new = masked(before).splitlines(), masked(after).splitlines()
    if before != after and old == new:
        # A new token in the place of an old one.
        old = before.splitlines()
        new = after.splitlines()
    lines = list(difflib.unified_diff(old, new, name, name, lineterm="", n=CONTEXT))
    pairs = _around_changes(lines)
    return "\n".join(masked(line) for line in pairs)


def _around_changes(lines: list[str]) -> list[str]:
    """Return lines that can be read: of a long one only what is near its change."""
    shown = []
    for at, line in enumerate(lines):
        other = ""
        if line.startswith("-") and at + 1 < len(lines) and lines[at + 1].startswith("+"):
            other = lines[at + 1]
        elif line.startswith("+") and at and lines[at - 1].startswith("-"):
            other = lines[at - 1]
        shown.append(_shortened(line, other))
    return shown


def _shortened(line: str, other: str) -> str:
    if len(line) <= LONGEST_LINE:
        return line
    first = next((at for at, (one, two) in enumerate(zip(line[1:], other[1:], strict=False), 1) if one != two), 1)
    last = next(
        (len(line) - at for at, (one, two) in enumerate(zip(line[:0:-1], other[:0:-1], strict=False)) if one != two),
        len(line),
    )
    begin, end = max(1, first - 40), min(len(line), max(last + 40, first + 40))
    end = min(end, begin + 20 * LONGEST_LINE)
    before = "\N{HORIZONTAL ELLIPSIS}" if begin > 1 else ""
    after = "\N{HORIZONTAL ELLIPSIS}" if end < len(line) else ""
    return f"{line[0]}{before}{line[begin:end]}{after}"
