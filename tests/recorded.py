"""What the history has of requests, read as the window reads it."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from runner.audit.history.search import History

if TYPE_CHECKING:
    from pathlib import Path

    from runner.audit.history.search import CaseRecord


def records(ledger: Path) -> list[CaseRecord]:
    """Return everything in the ledger, newest first."""
    with closing(History(ledger)) as history:
        found = [history.case(row.id) for row in history.page()]
    return [record for record in found if record is not None]


def newest(ledger: Path) -> CaseRecord | None:
    """Return the newest request; None where there is none yet."""
    with closing(History(ledger)) as history:
        rows = history.page(limit=1)
        return history.case(rows[0].id) if rows else None


def record_in(ledger: Path, request_id: str) -> CaseRecord:
    """Return what the ledger has of one request, which must be in it."""
    with closing(History(ledger)) as history:
        found = history.case(request_id)
    assert found is not None
    return found
