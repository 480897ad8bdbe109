"""Answers of an earlier console, made from the history for agents that were answered `pending` by it."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from runner.approval.editing import approved_code, approved_limits
from runner.audit.history.search import History
from runner.engine.request.edits import changed_code
from runner.model.answer import Answer
from runner.model.lifecycle import Phase
from runner.model.rehearsal import REHEARSING
from runner.model.request import Tool
from runner.model.tried import TRYING
from runner.requests.case import PARKED

if TYPE_CHECKING:
    from pathlib import Path

    from runner.audit.history.search import CaseRecord
    from runner.risk.worker.assessor import Assessor

KEPT_SECONDS = 3600.0
DELIVERED = "delivered"
"""Kind of the entry that says that the answer was fetched."""
NOT_KEPT = "The content was read before Assent was restarted, and only its hash is in the history. Read it again."


async def recalled(
    ledger: Path, agent: str, request_id: str, registered: float, assessor: Assessor
) -> tuple[Answer, bool] | None:
    """Return the answer to a request that `agent` was to fetch later, and whether it was fetched before.

    None where there is none of the last hour, or where the agent that asked had the name before it was `registered`
    (seconds since the epoch) again. Raises KnownError.
    """
    found = await asyncio.to_thread(_fetchable, ledger, agent, request_id, registered)
    if found is None:
        return None
    record, delivered = found
    old, new = record.request.code, approved_code(record)
    return _answer(record, await changed_code(assessor, old, new, agent=agent)), delivered


def _fetchable(ledger: Path, agent: str, request_id: str, registered: float) -> tuple[CaseRecord, bool] | None:
    if not ledger.exists():
        return None
    history = History(ledger)
    try:
        record = history.case(request_id)
    finally:
        history.close()
    if record is None or record.request.agent != agent or record.request.received_at < registered:
        return None
    kinds = {step.entry.kind for step in record.steps}
    closed = [step.entry.seconds for step in record.steps if step.entry.kind == Phase.CLOSED]
    recent = bool(closed) and time.time() - closed[-1] < KEPT_SECONDS
    if record.decision is None or PARKED not in kinds or not recent:
        return None
    return record, DELIVERED in kinds


def _answer(record: CaseRecord, changes: str) -> Answer:
    """Return the answer as the history has it: with as much of the output as is recorded."""
    assert record.decision is not None
    bodies = {step.entry.kind: step.body for step in record.steps}
    finished = bodies.get(Phase.FINISHED, {})
    facts, problem = finished.get("facts"), str(finished.get("problem") or "")
    if record.request.tool is Tool.CODE_READ_FILE and isinstance(facts, dict) and not problem:
        facts, problem = None, NOT_KEPT
    return Answer(
        record.request.id,
        record.decision,
        record.result,
        facts if isinstance(facts, dict) else None,
        problem,
        changes,
        approved_limits(record),
        REHEARSING in bodies or TRYING in bodies,
    )
