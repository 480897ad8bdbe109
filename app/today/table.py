"""The figures as a table (CSV, RFC 4180), for a spreadsheet."""

from __future__ import annotations

import csv
import io
from datetime import date
from typing import TYPE_CHECKING

from runner.audit.export.shown import cell
from runner.model.assessment import Level

if TYPE_CHECKING:
    from app.today.spans import SpanFigures

COLUMNS = ("from", "unit", "agent", "level", "verdict", "decided_by", "outcome", "requests")


def table(shown: SpanFigures) -> str:
    """Return one row for each day or month and kind of request in the span, with the number of requests."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL)
    writer.writerow(COLUMNS)
    for (period, kind), number in sorted(shown.figures.tally.requests.items()):
        if shown.first <= period.start <= shown.last:
            level = Level(kind.level).name if kind.level in {*Level} else ""
            day = date.fromordinal(period.start).isoformat()
            row = (day, period.unit.name.lower(), kind.agent, level, kind.verdict, kind.decider, kind.outcome, number)
            writer.writerow([cell(value) for value in row])
    return buffer.getvalue()
