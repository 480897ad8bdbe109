"""Waits for answers: progress while a request waits, then its answer, or `pending` at the caller's time limit."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from runner.gateway import live, replies
from runner.model.plain import plain
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from runner.approval.ticket import Ticket
    from runner.model.answer import Answer
    from runner.model.request import WorkPlace
    from runner.model.submission import SessionDoor
    from runner.sandbox.output import OutputPiece

PROGRESS_SECONDS = 5.0
LONGEST_HOLD = 3600.0
"""Longest wait in seconds; no client that was measured waits longer for a call."""
LONGEST_OUTPUT = 2000
"""Characters of new output in a progress message; more than a screen says no model anything."""
MOST_PIECES = 20
"""Newest pieces that are looked at for it; each has 4 KiB or is one write."""
LIVE_SECONDS = 0.3
"""Time between the messages to a program that prints the output as it comes."""
SENDING_SECONDS = 0.5
"""Time for such a program to take what was printed; what it does not take then is missing, and it is counted."""

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
    session: str = ""
    """The session that it names; '' for none."""
    program: str = ""
    """What its program says that it is."""
    door: SessionDoor | None = None
    """By which program at work it says that it comes; None for a caller outside of any working copy."""
    work: WorkPlace | None = None
    """The same, once that was found to be so."""
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
        output = _Output(ticket, caller.as_it_is)
        if (there := await ticket.answered(0)) is not None:
            await _send_rest(output, seconds, report)
            return there
        answer = spawn(f"answer {ticket.request_id}", ticket.answered(None))
        gone = spawn(f"caller {ticket.request_id}", caller.gone.wait())
        closing = spawn(f"closing {ticket.request_id}", self._closing.wait())
        try:
            await _until({answer, gone, closing}, ticket, seconds, report, output)
            # In this order: an answer that exists is always returned.
            if answer.done() and (given := answer.result()) is not None:
                await _send_rest(output, seconds, report)
                return given
            if gone.done():
                return Ended.GONE
            return Ended.CLOSING if closing.done() else Ended.PATIENCE
        finally:
            for task in (answer, gone, closing):
                task.cancel()

    async def pause(self, seconds: float, caller: Caller) -> bool:
        """Wait, and return whether the caller is still there, and the console open."""
        ends = {spawn("caller in line", caller.gone.wait()), spawn("closing in line", self._closing.wait())}
        try:
            done, _ = await asyncio.wait(ends, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            return not done
        finally:
            for task in ends:
                task.cancel()


async def _until(
    ends: set[asyncio.Task[Answer | None] | asyncio.Task[bool]],
    ticket: Ticket,
    seconds: float,
    report: Report,
    output: _Output,
) -> None:
    """Return when one of `ends` is done or `seconds` are over; both are checked once even for 0 seconds."""
    start = time.monotonic()
    while True:
        waited = time.monotonic() - start
        # In a separate task: a caller that does not read must delay neither its own answer nor the shutdown.
        sending = spawn(f"progress {ticket.request_id}", report(waited, seconds, output.message()))
        pause = min(output.pause, max(0.0, seconds - waited))
        done, _ = await asyncio.wait(ends, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
        if output.as_it_is:
            await asyncio.wait({sending}, timeout=SENDING_SECONDS)
        sending.cancel()
        if done or time.monotonic() - start >= seconds:
            return


async def _send_rest(output: _Output, seconds: float, report: Report) -> None:
    """Send a program the output that it has not got yet. One that does not take it gets the answer without."""
    if output.as_it_is and (rest := output.message(only_news=True)):
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(report(seconds, seconds, rest), SENDING_SECONDS)


class _Output:
    """The progress of a run: its state and what it printed since the last message."""

    def __init__(self, ticket: Ticket, as_it_is: bool) -> None:
        self.as_it_is = as_it_is
        self.pause = LIVE_SECONDS if as_it_is else PROGRESS_SECONDS
        self._ticket = ticket
        self._position = 0

    def message(self, *, only_news: bool = False) -> str:
        """Return the message; with `only_news` empty where nothing was printed since the last."""
        state = replies.state(self._ticket)
        transcript = self._ticket.transcript
        pieces: tuple[OutputPiece, ...] = ()
        if transcript is not None:
            news = transcript.since(self._position)
            self._position, pieces = news.position, news.pieces
        if only_news and not pieces:
            return ""
        if self.as_it_is:
            return live.packed(state, pieces)
        text = plain(b"".join(piece.data for piece in pieces[-MOST_PIECES:]).decode("utf-8", "replace").strip())
        return f"{state} {text[-LONGEST_OUTPUT:]}".rstrip()
