"""The path of one request, top to bottom: assess, decide or ask, run, record, answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from runner.approval import editing
from runner.audit.ledger import LedgerFailed
from runner.engine.kept_sandboxes import CONTENT
from runner.engine.runs import not_run
from runner.model.answer import Answer
from runner.model.codec import encode
from runner.model.decision import Ask, Decider, Decision, Verdict
from runner.model.difference import as_text, difference
from runner.model.errors import KnownError
from runner.model.events import RequestAssessed, RequestClosed, RequestDecided, RequestEdited, RunFinished
from runner.model.lifecycle import Phase
from runner.model.request import Tool
from runner.requests import bounds
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from runner.approval.deciders import RequestDecider
    from runner.approval.desk import Desk
    from runner.approval.door import Door
    from runner.engine.kept_sandboxes import KeptSandboxes
    from runner.engine.parts import Parts
    from runner.engine.recorder import Recorder
    from runner.engine.runs import Runs
    from runner.model.assessment import Assessment
    from runner.model.request import Request
    from runner.model.result import Result
    from runner.requests.case import Case
    from runner.requests.cases import Cases

TOLD_CHANGES = 20_000
"""Characters of a person's changes that the agent gets."""
UNDECIDED = frozenset({Phase.ARRIVED, Phase.ASSESSED, Phase.ASKED})
BROKEN = "Assent itself failed while handling this request; see its fault log. Ask again."
GONE = "The agent went away."


class Path:
    """Every method is called on the engine's loop; each case has one task, which runs `handle`."""

    def __init__(
        self,
        parts: Parts,
        record: Recorder,
        cases: Cases,
        desk: Desk,
        door: Door,
        deciders: tuple[RequestDecider, ...],
        runs: Runs,
        sandboxes: KeptSandboxes,
        assess: Callable[[Request], Coroutine[None, None, Assessment]],
    ) -> None:
        self._parts = parts
        self._record = record
        self._cases = cases
        self._desk = desk
        self._door = door
        self._deciders = deciders
        self._runs = runs
        self._sandboxes = sandboxes
        self._assess = assess
        self._reading: dict[str, asyncio.Task[Assessment]] = {}
        """Requests that are being assessed, or wait for their turn."""

    async def handle(self, case: Case) -> None:
        """Follow a request to its end; whatever breaks, nothing is approved and the agent gets an answer."""
        case.generation = self._door.generation
        try:
            await self._follow(case)
        except Exception:
            # A bug of ours: in the answer and in the history, and raised for the fault log.
            self._desk.deny(case.request.id, BROKEN)
            self._runs.stop(case.request.id, BROKEN)
            await self.settle(case, BROKEN)
            raise

    async def _follow(self, case: Case) -> None:
        try:
            refusal = await self._assessed(case)
            decision = await self._decided(case, refusal or await self._decide(case))
        except LedgerFailed as failure:
            decision = await self._deny_unwritten(case, failure)
        result, facts, problem = None, None, ""
        if decision.verdict is Verdict.APPROVED:
            if case.request.tool is Tool.CODE_EXECUTE:
                result = await self._run(case, decision)
            else:
                facts, problem = await self._do(case, decision)
        await self._close(case, Answer(case.request.id, decision, result, facts, problem, *await self._changes(case)))

    async def _assessed(self, case: Case) -> Decision | None:
        """Have the request assessed; the refusal of one that was ended before its turn. Raises LedgerFailed."""
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
        await case.advance(Phase.ASSESSED, case.assessment, RequestAssessed(request.id, case.assessment))
        return None

    async def _decided(self, case: Case, decision: Decision) -> Decision:
        """Take a decision, as far as the door lets it through; it is durable then. Raises LedgerFailed."""
        if decision.verdict is Verdict.APPROVED:
            decision = self._door.refuses(case, decision) or decision
        case.decision = decision
        if decision.verdict is Verdict.APPROVED and case.edited is not None and case.edited_assessment is not None:
            await case.attach(editing.EDITED, editing.entry(case))
            self._record.publish(RequestEdited(case.request.id, case.edited, case.edited_assessment))
        await case.advance(Phase(decision.verdict.value), decision, RequestDecided(case.request.id, decision))
        return decision

    async def _decide(self, case: Case) -> Decision:
        """Ask the deciders in order; the first decision counts. Raises LedgerFailed."""
        ask = Ask(0.0)
        for decider in self._deciders:
            if decider.unasked and (case.phase is Phase.ASKED or case.gone):
                continue
            case.generation = self._door.generation
            answer = await decider.decide(case, ask)
            if isinstance(answer, Ask):
                ask = answer
            elif answer is not None:
                return answer
        raise AssertionError("nobody decided, not even a person")

    async def _run(self, case: Case, decision: Decision) -> Result:
        """Run what was approved; whatever happens, its end is recorded."""
        result = case.result = await self._runs.run(case, decision)
        body = {**encode(result), **await self._store(case, result)}
        await self._record.persist(case, Phase.FINISHED, body, RunFinished(case.request.id, result))
        return result

    async def _do(self, case: Case, decision: Decision) -> tuple[dict[str, object] | None, str]:
        """The answer of a tool that runs no code, or why there is none. What a file holds is kept as its hash."""
        facts: dict[str, object] | None = None
        problem = ""
        try:
            facts = await self._facts(case, decision)
        except KnownError as error:
            problem = str(error)
        recorded = {name: value for name, value in (facts or {}).items() if name != CONTENT}
        await self._record.persist(case, Phase.FINISHED, {"facts": recorded, "problem": problem}, None)
        return facts, problem

    async def _facts(self, case: Case, decision: Decision) -> dict[str, object]:
        """Raises KnownError, and NotPermitted where the approval counts no more."""
        self._door.require(case, decision)
        if case.request.tool is Tool.CODE_SANDBOX_INFO:
            return await self._parts.sandboxes.facts()
        return await self._sandboxes.do(case.approved, lambda: self._door.require(case, decision))

    async def _store(self, case: Case, result: Result) -> dict[str, object]:
        """Keep the artifact as the settings say: its path and hash. A full disk is a trouble; the run stands."""
        try:
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
        """What a person changed before approving, code and limits, for the agent; empty where nothing was."""
        if case.edited is None:
            return "", ""
        old, new = case.request.code, case.edited.code
        changes = await self._parts.assessor.compare(old, new, agent=case.request.agent)
        lines = await asyncio.to_thread(difference, old, new, changes=changes)
        return as_text(lines, TOLD_CHANGES), bounds.told(case.request.limits, case.edited.limits)

    async def _close(self, case: Case, answer: Answer) -> None:
        if case.phase is not Phase.CLOSED:
            await self._record.persist(case, Phase.CLOSED, {}, RequestClosed(case.request.id))
        if not case.answer.done():
            limit = 2 * 1024 * self._parts.configuration.settings.max_output_kb
            case.answer.set_result(answer.bounded(limit))
        self._cases.close(case)

    async def _deny_unwritten(self, case: Case, failure: LedgerFailed) -> Decision:
        """What cannot be recorded is not run: the agent hears so at once, the record follows when it can."""
        why = f"Assent could not write its history: {failure.what}"
        decision = Decision(Verdict.DENIED, Decider.ENGINE, why, digest=case.request.digest)
        case.decision, case.edited, case.edited_assessment = decision, None, None
        case.answer.set_result(Answer(case.request.id, decision))
        await self._record.persist(case, Phase.DENIED, decision, RequestDecided(case.request.id, decision))
        return decision

    # ---- ends from elsewhere ----

    def withdraw(self, request_id: str, why: str = GONE) -> None:
        """The caller has gone: its question disappears or is never put, its run stops."""
        if self._desk.withdraw(request_id, why) or (case := self._cases.find(request_id)) is None:
            return
        case.gone = why
        if reading := self._reading.get(request_id):
            reading.cancel()
        self._runs.stop(request_id, why)

    def end_assessing(self) -> None:
        """End what nobody has assessed yet, as everything is denied; it might wait long for its turn."""
        for reading in self._reading.values():
            reading.cancel()

    def withdraw_all(self, agent: str, why: str) -> None:
        """Withdraw everything that `agent` has asked and that is not over."""
        for case in self._cases.active():
            if case.request.agent == agent:
                self.withdraw(case.request.id, why)

    async def settle(self, case: Case, why: str) -> None:
        """Bring a case that cannot go on to its end, wherever it stands."""
        request = case.request
        if case.phase in UNDECIDED:
            case.decision = Decision(Verdict.DENIED, Decider.ENGINE, why, digest=request.digest)
            event = RequestDecided(request.id, case.decision)
            await self._record.persist(case, Phase.DENIED, case.decision, event)
        elif case.phase in (Phase.APPROVED, Phase.RUNNING):
            case.result = not_run(request, KnownError(why))
            await self._record.persist(case, Phase.FINISHED, case.result, RunFinished(request.id, case.result))
        assert case.decision is not None
        await self._close(case, Answer(request.id, case.decision, case.result))
