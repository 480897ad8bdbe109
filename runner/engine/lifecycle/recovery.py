"""Settles requests that an earlier process left open: nothing is replayed or run twice (spec I4, K6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.approval.editing import EDITED
from runner.engine.request.path import UNDECIDED
from runner.model.events import RequestArrived, RequestAssessed, RequestJoined
from runner.model.lifecycle import Phase
from runner.model.rehearsal import ENDED, REHEARSED, REHEARSING, RELEASED
from runner.model.tried import TRIAL_ENDED, TRIED, TRYING
from runner.requests.case import JOINED, PARKED, Case
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.audit.history.search import CaseRecord
    from runner.engine.request.path import Path
    from runner.model.record import Record
    from runner.requests.cases import Cases

INTERRUPTED = "The console stopped before anybody answered. Ask again."
LOST = "The console stopped while this was running; the run was ended and its output is lost."
_TRIALS = (REHEARSING, REHEARSED, ENDED, RELEASED, TRYING, TRIED, TRIAL_ENDED)
OF_A_REQUEST = frozenset({*(phase.value for phase in Phase), PARKED, EDITED, *_TRIALS})
"""Kinds of entries that a new ledger has to hold as well, as the request is continued from them."""


def take_up(left_open: Iterable[CaseRecord], record: Record, cases: Cases, path: Path) -> None:
    """Ask again about requests whose agent will fetch the answer, and settle all others."""
    for left in left_open:
        case = Case(left.request, record)
        steps = [(step.entry.kind, step.body) for step in left.steps if step.entry.kind in OF_A_REQUEST]
        case.resume(left.row.phase, left.assessment, left.decision, left.result, steps)
        kinds = [step.entry.kind for step in left.steps]
        # Its callers went with the earlier process; one that was answered `pending` comes for the answer.
        case.callers, case.parked, case.asked = 0, PARKED in kinds, 1 + kinds.count(JOINED)
        case.rehearsed = REHEARSING in kinds or TRYING in kinds
        record.publish(RequestArrived(left.request))
        if case.asked > 1:
            record.publish(RequestJoined(left.request.id, case.asked))
        if left.assessment is not None:
            record.publish(RequestAssessed(left.request.id, left.assessment))
        if left.row.phase in UNDECIDED and case.parked:
            path.begin(case)
        else:
            cases.add(case)
            spawn(f"settle {left.request.id}", path.settle(case, LOST if left.decision else INTERRUPTED))
