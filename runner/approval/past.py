"""A request of the history with its outcome, as pages list it, and what of it a person approved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from runner.approval.pattern import pattern
from runner.model.decision import Decider, Verdict
from runner.model.headline import headline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.approval.pattern import CodePattern
    from runner.audit.history.search import CaseRecord
    from runner.model.assessment import Level

BEGINNING = 400
"""Characters of the code that are kept."""


@dataclass(frozen=True, slots=True)
class Past:
    """A request of the history and its outcome."""

    id: str
    agent: str
    title: str
    code: str
    """The beginning of its code."""
    level: Level
    digest: str
    verdict: Verdict | None
    by: Decider | None
    at: float
    """Seconds since the epoch."""
    headline: str = ""
    """What it would do, in short; empty where that is not known."""
    values: tuple[str, ...] = ()
    """Its values that differ among those of one shape, as they stand in the code."""

    @property
    def answered(self) -> bool:
        """Whether a person approved or denied it."""
        return self.by is Decider.PERSON and self.verdict in (Verdict.APPROVED, Verdict.DENIED)

    @property
    def refused(self) -> bool:
        """Whether a person denied it."""
        return self.answered and self.verdict is Verdict.DENIED


def past(record: CaseRecord) -> Past:
    """Return a record that was assessed, as pages list it."""
    assert record.assessment is not None
    return Past(
        record.row.id,
        record.request.agent,
        record.request.title,
        record.request.code[:BEGINNING],
        record.assessment.level,
        record.request.digest,
        record.row.verdict,
        record.row.decider,
        record.row.arrived_at,
        headline(record.assessment.verdict),
    )


def pasts(records: Sequence[CaseRecord]) -> tuple[Past, ...]:
    """Return records that one grant covers, with the values in which they differ."""
    return _with_values(records, pattern([one.request.code for one in records]))


def pasts_beside(code: str, records: Sequence[CaseRecord]) -> tuple[tuple[Past, ...], CodePattern | None]:
    """Return the same with the values in which they differ among themselves and from `code`, and where these stand.

    The first row of values is that of `code`; None where they are not alike, or all the same.
    """
    found = pattern([code, *(one.request.code for one in records)])
    if found is None:
        return pasts(records), None
    beside = replace(found, rows=found.rows[1:])
    return _with_values(records, beside), found if found.places else None


def _with_values(records: Sequence[CaseRecord], found: CodePattern | None) -> tuple[Past, ...]:
    rows = found.rows if found is not None else ((),) * len(records)
    return tuple(replace(past(one), values=row) for one, row in zip(records, rows, strict=True))


def approved_as_asked(record: CaseRecord) -> bool:
    """Return whether a person approved just this. With another digest it was their own version."""
    decision = record.decision
    if decision is None or decision.by is not Decider.PERSON:
        return False
    return record.row.verdict is Verdict.APPROVED and decision.digest == record.request.digest
