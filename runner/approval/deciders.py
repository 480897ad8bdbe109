"""The deciders of a request, and the one order in which they are asked."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from runner.approval.desk import AWAY_SECONDS
from runner.model.decision import Ask, Decider, Decision, Verdict
from runner.model.events import QuestionAsked
from runner.model.lifecycle import Phase
from runner.policy.explain import Foreseeing, Foresight, Step, foresee_question, foresee_rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.approval.circumstances import Circumstances
    from runner.approval.desk import Desk
    from runner.approval.late_approval import LateApprovals
    from runner.approval.modes import Modes
    from runner.approval.rehearsable import Rehearser
    from runner.approval.remembering import Remembering
    from runner.model.assessment import Assessment
    from runner.model.request import Request
    from runner.policy.grants import Outline
    from runner.requests.case import Case


class RequestDecider(Foreseeing, Protocol):
    """A decider: a `Decision` of it is final, an `Ask` goes to the next decider, None leaves things as they are."""

    @property
    def unasked(self) -> bool:
        """Whether it replaces a person; such a decider is skipped once a person was asked about the request."""
        ...

    async def decide(self, case: Case, ask: Ask) -> Decision | Ask | None:
        """Return the decision, durable where it uses up a grant or approval. Raises LedgerFailed."""
        ...


class LockdownDecider:
    """Denies everything while the console is locked down."""

    unasked = False

    def __init__(self, modes: Modes) -> None:
        self._modes = modes

    async def decide(self, case: Case, _ask: Ask) -> Decision | None:
        return self._modes.denies(case.request)

    def foresee(self, request: Request, _assessment: Assessment, _ask: Ask, _outline: Outline) -> Foresight:
        denied = self._modes.denies(request)
        return Foresight() if denied is None else Foresight((Step("Mode", denied.reason),), denied)


class AllowanceDecider:
    """Denies what a person does not allow the agent: it was asked for before that was set."""

    unasked = False

    def __init__(self, circumstances: Circumstances) -> None:
        self._circumstances = circumstances

    async def decide(self, case: Case, _ask: Ask) -> Decision | None:
        return self._denied(case.request)

    def foresee(self, request: Request, _assessment: Assessment, _ask: Ask, _outline: Outline) -> Foresight:
        denied = self._denied(request)
        return Foresight() if denied is None else Foresight((Step("Agent", denied.reason),), denied)

    def _denied(self, request: Request) -> Decision | None:
        why = self._circumstances.forbids(request, False)
        return Decision(Verdict.DENIED, Decider.ENGINE, why, digest=request.digest) if why else None


class RulesDecider:
    """Applies the person's rules and the levels of the settings; its `Ask` is what later deciders answer."""

    unasked = False

    def __init__(self, circumstances: Circumstances) -> None:
        self._circumstances = circumstances

    async def decide(self, case: Case, _ask: Ask) -> Decision | Ask:
        assert case.assessment is not None
        return self._circumstances.policy().decide(case.request, case.assessment)

    def foresee(self, request: Request, assessment: Assessment, _ask: Ask, _outline: Outline) -> Foresight:
        return foresee_rules(self._circumstances.policy(), request, assessment)


class TrustDecider:
    """Approves the requests of a trusted agent that were read whole; of others it says why they are asked."""

    unasked = True

    def __init__(self, modes: Modes) -> None:
        self._modes = modes

    async def decide(self, case: Case, ask: Ask) -> Decision | Ask | None:
        assert case.assessment is not None
        trusted = self._modes.trusts(case.request, case.assessment, ask)
        if trusted is None and (why := self._modes.unread(case.request, case.assessment, ask)):
            return replace(ask, why=why)
        return trusted

    def foresee(self, request: Request, assessment: Assessment, ask: Ask, _outline: Outline) -> Foresight:
        trusted = self._modes.trusts(request, assessment, ask)
        if trusted is not None:
            return Foresight((Step("Mode", trusted.reason),), trusted)
        why = self._modes.unread(request, assessment, ask)
        return Foresight((Step("Mode", why),)) if why else Foresight()


class PersonDecider:
    """Asks a person and waits for the answer."""

    unasked = False

    def __init__(
        self,
        desk: Desk,
        modes: Modes,
        circumstances: Circumstances,
        rehearser: Rehearser,
        now: Callable[[], float] = time.time,
    ) -> None:
        """`now` is in seconds since the epoch, as the times of requests are."""
        self._rehearser = rehearser
        self._desk = desk
        self._modes = modes
        self._circumstances = circumstances
        self._now = now

    async def decide(self, case: Case, ask: Ask) -> Decision:
        """Open a question and return its first answer. Raises LedgerFailed."""
        request = case.request
        if why := self._circumstances.closing():
            return Decision(Verdict.DENIED, Decider.ENGINE, why, digest=request.digest)
        if case.gone:
            return Decision(Verdict.WITHDRAWN, Decider.AGENT, case.gone, digest=request.digest)
        if (denied := self._modes.denies(request)) is not None:  # locked down while the others were asked
            return denied
        again = case.phase is Phase.ASKED
        question = self._desk.put(request.id, request.digest, ask, kept_for(request, self._now()))
        window = question.window if question.parked else ask.window
        body: dict[str, object] = {"window": window, "rule": ask.rule, "blocked": ask.blocked, "again": again}
        if ask.why:
            body["why"] = ask.why
        if ask.accepts:
            body["accepts"] = ask.accepts
        event = QuestionAsked(request.id, question.deadline, window, ask.blocked, again, ask.accepts)
        try:
            await case.advance(Phase.ASKED, body, event)
        except BaseException:
            self._desk.deny(request.id, "The question could not be recorded.")
            raise
        self._rehearser.begin(case, ask)
        try:
            return await question.future
        finally:
            self._rehearser.end(case)

    def foresee(self, _request: Request, _assessment: Assessment, ask: Ask, _outline: Outline) -> Foresight:
        return foresee_question(ask)


def kept_for(request: Request, now: float) -> float:
    """Return for how many seconds a request may wait for a person who is away; 0 for one that may not.

    The program of an agent that asks about a tool of its own cannot fetch a later answer. Restarts add nothing.
    """
    return 0.0 if request.client is not None else max(0.0, AWAY_SECONDS - max(0.0, now - request.received_at))


def in_order(
    modes: Modes,
    late: LateApprovals,
    remembering: Remembering,
    desk: Desk,
    circumstances: Circumstances,
    rehearser: Rehearser,
) -> tuple[RequestDecider, ...]:
    """Return all deciders: first those that forbid, then earlier choices of a person, last the person."""
    return (
        LockdownDecider(modes),
        AllowanceDecider(circumstances),
        RulesDecider(circumstances),
        late,
        remembering,
        TrustDecider(modes),
        PersonDecider(desk, modes, circumstances, rehearser),
    )
