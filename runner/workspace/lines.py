"""The lines in which two texts differ, found in a time that no text can make long.

What both begin and end with is the same. Of what is between, lines that each text has once, and in the same order, are
the same; the rest between two of those is compared by difflib where it is short, and counts as replaced where it is
long. difflib alone takes minutes for some pairs of 10,000 lines.
"""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from runner.model.difference import common

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CONTEXT = 3
"""Lines around what differs."""
MOST_BETWEEN = 2000
"""Lines of both texts together, between two that are known to be the same, that are compared one by one: of the pairs
that tests/workspace/test_lines.py tries none takes a tenth of a second."""
NO_END = "\\ No newline at end of file"
"""As diff(1) says it."""


class LineStretch(NamedTuple):
    """Lines `old` to before `old_end`, from 0, that are `new` to before `new_end` in the other text."""

    same: bool
    old: int
    old_end: int
    new: int
    new_end: int


class Hunks(NamedTuple):
    """The places in which two texts differ."""

    hunks: tuple[tuple[LineStretch, ...], ...] = ()
    """Each with what is the same around it."""
    unsplit: int = 0
    """Lines that count as replaced since they were too many to be compared one by one; 0 where all were compared."""

    @property
    def said(self) -> str:
        """What was not compared, in words; '' where all was."""
        return f"{self.unsplit:,} lines are too many to compare line by line: shown as replaced" * bool(self.unsplit)


def split(text: str) -> list[str]:
    """Return the lines of a text, and as one more that its last one does not end."""
    *lines, rest = text.split("\n")
    return [*lines, rest, NO_END] if rest else lines


def joined(lines: list[str]) -> str:
    """Return the text whose lines `split` returned."""
    if lines[-1:] == [NO_END]:
        return "\n".join(lines[:-1])
    return "".join(f"{line}\n" for line in lines)


def hunks_of(old: list[str], new: list[str]) -> Hunks:
    """Return where two lists of lines differ."""
    head = common(old, new)
    tail = min(common(old[::-1], new[::-1]), len(old) - head, len(new) - head)
    old_end, new_end = len(old) - tail, len(new) - tail
    found = [LineStretch(True, 0, head, 0, head)]
    unsplit = 0
    at, at_new = head, head
    for one, other in [*_anchors(old, new, head, old_end, new_end), (old_end, new_end)]:
        number = one - at + other - at_new
        if number and (at == one or at_new == other):
            found.append(LineStretch(False, at, one, at_new, other))
        elif number > MOST_BETWEEN:
            unsplit += number
            found.append(LineStretch(False, at, one, at_new, other))
        elif number:
            matcher = difflib.SequenceMatcher(None, old[at:one], new[at_new:other])
            found += [
                LineStretch(tag == "equal", at + low, at + high, at_new + begin, at_new + end)
                for tag, low, high, begin, end in matcher.get_opcodes()
            ]
        same = one < old_end
        found.append(LineStretch(True, one, one + same, other, other + same))
        at, at_new = one + same, other + same
    found.append(LineStretch(True, old_end, len(old), new_end, len(new)))
    return Hunks(_grouped(_merged(found)), unsplit)


def unified(old: list[str], new: list[str], found: Hunks) -> tuple[str, ...]:
    """Return the hunks in the unified format, without its heading and without line ends."""
    lines: list[str] = []
    for hunk in found.hunks:
        first, last = hunk[0], hunk[-1]
        lines.append(f"@@ -{_range(first.old, last.old_end)} +{_range(first.new, last.new_end)} @@")
        for one in hunk:
            if one.same:
                lines += (f" {line}" for line in old[one.old : one.old_end])
            else:
                lines += (f"-{line}" for line in old[one.old : one.old_end])
                lines += (f"+{line}" for line in new[one.new : one.new_end])
    return tuple(lines)


def unified_numbers(lines: Iterable[str]) -> Iterator[int]:
    """Yield for each line in the unified format its number, from 1, in the new text; 0 where it is not in that."""
    number = 0
    for line in lines:
        if line.startswith("@@"):
            number = int(line.split(" ")[2].lstrip("+").partition(",")[0]) - 1
        number += line.startswith((" ", "+"))
        yield number if line.startswith((" ", "+")) else 0


def added(found: Hunks) -> frozenset[int]:
    """Return the numbers, from 1, of the lines that only the new text has."""
    return frozenset(
        number + 1 for hunk in found.hunks for one in hunk if not one.same for number in range(one.new, one.new_end)
    )


def _range(begin: int, end: int) -> str:
    """Return a range of lines as diff(1) writes it."""
    length = end - begin
    return f"{begin + 1}" if length == 1 else f"{begin + (length > 0)},{length}"


def _anchors(old: list[str], new: list[str], begin: int, old_end: int, new_end: int) -> list[tuple[int, int]]:
    """Return lines that both texts have once, the longest row of them that has the same order in both."""
    if old_end - begin + new_end - begin <= MOST_BETWEEN:
        return []
    counts, others = Counter(old[begin:old_end]), Counter(new[begin:new_end])
    place = {line: number for number, line in enumerate(new[begin:new_end], begin) if others[line] == 1}
    pairs = [
        (number, place[line])
        for number, line in enumerate(old[begin:old_end], begin)
        if counts[line] == 1 and line in place
    ]
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, there) in enumerate(pairs):
        at = bisect_left(ends, there)
        before.append(last[at - 1] if at else -1)
        ends[at : at + 1], last[at : at + 1] = [there], [number]
    row = []
    number = last[-1] if last else -1
    while number >= 0:
        row.append(pairs[number])
        number = before[number]
    return row[::-1]


def _merged(found: list[LineStretch]) -> list[LineStretch]:
    """Return the stretches with those that follow each other and are alike as one."""
    merged: list[LineStretch] = []
    for one in found:
        if one.old == one.old_end and one.new == one.new_end:
            continue
        if merged and merged[-1].same is one.same:
            last = merged.pop()
            one = LineStretch(one.same, last.old, one.old_end, last.new, one.new_end)
        merged.append(one)
    return merged


def _grouped(found: list[LineStretch]) -> tuple[tuple[LineStretch, ...], ...]:
    """Return the stretches that differ, in groups, each with up to CONTEXT lines around it."""
    groups: list[list[LineStretch]] = []
    for number, one in enumerate(found):
        if one.same:
            continue
        before = found[number - 1] if number else None
        if before is not None and groups and before.old_end - before.old <= 2 * CONTEXT:
            groups[-1][-1] = before
        else:
            groups.append([])
            if before is not None:
                length = min(CONTEXT, before.old_end - before.old)
                groups[-1].append(
                    LineStretch(True, before.old_end - length, before.old_end, before.new_end - length, before.new_end)
                )
        groups[-1].append(one)
        if number + 1 < len(found):
            after = found[number + 1]
            length = min(CONTEXT, after.old_end - after.old)
            groups[-1].append(LineStretch(True, after.old, after.old + length, after.new, after.new + length))
    return tuple(map(tuple, groups))
