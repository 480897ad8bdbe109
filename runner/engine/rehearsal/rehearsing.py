"""Rehearses requests while their question is open: within narrow bounds, without network, for the person alone.

A rehearsal lives no longer than its question. Whatever ends that (an answer, expiry, the agent going away, lockdown,
Stop all, closing) ends it, and its outcome is dropped unless that very outcome was handed over.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from runner.approval.rehearsable import kept_from_rehearsal, too_weak
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
from runner.engine.rehearsal.trials import Trials
from runner.engine.shared.run_files import rehearsal_of
from runner.engine.shared.typescript import runnable
from runner.model.answer import within
from runner.model.codec import encode
from runner.model.errors import KnownError
from runner.model.events import RehearsalMoved
from runner.model.rehearsal import ENDED, REHEARSED, REHEARSING, Rehearsal, RehearsalMode, RehearsalPhase
from runner.model.request import Language, Limits, NetworkMode
from runner.model.result import Outcome
from runner.network.gate import Gate
from runner.network.refusals import Blocked
from runner.requests.modules import imports
from runner.requests.network import through_gate
from runner.sandbox.contract import Job, NotPermitted
from runner.sandbox.imports import binds
from runner.sandbox.output import OutputBudget
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from runner.approval.circumstances import Circumstances
    from runner.approval.desk import Desk
    from runner.engine.foundation.parts import Parts
    from runner.model.decision import Ask
    from runner.model.record import Record
    from runner.model.result import Result
    from runner.network.addresses import Reach
    from runner.network.dialing import Streams
    from runner.requests.case import Case
    from runner.sandbox.contract import Collect

LIMITS = Limits(memory_mb=512, cpu_cores=0.5, disk_mb=256, seconds=30.0, output_bytes=262_144, processes=64)
"""The most that one may use; a request that asks for less gets less."""
MOST_SHOWN = 65_536
"""Bytes of each stream and of the value that are shown, and handed over, at most."""
UNASKED = "What may not pass unasked is not tried unasked either."


class NoWayOut:
    """A dialer that reaches nothing: besides the gate, which allows no host, there is nobody who would connect."""

    pins_addresses = True

    async def open(self, host: str, port: int, reach: Reach, inside: Collection[str] = ()) -> Streams:
        raise Blocked("is not reached: a trial has no network")


@dataclass(eq=False, slots=True, kw_only=True)
class OneRehearsal(Attempt):
    """The rehearsal of one open question."""

    ask: Ask


class Rehearsals:
    """The rehearsals of all open questions. Every method is called on the engine's loop unless it says otherwise."""

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
        self._all: dict[str, OneRehearsal] = {}
        """By request, from the question to its answer; also those whose outcome is shown."""
        self._queued: list[OneRehearsal] = []
        self._active: list[OneRehearsal] = []
        self._spent = TimeSpent(now)
        self._budget = OutputBudget()
        self.trials = Trials(parts, record, desk, circumstances, mode, now)
        """Of the same questions, under the same choice, and where a person asks for one."""

    # ---- from the question to its answer ----

    def begin(self, case: Case, ask: Ask) -> None:
        """Rehearse a request about which a person has just been asked, where that is switched on."""
        request, assessment = case.request, case.assessment
        if self._mode(request.agent) is RehearsalMode.OFF or assessment is None:
            return
        self.trials.begin(case, ask)
        why = kept_from_rehearsal(request, assessment, ask) or self._not_now(request.agent)
        if why:
            self._tell(case, RehearsalPhase.NONE, why)
            return
        one = OneRehearsal(case=case, ask=ask)
        self._all[request.id] = one
        self._queued.append(one)
        self._tell(case, RehearsalPhase.QUEUED)
        self._start_next()

    def end(self, case: Case) -> None:
        """End the rehearsal of a request whose question is over. Harmless where there is none."""
        self.trials.end(case)
        one = self._all.pop(case.request.id, None)
        if one is not None:
            self._abandon(one, OVER)
        if case.released is None:
            case.rehearsal = None

    def look_again(self, agent: str) -> None:
        """End the rehearsals of an agent that what a person chose for it does not allow any more."""
        self.trials.look_again(agent)
        for one in [one for one in self._all.values() if one.case.request.agent == agent]:
            if why := self._forbidden(one):
                self._withdraw(one, why)

    def stop_all(self, why: str) -> None:
        """End every rehearsal and trial, and drop every outcome that is shown."""
        self.trials.stop_all(why)
        for one in list(self._all.values()):
            self._withdraw(one, why)

    def end_without_loop(self, why: str) -> None:
        """End what runs although the loop does not come round. May be called on any thread."""
        self.trials.end_without_loop(why)
        before_answer.end_without_loop(self._active, why)

    async def close(self, why: str) -> None:
        """End every rehearsal, and wait for that as long as closing may take."""
        self.stop_all(why)
        await self.trials.close(why)
        await before_answer.ended(self._active)

    # ---- the queue ----

    def _not_now(self, agent: str) -> str:
        if sum(one.case.request.agent == agent for one in self._queued) >= MOST_QUEUED:
            return BUSY
        return SPENT if self._spent.is_over(agent) else ""

    def _start_next(self) -> None:
        """Start what waits, as far as there is room: the oldest first, one of each agent."""
        for one in list(self._queued):
            if len(self._active) >= MOST_AT_ONCE:
                return
            agent = one.case.request.agent
            if any(other.case.request.agent == agent for other in self._active):
                continue
            self._queued.remove(one)
            if self._spent.is_over(agent):
                self._withdraw(one, SPENT)
                continue
            self._active.append(one)
            one.task = spawn(f"rehearse {one.case.request.id}", self._rehearse(one))

    async def _rehearse(self, one: OneRehearsal) -> None:
        began = self._spent.now()
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
            self._spent.add(one.case.request.agent, began)
            if one.over:
                await self._drop_files(one)
            self._start_next()

    def _withdraw(self, one: OneRehearsal, why: str) -> None:
        """End a rehearsal before its question is over; the question stays open, as one without a rehearsal."""
        if self._all.pop(one.case.request.id, None) is None:
            return
        self._abandon(one, why)
        one.case.rehearsal = None
        self._tell(one.case, RehearsalPhase.NONE, why)

    def _abandon(self, one: OneRehearsal, why: str) -> None:
        if one in self._queued:
            self._queued.remove(one)
        one.stop(why, self._record, ENDED)
        if one.task is None and one.case.released is None:
            spawn(f"files of {one.case.request.id}", self._drop_files(one))

    async def _drop_files(self, one: OneRehearsal) -> None:
        await asyncio.to_thread(self._parts.files.drop_rehearsed, one.case.request.id)

    # ---- one rehearsal ----

    async def _show_outcome(self, one: OneRehearsal) -> None:
        """Run the code, record what came of it, and show that. Raises KnownError where there is nothing to show."""
        case = one.case
        result = await self._result(one)
        if result.outcome in (Outcome.KILLED, Outcome.ENGINE_LOST):
            raise KnownError(result.error or "The sandbox was lost while it ran.")
        limit = min(MOST_SHOWN, 2048 * self._circumstances.settings().max_output_kb)
        rehearsal = await asyncio.to_thread(_shown, case.request.digest, result, limit)
        self._permit(one)
        await case.attach(REHEARSED, {**encode(rehearsal.result), "digest": rehearsal.digest})
        one.noted = False
        # Nothing is awaited from here on: what is shown is what the person may hand over.
        self._permit(one)
        case.rehearsal = rehearsal
        self._record.publish(RehearsalMoved(case.request.id, RehearsalPhase.SHOWN, "", rehearsal, began=True))

    async def _result(self, one: OneRehearsal) -> Result:
        """Return what the code produced. Raises KnownError, also where the question was over before."""
        case, request = one.case, one.case.request
        self._permit(one)
        sandbox = self._parts.sandboxes.sandbox
        active = (await sandbox.check()).protections
        if why := too_weak(self._mode(request.agent), sandbox.isolation, active):
            raise NotPermitted(why)
        gate = Gate((), dialer=NoWayOut())
        try:
            job = await self._job(one, gate)
            body = {
                "isolation": sandbox.isolation.value,
                "protections": list(through_gate(active, NetworkMode.DOMAINS)),
                "limits": asdict(job.limits),
            }
            await case.attach(REHEARSING, body)
            one.noted = True
            self._permit(one)
            if not self._parts.sandboxes.uses(sandbox):
                raise NotPermitted("Another sandbox is in use now.")
            case.rehearsed = True
            self._tell(case, RehearsalPhase.RUNNING)
            result = await one.result(sandbox, job)
            return replace(
                result,
                contacts=gate.contacts,
                contacts_left_out=gate.contacts_left_out,
                meta=replace(result.meta, rehearsed=True),
            )
        finally:
            gate.close()

    async def _job(self, one: OneRehearsal, gate: Gate) -> Job:
        """Return the job of a rehearsal: the code as it was sent, within the bounds of rehearsals."""
        request, settings = one.case.request, self._circumstances.settings()
        assert request.language is not None
        imported = None
        if request.language is Language.PYTHON and binds(imports(settings)):
            imported = await self._parts.assessor.imported(request.code, agent=request.agent)
            if imported is None:
                raise KnownError("What this code imports could not be read.")
        return Job(
            id=rehearsal_of(request.id),
            language=request.language,
            code=await runnable(self._parts.assessor, request, one.case.assessment, request.agent),
            limits=narrowed(request.limits),
            context=request.context,
            stdin=request.stdin,
            imports=imports(settings),
            imported=imported,
            network=NetworkMode.DOMAINS,
            gate=gate,
            image=request.image,
            collect=self._collect(request.id),
            budget=self._budget,
            permit=lambda: self._permit(one),
        )

    def _collect(self, request_id: str) -> Collect | None:
        try:
            return self._parts.files.collect_rehearsed(request_id)
        except OSError as error:
            raise KnownError(f"Its files could not be collected: {error}.", "Free disk space.") from error

    def _permit(self, one: OneRehearsal) -> None:
        """Raise NotPermitted where the rehearsal may not continue. Never suspends."""
        request = one.case.request
        if one.over or self._desk.question(request.id) is None:
            raise NotPermitted(one.over or OVER)
        if why := self._forbidden(one):
            raise NotPermitted(why)

    def _forbidden(self, one: OneRehearsal) -> str:
        """Return why a request may not be rehearsed at this moment; empty where it may."""
        request, assessment, now = one.case.request, one.case.assessment, self._circumstances
        if why := now.closing() or now.barred(request.agent, request.received_at) or now.forbids(request, True):
            return why
        if why := now.unready(request) or now.moved(request) or now.unwritable():
            return why
        mode = self._mode(request.agent)
        if mode is RehearsalMode.OFF or assessment is None:
            return OFF
        # What no grant could let pass (a weaker sandbox than last time, settings that cannot be read) stays unstarted.
        if closed := now.policy().closed_to_grants(request, assessment.level):
            return f"{UNASKED} {closed}"
        # What the request shows is where it would run: the sandbox in use is the same, or `moved` says otherwise.
        weak = too_weak(mode, request.isolation, request.protections)
        return weak or kept_from_rehearsal(request, assessment, one.ask)

    def _tell(self, case: Case, phase: RehearsalPhase, why: str = "") -> None:
        self._record.publish(RehearsalMoved(case.request.id, phase, why, began=case.rehearsed))


def narrowed(asked: Limits) -> Limits:
    """Return the limits of a rehearsal: what the request asks for, within the bounds of rehearsals."""
    return Limits(
        memory_mb=min(asked.memory_mb, LIMITS.memory_mb),
        cpu_cores=min(asked.cpu_cores, LIMITS.cpu_cores),
        disk_mb=min(asked.disk_mb, LIMITS.disk_mb),
        seconds=min(asked.seconds, LIMITS.seconds),
        output_bytes=min(asked.output_bytes, LIMITS.output_bytes),
        processes=min(asked.processes, LIMITS.processes),
    )


def _shown(request_digest: str, result: Result, limit: int) -> Rehearsal:
    """Return the outcome as it is shown, with at most about `limit` bytes of each text; off the loop."""
    rehearsal = Rehearsal(request_digest, within(result, limit))
    assert rehearsal.digest and rehearsal.text  # worked out here, once
    return rehearsal
