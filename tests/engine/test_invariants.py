"""A state machine over the engine: whatever people, agents and the disk do in whatever order, the promises hold.

Nothing starts in lockdown, no revoked agent's code runs, the caps on kept sandboxes hold, nothing runs without an
approved entry of its digest before it, and everything armed or trusted has its end in the ledger.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import sqlite3
import tempfile
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from runner.approval.late_approval import ARMED, DROPPED, USED
from runner.approval.modes import Mode
from runner.assembly import build
from runner.audit.ledger.ledger import Ledger, LedgerFailed
from runner.audit.ledger.verify import verify
from runner.engine.foundation import recorder
from runner.model.decision import Verdict
from runner.model.errors import KnownError, Refused
from runner.model.request import Language, Tool
from runner.model.result import Outcome
from runner.model.submission import Submission
from runner.policy.grants import Choice, Subject
from runner.risk.user_rules import read
from runner.settings.loading import load
from runner.system.places import Places
from tests.doubles import HeldSandbox, HeldSession
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from runner.approval.ticket import Ticket
    from runner.engine.engine import Engine
    from runner.model.assessment import Assessment
    from runner.model.request import Limits, Request
    from runner.model.result import Usage
    from runner.sandbox.contract import Job

AGENTS = ("claude", "codex")
CODES = ("print(1)", "print(2)", "import os\nos.remove('x')")
MOST_KEPT = 2
TURNS = 40
"""Turns of the loop after each step: enough for everything that waits for nothing but the loop."""


class Inline(ThreadPoolExecutor):
    """Runs what is given to it at once, in the thread of the loop: the order of things is the rules' alone."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Watched(HeldSandbox):
    """A sandbox that starts when it is let, and looks at the engine in the moment in which code starts."""

    def __init__(self) -> None:
        super().__init__()
        self.engine: Engine | None = None
        self.gate = asyncio.Event()
        self.started: list[str] = []
        self.kept: list[HeldSession] = []

    async def start(self, job: Job, measured: Callable[[Usage], None]) -> Any:
        await self.gate.wait()
        job.permit()
        self._look(job)
        return await super().start(job, measured)

    async def open(self, language: Language, limits: Limits, image: str, agent: str = "") -> HeldSession:
        await self.gate.wait()
        session = HeldSession()
        self.kept.append(session)
        return session

    def _look(self, job: Job) -> None:
        assert self.engine is not None
        assert self.engine.modes.now.mode is not Mode.LOCKDOWN, "it starts in lockdown"
        case = self.engine._cases.find(job.id)
        assert case is not None
        for agent in self.engine.parts.agents.all():
            assert agent.name != case.request.agent or not agent.revoked, "it starts though its agent was revoked"
        approved = entries(self.engine.parts.places.ledger, "approved", job.id)
        assert [body["digest"] for _, body in approved] == [case.approved.digest], "it starts unapproved"
        self.started.append(job.id)


def entries(ledger: Path, kind: str = "", request_id: str = "") -> list[tuple[str, dict[str, Any]]]:
    """Kind and body of entries, oldest first."""
    with contextlib.closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as connection:
        found = connection.execute(
            "SELECT kind, data FROM entries LEFT JOIN bodies USING (seq)"
            " WHERE (? = '' OR kind = ?) AND (? = '' OR request_id = ?) ORDER BY seq",
            (kind, kind, request_id, request_id),
        )
        return [(kind, json.loads(data or "{}")) for kind, data in found]


class House(RuleBasedStateMachine):
    """One engine on a loop that turns only when a rule says so."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="assent-invariants-"))
        self.loop = asyncio.new_event_loop()
        self.loop.set_default_executor(Inline(1))
        self.tickets: list[Ticket] = []
        self.failures: list[BaseException] = []
        self.broken = False
        self.writing = 0
        """Entries that the ledger's thread has in hand."""
        self.pen: asyncio.Event | None = None
        self.tasks: list[asyncio.Task[Any]] = []

    # ---- the stage ----

    @initialize()
    def open(self) -> None:
        async def made() -> None:
            places = Places.under(self.folder)
            self.sandbox = Watched()
            chosen = {"ASSENT_SANDBOXES_PER_AGENT": str(MOST_KEPT)}
            self.engine = build(places, load(places, chosen), (self.sandbox,))
            self.sandbox.engine = self.engine
            dangers = read(places.config / "rules")

            async def assess(request: Request, *, person: bool = False) -> Assessment:
                return dangers.assess(request)

            self.engine.parts.assess = assess  # type: ignore[method-assign]
            self.pen = asyncio.Event()
            self.pen.set()
            for agent in AGENTS:
                self.engine.parts.agents.add(agent)
            await self.engine.start(gateway=False)

        self.loop.set_exception_handler(lambda _loop, context: self.failures.append(context["exception"]))
        self.loop.run_until_complete(made())
        self._retry, recorder.RETRY_SECONDS = recorder.RETRY_SECONDS, 0.0
        self._written = Ledger.append
        machine = self

        async def append(
            ledger: Ledger, kind: str, request_id: str, body: Mapping[str, object], *, can_wait: bool = False
        ) -> int:
            assert machine.pen is not None
            await machine.pen.wait()
            if machine.broken:
                raise LedgerFailed("The disk is full.", "Free some space.")
            machine.writing += 1
            try:
                return await machine._written(ledger, kind, request_id, body, can_wait=can_wait)
            finally:
                machine.writing -= 1

        Ledger.append = append  # type: ignore[method-assign,assignment]

    def teardown(self) -> None:
        if not hasattr(self, "engine"):
            self.loop.close()
            return
        self.broken = False
        assert self.pen is not None
        self.pen.set()
        self.sandbox.gate.set()
        try:
            self._turn()
            self.loop.run_until_complete(self._close())
            self._ends()
        finally:
            recorder.RETRY_SECONDS = self._retry
            Ledger.append = self._written  # type: ignore[method-assign]
            self.loop.close()
            shutil.rmtree(self.folder)

    async def _close(self) -> None:
        """Close as the console does, once the disk takes again what waited for it."""
        self.engine.stop_all()
        lasting = (asyncio.current_task(), self.engine.work._task)
        underway = [task for task in asyncio.all_tasks() if task not in lasting]
        if underway:
            await asyncio.wait(underway, timeout=HANGS)
        await self.engine.close("over")

    def _ends(self) -> None:
        """What must be true of a ledger whose console was closed."""
        ledger = self.engine.parts.places.ledger
        checked = verify(ledger)
        assert checked.ok, checked.what
        counted = Counter(kind for kind, _ in entries(ledger))
        assert counted[ARMED] == counted[USED] + counted[DROPPED], "a late approval has no end"
        modes = [body["mode"] for _, body in entries(ledger, "mode")]
        assert not modes or modes[-1] != Mode.TRUST.value, "a trust window has no end"
        assert all(session.closed for session in self.sandbox.kept), "a sandbox stays behind"

    def _turn(self) -> None:
        async def turn() -> None:
            turns = 0
            while turns < TURNS:
                await asyncio.sleep(0)
                turns = 0 if self.writing else turns + 1

        self.loop.run_until_complete(turn())

    def _do(self, work: Coroutine[Any, Any, Any]) -> None:
        """Begin `work`; it goes on while other rules run."""

        async def tried() -> None:
            with contextlib.suppress(KnownError, Refused):
                await work

        self.tasks.append(self.loop.create_task(tried()))
        self._turn()

    def _call(self, work: Callable[[], object]) -> None:
        self.loop.call_soon(work)
        self._turn()

    # ---- what agents do ----

    @rule(agent=st.sampled_from(AGENTS), code=st.sampled_from(CODES))
    def ask(self, agent: str, code: str) -> None:
        async def submit() -> None:
            self.tickets.append(await self.engine.submit(Submission(agent, Tool.CODE_EXECUTE, Language.PYTHON, code)))

        self._do(submit())

    @rule(agent=st.sampled_from(AGENTS))
    def keep(self, agent: str) -> None:
        async def submit() -> None:
            await self.engine.submit(Submission(agent, Tool.CODE_CREATE_SANDBOX, Language.PYTHON))

        self._do(submit())

    @precondition(lambda self: self.tickets)
    @rule(data=st.data())
    def go_away(self, data: st.DataObject) -> None:
        ticket = data.draw(st.sampled_from(self.tickets))
        self._call(lambda: self.engine.withdraw(ticket.request_id))

    # ---- what people do ----

    @precondition(lambda self: self.tickets)
    @rule(data=st.data(), verdict=st.sampled_from([Verdict.APPROVED, Verdict.APPROVED, Verdict.DENIED]))
    def answer(self, data: st.DataObject, verdict: Verdict) -> None:
        ticket = data.draw(st.sampled_from(self.tickets))
        digest = ticket.case.request.digest
        self._call(lambda: self.engine.answer(ticket.request_id, digest, verdict, ""))

    @precondition(lambda self: self.tickets)
    @rule(data=st.data())
    def edit(self, data: st.DataObject) -> None:
        request = data.draw(st.sampled_from(self.tickets)).case.request
        edited = replace(request, code="print(3)").digest
        self._do(self.engine.editing.approve(request.id, request.digest, "print(3)", edited))

    @precondition(lambda self: self.tickets)
    @rule(data=st.data())
    def expire(self, data: st.DataObject) -> None:
        ticket = data.draw(st.sampled_from(self.tickets))
        self._call(lambda: self.engine.desk._expire(ticket.request_id))

    @rule(agent=st.sampled_from(AGENTS), code=st.sampled_from(CODES))
    def miss_and_approve_late(self, agent: str, code: str) -> None:
        self.ask(agent, code)
        if self.tickets:
            request = self.tickets[-1].case.request
            self._call(lambda: self.engine.desk._expire(request.id))
            self._do(self.engine.late.arm(request.id, request.digest))

    @precondition(lambda self: self.tickets)
    @rule(data=st.data())
    def remember(self, data: st.DataObject) -> None:
        request = data.draw(st.sampled_from(self.tickets)).case.request
        choice = Choice(Subject.EXACT, uses=2, seconds=600)
        self._do(self.engine.remembering.add(request.id, request.digest, choice))

    @rule(agent=st.sampled_from(AGENTS))
    def trust(self, agent: str) -> None:
        self._do(self.engine.modes.trust(agent, 600))

    @rule()
    def lock(self) -> None:
        self._do(self.engine.modes.lock())

    @rule()
    def guard(self) -> None:
        self._do(self.engine.modes.guard())

    @rule()
    def stop_all(self) -> None:
        self._call(self.engine.stop_all)

    @rule(agent=st.sampled_from(AGENTS))
    def revoke(self, agent: str) -> None:
        self._do(self.engine.membership.revoke(agent))

    @rule(agent=st.sampled_from(AGENTS))
    def register_again(self, agent: str) -> None:
        self._do(self.engine.membership.add(agent))

    @rule(agent=st.sampled_from(AGENTS))
    def revoke_while_a_sandbox_is_made(self, agent: str) -> None:
        self.sandboxes_start(opened=False)
        self.keep(agent)
        self.revoke(agent)
        self.sandboxes_start(opened=True)

    # ---- what happens ----

    @rule()
    def hold_the_disk(self) -> None:
        assert self.pen is not None
        self.pen.clear()

    @rule(broken=st.booleans())
    def let_the_disk(self, broken: bool) -> None:
        assert self.pen is not None
        self.broken = broken
        self.pen.set()
        self._turn()

    @rule(opened=st.booleans())
    def sandboxes_start(self, opened: bool) -> None:
        (self.sandbox.gate.set if opened else self.sandbox.gate.clear)()
        self._turn()

    @precondition(lambda self: self.sandbox.runs)
    @rule()
    def a_run_ends(self) -> None:
        self._call(lambda: self.sandbox.runs[-1].finish("done", Outcome.OK))

    # ---- what is always true ----

    @invariant()
    def no_more_is_kept_than_allowed(self) -> None:
        if not hasattr(self, "engine"):
            return
        kept = Counter(one.agent for one in self.engine.sandboxes.listed())
        assert all(number <= MOST_KEPT for number in kept.values()), kept
        open_ones = sum(not session.closed for session in self.sandbox.kept)
        assert open_ones <= MOST_KEPT * len(AGENTS)

    @invariant()
    def nothing_fails(self) -> None:
        assert not self.failures, self.failures


House.TestCase.settings = settings(
    max_examples=20,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    print_blob=False,
    derandomize=True,
)
House.TestCase.pytestmark = [pytest.mark.timeout(900)]  # type: ignore[attr-defined]
test_the_promises_hold = House.TestCase
