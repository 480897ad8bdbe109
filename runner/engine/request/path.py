"""The path of one request, top to bottom: assess, decide or ask, run, record, answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from runner.approval import editing
from runner.audit.ledger.ledger import LedgerFailed
from runner.engine.request.edits import changed_code
from runner.engine.request.runs import not_run
from runner.engine.shared.file_answers import CONTENT
from runner.model.answer import Answer
from runner.model.codec import encode
from runner.model.decision import Ask, Decider, Decision, Verdict
from runner.model.errors import KnownError
from runner.model.events import RequestAssessed, RequestClosed, RequestDecided, RequestEdited, RunFinished, RunStarted
from runner.model.lifecycle import Phase
from runner.model.recorded import record_of
from runner.model.rehearsal import RELEASED
from runner.model.request import NetworkMode, Tool
from runner.model.result import Outcome
from runner.model.tool_facts import FACTS
from runner.requests import bounds
from runner.requests.network import through_gate
from runner.requests.places import require_unmoved
from runner.risk.explain.foreseen import with_unforeseen
from runner.sandbox.contract import NotPermitted
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from runner.approval.approvals import Approvals
    from runner.engine.foundation.parts import Parts
    from runner.engine.foundation.recorder import Recorder
    from runner.engine.kept.kept_sandboxes import KeptSandboxes
    from runner.engine.request.runs import Runs
    from runner.engine.supply.building import PackageBuilder
    from runner.model.assessment import Assessment
    from runner.model.rehearsal import Rehearsal
    from runner.model.request import Request
    from runner.model.result import Result
    from runner.requests.case import Case
    from runner.requests.cases import Cases

FOR_THE_WINDOW = frozenset({"chosen", "warm", "missing"})
"""Facts about the sandbox that help no agent, and cost its tokens."""
UNDECIDED = frozenset({Phase.ARRIVED, Phase.ASSESSED, Phase.ASKED})
BROKEN = "Assent itself failed while handling this request; see its fault log. Ask again."
OUTCOME_UNKNOWN = "Not known here: the agent's program runs it on this machine itself, in no sandbox of Assent."
GONE = "The agent went away."


class Path:
    """The path of requests. Every method is called on the engine's loop; each case has one task that runs `handle`."""

    def __init__(
        self,
        parts: Parts,
        record: Recorder,
        cases: Cases,
        approvals: Approvals,
        runs: Runs,
        sandboxes: KeptSandboxes,
        builder: PackageBuilder,
        assess: Callable[[Request], Coroutine[None, None, Assessment]],
    ) -> None:
        self._parts = parts
        self._record = record
        self._cases = cases
        self._desk = approvals.desk
        self._door = approvals.door
        self._deciders = approvals.deciders
        self._runs = runs
        self._sandboxes = sandboxes
        self._builder = builder
        self._assess = assess
        self._reading: dict[str, asyncio.Task[Assessment]] = {}
        """Requests that are being assessed or queue for it."""
        self._storing = asyncio.Lock()
        """Artifacts are made one at a time: looking for credentials in several at once holds up every other thread."""

    def begin(self, case: Case) -> None:
        """Handle a request to its end, in a task of its own."""
        self._cases.add(case)
        spawn(f"request {case.request.id}", self.handle(case))

    async def handle(self, case: Case) -> None:
        """Handle a request to its end; whatever fails, nothing is approved and the agent gets an answer."""
        case.generation = self._door.generation
        try:
            await self._follow(case)
        except Exception:
            # A bug: reported in the answer and in the history, and raised for the fault log.
            self._desk.deny(case.request.id, BROKEN)
            self._runs.stop(case.request.id, BROKEN)
            await self.settle(case, BROKEN)
            raise

    async def _follow(self, case: Case) -> None:
        result, facts, problem = None, None, ""
        try:
            refusal = await self._assessed(case)
            decision = await self._decided(case, refusal or await self._decide(case))
            if decision.verdict is Verdict.APPROVED:
                if case.released is not None:
                    result = await self._release(case, decision, case.released)
                elif case.request.tool is Tool.CODE_EXECUTE:
                    result = await self._run(case, decision)
                else:
                    facts, problem = await self._do(case, decision)
        except LedgerFailed as failure:
            decision = await self._deny_unwritten(case, failure)
        changes, limits = await self._changes(case)
        note = " ".join(filter(None, (self._sandboxes.lending.note_for(case.request), _sent_note(case.approved))))
        answer = Answer(case.request.id, decision, result, facts, problem, changes, limits, case.rehearsed, note)
        await self._close(case, answer)

    async def _assessed(self, case: Case) -> Decision | None:
        """Assess the request; return the denial of one that was ended before its turn. Raises LedgerFailed."""
        request = case.request
        if case.assessment is not None:
            return None
        if (refusal := self._door.ended(case)) is not None:
            return refusal
        reading = self._reading[request.id] = spawn(f"assess {request.id}", self._assess(request))
        try:
            await asyncio.wait({reading})
        finally:
            del self._reading[request.id]
            reading.cancel()
        if reading.cancelled():
            refusal = self._door.ended(case)
            assert refusal is not None
            return refusal
        case.assessment = reading.result()
        case.advance_soon(Phase.ASSESSED, case.assessment, RequestAssessed(request.id, case.assessment))
        return None

    async def _decided(self, case: Case, decision: Decision) -> Decision:
        """Record a decision, or the refusal of an approval that `Door` does not allow. Raises LedgerFailed."""
        if decision.verdict is Verdict.APPROVED:
            decision = self._door.refuses(case, decision) or decision
        case.decision = decision
        if decision.verdict is Verdict.APPROVED and case.edited is not None and case.edited_assessment is not None:
            await case.attach(editing.EDITED, editing.entry(case))
            self._record.publish(RequestEdited(case.request.id, case.edited, case.edited_assessment))
        if case.released is not None:
            if decision.verdict is Verdict.APPROVED:
                await case.attach(RELEASED, {"rehearsal": case.released.digest})
            else:
                await self._withhold(case)
        phase, event = Phase(decision.verdict.value), RequestDecided(case.request.id, decision)
        # Before code runs there is a step that waits for this one; what only reads needs none.
        follows = FACTS[case.request.tool].reads or case.request.tool is Tool.CODE_EXECUTE
        if decision.verdict is Verdict.APPROVED and follows and self._record.works:
            case.advance_soon(phase, decision, event)
        else:
            await case.advance(phase, decision, event)
        return decision

    async def _decide(self, case: Case) -> Decision:
        """Ask the deciders in order; the first decision counts. Raises LedgerFailed."""
        ask = Ask(0.0)
        for decider in self._deciders:
            if decider.unasked and (case.phase is Phase.ASKED or case.gone):
                continue
            # Denied or withdrawn while an entry was written or the decider before this one was asked.
            if (ended := self._door.ended(case)) is not None:
                return ended
            case.generation = self._door.generation
            answer = await decider.decide(case, ask)
            if isinstance(answer, Ask):
                ask = answer
            elif answer is not None:
                return answer
        raise AssertionError("nobody decided, not even a person")

    async def _release(self, case: Case, decision: Decision, rehearsal: Rehearsal) -> Result:
        """Return the outcome that the person was shown and handed over, recorded as what the agent gets."""
        try:
            self._door.require(case, decision)
        except NotPermitted as refusal:
            await self._withhold(case)
            withheld = not_run(case.request, refusal, Outcome.KILLED)
            return await self._finish(case, withheld)
        return await self._finish(case, rehearsal.result)

    async def _withhold(self, case: Case) -> None:
        """Drop the outcome of a rehearsal that is not handed over after all."""
        case.released = None
        await asyncio.to_thread(self._parts.files.drop_rehearsed, case.request.id)

    async def _run(self, case: Case, decision: Decision) -> Result:
        """Run what was approved and record its end, whatever happens. Return the result in full, for the answer."""
        return await self._finish(case, await self._runs.run(case, decision))

    async def _finish(self, case: Case, whole: Result) -> Result:
        """Record the end of a run, and return it in full."""
        limit = self._parts.configuration.settings.history_output_bytes
        recorded, left_out = await asyncio.to_thread(record_of, whole, limit)
        case.result = recorded = with_unforeseen(recorded, case.approved, case.weighed)
        body = {**encode(recorded), **left_out, **await self._store(case, recorded)}
        case.advance_soon(Phase.FINISHED, body, RunFinished(case.request.id, recorded))  # `_close` waits for it
        return whole

    async def _do(self, case: Case, decision: Decision) -> tuple[dict[str, object] | None, str]:
        """Return the answer of a tool that runs no code, or why there is none.

        Of the content of a file only the hash is recorded.
        """
        facts: dict[str, object] | None = None
        problem = ""
        try:
            if case.approved.builds:
                await self._begin_build(case, decision)
            facts = await self._facts(case, decision)
        except KnownError as error:
            problem = str(error)
        recorded = {name: value for name, value in (facts or {}).items() if name != CONTENT}
        body: dict[str, object] = {"facts": recorded, "problem": problem}
        event = None
        if case.phase is Phase.RUNNING:
            built = self._builder.taken(case.request.id) or not_run(case.approved, KnownError(problem))
            limit = self._parts.configuration.settings.history_output_bytes
            shown, left_out = await asyncio.to_thread(record_of, built, limit)
            case.result = shown
            body |= {**encode(shown), **left_out}
            event = RunFinished(case.request.id, shown)
        case.advance_soon(Phase.FINISHED, body, event)  # `_close` waits for it
        return facts, problem

    async def _begin_build(self, case: Case, decision: Decision) -> None:
        """Say that programs of packages run from now on. Raises KnownError, and NotPermitted as `_facts` does."""
        self._door.require(case, decision)
        chosen = self._parts.sandboxes
        ready = await chosen.sandbox.check()
        protections = through_gate(ready.protections, NetworkMode.DOMAINS)
        body = {"protections": list(protections), "chosen": chosen.why}
        await case.advance(Phase.RUNNING, body, RunStarted(case.request.id, protections))

    async def _facts(self, case: Case, decision: Decision) -> dict[str, object]:
        """Raises KnownError, and NotPermitted where the approval counts no more."""
        if case.request.client is not None:
            await require_unmoved(case.request.client)
        self._door.require(case, decision)
        if case.request.client is not None:
            return {"run_by": f"{case.request.client.name} of {case.request.agent}", "outcome": OUTCOME_UNKNOWN}
        if case.request.tool is Tool.CODE_SANDBOX_INFO:
            found = await self._parts.sandboxes.facts()
            return {name: value for name, value in found.items() if name not in FOR_THE_WINDOW}
        return await self._sandboxes.do(case.approved, lambda: self._door.require(case, decision))

    async def _store(self, case: Case, result: Result) -> dict[str, object]:
        """Store the artifact as the settings say and return its path and hash. A full disk is reported as trouble."""
        try:
            async with self._storing:
                stored = await asyncio.to_thread(
                    self._parts.files.store, case.approved, case.weighed, case.decision, result
                )
        except (OSError, KnownError) as error:
            what = f"The artifact of a run could not be stored: {error}"
            self._record.trouble("artifacts", what, "Free disk space.")
            return {"artifact": ""}
        self._record.clear("artifacts")
        return stored

    async def _changes(self, case: Case) -> tuple[str, str]:
        """Return a person's changes to code and limits, in words for the agent; empty where there were none."""
        if case.edited is None:
            return "", ""
        old, new = case.request.code, case.edited.code
        changes = await changed_code(self._parts.assessor, old, new, agent=case.request.agent)
        return changes, bounds.changed_limits(case.request.limits, case.edited.limits)

    async def _close(self, case: Case, answer: Answer) -> None:
        if case.phase is not Phase.CLOSED:
            await self._record.persist(case, Phase.CLOSED, {}, RequestClosed(case.request.id))
        if not case.answer.done():
            limit = 2 * 1024 * self._parts.configuration.settings.max_output_kb
            case.answer.set_result(answer.bounded(limit))
        self._sandboxes.lending.answer(case.request)
        self._cases.close(case)

    async def _deny_unwritten(self, case: Case, failure: LedgerFailed) -> Decision:
        """Deny a request that cannot be recorded: answer the agent at once, record it when the ledger works."""
        why = f"Assent could not write its history: {failure.what}"
        decision = Decision(Verdict.DENIED, Decider.ENGINE, why, digest=case.request.digest)
        case.decision, case.edited, case.edited_assessment = decision, None, None
        if case.released is not None:
            await self._withhold(case)
        case.answer.set_result(Answer(case.request.id, decision, rehearsed=case.rehearsed))
        await self._record.persist(case, Phase.DENIED, decision, RequestDecided(case.request.id, decision))
        return decision

    # ---- ends caused from outside ----

    def withdraw(self, request_id: str, why: str = GONE) -> None:
        """Withdraw a request whose caller has disconnected: close its question and stop its run."""
        if self._desk.withdraw(request_id, why) or (case := self._cases.find(request_id)) is None:
            return
        case.gone = why
        if reading := self._reading.get(request_id):
            reading.cancel()
        self._runs.stop(request_id, why)

    def end_assessing(self) -> None:
        """End requests that are not assessed yet, because everything is denied; their turn might come late."""
        for reading in self._reading.values():
            reading.cancel()

    def withdraw_all(self, agent: str, why: str) -> None:
        """Withdraw every request of `agent` that is not closed."""
        for case in self._cases.active():
            if case.request.agent == agent:
                self.withdraw(case.request.id, why)

    async def settle(self, case: Case, why: str) -> None:
        """Close a case that cannot continue, whatever its phase is."""
        request = case.request
        if case.phase in UNDECIDED:
            case.decision = Decision(Verdict.DENIED, Decider.ENGINE, why, digest=request.digest)
            event = RequestDecided(request.id, case.decision)
            await self._record.persist(case, Phase.DENIED, case.decision, event)
        elif case.phase in (Phase.APPROVED, Phase.RUNNING):
            case.result = not_run(request, KnownError(why))
            await self._record.persist(case, Phase.FINISHED, case.result, RunFinished(request.id, case.result))
        assert case.decision is not None
        await self._close(case, Answer(request.id, case.decision, case.result, rehearsed=case.rehearsed))


def _sent_note(request: Request) -> str:
    """Return what a person has sent with a request beside what its agent asked for; '' for nothing."""
    included = editing.included_files(request)
    return f"A person has sent {', '.join(included)} as well." if included else ""
