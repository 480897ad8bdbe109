"""What has changed between two pieces of code, line by line."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

AROUND = 3
"""Unchanged lines that stay on each side of a change."""
MOST_COMPARED = 3000
"""Lines of a changed region that are compared one by one; a longer region counts as replaced as a whole, as comparing
takes quadratic time at worst."""


class Side(StrEnum):
    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"
    FOLDED = "folded"
    """Unchanged lines that are left out."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line. `old` and `new` are its numbers from 1, None on the side where it is not."""

    side: Side
    text: str = ""
    old: int | None = None
    new: int | None = None
    count: int = 1
    """How many lines this stands for; above 1 only where folded."""


def difference(old: str, new: str, around: int = AROUND) -> tuple[DiffLine, ...]:
    """Every changed line, with `around` unchanged lines beside it and the rest folded; empty where nothing changed."""
    before, after = old.split("\n"), new.split("\n")
    if before == after:
        return ()
    return tuple(_folded(_all(before, after), around))


def as_text(lines: tuple[DiffLine, ...], most: int) -> str:
    """The difference as agents read it: `+`, `-` or a blank before each line; at most about `most` characters."""
    signs = {Side.SAME: " ", Side.ADDED: "+", Side.REMOVED: "-"}
    told: list[str] = []
    left = most
    for number, line in enumerate(lines):
        text = f"@@ {line.count} unchanged @@" if line.side is Side.FOLDED else f"{signs[line.side]}{line.text}"
        left -= len(text) + 1
        if left < 0:
            told.append(f"... ({len(lines) - number} more lines of the difference)")
            break
        told.append(text)
    return "\n".join(told)


def _all(before: list[str], after: list[str]) -> list[DiffLine]:
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    old_end, new_end = len(before) - tail, len(after) - tail
    lines = [DiffLine(Side.SAME, before[at], at + 1, at + 1) for at in range(head)]
    for kind, one, two, three, four in _changes(before[head:old_end], after[head:new_end]):
        if kind == "equal":
            lines += [
                DiffLine(Side.SAME, before[head + at], head + at + 1, head + three + at - one + 1)
                for at in range(one, two)
            ]
            continue
        lines += [DiffLine(Side.REMOVED, before[head + at], head + at + 1) for at in range(one, two)]
        lines += [DiffLine(Side.ADDED, after[head + at], None, head + at + 1) for at in range(three, four)]
    lines += [DiffLine(Side.SAME, before[old_end + at], old_end + at + 1, new_end + at + 1) for at in range(tail)]
    return lines


def _changes(before: list[str], after: list[str]) -> list[tuple[str, int, int, int, int]]:
    if max(len(before), len(after)) > MOST_COMPARED:
        return [("replace", 0, len(before), 0, len(after))]
    return list(SequenceMatcher(None, before, after, autojunk=False).get_opcodes())


def _common(one: list[str], other: list[str]) -> int:
    """How many lines at the beginning are the same."""
    count = 0
    for mine, yours in zip(one, other, strict=False):
        if mine != yours:
            break
        count += 1
    return count


def _folded(lines: list[DiffLine], around: int) -> list[DiffLine]:
    changed = [number for number, line in enumerate(lines) if line.side is not Side.SAME]
    kept = {near for number in changed for near in range(number - around, number + around + 1)}
    shown: list[DiffLine] = []
    gap = 0
    for number, line in enumerate(lines):
        if number in kept:
            if gap:
                shown.append(DiffLine(Side.FOLDED, count=gap))
                gap = 0
            shown.append(line)
        else:
            gap += 1
    if gap:
        shown.append(DiffLine(Side.FOLDED, count=gap))
    return shown
