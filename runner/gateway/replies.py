"""Replies to agents, as text for the model and the same as data for programs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from runner.gateway import catalog
from runner.model.lifecycle import Phase
from runner.model.plain import plain

if TYPE_CHECKING:
    from runner.approval.ticket import Ticket
    from runner.model.answer import Answer
    from runner.model.errors import KnownError
    from runner.model.result import CapturedFile

JOINED = "Note: an identical call of yours was open; both are one request with this answer. Call again for another."
DELIVERED_BEFORE = "This answer was delivered before; nothing ran again."


MESSAGE = "message"
"""Field with what the text says, in replies about what did not run: the data has to say what to do next, too."""


@dataclass(frozen=True, slots=True)
class AttachedPicture:
    """A picture that a run made, for the model to look at."""

    kind: str
    """`image/png` or `image/jpeg`."""
    data: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """One tool result, before it has a protocol's shape. `details` is for programs and goes into `_meta`."""

    text: str
    data: dict[str, object]
    is_error: bool = False
    details: dict[str, object] = field(default_factory=dict)
    pictures: tuple[AttachedPicture, ...] = ()


def answered(answer: Answer, limit_kb: int, *, as_it_is: bool = False) -> Reply:
    """Return the reply with the answer to a request.

    Text and data are both cut to about `limit_kb` KiB of output, and hold the same: some clients show the model one,
    some the other (spec X4). With `as_it_is` the output has what commands terminals, too.
    """
    limit = limit_kb * 1024
    short = answer.bounded(limit)
    if not as_it_is:
        # Cut again: what is written out is longer.
        short = short.plain().bounded(limit)
    return Reply(short.text(limit_kb), short.structured(), answer.is_error, short.details())


def with_pictures(reply: Reply, found: tuple[tuple[CapturedFile, AttachedPicture], ...]) -> Reply:
    """Return the reply with pictures, and the words which they are: of the files of a run not all may be among them."""
    if not found:
        return reply
    names = ", ".join(plain(file.path) for file, _ in found)
    return replace(
        reply,
        text=f"{reply.text}\nPictures attached: {names}",
        data={**reply.data, "pictures": names},
        pictures=tuple(picture for _, picture in found),
    )


def delivered_before(reply: Reply) -> Reply:
    data = {**reply.data, "delivered_before": DELIVERED_BEFORE}
    return replace(reply, text=f"{DELIVERED_BEFORE}\n{reply.text}", data=data)


def joined(reply: Reply) -> Reply:
    """Return the reply to a call that was identical to one before: the model may have wanted two runs."""
    return replace(reply, text=f"{reply.text}\n{JOINED}", data={**reply.data, "note": JOINED})


def pending(ticket: Ticket) -> Reply:
    """Return the reply that the request is not answered yet and the caller need not wait."""
    text = (
        f"Pending: {state(ticket)} The request stays open; do not send it again. "
        f"Call {catalog.CODE_RESULT} with the id {ticket.request_id} to wait for the answer."
    )
    details: dict[str, object] = {
        "request_id": ticket.request_id,
        "phase": None if ticket.phase is None else ticket.phase.value,
        "seconds_left": _rounded(ticket.seconds_left()),
        "position": ticket.position(),
    }
    data = {"status": "pending", "request_id": ticket.request_id, MESSAGE: text}
    return Reply(text, dict(data), details=details)


def closing(why: str, ticket: Ticket | None = None) -> Reply:
    """Return the reply to a waiting call while the console is closing."""
    ran = "" if ticket is None or ticket.phase is not Phase.RUNNING else " The code was running and was stopped."
    text = f"{why}{ran} Call again when Assent is running."
    return Reply(text, {"status": "closing", MESSAGE: text}, is_error=True, details=_about(ticket))


def withdrawn(ticket: Ticket) -> Reply:
    """Return the reply to a caller that has disconnected; it is never delivered."""
    text = "Withdrawn: the caller went away."
    return Reply(text, {"status": "withdrawn", MESSAGE: text}, is_error=True, details=_about(ticket))


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
    return Reply(text, {"status": "unknown", MESSAGE: text}, is_error=True)


def state(ticket: Ticket) -> str:
    """Return the state of a request in a sentence."""
    if (left := ticket.seconds_left()) is not None:
        place = ticket.position()
        queue = "" if place <= 1 else f", number {place} in the queue"
        if ticket.waits_for_return():
            return (
                f"waiting for a person who is away{queue}; they decide when they are back, within {left / 3600:.1f} h."
            )
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
