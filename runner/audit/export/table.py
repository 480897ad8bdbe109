"""A table (CSV, RFC 4180): one request per row, without code and output."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from runner.audit.export.shown import cell, utc

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from runner.audit.export.source import ExportedRequest

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
        row = _row(request)
        writer.writerow([cell(row.get(name, "")) for name in COLUMNS])
        yield _taken(buffer)


def _row(request: ExportedRequest) -> dict[str, object]:
    row = request.row
    if row is None:
        return {"id": request.line.id, "seq": request.line.seq, "problem": request.problem}
    return {
        "id": row.id,
        "seq": row.seq,
        "arrived_at": utc(row.arrived_at),
        "agent": row.agent,
        "tool": row.tool,
        "language": row.language,
        "title": row.title,
        "level": None if row.level is None else row.level.name,
        "findings": " ".join(findings(request)),
        "verdict": row.verdict,
        "decided_by": row.decider,
        "rule": row.rule,
        "reason": request.decision.get("reason", ""),
        "decided_at": utc(row.decided_at),
        "waited_seconds": row.waited,
        "outcome": row.outcome,
        "exit_code": row.exit_code,
        "duration_seconds": row.duration,
        "finished_at": utc(row.finished_at),
        "sandbox": sandbox(request),
        "digest": row.digest,
        "problem": request.problem,
    }


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
