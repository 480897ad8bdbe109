"""Waits for answers: progress while a request waits, then its answer, or `pending` at the caller's time limit."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from runner.gateway import replies
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from runner.approval.ticket import Ticket
    from runner.model.answer import Answer

PROGRESS_SECONDS = 5.0
LONGEST_HOLD = 3600.0
"""Longest wait in seconds; no client that was measured waits longer for a call."""
LONGEST_OUTPUT = 200
"""Characters of a run's newest output in a progress message."""

Report = Callable[[float, float, str], Coroutine[Any, Any, None]]
"""Sends the caller the seconds waited, the seconds it will wait at most, and the state of its request."""


class Ended(Enum):
    """Why a wait ended without an answer."""

    PATIENCE = auto()
    GONE = auto()
    CLOSING = auto()


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a tool, and whether it is still connected."""

    agent: str
    hold: float
    """Seconds that this caller can wait."""
    message_bytes: int = 0
    """Size of its call."""
    as_it_is: bool = False
    """Whether a program prints the output for a person: it gets every character, and no picture."""
    gone: asyncio.Event = field(default_factory=asyncio.Event)


class Waiting:
    """All calls that wait. `close` ends each of them with an answer."""

    def __init__(self) -> None:
        self._closing = asyncio.Event()
        self.why = ""
        """Why the waits end, for their callers; empty while open."""

    @property
    def closed(self) -> bool:
        return self._closing.is_set()

    def close(self, why: str) -> None:
        self.why = why
        self._closing.set()

    async def hold(self, ticket: Ticket, caller: Caller, seconds: float, report: Report) -> Answer | Ended:
        """Wait at most `seconds` for the answer; report the state of the request at once and then every 5 s."""
        if (there := await ticket.answered(0)) is not None:
            return there
        answer = spawn(f"answer {ticket.request_id}", ticket.answered(None))
        gone = spawn(f"caller {ticket.request_id}", caller.gone.wait())
        closing = spawn(f"closing {ticket.request_id}", self._closing.wait())
        try:
            await _until({answer, gone, closing}, ticket, seconds, report)
            # In this order: an answer that exists is always returned.
            if answer.done() and (given := answer.result()) is not None:
                return given
            if gone.done():
                return Ended.GONE
            return Ended.CLOSING if closing.done() else Ended.PATIENCE
        finally:
            for task in (answer, gone, closing):
                task.cancel()


async def _until(
    ends: set[asyncio.Task[Answer | None] | asyncio.Task[bool]], ticket: Ticket, seconds: float, report: Report
) -> None:
    """Return when one of `ends` is done or `seconds` are over; both are checked once even for 0 seconds."""
    start = time.monotonic()
    output = _Output(ticket)
    while True:
        waited = time.monotonic() - start
        # In a separate task: a caller that does not read must delay neither its own answer nor the shutdown.
        sending = spawn(f"progress {ticket.request_id}", report(waited, seconds, output.message()))
        pause = min(PROGRESS_SECONDS, max(0.0, seconds - waited))
        done, _ = await asyncio.wait(ends, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
        sending.cancel()
        if done or time.monotonic() - start >= seconds:
            return


class _Output:
    """The progress of a run: its state and the last line that it printed."""

    def __init__(self, ticket: Ticket) -> None:
        self._ticket = ticket
        self._position = 0

    def message(self) -> str:
        state = replies.state(self._ticket)
        transcript = self._ticket.transcript
        if transcript is None:
            return state
        news = transcript.since(self._position)
        self._position = news.position
        text = b"".join(piece.data for piece in news.pieces).decode("utf-8", "replace")
        return f"{state} {text[-LONGEST_OUTPUT:].strip()}".rstrip()
