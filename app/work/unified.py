"""The lines of a difference as the engine gives them, as lines that can be shown, with what is said of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from app.parts.text.line_notes import LineNote
from app.parts.text.listing import remark
from app.parts.text.visible_characters import visible
from runner.model.assessment import WHOLE
from runner.model.difference import DiffLine, Side
from runner.model.translation import plural, tr

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from app.parts.text.line_notes import ShownLine
    from runner.model.assessment import Finding

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
ROOM = " " * 3
"""Before the words of a part: its tick stands there."""
REMARK = " " * 7
"""Before a remark: it stands below the words of its line."""
_INKS = ("", "low", "medium", "high", "critical")


def lines_of(unified: Sequence[str], findings: Iterable[Finding] = (), *, parts: bool = False) -> tuple[ShownLine, ...]:
    """Return the lines of a difference in the unified format with their numbers; what is left out between is folded.

    Each line has its findings below it; those of lines that are not shown come first. With `parts` each place that
    differs has a head, which can be ticked.
    """
    at_line: dict[int, list[Finding]] = {}
    for one in findings:
        at_line.setdefault(0 if one.span == WHOLE else one.span.line, []).append(one)
    number_of_parts = sum(line.startswith("@@") for line in unified) if parts else 0
    found: list[ShownLine] = []
    old = new = 1
    part = 0
    for line in unified:
        if (hunk := _HUNK.match(line)) is not None:
            # A text of no lines begins at 0.
            at, new_at = (max(1, int(number)) for number in hunk.groups())
            if at > old:
                found.append(DiffLine(Side.FOLDED, count=at - old))
            old, new = at, new_at
            part += 1
            if number_of_parts:
                found.append(
                    LineNote(
                        tr(
                            "{room}Part {part} of {number_of_parts}",
                            room=ROOM,
                            part=part,
                            number_of_parts=number_of_parts,
                        ),
                        "muted",
                        part,
                    )
                )
            continue
        sign, text = line[:1], line[1:]
        if sign == "-":
            found.append(DiffLine(Side.REMOVED, text, old=old))
            old += 1
            continue
        if sign == "+":
            found.append(DiffLine(Side.ADDED, text, new=new))
        else:
            found.append(DiffLine(Side.SAME, text, old=old, new=new))
            old += 1
        found += (_remark(one) for one in at_line.pop(new, ()))
        new += 1
    elsewhere = [
        _remark(one, tr("line {line}: ", line=line) if line else "") for line, rest in at_line.items() for one in rest
    ]
    return (*elsewhere, *found)


def _remark(finding: Finding, where: str = "") -> LineNote:
    level, _, why = remark(finding).partition(": ")
    indent = "" if where else REMARK
    return LineNote(f"{indent}\N{BLACK UP-POINTING TRIANGLE} {level}: {where}{visible(why)}", _INKS[finding.level])


def parts_of(unified: Iterable[str]) -> int:
    """Return how many places differ."""
    return sum(line.startswith("@@") for line in unified)


def said_of_parts(ticked: int, all_parts: int) -> str:
    """Return how many parts of a change are ticked, in words."""
    return plural("{ticked} of {count} part", "{ticked} of {count} parts", all_parts, ticked=ticked)
