"""Near-identical requests that a person approved lately, and the values in which one that waits differs."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.approval.pattern import LONGEST, split
from runner.audit.history.search import Filter, History
from runner.model.decision import Decider, Verdict
from runner.model.request import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from runner.model.assessment import Level
    from runner.model.request import Request

MOST_ROWS = 400
"""Approved requests of the list that are looked at, the newest."""
MOST_READ = 60
"""Of these, those of the same tool and language whose code is compared."""
MOST_SECONDS = 0.5
"""Time for reading them; what was not read by then does not count."""
MOST_VALUES = 8
"""Differing values that are named."""
LONGEST_VALUE = 80
"""Characters of a value that is named."""


@dataclass(frozen=True, slots=True)
class DifferingValue:
    """A text or number in the code that is another one than before."""

    line: int
    """In the code that waits, counted from 1."""
    now: str
    before: str
    """Both as they are in the code, with quotes; shortened where they are long."""


@dataclass(frozen=True, slots=True)
class Precedents:
    """How many near-identical requests of the same agent a person approved, and how this one differs."""

    count: int = 0
    differing: tuple[DifferingValue, ...] = ()
    """From the approved one that differs in the fewest values, the newest of these. Empty where nothing differs."""
    more: int = 0
    """How many more values differ from it."""

    @property
    def identical(self) -> bool:
        """Whether the same code was approved."""
        return bool(self.count) and not self.differing


@dataclass(frozen=True, slots=True)
class CodeShape:
    """A request without the values of its code, and these values."""

    key: str
    """The same for requests that differ in nothing else that decides."""
    values: tuple[tuple[int, str], ...]
    """Line and text of each, in their order."""


def shape(request: Request) -> CodeShape | None:
    """Return the shape of a request; None for one whose code is too long to be compared."""
    code = request.code
    if len(code) > LONGEST:
        return None
    between, values = split(code)
    parts = {**request.deciding(), "code": list(between)}
    return CodeShape(hashlib.sha256(canonical(parts)).hexdigest(), tuple((one.line, one.text) for one in values))


def precedents(request: Request, level: Level, approved: Iterable[tuple[Request, Level]]) -> Precedents:
    """Return those among `approved`, newest first, that are like `request` and were at least as risky."""
    now = shape(request)
    if now is None:
        return Precedents()
    count, nearest = 0, list[tuple[DifferingValue, ...]]()
    for earlier, its_level in approved:
        before = shape(earlier) if its_level >= level and earlier.agent == request.agent else None
        if before is None or before.key != now.key:
            continue
        count += 1
        differing = _differing(now, before)
        if not nearest or len(differing) < len(nearest[0]):
            nearest = [differing]
    values = nearest[0] if nearest else ()
    return Precedents(count, values[:MOST_VALUES], max(0, len(values) - MOST_VALUES))


def _differing(now: CodeShape, before: CodeShape) -> tuple[DifferingValue, ...]:
    pairs = zip(now.values, before.values, strict=True)
    return tuple(
        DifferingValue(line, _short(text), _short(other)) for (line, text), (_, other) in pairs if text != other
    )


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}\N{HORIZONTAL ELLIPSIS}"


def read_precedents(ledger: Path, request: Request, level: Level, since: float) -> Precedents:
    """Return the precedents of a request that a person approved since then, in seconds since the epoch.

    What a person changed before approving it is none. Reads the history: off the loop. Raises KnownError.
    """
    if not ledger.exists() or not request.code or len(request.code) > LONGEST:
        return Precedents()
    history = History(ledger)
    try:
        return precedents(request, level, _approved(history, request, level, since))
    finally:
        history.close()


def _approved(history: History, request: Request, level: Level, since: float) -> Iterable[tuple[Request, Level]]:
    wanted = Filter(agent=request.agent, verdict=Verdict.APPROVED, since=since)
    ends, read = time.monotonic() + MOST_SECONDS, 0
    for row in history.page(wanted, limit=MOST_ROWS):
        same = (row.tool, row.language, row.decider) == (request.tool, request.language, Decider.PERSON)
        if not same or row.level is None or row.level < level or row.id == request.id:
            continue
        if read >= MOST_READ or time.monotonic() > ends:
            return
        read += 1
        record = history.case(row.id)
        if record is not None and record.decision is not None and record.decision.digest == record.request.digest:
            yield record.request, row.level


def midnight(now: float) -> float:
    """Return the beginning of the day of a moment, in local time; both in seconds since the epoch."""
    day = time.localtime(now)
    return time.mktime((day.tm_year, day.tm_mon, day.tm_mday, 0, 0, 0, 0, 0, -1))
