"""A table (CSV, RFC 4180): one request per row, without code and output."""

from __future__ import annotations

import csv
import io
from functools import lru_cache
from typing import TYPE_CHECKING

from runner.audit.export.shown import cell, utc

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from runner.audit.export.source import ExportedRequest

FEW = 1024
"""Different texts that are remembered as they stand in an export."""
COLUMNS = (
    "id",
    "seq",
    "arrived_at",
    "agent",
    "tool",
    "language",
    "title",
    "level",
    "findings",
    "verdict",
    "decided_by",
    "rule",
    "reason",
    "decided_at",
    "waited_seconds",
    "outcome",
    "exit_code",
    "duration_seconds",
    "finished_at",
    "sandbox",
    "digest",
    "problem",
)


def table(requests: Iterable[ExportedRequest]) -> Generator[str, None, None]:
    """Yield the heading and one row for each request."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL)
    writer.writerow(COLUMNS)
    yield _taken(buffer)
    for request in requests:
        writer.writerow(_row(request))
        yield _taken(buffer)


def _row(request: ExportedRequest) -> list[object]:
    """Return the values of COLUMNS; only texts that somebody could have chosen need `cell`."""
    row = request.row
    if row is None:
        known = {"id": cell(request.line.id), "seq": request.line.seq, "problem": cell(request.problem)}
        return [known.get(name, "") for name in COLUMNS]
    return [
        cell(row.id),
        row.seq,
        utc(row.arrived_at),
        _frequent(row.agent),
        row.tool,
        row.language,
        cell(row.title),
        None if row.level is None else row.level.name,
        _frequent(" ".join(findings(request))),
        row.verdict,
        row.decider,
        _frequent(row.rule),
        _frequent(str(request.decision.get("reason") or "")),
        utc(row.decided_at),
        row.waited,
        row.outcome,
        row.exit_code,
        row.duration,
        utc(row.finished_at),
        _frequent(sandbox(request)),
        cell(row.digest),
        cell(request.problem),
    ]


@lru_cache(FEW)
def _frequent(text: str) -> object:
    """Return the cell of a text that many requests have."""
    return cell(text)


def findings(request: ExportedRequest) -> list[str]:
    """Return the rules that found something in the code, each once."""
    found = request.assessment.get("findings")
    named = (one.get("id") for one in found if isinstance(one, dict)) if isinstance(found, list) else ()
    return list(dict.fromkeys(str(name) for name in named if name))


def techniques(request: ExportedRequest) -> tuple[str, ...]:
    """Return what the findings refer to, as they do."""
    found = request.assessment.get("findings")
    named = [one.get("reference") for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    return tuple([name for name in named if isinstance(name, str)])


def sandbox(request: ExportedRequest) -> str:
    """Return where it ran; empty where it did not."""
    meta = request.result.get("meta")
    return str(meta.get("runtime") or "") if isinstance(meta, dict) else ""


def _taken(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text
