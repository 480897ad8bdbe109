"""The lines of a difference as the engine gives them, as lines that can be shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runner.model.difference import DiffLine, Side

if TYPE_CHECKING:
    from collections.abc import Iterable

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


def lines_of(unified: Iterable[str]) -> tuple[DiffLine, ...]:
    """Return the lines of a difference in the unified format with their numbers; what is left out between is folded."""
    found: list[DiffLine] = []
    old = new = 1
    for line in unified:
        if (hunk := _HUNK.match(line)) is not None:
            # A text of no lines begins at 0.
            at, new_at = (max(1, int(number)) for number in hunk.groups())
            if at > old:
                found.append(DiffLine(Side.FOLDED, count=at - old))
            old, new = at, new_at
            continue
        sign, text = line[:1], line[1:]
        if sign == "-":
            found.append(DiffLine(Side.REMOVED, text, old=old))
            old += 1
        elif sign == "+":
            found.append(DiffLine(Side.ADDED, text, new=new))
            new += 1
        else:
            found.append(DiffLine(Side.SAME, text, old=old, new=new))
            old, new = old + 1, new + 1
    return tuple(found)
