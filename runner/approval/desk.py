"""The open questions, each answered once: the first answer counts."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from runner.model.decision import Ask, Decider, Decision, Verdict
from runner.system.clock import since_boot
from runner.system.expiry import Expiry

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST_PAUSE = 600.0
"""Seconds after which a question expires although a person is looking at it (console.md, *Deciding*)."""
LATE = "No answer came in time. This is a denial for now, not for good: ask again when someone is there."


class Taken(Enum):
    """Result of an answer."""

    ACCEPTED = auto()
    UNKNOWN = auto()
    """No such question is open: it was decided, has expired or was withdrawn."""
    STALE = auto()
    """The digest is not that of the question."""


@dataclass(slots=True)
class Question:
    """One open question. Times are those of the desk's clock, in seconds."""

    request_id: str
    digest: str
    ask: Ask
    asked_at: float
    future: asyncio.Future[Decision]
    expiry: Expiry
    paused: bool = False
    """Whether a person is looking at it: only `LONGEST_PAUSE` limits it then."""

    @property
    def deadline(self) -> float:
        return self.expiry.at


class Desk:
    """The open questions of one engine. Every method is called on the engine's loop.

    `clock` is `since_boot`, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = since_boot) -> None:
        self._clock = clock
        self._open: dict[str, Question] = {}

    def put(self, request_id: str, digest: str, ask: Ask) -> Question:
        """Open a question whose window starts now. Await `question.future` for the decision."""
        expiry = Expiry(lambda: self._expire(request_id), self._clock)
        future = asyncio.get_running_loop().create_future()
        question = Question(request_id, digest, ask, self._clock(), future, expiry)
        expiry.set(question.asked_at + ask.window)
        self._open[request_id] = question
        return question

    def answer(self, request_id: str, digest: str, verdict: Verdict, reason: str, edited: str = "") -> Taken:
        """Take a person's answer, which must name the digest of exactly this question (spec A12).

        `edited` is the digest of the person's own version where that is what is approved.
        """
        question = self._open.get(request_id)
        if question is None:
            return Taken.UNKNOWN
        if question.expiry.over:
            # Its timer is late, as it is after the machine has slept.
            self._expire(request_id)
            return Taken.UNKNOWN
        if digest != question.digest:
            return Taken.STALE
        self._settle(question, Decision(verdict, Decider.PERSON, reason, digest=edited or digest))
        return Taken.ACCEPTED

    def pause(self, request_id: str) -> Question | None:
        """Let a question expire only `LONGEST_PAUSE` after it was asked; None where nothing changes."""
        question = self._open.get(request_id)
        if question is None or question.paused:
            return None
        question.paused = True
        question.expiry.set(max(question.deadline, question.asked_at + LONGEST_PAUSE))
        return question

    def awoke(self) -> None:
        """Let expire what is over after the machine has slept."""
        for question in self.waiting():
            question.expiry.awoke()

    def withdraw(self, request_id: str, why: str) -> bool:
        """Withdraw a question whose caller has disconnected; return False where none was open."""
        return self._end(request_id, Verdict.WITHDRAWN, Decider.AGENT, why)

    def deny(self, request_id: str, why: str) -> bool:
        """Deny a question on behalf of Assent itself; return False where none was open."""
        return self._end(request_id, Verdict.DENIED, Decider.ENGINE, why)

    def clear(self, why: str) -> int:
        """Deny all open questions and return their number."""
        return sum(self.deny(request_id, why) for request_id in list(self._open))

    def question(self, request_id: str) -> Question | None:
        """Return the open question about a request, if any."""
        return self._open.get(request_id)

    def waiting(self) -> tuple[Question, ...]:
        """Return the open questions in the order in which they were asked."""
        return tuple(self._open.values())

    def position(self, request_id: str) -> int:
        """Return the place in the queue: 1 for the oldest open question, 0 when it is not open."""
        return next((n for n, known in enumerate(self._open, 1) if known == request_id), 0)

    def seconds_left(self, request_id: str) -> float | None:
        question = self._open.get(request_id)
        return None if question is None else question.expiry.left

    def _expire(self, request_id: str) -> None:
        self._end(request_id, Verdict.EXPIRED, Decider.ENGINE, LATE)

    def _end(self, request_id: str, verdict: Verdict, by: Decider, why: str) -> bool:
        question = self._open.get(request_id)
        if question is None:
            return False
        self._settle(question, Decision(verdict, by, why, digest=question.digest))
        return True

    def _settle(self, question: Question, decision: Decision) -> None:
        del self._open[question.request_id]
        question.expiry.cancel()
        waited = round(self._clock() - question.asked_at, 3)
        settled = Decision(decision.verdict, decision.by, decision.reason, question.ask.rule, waited, decision.digest)
        if not question.future.done():
            question.future.set_result(settled)
