"""A counter without an engine behind it: real requests, desk and tickets; the test decides and says what ran."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from runner.approval.desk import Desk
from runner.approval.ticket import Ticket
from runner.model.answer import Answer
from runner.model.decision import Ask, Decider, Decision, Verdict
from runner.model.errors import KnownError
from runner.model.lifecycle import Phase
from runner.model.request import Isolation, Limits, Tool, WorkPlace
from runner.model.result import Meta, Outcome, Result
from runner.requests import intake
from runner.requests.case import Case
from runner.sandbox.output import Stream, Transcript
from runner.system.tasks import spawn
from tests.doubles import SilentRecord
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.model.result import CapturedFile
    from runner.model.submission import SessionDoor, Submission

KEY = "the key of each program at work"
FACTS: dict[str, object] = {"isolation": "local", "languages": ["python"]}


@dataclass(frozen=True)
class Terms:
    """The settings that intake and gateway read."""

    port: int = 0
    languages: tuple[str, ...] = ("python", "javascript", "shell")
    hold_seconds: float = 50.0
    rate_per_minute: int = 60_000
    burst: int = 100_000
    max_pending: int = 1_000
    mb_per_minute: int = 10_000
    max_code_kb: int = 1024
    max_output_kb: int = 10
    memory_mb: int = 512
    max_memory_mb: int = 8192
    disk_mb: int = 1024
    max_disk_mb: int = 10240
    timeout_seconds: float = 30.0
    max_timeout_seconds: float = 3600.0
    max_output_bytes: int = 1_048_576
    max_output_limit_bytes: int = 64 << 20
    cpu_cores: float = 0.5
    processes: int = 64
    network_by_default: bool = False


@dataclass
class PaperCounter:
    """`on_question` is called with every question as it is put; `window` is in seconds."""

    terms: Terms = field(default_factory=Terms)
    window: float = 60.0
    on_question: Callable[[Ticket], None] = field(default=lambda _ticket: None)
    desk: Desk = field(default_factory=Desk)
    tickets: dict[str, Ticket] = field(default_factory=dict)
    parked: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)
    withdrawn: list[str] = field(default_factory=list)
    refusals: list[tuple[str, str]] = field(default_factory=list)
    submit_gate: asyncio.Event | None = None
    """While set on the counter and not set itself, submissions are being written."""
    being_written: int = 0
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    # ---- what the gateway calls ----

    async def submit(self, submission: Submission) -> Ticket:
        request = intake.request(submission, self.terms, Isolation.LOCAL)  # type: ignore[arg-type]
        request = replace(request, work=submission.work)
        if self.submit_gate is not None:
            self.being_written += 1
            self._note()
            await self.submit_gate.wait()
        case = Case(request, SilentRecord())
        ticket = self.tickets[request.id] = Ticket(case, self.desk)
        if request.tool is Tool.CODE_SANDBOX_INFO:
            rule = Decision(Verdict.APPROVED, Decider.RULE, "", digest=request.digest)
            self._close(ticket, Answer(request.id, rule, facts=FACTS))
        else:
            question = self.desk.put(request.id, request.digest, Ask(self.window))
            case.phase = Phase.ASKED
            spawn(f"decided {request.id}", self._follow(ticket, question.future))
            self.on_question(ticket)
        self._note()
        return ticket

    async def at_work(self, door: SessionDoor) -> WorkPlace:
        if door.key != KEY:
            raise KnownError("This call does not come from that program at work.")
        return WorkPlace(door.name, f"/projects/{door.name}")

    def ticket(self, agent: str, request_id: str) -> Ticket | None:
        ticket = self.tickets.get(request_id)
        return ticket if ticket is not None and ticket.case.request.agent == agent else None

    async def recall(self, _agent: str, _request_id: str) -> tuple[Answer, bool] | None:
        return None

    def waiting(self, agent: str) -> int:
        return sum(t.case.request.agent == agent and not t.case.answer.done() for t in self.tickets.values())

    def withdraw(self, request_id: str, why: str) -> None:
        self.withdrawn.append(request_id)
        if not self.desk.withdraw(request_id, why):
            self.finish(request_id, outcome=Outcome.KILLED, error=why)
        self._note()

    async def park(self, request_id: str) -> None:
        self.parked.append(request_id)

    async def delivered(self, request_id: str) -> None:
        self.fetched.append(request_id)

    async def captured(self, file: CapturedFile) -> bytes:
        raise KnownError(f"{file.path} is no longer there.")

    def refused(self, agent: str, reason: str) -> None:
        self.refusals.append((agent, reason))

    # ---- what the test says ----

    def approve(self, ticket: Ticket) -> None:
        """A person approves; the run goes on until `finish`."""
        request = ticket.case.request
        self.desk.answer(request.id, request.digest, Verdict.APPROVED, "")

    def deny(self, ticket: Ticket, reason: str) -> None:
        self.desk.answer(ticket.request_id, ticket.case.request.digest, Verdict.DENIED, reason)

    def run_at_once(self, ticket: Ticket, stdout: str = "4\n") -> None:
        """Approve, and let the run be over in the same moment."""
        self.desk.withdraw(ticket.request_id, "")
        decision = Decision(Verdict.APPROVED, Decider.PERSON, "", digest=ticket.case.request.digest)
        self._close(ticket, Answer(ticket.request_id, decision, _result(stdout, Outcome.OK, "")))

    def print(self, ticket: Ticket, text: str) -> None:
        """The run prints."""
        assert ticket.case.transcript is not None
        ticket.case.transcript.append(Stream.OUT, text.encode())

    def finish(self, request_id: str, stdout: str = "4\n", outcome: Outcome = Outcome.OK, error: str = "") -> None:
        ticket = self.tickets[request_id]
        decision = Decision(Verdict.APPROVED, Decider.PERSON, "", digest=ticket.case.request.digest)
        self._close(ticket, Answer(request_id, decision, _result(stdout, outcome, error)))

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until something the gateway does makes `condition` true."""
        async with self.changed:
            await asyncio.wait_for(self.changed.wait_for(lambda: bool(condition())), HANGS)

    async def question(self, number: int = 1) -> Ticket:
        """The ticket of the `number`th request so far, once it is there."""
        await self.until(lambda: len(self.tickets) >= number)
        return list(self.tickets.values())[number - 1]

    # ---- inside ----

    async def _follow(self, ticket: Ticket, decided: asyncio.Future[Decision]) -> None:
        decision = await decided
        if ticket.case.answer.done():
            return
        if decision.verdict is Verdict.APPROVED:
            ticket.case.phase = Phase.RUNNING
            ticket.case.transcript = Transcript(1 << 20)
        else:
            self._close(ticket, Answer(ticket.request_id, decision))
        self._note()

    def _close(self, ticket: Ticket, answer: Answer) -> None:
        ticket.case.phase = Phase.CLOSED
        if not ticket.case.answer.done():
            ticket.case.answer.set_result(answer)

    def _note(self) -> None:
        async def note() -> None:
            async with self.changed:
                self.changed.notify_all()

        spawn("note", note())


def _result(stdout: str, outcome: Outcome, error: str) -> Result:
    code = 0 if outcome is Outcome.OK else 1
    return Result(outcome, stdout, "", code, 0.1, error=error, meta=Meta(runtime="local", limits=Limits()))
