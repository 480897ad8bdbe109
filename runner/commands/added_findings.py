"""The classifier's findings in what changes add, for the terminal: read in own processes, in a bounded time."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from runner.model.assessment import WHOLE
from runner.risk.worker.assessor import Assessor
from runner.work import added
from runner.work.added import AddedFindings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from runner.model.assessment import Finding
    from runner.system.places import Places
    from runner.workspace.change import ProjectChange
    from runner.workspace.working_copy import WorkingCopy

SECONDS = 20.0
"""From the first change until no further one is read."""
LATE = f"Reading took more than {SECONDS:.0f} seconds."


def read(places: Places, copy: WorkingCopy, changes: Sequence[ProjectChange]) -> dict[bytes, AddedFindings]:
    """Return what was found in each change, by its path. Blocks. Raises nothing for what cannot be read."""
    return asyncio.run(_read(places, copy, changes))


async def _read(places: Places, copy: WorkingCopy, changes: Sequence[ProjectChange]) -> dict[bytes, AddedFindings]:
    assessor = Assessor(places.own_rules)
    end = time.monotonic() + SECONDS
    number = 0
    found = {}
    try:
        # What is marked first: should time end, it has been read.
        for one in sorted(changes, key=lambda one: not one.mark):
            text = added.text_of(one, copy.project, copy.content)
            if not isinstance(text, AddedFindings):
                number += 1
                if number > added.MOST_READ or time.monotonic() > end:
                    text = added.not_read(added.REST if number > added.MOST_READ else LATE)
                else:
                    text = await added.found_in(text, assessor.assess, copy.name)
            found[one.path] = text
    finally:
        await assessor.close()
    return found


def by_line(found: AddedFindings) -> dict[int, list[Finding]]:
    """Return the findings by their line, those of no line under 0."""
    lines: dict[int, list[Finding]] = {}
    for one in found.findings:
        lines.setdefault(0 if one.span == WHOLE else one.span.line, []).append(one)
    return lines


def as_rows(found: AddedFindings) -> list[dict[str, object]]:
    """Return the findings as JSON has them."""
    return [
        {"line": one.span.line if one.span != WHOLE else None, "level": one.level.name, "id": one.id, "why": one.reason}
        for one in found.findings
    ]


def summary(found: Mapping[bytes, AddedFindings]) -> Iterator[str]:
    """Yield what is to be known of all of them, a sentence each."""
    worst = [one.worst for one in found.values() if one.worst is not None]
    if worst:
        number = "1 change adds" if len(worst) == 1 else f"{len(worst):,} changes add"
        yield f"{number} what has findings, up to {max(worst).name}."
    if skipped := _skipped(found.values()):
        yield f"{skipped:,} {'was' if skipped == 1 else 'were'} not read for findings."


def _skipped(found: Iterable[AddedFindings]) -> int:
    return sum(one.skipped for one in found)
