"""JSON Lines: one request per line, as the ledger has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.audit.search import DECIDED
from runner.model.codec import encode
from runner.model.lifecycle import Phase
from runner.model.request import canonical

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from runner.audit.export.source import ExportedRequest, ExportedStep
    from runner.audit.row import Row

_NAMED = {Phase.ARRIVED, Phase.ASSESSED, *DECIDED, Phase.FINISHED}
"""Entries whose body is in the line under a name of its own."""


def json_lines(requests: Iterable[ExportedRequest]) -> Generator[str, None, None]:
    """Yield one line for each request. Only ASCII: no character in it ends a line or reorders it on screen."""
    for request in requests:
        fields: dict[str, object] = {
            "id": request.line.id,
            "seq": request.line.seq,
            "request": request.asked or None,
            "assessment": request.assessment or None,
            "decision": request.decision or None,
            "result": request.result or None,
            "steps": [_step(step) for step in request.steps],
        }
        if request.removed is not None and request.row is not None:
            fields["left"] = _left(request.row)
        if request.problem:
            fields["problem"] = request.problem
        yield canonical(fields).decode("ascii") + "\n"


def _step(step: ExportedStep) -> dict[str, Any]:
    fields: dict[str, Any] = {"seq": step.seq, "at": step.at, "kind": step.kind}
    if step.kind not in _NAMED and step.body:
        fields["body"] = step.body
    return fields


def _left(row: Row) -> dict[str, Any]:
    """Return what is known of a request whose content was removed."""
    return {name: value for name, value in encode(row).items() if value is not None and value != ""}
