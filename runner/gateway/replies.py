"""Replies to agents, as text for the model and the same as data for programs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.gateway import catalog
from runner.model.lifecycle import Phase

if TYPE_CHECKING:
    from runner.approval.ticket import Ticket
    from runner.model.answer import Answer
    from runner.model.errors import KnownError

DELIVERED_BEFORE = "This answer was delivered before; nothing ran again."


@dataclass(frozen=True, slots=True)
class Reply:
    """One tool result, before it has a protocol's shape."""

    text: str
    data: dict[str, object]
    is_error: bool = False


def answered(answer: Answer, limit_kb: int) -> Reply:
    """Return the reply with the answer to a request.

    Text and data are both cut to about `limit_kb` KiB of output: some clients show the model one, some the other
    (spec X4). The data says whether anything was cut.
    """
    return Reply(answer.text(limit_kb), answer.bounded(limit_kb * 1024).structured(), answer.is_error)


def delivered_before(reply: Reply) -> Reply:
    return Reply(f"{DELIVERED_BEFORE}\n{reply.text}", {**reply.data, "delivered_before": True}, reply.is_error)


def pending(ticket: Ticket, hold: float) -> Reply:
    """Return the reply that the request is not answered yet and the caller need not wait."""
    call = {"id": ticket.request_id, "wait": round(hold)}
    text = (
        f"Pending: {state(ticket)} The request stays open. "
        f"Fetch the answer by calling {catalog.CODE_RESULT} with {json.dumps(call)}."
    )
    data: dict[str, object] = {
        "status": "pending",
        "request_id": ticket.request_id,
        "phase": None if ticket.phase is None else ticket.phase.value,
        "seconds_left": _rounded(ticket.seconds_left()),
        "position": ticket.position(),
        "fetch": {"tool": catalog.CODE_RESULT, "arguments": call},
    }
    return Reply(text, data)


def closing(why: str, ticket: Ticket | None = None) -> Reply:
    """Return the reply to a waiting call while the console is closing."""
    ran = "" if ticket is None or ticket.phase is not Phase.RUNNING else " The code was running and was stopped."
    text = f"{why}{ran} Call again when Assent is running."
    return Reply(text, {"status": "closing", **_about(ticket)}, is_error=True)


def withdrawn(ticket: Ticket) -> Reply:
    """Return the reply to a caller that has disconnected; it is never delivered."""
    return Reply("Withdrawn: the caller went away.", {"status": "withdrawn", **_about(ticket)}, is_error=True)


def refused(error: KnownError) -> Reply:
    """Return the reply to a call that did not become a request."""
    text = f"Refused: {error}"
    return Reply(text, {"status": "refused", "error": error.what, "remedy": error.remedy}, is_error=True)


def unavailable(error: KnownError) -> Reply:
    """Return the reply while Assent cannot take requests, through no fault of the caller."""
    text = f"Not taken: {error}"
    return Reply(text, {"status": "unavailable", "error": error.what, "remedy": error.remedy}, is_error=True)


def unknown_request(request_id: str) -> Reply:
    text = (
        f"There is no request {request_id[:64]!a} of yours that could be fetched: the id is wrong, "
        "or the answer is older than an hour."
    )
    return Reply(text, {"status": "unknown", "request_id": request_id[:64]}, is_error=True)


def state(ticket: Ticket) -> str:
    """Return the state of a request in a sentence."""
    if (left := ticket.seconds_left()) is not None:
        place = ticket.position()
        queue = "" if place <= 1 else f", number {place} in the queue"
        return f"waiting for a person to decide{queue}, {left:.0f} s left."
    match ticket.phase:
        case Phase.RUNNING:
            return "approved, running now."
        case Phase.APPROVED:
            return "approved, about to run."
        case Phase.FINISHED | Phase.CLOSED:
            return "finished, the result is being recorded."
        case _:
            return "being looked at."


def _about(ticket: Ticket | None) -> dict[str, object]:
    return {} if ticket is None else {"request_id": ticket.request_id}


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 1)
