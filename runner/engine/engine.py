"""The engine: opens the rooms in order, closes them in reverse; `handle` is the path of one request."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.approval.desk import Desk, Taken
from runner.approval.editing import Editing
from runner.approval.late_approval import Missed
from runner.approval.modes import Modes
from runner.approval.remembering import Remembering
from runner.approval.ticket import Ticket
from runner.audit.ledger import LedgerFailed
from runner.engine.kept_sandboxes import CONTENT, Sandboxes
from runner.engine.refusals import Refusals
from runner.model.answer import Answer
from runner.model.codec import encode
from runner.model.decision import Ask, Decider, Decision, Verdict
from runner.model.difference import as_text, difference
from runner.model.errors import KnownError, Refused
from runner.model.events import (
    AgentsChanged,
    CallsRefused,
    EngineTroubled,
    GatewayOpened,
    QuestionAsked,
    QuestionPaused,
    RequestArrived,
    RequestAssessed,
    RequestClosed,
    RequestDecided,
    RunFinished,
    RunHeld,
    RunMeasured,
    RunStarted,
    TroubleCleared,
)
from runner.model.lifecycle import Phase
from runner.model.request import Language, Tool
from runner.model.result import Meta, Outcome, Result
from runner.requests import bounds, intake
from runner.requests.case import Case
from runner.requests.cases import Cases
from runner.requests.modules import imports
from runner.sandbox.contract import Haltable, Job
from runner.sandbox.imports import binds
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from runner.assembly import Rooms
    from runner.identity.agents import Agent
    from runner.model.assessment import Assessment
    from runner.model.events import Event
    from runner.model.kept_sandbox import Kept
    from runner.model.request import Request
    from runner.model.submission import Submission
    from runner.risk.imported import Import
    from runner.sandbox.contract import Collect, Run, Sandbox, Session
    from runner.sandbox.output import Transcript

log = logging.getLogger(__name__)

RETRY_SECONDS = 1.0
CLOSING_SECONDS = 1.2
"""For stopped runs to be recorded at the end; the whole way out has 2 s."""
SANDBOX_SECONDS = 0.5
"""The start waits no longer for the sandbox to be found; requests do."""

TOLD_CHANGES = 20_000
"""Characters of a person's changes that the agent gets."""
REASON_LENGTH = 500
"""Characters of a reason, as `console.md` has it."""

ABOUT_A_SANDBOX = frozenset(
    {Tool.CODE_WRITE_FILE, Tool.CODE_READ_FILE, Tool.CODE_LIST_FILES, Tool.CODE_DESTROY_SANDBOX}
)
HELD, RESUMED = "held", "resumed"
"""Kinds of entries in the ledger."""
UNDECIDED = frozenset({Phase.ARRIVED, Phase.ASSESSED, Phase.ASKED})
INTERRUPTED = "The console stopped before anybody answered. Nothing was run; ask again."
BROKEN = "Assent itself failed while handling this request; see its fault log. Ask again."
OPENING = {
    "ledger": "opening the history",
    "sandbox": "finding a sandbox",
    "secrets": "finding the key that signs the history",
    "gateway": "opening the port for agents",
}
SEE_FAULTS = "The fault log has more. Repair the installation, then start Assent again."
LOST = "The console stopped while this was running; the run was ended and its output is lost."
STOPPED = "Stopped by a person."
GONE = "The agent went away."
MEANING = {
    Taken.ACCEPTED: "",
    Taken.UNKNOWN: "This request is no longer open: it was decided, has expired or was withdrawn.",
    Taken.STALE: "Not accepted: what was on screen is not the request that waits. Look at it again.",
}


class Engine:
    """One engine on one loop; every method is called on that loop unless it says otherwise."""

    def __init__(self, rooms: Rooms) -> None:
        self.rooms = rooms
        self.desk = Desk()
        self._cases = Cases()
        self.remembering = Remembering(self, rooms, self._cases)
        self.editing = Editing(self, self._cases)
        self.missed = Missed(self, self._cases)
        self.modes = Modes(self)
        self.sandboxes = Sandboxes(self)
        self._refusals = Refusals(self._tell_refused)
        self._worker = ThreadPoolExecutor(1, "assent-storing")
        self._runs: dict[str, Run] = {}
        self._held: set[str] = set()
        self._listeners: list[Callable[[Event], None]] = []
        self._troubles: dict[str, EngineTroubled] = {}
        self._closing = ""
        self._opening: asyncio.Task[None] | None = None
        rooms.assessor.listen(self._compare_rules)
        rooms.agents.listen(lambda _agent: self.publish(AgentsChanged()), self._revoked_elsewhere, self._tell_agents)

    # ---- the path of one request ----

    async def submit(self, submission: Submission) -> Ticket:
        """Take a tool call in; the request is durable when this returns.

        Raises Refused for what is out of bounds and KnownError where nothing can be taken now: then
        there is no request and nothing will run.
        """
        await self.rooms.sandbox_known()
        self._check_open(submission.tool)
        image = await self.rooms.image(submission.language)
        kept = self._place(submission)
        request = intake.request(submission, self.rooms.settings, self.rooms.isolation, image, kept)
        case = Case(request, self.rooms.book, self.publish)
        try:
            await self._write(case, Phase.ARRIVED, request, RequestArrived(request))
        except LedgerFailed as failure:
            raise KnownError(failure.what, f"Nothing was run. {failure.remedy}") from failure
        return self._take(case)

    async def handle(self, case: Case) -> None:
        """The path of one request; whatever breaks on it, nothing is approved and the agent gets an answer."""
        try:
            await self._go(case)
        except Exception:
            # A bug of ours: told to the agent and in the history, and raised for the fault log.
            self.desk.deny(case.request.id, BROKEN)
            self.stop(case.request.id, BROKEN)
            await self._settle(case, BROKEN)
            raise

    async def _go(self, case: Case) -> None:
        """Assess, decide or ask, run, record, answer."""
        try:
            decision = await self._decide(case)
        except LedgerFailed as failure:
            decision = await self._deny_unwritten(case, failure)
        result, facts, problem = None, None, ""
        if decision.verdict is Verdict.APPROVED:
            if case.request.tool is Tool.CODE_EXECUTE:
                result = await self._run(case, decision)
            else:
                facts, problem = await self._do(case, decision)
        await self._close(case, Answer(case.request.id, decision, result, facts, problem, *await self._changes(case)))

    async def _decide(self, case: Case) -> Decision:
        """Assess, then decide by mode, rule or grant, or ask; durable when it returns. Raises LedgerFailed."""
        assessment = case.assessment or await self._assess(case)
        settled = self.modes.denies(case.request) or self.rooms.policy.decide(case.request, assessment)
        if isinstance(settled, Ask):
            settled = await self._without_asking(case, assessment, settled) or await self._ask(case, settled)
        case.decision = settled
        await self._write(case, Phase(settled.verdict.value), settled, RequestDecided(case.request.id, settled))
        return settled

    async def assess(self, request: Request, *, person: bool = False) -> Assessment:
        """The classifier's verdict, raised to what the rules say. `person`: it is a person's version."""
        return self.rooms.policy.weigh(request, await self.rooms.assess(request, person=person))

    async def _assess(self, case: Case) -> Assessment:
        request = case.request
        case.assessment = await self.assess(request)
        await self._write(case, Phase.ASSESSED, case.assessment, RequestAssessed(request.id, case.assessment))
        return case.assessment

    async def _without_asking(self, case: Case, assessment: Assessment, ask: Ask) -> Decision | None:
        """What was armed, remembered or trusted answers, unless somebody was asked already or has gone, or Assent is
        closing or was locked down meanwhile."""
        if case.phase is Phase.ASKED or case.gone or self._closing:
            return None
        try:
            armed = None if ask.blocked else await self.missed.decide(case)
            decision = armed or await self.remembering.decide(case)
            decision = decision or self.modes.trusts(case.request, assessment, ask)
        except LedgerFailed as failure:
            self.trouble("ledger", failure.what, failure.remedy)
            raise
        return self.modes.denies(case.request) or (None if case.gone or self._closing else decision)

    async def _ask(self, case: Case, ask: Ask) -> Decision:
        """Put the question; the first answer wins. Raises LedgerFailed."""
        request = case.request
        if self._closing:
            return Decision(Verdict.DENIED, Decider.ENGINE, self._closing, digest=request.digest)
        if case.gone:
            return Decision(Verdict.WITHDRAWN, Decider.AGENT, case.gone, digest=request.digest)
        again = case.phase is Phase.ASKED
        question = self.desk.put(request.id, request.digest, ask)
        told = {"window": ask.window, "rule": ask.rule, "blocked": ask.blocked, "again": again}
        event = QuestionAsked(request.id, question.deadline, ask.window, ask.blocked, again)
        try:
            await self._write(case, Phase.ASKED, told, event)
        except LedgerFailed:
            self.desk.deny(request.id, "The question could not be recorded.")
            raise
        return await question.future

    async def _run(self, case: Case, decision: Decision) -> Result:
        """Run exactly what was approved; whatever happens, its end is recorded."""
        request = _as_approved(case, decision)
        try:
            if request.sandbox:
                async with self.sandboxes.used(request) as session:
                    result = await self._run_in(case, session)
            elif request.isolation is self.rooms.isolation:
                result = await self._run_in(case, self.rooms.sandbox)
            else:
                raise KnownError(f"The {request.isolation} sandbox it was approved for is gone.", "Ask again.")
        except KnownError as error:
            result = _not_run(request, error)
        case.result = result
        kept = {**encode(result), **await self._store(case)}
        await self._persist(case, Phase.FINISHED, kept, RunFinished(request.id, result))
        return result

    async def _run_in(self, case: Case, place: Sandbox | Session) -> Result:
        """Raises KnownError where `place` does not work."""
        request = case.approved
        protections = (await self.rooms.sandbox.check()).protections
        told = {"protections": list(protections), "chosen": self.rooms.why_this_sandbox}
        await self._write(case, Phase.RUNNING, told, RunStarted(request.id, protections))
        job = replace(self._job(request), imported=await self._imported(request))
        run = await place.start(job, lambda usage: self.publish(RunMeasured(request.id, usage)))
        case.transcript = run.transcript
        self._runs[request.id] = run
        if why := self._closing or case.gone:
            run.stop(why)
        try:
            return await run.finished()
        finally:
            del self._runs[request.id]
            self._held.discard(request.id)

    def _job(self, request: Request) -> Job:
        assert request.language is not None
        return Job(
            id=request.id,
            language=request.language,
            code=request.code,
            limits=request.limits,
            context=request.context,
            stdin=request.stdin,
            imports=imports(self.rooms.settings),
            network=request.network,
            image=request.image,
            collect=self._collect(request.id),
        )

    async def _imported(self, request: Request) -> tuple[Import, ...] | None:
        """What Python code imports, where a rule is about that; None where none is. Raises KnownError."""
        if request.language is not Language.PYTHON or not binds(imports(self.rooms.settings)):
            return None
        found = await self.rooms.assessor.imported(request.code, agent=request.agent)
        if found is None:
            raise KnownError("What this code imports could not be read.", "Nothing was run. Send less code.")
        return found

    def _collect(self, request_id: str) -> Collect | None:
        """Where what the run creates goes; without room for it the run goes on."""
        try:
            return self.rooms.collect(request_id)
        except OSError as error:
            self.trouble("artifacts", f"Files of a run could not be collected: {error}", "Free disk space.")
            return None

    async def _do(self, case: Case, decision: Decision) -> tuple[dict[str, object] | None, str]:
        """The answer of a tool that runs no code, or why there is none. What a file holds is kept as its hash."""
        request = _as_approved(case, decision)
        facts: dict[str, object] | None = None
        problem = ""
        try:
            facts = await (self.rooms.facts() if request.tool is Tool.CODE_SANDBOX_INFO else self.sandboxes.do(request))
        except KnownError as error:
            problem = str(error)
        told = {name: value for name, value in (facts or {}).items() if name != CONTENT}
        await self._persist(case, Phase.FINISHED, {"facts": told, "problem": problem}, None)
        return facts, problem

    def _place(self, submission: Submission) -> Kept | None:
        """The sandbox of the agent's own that is meant. Raises Refused where there is none of that name."""
        if submission.tool is Tool.CODE_CREATE_SANDBOX:
            self.sandboxes.room_for(submission.agent)
        if not submission.sandbox_id and submission.tool not in ABOUT_A_SANDBOX:
            return None
        kept = self.sandboxes.find(submission.agent, submission.sandbox_id)
        if submission.language not in (None, kept.language, Language.SHELL):
            raise Refused(
                f"Sandbox {kept.id} is for {kept.language.value} and shell code.", "Create one for this language."
            )
        return kept

    async def _store(self, case: Case) -> dict[str, object]:
        """Keep the artifact as the settings say: its path and hash. A full disk is told; the run stands."""
        assert case.result is not None
        try:
            kept = await asyncio.get_running_loop().run_in_executor(
                self._worker, self.rooms.store, case.approved, case.assessment, case.decision, case.result
            )
        except (OSError, KnownError) as error:
            self.trouble("artifacts", f"The artifact of a run could not be stored: {error}", "Free disk space.")
            return {"artifact": ""}
        self.clear("artifacts")
        return kept

    async def _changes(self, case: Case) -> tuple[str, str]:
        """What a person changed before approving, code and limits, for the agent; empty where nothing was."""
        if case.edited is None:
            return "", ""
        old, new = case.request.code, case.edited.code
        changes = await self.rooms.assessor.compare(old, new, agent=case.request.agent)
        lines = await asyncio.to_thread(difference, old, new, changes=changes)
        return as_text(lines, TOLD_CHANGES), bounds.told(case.request.limits, case.edited.limits)

    async def _close(self, case: Case, answer: Answer) -> None:
        if case.phase is not Phase.CLOSED:
            await self._persist(case, Phase.CLOSED, {}, RequestClosed(case.request.id))
        self._cases.close(case)
        if not case.answer.done():
            case.answer.set_result(answer)

    # ---- writing ----

    async def _write(self, case: Case, phase: Phase, told: object, event: Event | None) -> None:
        """One step, durable before anybody hears of it. Raises LedgerFailed and says so in the window."""
        try:
            await case.advance(phase, told if isinstance(told, dict) else encode(told), event)
        except LedgerFailed as failure:
            self.trouble("ledger", failure.what, failure.remedy)
            raise
        self._ledger_works()

    async def _persist(self, case: Case, phase: Phase, told: object, event: Event | None) -> None:
        """A step that must not be lost: tried until it is written."""
        while True:
            try:
                return await self._write(case, phase, told, event)
            except LedgerFailed:
                await asyncio.sleep(RETRY_SECONDS)

    async def _deny_unwritten(self, case: Case, failure: LedgerFailed) -> Decision:
        """What cannot be recorded is not run: the agent hears so at once, the record follows when it can."""
        why = f"Assent could not write its history: {failure.what}"
        decision = Decision(Verdict.DENIED, Decider.ENGINE, why, digest=case.request.digest)
        case.decision = decision
        case.answer.set_result(Answer(case.request.id, decision))
        await self._persist(case, Phase.DENIED, decision, RequestDecided(case.request.id, decision))
        return decision

    # ---- what people and agents say meanwhile ----

    def answer(self, request_id: str, digest: str, verdict: Verdict, reason: str) -> str:
        """A person's answer to a question: empty when taken, else why not."""
        self.rooms.agents.refresh()
        if verdict is Verdict.APPROVED and (trouble := self._troubles.get("ledger")):
            return f"Not approved: {trouble.what} {trouble.remedy}"
        taken = self.desk.answer(request_id, digest, verdict, reason[:REASON_LENGTH])
        if taken is Taken.BLOCKED:
            return next(q.ask.blocked for q in self.desk.waiting() if q.request_id == request_id)
        return MEANING[taken]

    def look_at(self, request_id: str) -> None:
        """A person does something with a question: its countdown pauses."""
        if (question := self.desk.pause(request_id)) is None:
            return
        window = question.deadline - question.asked_at
        self.publish(QuestionPaused(request_id, question.deadline, window))
        spawn(f"paused {request_id}", self.note("paused", request_id, {"window": window}))

    def withdraw(self, request_id: str, why: str = GONE) -> None:
        """The caller has gone: its question disappears or is never put, its run stops."""
        if self.desk.withdraw(request_id, why) or (case := self._cases.find(request_id)) is None:
            return
        case.gone = why
        self.stop(request_id, why)

    def stop(self, request_id: str, why: str = STOPPED) -> None:
        """End a run."""
        if run := self._runs.get(request_id):
            run.stop(why)

    def hold(self, request_id: str, held: bool) -> None:
        """Pause a run, or let it go on; nothing where its sandbox cannot."""
        run = self._runs.get(request_id)
        if not isinstance(run, Haltable) or held is (request_id in self._held):
            return
        (run.pause if held else run.resume)()
        (self._held.add if held else self._held.discard)(request_id)
        self.publish(RunHeld(request_id, held))
        spawn(f"held {request_id}", self.note(HELD if held else RESUMED, request_id))

    def hold_all(self, held: bool) -> tuple[str, ...]:
        """Pause every run, or let all go on. The ids of those whose sandbox cannot."""
        for request_id in list(self._runs):
            self.hold(request_id, held)
        return tuple(request_id for request_id, run in self._runs.items() if not isinstance(run, Haltable))

    def stop_all(self, why: str = STOPPED) -> None:
        """Deny every open question and end every run."""
        self.desk.clear(why)
        self.missed.drop()
        for run in list(self._runs.values()):
            run.stop(why)

    async def park(self, request_id: str) -> None:
        """The caller was told `pending` and will fetch the answer."""
        self.desk.park(request_id)
        await self.note("parked", request_id)

    async def delivered(self, request_id: str) -> None:
        """The answer has been fetched."""
        await self.note("delivered", request_id)

    def ticket(self, agent: str, request_id: str) -> Ticket | None:
        """A request of this agent, on its way or over; nobody sees another agent's."""
        case = self._cases.find(request_id)
        return None if case is None or case.request.agent != agent else Ticket(case, self.desk)

    def waiting(self, agent: str) -> int:
        """Requests of `agent` that are not over (spec I5)."""
        return self._cases.waiting(agent)

    def refused(self, agent: str, reason: str) -> None:
        """A call that did not become a request: counted, told once per burst."""
        self._refusals.count(agent, reason)

    def transcript(self, request_id: str) -> Transcript | None:
        """Live output of a run. Any thread."""
        case = self._cases.find(request_id)
        return None if case is None else case.transcript

    async def add_agent(self, name: str) -> str:
        """Register an agent; its token, to be shown once. Raises KnownError for a name that will not do."""
        token = self.rooms.agents.add(name)
        await self.note("agent-added", "", {"agent": name})
        self.publish(AgentsChanged())
        return token

    async def revoke_agent(self, name: str) -> None:
        """Its token is worth nothing from now on; what it asked is withdrawn."""
        self.rooms.agents.revoke(name)
        self._withdraw_all(name)
        await self._forget(name)

    def _revoked_elsewhere(self, agent: Agent) -> None:
        """`assent agents revoke` did it."""
        self._withdraw_all(agent.name)
        spawn(f"revoked {agent.name}", self._forget(agent.name))

    def _withdraw_all(self, agent: str) -> None:
        for case in self._cases.active():
            if case.request.agent == agent:
                self.withdraw(case.request.id, "The agent was revoked.")

    async def _forget(self, name: str) -> None:
        await self.note("agent-revoked", "", {"agent": name})
        self.publish(AgentsChanged())
        self.missed.drop(name)
        self.modes.forget(name)
        await self.sandboxes.remove_of(name, "The agent was revoked.")
        await self.remembering.revoke_of(name)

    # ---- listeners and troubles ----

    def listen(self, listener: Callable[[Event], None]) -> None:
        """Hear of everything from now on, on the engine's loop."""
        self._listeners.append(listener)

    def publish(self, event: Event) -> None:
        for listener in self._listeners:
            listener(event)

    def trouble(self, room: str, what: str, remedy: str) -> None:
        """Something does not work. Told once, until it changes or is cleared."""
        told = EngineTroubled(room, what, remedy)
        if self._troubles.get(room) != told:
            self._troubles[room] = told
            log.warning("%s: %s %s", room, what, remedy)
            self.publish(told)

    def clear(self, room: str) -> None:
        if self._troubles.pop(room, None):
            self.publish(TroubleCleared(room))

    def _tell_refused(self, told: CallsRefused) -> None:
        self.publish(told)
        body = {"agent": told.agent, "count": told.count, "reason": told.reason}
        spawn("record refusals", self.note("refused", "", body))

    async def note(self, kind: str, request_id: str, body: dict[str, object] | None = None) -> None:
        """An entry that is no step of a request; one that cannot be written is told, nothing hangs on it."""
        try:
            await self.rooms.book.append(kind, request_id, body or {})
        except KnownError as failure:
            self.trouble("ledger", failure.what, failure.remedy)

    # ---- opening and closing ----

    async def start(self, *, gateway: bool = True) -> None:
        """Open the rooms in order. What keeps one from opening is told as trouble, not raised."""
        self._tell_settings()
        self._tell_agents()
        await self._open("ledger", self.rooms.open_ledger)
        self._opening = spawn("open sandbox", self._open("sandbox", self.rooms.open_sandbox))
        try:
            await self._take_up()
        except KnownError as error:
            self.rooms.doubt = error
            self._ledger_works()
        self.rooms.assessor.warm()
        spawn("seal", self._seal())
        if gateway:
            await self.open_gateway()
        # A container engine that hangs holds nobody: requests wait until it is known where they would run.
        await asyncio.wait({self._opening}, timeout=SANDBOX_SECONDS)

    async def look_for_sandbox(self) -> None:
        """Choose again what runs get from now on; those that run go on where they are."""
        if self._opening is not None:
            await asyncio.wait({self._opening})
        if not self._closing:
            self._opening = spawn("open sandbox", self._open("sandbox", self.rooms.look_for_sandbox))
            await asyncio.wait({self._opening})

    def reload(self) -> None:
        """Take up saved settings and rules."""
        self.rooms.reload()
        self._tell_settings()

    async def take_up_settings(self) -> None:
        """Take up saved settings and rules, also where secrets are kept."""
        self.reload()
        try:
            await self.rooms.follow_agreement()
        except KnownError as error:
            self.trouble("secrets", error.what, error.remedy)

    def _compare_rules(self, problems: tuple[str, ...]) -> None:
        """Where a process that assesses finds other mistakes in the person's rules, they have changed since."""
        if problems != self.rooms.dangers.problems:
            self.reload()

    def _tell_settings(self) -> None:
        """Settings, rules or grants that could not be read are a standing trouble: everything is asked meanwhile."""
        if problems := self.rooms.problems:
            self.trouble("settings", problems[0], "Correct the file; until then everything is asked.")
        else:
            self.clear("settings")
        if problem := self.rooms.grants.problem:
            self.trouble("grants", problem, "Repair it, or begin anew under Rules; until then everything is asked.")
        else:
            self.clear("grants")

    def _tell_agents(self) -> None:
        """A list of agents that could not be read keeps all of them out."""
        if problem := self.rooms.agents.problem:
            self.trouble("agents", problem, "Restore the file, or add the agents again.")
        else:
            self.clear("agents")

    async def open_gateway(self) -> None:
        await self._open("gateway", lambda: self.rooms.open_gateway(self))
        if self.rooms.address:
            self.publish(GatewayOpened(self.rooms.address))

    async def renew_ledger(self) -> None:
        """Set a ledger that cannot be used aside and begin a new one that names it."""
        await self._open("ledger", self.rooms.renew_ledger)
        spawn("seal", self._seal())

    async def _seal(self) -> None:
        await self._open("secrets", self.rooms.seal)
        if self.rooms.doubt:
            self._ledger_works()

    def _ledger_works(self) -> None:
        """It can be written; that it is not the one that was last signed stays a trouble."""
        if doubt := self.rooms.doubt:
            self.trouble("ledger", doubt.what, doubt.remedy)
        else:
            self.clear("ledger")

    async def _open(self, room: str, opened: Callable[[], Awaitable[None]]) -> None:
        try:
            await opened()
        except KnownError as error:
            self.trouble(room, error.what, error.remedy)
        except Exception as error:
            # A bug of ours or a broken installation: what else there is must open, and the person has to know.
            self.trouble(room, f"Assent itself failed at {OPENING[room]}: {fault_words(error)}", SEE_FAULTS)
            told = {"message": f"while opening the {room}", "exception": error}
            asyncio.get_running_loop().call_exception_handler(told)
        else:
            self.clear(room)

    async def _take_up(self) -> None:
        """Settle what an earlier process left open: nothing is replayed, nothing runs twice (spec I4, K6)."""
        for left in await self.rooms.left_open():
            case = Case(left.request, self.rooms.book, self.publish)
            case.resume(left.row.phase, left.assessment, left.decision, left.result)
            self.publish(RequestArrived(left.request))
            if left.assessment is not None:
                self.publish(RequestAssessed(left.request.id, left.assessment))
            if left.row.phase in UNDECIDED and any(step.entry.kind == "parked" for step in left.steps):
                self._take(case)
            else:
                self._cases.add(case)
                spawn(f"settle {left.request.id}", self._settle(case, LOST if left.decision else INTERRUPTED))

    async def _settle(self, case: Case, why: str) -> None:
        """Bring a case that cannot go on to its end, wherever it stands."""
        request = case.request
        if case.phase in UNDECIDED:
            case.decision = Decision(Verdict.DENIED, Decider.ENGINE, why, digest=request.digest)
            await self._persist(case, Phase.DENIED, case.decision, RequestDecided(request.id, case.decision))
        elif case.phase in (Phase.APPROVED, Phase.RUNNING):
            case.result = _not_run(request, KnownError(why))
            await self._persist(case, Phase.FINISHED, case.result, RunFinished(request.id, case.result))
        assert case.decision is not None
        await self._close(case, Answer(request.id, case.decision, case.result))

    def _check_open(self, tool: Tool) -> None:
        """Raises KnownError where nothing can be taken in."""
        if self._closing:
            raise KnownError("The console is closing.", "Call again when it is back.")
        if not self.rooms.has_ledger and (trouble := self._troubles.get("ledger")):
            raise KnownError(trouble.what, f"Nothing was run. {trouble.remedy}")
        if tool not in (Tool.CODE_EXECUTE, Tool.CODE_CREATE_SANDBOX):
            return
        if not self.rooms.settings.enabled:
            raise KnownError("Running code is switched off in the settings of Assent.", "Nothing was run.")
        if trouble := self._troubles.get("sandbox"):
            raise KnownError(trouble.what, f"Nothing was run. {trouble.remedy}")

    def _take(self, case: Case) -> Ticket:
        self._cases.add(case)
        spawn(f"request {case.request.id}", self.handle(case))
        return Ticket(case, self.desk)

    async def close(self, why: str) -> None:
        """Deny open questions with `why`, stop runs, let agents have their answers, seal the ledger."""
        if self._closing:
            return
        self._closing = why
        if self._opening is not None:
            self._opening.cancel()
        self.stop_all(why)
        self.modes.close()
        await self.rooms.assessor.close()
        waiting = [case.answer for case in self._cases.active()]
        if waiting:
            await asyncio.wait(waiting, timeout=CLOSING_SECONDS)
        self._refusals.flush()
        await self.sandboxes.close(why)
        await self.rooms.close(why)
        self._worker.shutdown(wait=False, cancel_futures=True)


def fault_words(error: BaseException) -> str:
    """An unexpected error in one line."""
    return f"{type(error).__name__}: {error}".rstrip(".: ") + "."


def _as_approved(case: Case, decision: Decision) -> Request:
    """What is to be done: exactly what was approved, or a bug."""
    request = case.approved
    if decision.digest != request.digest:
        raise AssertionError(f"{request.id}: approved {decision.digest}, would run {request.digest}")
    return request


def _not_run(request: Request, error: KnownError) -> Result:
    """The result of a run that the world prevented or ended."""
    meta = Meta(runtime=request.isolation.value, limits=request.limits, isolation=request.isolation)
    return Result(Outcome.ENGINE_LOST, "", str(error), 1, 0.0, error=str(error), meta=meta)
