"""The open questions, each answered once: the first answer counts."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import TYPE_CHECKING

from runner.model.decision import Ask, Decider, Decision, Verdict
from runner.system.clock import since_boot
from runner.system.expiry import Expiry

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST_PAUSE = 600.0
"""Seconds after which a question expires although a person is looking at it (spec D4)."""
ATTENDED_SECONDS = 10.0
"""For how long the countdowns stand after somebody did something in the queue."""
AWAY_SECONDS = 12 * 3600.0
"""How long a question waits for a person who is away, counted from when the agent asked."""
MOST_WAITING = 100
"""Questions that wait so, all agents together; more of them expire as they always do."""
BACK_SECONDS = 600.0
"""What is left of such a question at least when the person is back."""
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
    attended_until: float = 0.0
    """Until when its countdown stands, because somebody is active in the queue; 0 before that was so."""
    keeps_until: float = 0.0
    """Until when it may wait for a person who is away; 0 for one that may not."""
    parked: bool = False
    """Whether it does."""

    @property
    def window(self) -> float:
        """Seconds from the question to its deadline."""
        return self.deadline - self.asked_at

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
        self._away = False

    def put(self, request_id: str, digest: str, ask: Ask, keeps: float = 0.0) -> Question:
        """Open a question whose window starts now. Await `question.future` for the decision.

        `keeps` is for how many seconds it may wait for a person who is away; 0 for one that may not.
        """
        expiry = Expiry(lambda: self._expire(request_id), self._clock)
        future = asyncio.get_running_loop().create_future()
        question = Question(request_id, digest, ask, self._clock(), future, expiry)
        question.keeps_until = question.asked_at + keeps if keeps > 0 else 0.0
        expiry.set(question.asked_at + ask.window)
        if self._away:
            self._park(question)
        self._open[request_id] = question
        return question

    def answer(
        self, request_id: str, digest: str, verdict: Verdict, reason: str, edited: str = "", accepted: str = ""
    ) -> Taken:
        """Take a person's answer, which must name the digest of exactly this question (spec A12).

        `edited` is the digest of the person's own version where that is what is approved; `accepted` as in `Decision`.
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
        self._settle(question, Decision(verdict, Decider.PERSON, reason, digest=edited or digest, accepted=accepted))
        return Taken.ACCEPTED

    def pause(self, request_id: str) -> Question | None:
        """Let a question expire only `LONGEST_PAUSE` after it was asked; None where nothing changes."""
        question = self._open.get(request_id)
        if question is None or question.paused:
            return None
        question.paused = True
        question.expiry.set(max(question.deadline, question.asked_at + LONGEST_PAUSE))
        return question

    def attend(self) -> tuple[Question, ...]:
        """Let countdowns stand for a moment, as somebody is active in the queue; return what expires later now.

        No question expires later by that than `LONGEST_PAUSE` after it was asked.
        """
        now = self._clock()
        until = now + ATTENDED_SECONDS
        moved = []
        for question in self.waiting():
            if not question.paused and not question.parked:
                end = question.deadline + until - max(now, question.attended_until)
                question.attended_until = until
                if (end := min(end, question.asked_at + LONGEST_PAUSE)) > question.deadline:
                    question.expiry.set(end)
                    moved.append(question)
        return tuple(moved)

    def leave(self) -> tuple[Question, ...]:
        """Let questions wait for a person who is away, those that come too; return those that expire later now."""
        self._away = True
        return tuple(question for question in self.waiting() if self._park(question))

    def come_back(self) -> tuple[Question, ...]:
        """Let questions expire as always; return those that waited, each with time enough to be read."""
        self._away = False
        waited = tuple(question for question in self.waiting() if question.parked)
        for question in waited:
            question.parked = False
            question.expiry.set(self._clock() + BACK_SECONDS)
        return waited

    def set_aside(self, request_id: str) -> None:
        """Drop a question that is asked again after a restart: it is neither answered nor denied."""
        if (question := self._open.pop(request_id, None)) is not None:
            question.expiry.cancel()

    def _park(self, question: Question) -> bool:
        """Let a question wait, within bounds; return whether it expires later now."""
        parked = sum(one.parked for one in self._open.values())
        if question.parked or parked >= MOST_WAITING or question.keeps_until <= question.deadline:
            return False
        question.parked = True
        question.expiry.set(question.keeps_until)
        return True

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
        settled = replace(decision, rule=question.ask.rule, after_seconds=waited)
        if not question.future.done():
            question.future.set_result(settled)
