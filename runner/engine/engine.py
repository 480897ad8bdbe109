"""The engine: opens its parts in order, closes them in reverse, and takes the calls of agents and people."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from runner.approval.checkpoint import MEANING, NOT_ASKED, NOT_SHOWN
from runner.approval.deliberate import unproven
from runner.approval.desk import Taken
from runner.approval.ticket import Ticket
from runner.audit.files import captures
from runner.audit.ledger.ledger import LedgerFailed
from runner.engine.foundation.configuration import SETTINGS_CHANGED, differing
from runner.engine.foundation.opening import MOVED
from runner.engine.request.past_answers import recalled
from runner.engine.request.path import GONE
from runner.engine.request.refusals import Refusals
from runner.engine.request.runs import STOPPED
from runner.model.decision import Verdict
from runner.model.errors import KnownError
from runner.model.events import CallsRefused, GatewayOpened, QuestionPaused, QuestionsMoved
from runner.model.lifecycle import Phase
from runner.requests.case import PARKED
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.approval.approvals import Approvals
    from runner.engine.foundation.bulletin import Bulletin
    from runner.engine.foundation.closing import Closing
    from runner.engine.foundation.opening import Opener
    from runner.engine.foundation.parts import Parts
    from runner.engine.foundation.recorder import Recorder
    from runner.engine.kept.kept_sandboxes import KeptSandboxes
    from runner.engine.lifecycle.history_bounds import HistoryBounds
    from runner.engine.lifecycle.history_opening import HistoryOpening
    from runner.engine.lifecycle.timekeeping import Timekeeping
    from runner.engine.rehearsal.sandbox_watch import SandboxWatch
    from runner.engine.request.admission import Admission
    from runner.engine.request.membership import Membership
    from runner.engine.request.path import Path
    from runner.engine.request.runs import Runs
    from runner.engine.supply.installing import Installing
    from runner.engine.work.at_work import AtWork
    from runner.engine.work.layers import SessionLayers
    from runner.model.answer import Answer
    from runner.model.events import Event
    from runner.model.request import Isolation, WorkPlace
    from runner.model.result import CapturedFile
    from runner.model.submission import SessionDoor, Submission
    from runner.requests.cases import Cases
    from runner.sandbox.output import Transcript

CLOSING_SECONDS = 1.2
"""Time for stopped runs to be recorded at the end; the whole shutdown has 2 s."""
SANDBOX_SECONDS = 0.5
"""Time that the start waits for the sandbox to be found; requests wait longer."""


class Engine:
    """One engine on one loop; every method is called on that loop unless it says otherwise."""

    def __init__(
        self,
        *,
        parts: Parts,
        bulletin: Bulletin,
        recorder: Recorder,
        closing: Closing,
        cases: Cases,
        approvals: Approvals,
        sandboxes: KeptSandboxes,
        runs: Runs,
        membership: Membership,
        admission: Admission,
        path: Path,
        watch: SandboxWatch,
        installing: Installing,
        history: HistoryOpening,
        bounds: HistoryBounds,
        timekeeping: Timekeeping,
        opener: Opener,
        work: AtWork,
        layers: SessionLayers,
    ) -> None:
        self.parts = parts
        self.desk = approvals.desk
        self.modes = approvals.modes
        self.late = approvals.late
        self.remembering = approvals.remembering
        self.hindsight = approvals.hindsight
        self.editing = approvals.editing
        self.hosts = approvals.hosts
        self.absence = approvals.absence
        self.sandboxes = sandboxes
        self.runs = runs
        self.membership = membership
        self.history = history
        self.bounds = bounds
        self.work = work
        self._layers = layers
        self._timekeeping = timekeeping
        self._bulletin = bulletin
        self._recorder = recorder
        self._closing = closing
        self._cases = cases
        self._door = approvals.door
        self._admission = admission
        self._path = path
        self._watch = watch
        self.installing = installing
        self._opener = opener
        self._refusals = Refusals(self._record_refused)
        self._disagreed: tuple[tuple[str, ...], tuple[str, ...]] | None = None
        """Errors in the rules as a worker process and the console read them when they last differed."""

    # ---- requests ----

    async def submit(self, submission: Submission) -> Ticket:
        """Make the request of a tool call and start handling it; it is durable before anything follows from it.

        Raises Refused for arguments out of bounds and KnownError while no request can be taken: then
        there is no request and nothing will run.
        """
        case, joined = await self._admission.admit(submission, self._path.begin)
        return Ticket(case, self.desk, joined)

    async def at_work(self, door: SessionDoor) -> WorkPlace:
        """Return the working copy of the program at work that a call comes from. Raises KnownError."""
        return await self._layers.known(door)

    def answer(self, request_id: str, digest: str, verdict: Verdict, reason: str, *, proven: bool = False) -> str:
        """Take a person's answer to a question; return '' where it was accepted, else why not."""
        return self._door.take(request_id, digest, verdict, reason, proven=proven)

    def approve_below_minimum(self, request_id: str, digest: str, accepted: str, *, proven: bool = False) -> str:
        """Approve a request in the sandbox `accepted`, below the minimum, of which the question says that one may.

        Return '' where that was accepted, else why not.
        """
        if not accepted:
            return NOT_ASKED
        return self._door.take(request_id, digest, Verdict.APPROVED, "", accepted=accepted, proven=proven)

    def hand_over(self, request_id: str, digest: str, outcome: str, *, proven: bool = False) -> str:
        """Give the agent exactly the outcome with the digest `outcome`, which a rehearsal had; nothing runs.

        Return '' where that was accepted, else why not.
        """
        if not outcome:
            return NOT_SHOWN  # without one this would be an approval of the code itself
        return self._door.take(request_id, digest, Verdict.APPROVED, "", release=outcome, proven=proven)

    def try_it(self, request_id: str) -> str:
        """Try the code of an open question among decoys; return '' where that begins, else why not."""
        case = self._cases.find(request_id)
        return MEANING[Taken.UNKNOWN] if case is None else self.runs.rehearsals.trials.try_it(case)

    async def proven(self, pin: str) -> bool:
        """Return whether a PIN came, which is right then. Raises KnownError for any other.

        Also where the mode changed or everything was stopped while it was checked: that came later, so it counts.
        """
        if not pin:
            return False
        generation = self.modes.generation
        await self.parts.pin.check(pin)
        if generation != self.modes.generation:
            raise KnownError("The mode was changed meanwhile, and that counts.", "Choose again if you still want to.")
        return True

    def look_at(self, request_id: str) -> None:
        """Pause the countdown of a question, because a person is working on it."""
        if (question := self.desk.pause(request_id)) is None:
            return
        window = question.deadline - question.asked_at
        self._bulletin.publish(QuestionPaused(request_id, question.deadline, window))
        spawn(f"paused {request_id}", self._recorder.note("paused", request_id, {"window": window}))

    def attend(self) -> None:
        """Let the countdowns of all questions stand for a moment, because a person is active in the queue."""
        if moved := self.desk.attend():
            ends = tuple((one.request_id, one.deadline, one.window) for one in moved)
            self._bulletin.publish(QuestionsMoved(ends))

    def withdraw(self, request_id: str, why: str = GONE) -> None:
        """Count out a caller that has disconnected; withdraw the request where nobody else waits for its answer."""
        if (case := self._cases.find(request_id)) is None:
            return
        case.callers = max(0, case.callers - 1)
        if not case.callers and not case.parked:
            self._path.withdraw(request_id, why)

    def stop_all(self, why: str = STOPPED) -> None:
        """Deny every open question and every approval that has not started, and stop every run and rehearsal."""
        self.modes.deny(why)
        self.runs.stop_all(why)

    async def park(self, request_id: str) -> None:
        """Record that the caller was answered `pending` and will fetch the answer later."""
        if (case := self._cases.find(request_id)) is None:
            return
        if case.phase is not Phase.CLOSED and not case.parked:
            # What does not work is reported; that the answer is fetched later does not depend on it.
            with contextlib.suppress(LedgerFailed):
                await case.attach(PARKED, {})
        case.parked = True
        case.callers = max(0, case.callers - 1)

    async def delivered(self, request_id: str) -> None:
        """Record that the answer was fetched."""
        await self._recorder.note("delivered", request_id)

    async def captured(self, file: CapturedFile) -> bytes:
        """Return the content of a file that a run created. Raises KnownError where it is gone or was altered."""
        return await asyncio.to_thread(captures.read, self.parts.places, file)

    def ticket(self, agent: str, request_id: str) -> Ticket | None:
        """Return the handle on a request of this agent, active or closed; None for another agent's request."""
        case = self._cases.find(request_id)
        if case is None or case.request.agent != agent:
            return None
        # An agent registered again under the name of a former one is another agent.
        former = case.request.received_at < self.membership.registered(agent)
        return None if former else Ticket(case, self.desk)

    async def recall(self, agent: str, request_id: str) -> tuple[Answer, bool] | None:
        """Return the answer of an earlier console, and whether it was fetched before. Raises KnownError."""
        ledger, registered = self.parts.places.ledger, self.membership.registered(agent)
        return await recalled(ledger, agent, request_id, registered, self.parts.assessor)

    def waiting(self, agent: str) -> int:
        """Return the number of requests of `agent` that are not closed (spec I5)."""
        return self._cases.waiting(agent)

    def refused(self, agent: str, reason: str) -> None:
        """Count a call that did not become a request; reported at most once a minute."""
        self._refusals.count(agent, reason)

    def transcript(self, request_id: str) -> Transcript | None:
        """Return the live output of a run. May be called on any thread."""
        case = self._cases.find(request_id)
        return None if case is None else case.transcript

    def _record_refused(self, refused: CallsRefused) -> None:
        self._bulletin.publish(refused)
        body = {"agent": refused.agent, "count": refused.count, "reason": refused.reason}
        spawn("record refusals", self._recorder.note("refused", "", body))

    def listen(self, listener: Callable[[Event], None]) -> None:
        """Call `listener` with every event from now on, on the engine's loop."""
        self._bulletin.listen(listener)

    # ---- opening and closing ----

    async def start(self, *, gateway: bool = True) -> None:
        """Open the parts in order; a failure of one is reported as trouble, not raised."""
        self.parts.assessor.listen(self._compare_rules)
        self._timekeeping.start()
        self._report_settings()
        self.membership.report()
        await self.history.open()
        choosing = self._watch.open()
        await self.absence.open()
        await self.history.settle()
        await self.membership.take_up()
        self.bounds.start()
        self.work.start()
        self.parts.assessor.warm()
        if gateway:
            await self.open_gateway()
        # A container engine that hangs does not delay the start: requests wait until the sandbox is known.
        await asyncio.wait({choosing}, timeout=SANDBOX_SECONDS)

    async def look_for_sandbox(self) -> None:
        """Choose the sandbox for later runs again; present runs stay where they are."""
        await self._watch.look_closely()

    async def accept_sandbox(self, isolation: Isolation, *, proven: bool = False) -> None:
        """Take a sandbox that is weaker than that of last time for the usual one. Raises KnownError."""
        if why := unproven(self.parts.configuration.settings, None, proven=proven):
            raise KnownError(why)
        await self._watch.accept(isolation)

    def reload(self) -> None:
        """Apply saved settings and rules."""
        before = self.parts.configuration.settings
        self.parts.reload()
        if changed := differing(before, self.parts.configuration.settings):
            # Names alone: a value may be a path or a host that is nobody else's business.
            spawn("record settings", self._recorder.note(SETTINGS_CHANGED, "", {"settings": changed}))
        self._report_settings()

    async def take_up_settings(self) -> None:
        """Apply saved settings and rules, including where secrets are stored."""
        self.reload()
        try:
            await self.parts.follow_agreement()
        except KnownError as error:
            self._bulletin.trouble("secrets", error.what, error.remedy)
        spawn("sign", self.history.sign())  # the file may have been agreed to just now

    def _compare_rules(self, problems: tuple[str, ...]) -> None:
        """Reload when a worker process found other errors in the person's rules: the files have changed since."""
        known = self.parts.configuration.dangers.problems
        if problems == known:
            self._disagreed = None
            self._bulletin.clear("rules")
        elif self._disagreed == (problems, known):
            # Reloading did not help: it would start a worker process again, for ever.
            other = next(iter({*problems} ^ {*known}))
            what = f"The worker process that assesses code reads the rules of risk otherwise than the console: {other}"
            self._bulletin.trouble("rules", what, "Correct the file, or start Assent again.")
        else:
            self._disagreed = (problems, known)
            self.reload()

    def _report_settings(self) -> None:
        """Report settings, rules or grants that cannot be read; every request is asked about meanwhile."""
        configuration = self.parts.configuration
        if problems := configuration.problems:
            self._bulletin.trouble("settings", problems[0], "Correct it; until then everything is asked.")
        else:
            self._bulletin.clear("settings")
        if problem := configuration.grants.problem:
            remedy = "Repair it, or start again under Rules; until then everything is asked."
            self._bulletin.trouble("grants", problem, remedy)
        else:
            self._bulletin.clear("grants")

    async def open_gateway(self) -> None:
        """Open the port for agents, or report why it cannot be opened."""
        await self._opener.open("gateway", lambda: self.parts.open_gateway(self))
        if self.parts.address:
            self._bulletin.publish(GatewayOpened(self.parts.address))
        if moved := self.parts.moved:
            self._bulletin.trouble("port", moved, MOVED)

    def trouble(self, area: str, what: str, remedy: str) -> None:
        """Report that something does not work."""
        self._bulletin.trouble(area, what, remedy)

    async def close(self, why: str) -> None:
        """Deny open questions with `why`, stop runs, deliver the answers and seal the ledger.

        Questions that wait for a person who is away stay open, for the next process.
        """
        if self._closing.why:
            return
        self._closing.why = why
        self._watch.close()
        self.installing.close()
        aside = self.absence.set_aside()
        self.stop_all(why)
        await self.runs.rehearsals.close(why)
        await self.history.close()
        await self.bounds.close()
        await self.work.close()
        await self._timekeeping.close()
        await self.modes.close()
        waiting = [case.answer for case in self._cases.active() if case.request.id not in aside]
        if waiting:
            await asyncio.wait(waiting, timeout=CLOSING_SECONDS)
        self._refusals.flush()
        await self.sandboxes.close(why)
        await self.parts.close(why)
