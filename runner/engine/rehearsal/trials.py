"""Tries code with stand-ins while its question is open: without network, among decoys, for the person alone.

A trial adds a line to what was read. The question does not wait for it, it decides nothing, and it never lowers
anything. It runs where a person asks for it, and by itself for the agents for whom a person has switched that on.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections import OrderedDict
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from runner.approval.rehearsable import kept_from_trial, too_weak
from runner.engine.rehearsal import before_answer
from runner.engine.rehearsal.before_answer import (
    BUSY,
    FAILED,
    MOST_AT_ONCE,
    MOST_QUEUED,
    OFF,
    OVER,
    SPENT,
    Attempt,
    TimeSpent,
)
from runner.engine.shared.run_files import trial_of
from runner.engine.shared.typescript import runnable
from runner.model.assessment import Level
from runner.model.codec import encode
from runner.model.errors import KnownError
from runner.model.events import TrialMoved
from runner.model.rehearsal import RehearsalMode, RehearsalPhase
from runner.model.request import Isolation, Language, Limits, Request, Tool, canonical
from runner.model.result import Outcome
from runner.model.tried import TRIAL_ENDED, TRIED, TRYING
from runner.risk import tried as records
from runner.risk.worker.turns import PERSON, Turns
from runner.sandbox.contract import Job, NotPermitted
from runner.sandbox.output import OutputBudget
from runner.sandbox.trying import program
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.approval.circumstances import Circumstances
    from runner.approval.desk import Desk
    from runner.engine.foundation.parts import Parts
    from runner.model.assessment import Assessment
    from runner.model.decision import Ask
    from runner.model.record import Record
    from runner.model.result import Result
    from runner.requests.case import Case
    from runner.risk.tried import ActsInShell, Recorded, Weighed
    from runner.sandbox.contract import Readiness, Sandbox

LIMITS = Limits(memory_mb=512, cpu_cores=1.0, disk_mb=64, seconds=3.0, output_bytes=262_144, processes=64)
"""The most that one may use; a request that asks for less gets less, but not less time or memory to start in."""
LEAST_MEMORY_MB = 128
MOST_READING = 10.0
"""Seconds in which what was asked for is read."""
MOST_KEPT = 64
"""Records that are kept for the same code, the latest."""
MOST_HELD = 5.0
"""Seconds for which Approve waits at most: those of a trial, and some to start and to read what it asked for."""
HELD = f"It is being tried first, for {MOST_HELD:g} s at most (setting window.approve_after_trial)."
ALREADY = "It is being tried."
UNREAD = "What it asked for could not be read."


@dataclass(eq=False, slots=True, kw_only=True)
class OneTrial(Attempt):
    """The trial of one open question."""

    asked: bool
    """Whether a person asked for it."""
    holding: asyncio.TimerHandle | None = None
    """After this Approve waits no longer; None where it does not wait."""
    place: tuple[Isolation, tuple[str, ...]] | None = None
    """The kind and the protections of the sandbox that it has; None before that is known."""


class Trials:
    """The trials of all open questions. Every method is called on the engine's loop unless it says otherwise."""

    def __init__(
        self,
        parts: Parts,
        record: Record,
        desk: Desk,
        circumstances: Circumstances,
        mode: Callable[[str], RehearsalMode],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`mode(agent)` returns what a person chose for an agent."""
        self._parts = parts
        self._record = record
        self._desk = desk
        self._circumstances = circumstances
        self._mode = mode
        self._now = now
        self._all: dict[str, OneTrial] = {}
        """By request, from the wish to the outcome."""
        self._turns: Turns[OneTrial] = Turns(MOST_AT_ONCE)
        self._active: list[OneTrial] = []
        self._spent = TimeSpent(now)
        """Of what is tried by itself."""
        self._kept: OrderedDict[str, tuple[Weighed, float]] = OrderedDict()
        """What was recorded, and the seconds that it took."""
        self._budget = OutputBudget()

    # ---- from the question to its answer ----

    def begin(self, case: Case, ask: Ask) -> None:
        """Try the code of a request by itself, where that is switched on for its agent.

        Not what is CRITICAL or cannot be approved: that is never started before a person has decided.
        """
        request, assessment = case.request, case.assessment
        if self._mode(request.agent) is RehearsalMode.OFF or kept_from_trial(request):
            return
        if assessment is None or assessment.level is Level.CRITICAL or ask.blocked:
            return
        waiting = sum(one.case.request.agent == request.agent and one.task is None for one in self._all.values())
        why = BUSY if waiting >= MOST_QUEUED else SPENT if self._spent.is_over(request.agent) else ""
        if why:
            self._tell(case, RehearsalPhase.NONE, why)
        else:
            self._put(OneTrial(case=case, asked=False))

    def try_it(self, case: Case) -> str:
        """Try the code of a request because a person asks for it; return '' where that begins, else why not."""
        if case.request.id in self._all:
            return ALREADY
        if (question := self._desk.question(case.request.id)) is None:
            return OVER
        one = OneTrial(case=case, asked=True)
        # What a policy keeps from this sandbox is not started in it to see what it does either.
        why = question.ask.blocked or kept_from_trial(case.request) or self._forbidden(one)
        if not why:
            self._put(one)
        return why

    def end(self, case: Case) -> None:
        """End the trial of a request whose question is over. Harmless where there is none."""
        if (one := self._all.get(case.request.id)) is not None:
            self._withdraw(one, OVER)

    def look_again(self, agent: str) -> None:
        """End the trials of an agent that what a person chose for it does not allow any more."""
        for one in [one for one in self._all.values() if one.case.request.agent == agent]:
            if why := self._forbidden(one):
                self._withdraw(one, why)

    def stop_all(self, why: str) -> None:
        """End every trial."""
        for one in list(self._all.values()):
            self._withdraw(one, why)

    def end_without_loop(self, why: str) -> None:
        """End what runs although the loop does not come round. May be called on any thread."""
        before_answer.end_without_loop(self._active, why)

    async def close(self, why: str) -> None:
        """End every trial, and wait for that as long as closing may take."""
        self.stop_all(why)
        await before_answer.ended(self._active)

    # ---- the queue ----

    def held(self, request_id: str) -> str:
        """Return why an open question is not approved yet; empty where nothing keeps it."""
        one = self._all.get(request_id)
        return HELD if one is not None and one.holding is not None else ""

    def _put(self, one: OneTrial) -> None:
        self._all[one.case.request.id] = one
        question = self._desk.question(one.case.request.id)
        if question is not None and self._circumstances.settings().approve_after_trial:
            seconds = min(MOST_HELD, question.expiry.left / 2)
            one.holding = asyncio.get_running_loop().call_later(seconds, self._free_approve, one)
        self._tell(one.case, RehearsalPhase.QUEUED)
        self._turns.put(PERSON if one.asked else one.case.request.agent, one)
        self._start_next()

    def _free_approve(self, one: OneTrial) -> None:
        """Let a person approve again, while the trial continues."""
        one.holding = None
        self._tell(one.case, RehearsalPhase.RUNNING if one.noted else RehearsalPhase.QUEUED)

    def _take_out(self, one: OneTrial) -> None:
        del self._all[one.case.request.id]
        if one.holding is not None:
            one.holding.cancel()

    def _start_next(self) -> None:
        """Start what waits, as far as there is room: what a person asked for first, then agents in turn."""
        while (taken := self._turns.take()) is not None:
            asker, one = taken
            if one.over:
                self._turns.done(asker)
                continue
            self._active.append(one)
            one.task = spawn(f"try {one.case.request.id}", self._try(one, asker))

    async def _try(self, one: OneTrial, asker: str) -> None:
        began = self._now()
        try:
            await self._show_outcome(one)
        except KnownError as error:
            self._withdraw(one, one.over or str(error))
        except Exception:
            self._withdraw(one, FAILED)
            raise
        finally:
            self._active.remove(one)
            one.task = None
            if asker != PERSON:
                self._spent.add(asker, began)
            self._turns.done(asker)
            self._start_next()

    def _withdraw(self, one: OneTrial, why: str) -> None:
        """End a trial before it has an outcome; the question stays as it is."""
        if self._all.get(one.case.request.id) is not one:
            return
        self._take_out(one)
        one.stop(why, self._record, TRIAL_ENDED)
        self._tell(one.case, RehearsalPhase.NONE, why)

    # ---- one trial ----

    async def _show_outcome(self, one: OneTrial) -> None:
        """Run the code, record what it asked for, and show that. Raises KnownError where there is nothing to show."""
        case = one.case
        self._permit(one)
        sandbox, readiness = await self._strongest(one)
        one.place = isolation, _ = sandbox.isolation, readiness.protections
        key = _key(case.request, isolation.value)
        if (kept := self._kept.get(key)) is None:
            began = self._now()
            kept = await self._tried(one, sandbox, readiness), self._now() - began
            self._kept[key] = kept
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        if case.assessment is None:
            raise KnownError(UNREAD)
        # What reading says of each request is its own.
        tried = replace(records.judged(kept[0], case.assessment, kept[1]), where=isolation)
        await case.attach(TRIED, encode(tried))
        one.noted = False
        self._permit(one)
        self._take_out(one)
        self._record.publish(TrialMoved(case.request.id, RehearsalPhase.SHOWN, "", tried, began=case.rehearsed))

    async def _strongest(self, one: OneTrial) -> tuple[Sandbox, Readiness]:
        """Return the strongest sandbox that may have it, which need not be the one of runs. Raises NotPermitted."""
        why = ""
        async for sandbox, readiness in self._parts.sandboxes.strongest_first():
            weak = too_weak(self._needed(one), sandbox.isolation, readiness.protections, asked=one.asked)
            if not weak:
                return sandbox, readiness
            why = why or weak
        raise NotPermitted(why)

    async def _tried(self, one: OneTrial, sandbox: Sandbox, readiness: Readiness) -> Weighed:
        mark, seed = f"assent:{secrets.token_hex(8)}", secrets.token_hex(16)
        result = await self._result(one, sandbox, readiness, mark, seed)
        if result.outcome in (Outcome.KILLED, Outcome.ENGINE_LOST):
            raise KnownError(result.error or "The sandbox was lost while it ran.")
        found = await asyncio.to_thread(records.recorded, result, mark, seed)
        return await self._read(one, found)

    async def _read(self, one: OneTrial, found: Recorded) -> Weighed:
        """Return what was asked for with what reading says of it, as far as there is time."""
        request, until = one.case.request, self._now() + MOST_READING
        reads: list[tuple[ActsInShell, Assessment | None]] = []
        for each in records.programs(found.acts):
            read: Assessment | None = None
            if self._now() < until:
                self._permit(one)
                as_request = Request(
                    request.id, request.agent, Tool.CODE_EXECUTE, request.received_at, Language.SHELL, each.text
                )
                read = await self._parts.assessor.assess(as_request, person=one.asked)
            reads.append((each, read))
        return records.weighed(found, reads)

    async def _result(self, one: OneTrial, sandbox: Sandbox, readiness: Readiness, mark: str, seed: str) -> Result:
        """Return what the run left. Raises KnownError, also where the question was over before."""
        case, request = one.case, one.case.request
        same = sandbox.isolation is request.isolation
        assert request.language is not None
        agent = PERSON if one.asked else request.agent
        code = await runnable(self._parts.assessor, request, case.assessment, agent)
        job = Job(
            id=trial_of(request.id),
            language=request.language,
            code=program(request.language, code, mark, seed),
            limits=narrowed(request.limits),
            context=request.context,
            stdin=request.stdin,
            image=request.image if same else readiness.images.get(request.language, ""),
            budget=self._budget,
            permit=lambda: self._permit(one),
        )
        body = {
            "isolation": sandbox.isolation.value,
            "protections": list(readiness.protections),
            "limits": asdict(job.limits),
        }
        await case.attach(TRYING, body)
        one.noted = True
        self._permit(one)
        case.rehearsed = True
        self._tell(case, RehearsalPhase.RUNNING)
        return await one.result(sandbox, job)

    def _needed(self, one: OneTrial) -> RehearsalMode:
        return RehearsalMode.ANY if one.asked else self._mode(one.case.request.agent)

    def _permit(self, one: OneTrial) -> None:
        """Raise NotPermitted where the trial may not continue. Never suspends."""
        if one.over or self._desk.question(one.case.request.id) is None:
            raise NotPermitted(one.over or OVER)
        if why := self._forbidden(one):
            raise NotPermitted(why)

    def _forbidden(self, one: OneTrial) -> str:
        """Return why a request may not be tried at this moment; empty where it may."""
        request, now = one.case.request, self._circumstances
        why = now.closing() or now.barred(request.agent, request.received_at) or now.unready(request)
        if why := why or now.moved(request) or now.unwritable():
            return why
        if not one.asked:
            assessment = one.case.assessment
            if self._mode(request.agent) is RehearsalMode.OFF or assessment is None:
                return OFF
            if closed := now.policy().closed_to_grants(request, assessment.level):
                return closed
        return "" if one.place is None else too_weak(self._needed(one), *one.place, asked=one.asked)

    def _tell(self, case: Case, phase: RehearsalPhase, why: str = "") -> None:
        holds = bool(self.held(case.request.id))
        self._record.publish(TrialMoved(case.request.id, phase, why, began=case.rehearsed, holds=holds))


def narrowed(asked: Limits) -> Limits:
    """Return the limits of a trial: what the request asks for, within the bounds of trials."""
    return replace(LIMITS, memory_mb=max(LEAST_MEMORY_MB, min(asked.memory_mb, LIMITS.memory_mb)))


def _key(request: Request, isolation: str) -> str:
    """Return what two requests have in common whose trials have the same outcome."""
    language = "" if request.language is None else request.language.value
    data = (language, request.code, request.context, request.stdin, request.image, isolation)
    return hashlib.sha256(canonical({"tried": data})).hexdigest()
