"""The difference between two versions of code, line by line."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

AROUND = 3
"""Unchanged lines shown on each side of a change."""
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
    """One line. `old` and `new` are its numbers from 1, None where that version lacks it."""

    side: Side
    text: str = ""
    old: int | None = None
    new: int | None = None
    count: int = 1
    """Number of lines this represents; above 1 only where folded."""


@dataclass(frozen=True, slots=True)
class Change:
    """Lines `old` to before `old_end`, from 0, that are `new` to before `new_end` in the other version."""

    same: bool
    old: int
    old_end: int
    new: int
    new_end: int


def compare(old: str, new: str) -> tuple[Change, ...]:
    """Return the changed regions from the first line to the last. Takes quadratic time or worse."""
    before, after = old.split("\n"), new.split("\n")
    head = common(before, after)
    tail = common(before[head:][::-1], after[head:][::-1])
    old_end, new_end = len(before) - tail, len(after) - tail
    middle = [
        Change(kind == "equal", head + one, head + two, head + three, head + four)
        for kind, one, two, three, four in _changes(before[head:old_end], after[head:new_end])
    ]
    ends = Change(True, 0, head, 0, head), Change(True, old_end, len(before), new_end, len(after))
    return (ends[0], *middle, ends[1])


def difference(
    old: str, new: str, around: int = AROUND, changes: tuple[Change, ...] | None = None
) -> tuple[DiffLine, ...]:
    """Return the changed lines with `around` unchanged lines beside them, the rest folded; empty without changes.

    `changes` is the result of `compare`, where it ran elsewhere; where it does not fit, all is taken as replaced.
    """
    before, after = old.split("\n"), new.split("\n")
    if before == after:
        return ()
    found = compare(old, new) if changes is None else changes
    if not _fit(before, after, found):
        found = (Change(False, 0, len(before), 0, len(after)),)
    return tuple(_folded(_all(before, after, found), around))


def as_text(lines: tuple[DiffLine, ...], most: int) -> str:
    """Return the difference as agents read it: `+`, `-` or a blank before each line.

    At most about `most` characters.
    """
    signs = {Side.SAME: " ", Side.ADDED: "+", Side.REMOVED: "-"}
    signed: list[str] = []
    left = most
    for number, line in enumerate(lines):
        text = f"@@ {line.count} unchanged @@" if line.side is Side.FOLDED else f"{signs[line.side]}{line.text}"
        left -= len(text) + 1
        if left < 0:
            signed.append(f"... ({len(lines) - number} more lines of the difference)")
            break
        signed.append(text)
    return "\n".join(signed)


def _fit(before: list[str], after: list[str], changes: tuple[Change, ...]) -> bool:
    """Return whether `changes` make `after` of `before`."""
    old = new = 0
    for one in changes:
        if (one.old, one.new) != (old, new) or one.old_end < old or one.new_end < new:
            return False
        if one.same and before[old : one.old_end] != after[new : one.new_end]:
            return False
        old, new = one.old_end, one.new_end
    return (old, new) == (len(before), len(after))


def _all(before: list[str], after: list[str], changes: tuple[Change, ...]) -> list[DiffLine]:
    lines: list[DiffLine] = []
    for one in changes:
        if one.same:
            apart = one.new - one.old
            lines += [DiffLine(Side.SAME, before[at], at + 1, at + apart + 1) for at in range(one.old, one.old_end)]
            continue
        lines += [DiffLine(Side.REMOVED, before[at], at + 1) for at in range(one.old, one.old_end)]
        lines += [DiffLine(Side.ADDED, after[at], None, at + 1) for at in range(one.new, one.new_end)]
    return lines


def _changes(before: list[str], after: list[str]) -> list[tuple[str, int, int, int, int]]:
    if max(len(before), len(after)) > MOST_COMPARED:
        return [("replace", 0, len(before), 0, len(after))]
    return list(SequenceMatcher(None, before, after, autojunk=False).get_opcodes())


def common(one: list[str], other: list[str]) -> int:
    """Return the number of equal lines at the beginning."""
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
