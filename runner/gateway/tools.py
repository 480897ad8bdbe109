"""The tools for agents: each call becomes a request to the engine and is answered by a reply."""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from runner.gateway import catalog, client_tools, pictures, replies
from runner.gateway.arguments import Arguments, submission
from runner.gateway.origin import SessionNumbers
from runner.gateway.waiting import Ended
from runner.model.errors import KnownError, Refused
from runner.model.request import Tool
from runner.requests.places import on_disk
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from runner.approval.ticket import Ticket
    from runner.gateway.limits import CallLimits
    from runner.gateway.replies import Reply
    from runner.gateway.waiting import Caller, Report, Waiting
    from runner.model.answer import Answer
    from runner.model.request import WorkPlace
    from runner.model.result import CapturedFile
    from runner.model.submission import SessionDoor, Submission
    from runner.system.offload import Aside

KEPT_SECONDS = 3600.0
REQUEST_ID = re.compile("[0-9a-f]{32}")
GONE = "The agent went away."


class Counter(Protocol):
    """The engine as the gateway uses it. Every method is called on the engine's loop."""

    async def submit(self, submission: Submission) -> Ticket:
        """Make the request of a call. Raises Refused for invalid arguments, KnownError while none can be taken."""
        ...

    async def at_work(self, door: SessionDoor) -> WorkPlace:
        """Return the working copy of the program that a call comes from. Raises KnownError for another's key."""
        ...

    def ticket(self, agent: str, request_id: str) -> Ticket | None:
        """Return the handle on a request of this agent, active or closed; None for another agent's request."""
        ...

    async def recall(self, agent: str, request_id: str) -> tuple[Answer, bool] | None:
        """Return the answer that an earlier console had for this agent, and whether it was fetched. Raises KnownError.

        None where there is none of the last hour.
        """
        ...

    def waiting(self, agent: str) -> int:
        """Return the number of requests of `agent` that are not closed."""
        ...

    def withdraw(self, request_id: str, why: str) -> None:
        """Count out a caller that went away; the request is withdrawn where no other waits for its answer."""
        ...

    async def park(self, request_id: str) -> None:
        """Record that the caller was answered `pending`; the question stays open."""
        ...

    async def delivered(self, request_id: str) -> None:
        """Record that the answer of a parked request was fetched."""
        ...

    async def captured(self, file: CapturedFile) -> bytes:
        """Return the content of a file that a run created. Raises KnownError where it is gone or was altered."""
        ...

    def refused(self, agent: str, reason: str) -> None:
        """Count a call that did not become a request."""
        ...


class UnknownTool(Refused):
    """There is no tool of that name."""


class Tools:
    """The tools by name. `limit_kb` is the output that an agent gets, in KiB."""

    def __init__(self, counter: Counter, limits: CallLimits, waiting: Waiting, aside: Aside, limit_kb: int) -> None:
        self._counter = counter
        self._limits = limits
        self._waiting = waiting
        self._aside = aside
        self._limit_kb = limit_kb
        self._sessions = SessionNumbers()
        self._fetched: OrderedDict[str, float] = OrderedDict()

    async def call(self, name: str, given: Mapping[str, object] | None, caller: Caller, report: Report) -> Reply:
        """Carry out one tool call and return its reply. Raises UnknownTool."""
        if self._waiting.closed:
            return replies.closing(self._waiting.why)
        try:
            if caller.door is not None:
                caller = replace(caller, work=await self._counter.at_work(caller.door))
            if caller.work is not None and name in catalog.SCHEMAS and name not in catalog.AT_WORK:
                raise Refused(
                    f"{name} is not for a program at work: its project is kept, and so is what code writes there.",
                    "Use code_execute, whose /workspace is the project, or your own tools.",
                )
            if name == catalog.CODE_RESULT:
                return await self._fetch(given, caller, report)
            if name == catalog.APPROVE:
                return await self._approve(given, caller, report)
            return await self._ask(_tool(name), given, caller, report)
        except Refused as error:
            self._counter.refused(caller.agent, error.what)
            if isinstance(error, UnknownTool):
                raise
            return replies.refused(error)
        except KnownError as error:
            return replies.unavailable(error)

    async def _ask(self, tool: Tool, given: Mapping[str, object] | None, caller: Caller, report: Report) -> Reply:
        async with self._entering(caller) as hold:
            size = caller.message_bytes
            wanted = await self._aside.do(caller.agent, size, lambda: submission(caller.agent, tool, given))
            ticket = await self._submit(self._from(caller, replace(wanted, may_join=True)))
        try:
            end = await self._waiting.hold(ticket, caller, hold, report)
            if end is Ended.PATIENCE:
                await self._counter.park(ticket.request_id)
                return replies.pending(ticket)
        except asyncio.CancelledError:
            self._counter.withdraw(ticket.request_id, GONE)
            raise
        match end:
            case Ended.GONE:
                self._counter.withdraw(ticket.request_id, GONE)
                return replies.withdrawn(ticket)
            case Ended.CLOSING:
                return replies.closing(self._waiting.why, ticket)
            case answer if ticket.joined and ticket.awaited:
                return replies.joined(await self._deliver(ticket, answer, caller))
            case answer:
                if not caller.gone.is_set():
                    ticket.hand_over()
                reply = await self._reply(answer, caller)
                return replies.joined(reply) if ticket.joined else reply

    async def _approve(self, given: Mapping[str, object] | None, caller: Caller, report: Report) -> Reply:
        """Ask about a tool of the client. Whatever ends the waiting, the reply is yes or no."""
        if client_tools.is_of_assent(given):
            return client_tools.allowed(given)
        try:
            async with self._entering(caller) as hold:
                size = caller.message_bytes
                wanted = await self._aside.do(caller.agent, size, lambda: client_tools.asked(caller.agent, given))
                ticket = await self._submit(self._from(caller, await on_disk(wanted)))
        except KnownError as error:
            if isinstance(error, Refused):
                self._counter.refused(caller.agent, error.what)
            return client_tools.denied(replies.refused(error).text)
        try:
            end = await self._waiting.hold(ticket, caller, hold, report)
        except asyncio.CancelledError:
            self._counter.withdraw(ticket.request_id, client_tools.MAY_HAVE_RUN)
            raise
        match end:
            case Ended.CLOSING:
                return client_tools.denied(replies.closing(self._waiting.why, ticket).text)
            case Ended.GONE:
                self._counter.withdraw(ticket.request_id, client_tools.MAY_HAVE_RUN)
                return client_tools.denied(client_tools.NOBODY)
            case Ended():
                # The client cannot fetch a later answer: nobody shall be asked in vain.
                self._counter.withdraw(ticket.request_id, client_tools.TOO_LATE)
                return client_tools.denied(client_tools.NOBODY)
            case answer:
                return client_tools.decided(answer, given)

    @asynccontextmanager
    async def _entering(self, caller: Caller) -> AsyncIterator[float]:
        """Reserve a place for a call until it is a request, and wait for its turn; yield the seconds left to hold it.

        Raises Refused above a limit, and KnownError where the caller leaves or the console closes before.
        """
        with self._limits.entering(caller.agent):
            if seconds := self._limits.turn(caller.agent, caller.hold):
                stays = False
                try:
                    stays = await self._waiting.pause(seconds, caller)
                finally:
                    if not stays:
                        self._limits.forgo(caller.agent)
                if not stays:
                    raise KnownError(self._waiting.why or GONE, "Call again when Assent is running.")
            yield max(0.0, caller.hold - seconds)

    def _from(self, caller: Caller, wanted: Submission) -> Submission:
        """Return a submission with where it comes from."""
        session = self._sessions.number(caller.agent, caller.session)
        return replace(wanted, program=caller.program, session=session, work=caller.work)

    async def _submit(self, wanted: Submission) -> Ticket:
        """Submit a call, not cancelled half-way: a caller that disconnects meanwhile withdraws it afterwards."""
        task = spawn("submit", self._counter.submit(wanted))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.cancelled():
                task.add_done_callback(self._withdraw_late)
            raise

    def _withdraw_late(self, task: asyncio.Task[Ticket]) -> None:
        if not task.cancelled() and task.exception() is None:
            self._counter.withdraw(task.result().request_id, GONE)

    async def _fetch(self, given: Mapping[str, object] | None, caller: Caller, report: Report) -> Reply:
        size = caller.message_bytes
        arguments = await self._aside.do(caller.agent, size, lambda: Arguments(catalog.CODE_RESULT, given))
        request_id, wait = arguments.required("id"), arguments.number("wait")
        if wait is not None and wait < 0:
            raise Refused(f"wait is {wait:g}; it must not be below 0.", "Use 0 to look without waiting.")
        ticket = self._counter.ticket(caller.agent, request_id)
        if self._too_old(request_id):
            return replies.unknown_request(request_id)
        if ticket is None and caller.work is None:
            return await self._recall(request_id, caller)
        # A program at work gets what it asked for itself, and nobody else does.
        if ticket is None or ticket.work != caller.work:
            return replies.unknown_request(request_id)
        seconds = caller.hold if wait is None else min(wait, caller.hold)
        match await self._waiting.hold(ticket, caller, seconds, report):
            case Ended.CLOSING:
                return replies.closing(self._waiting.why, ticket)
            case Ended():
                return replies.pending(ticket)
            case answer:
                return await self._deliver(ticket, answer, caller)

    async def _reply(self, answer: Answer, caller: Caller) -> Reply:
        """Return the reply with an answer and, for models, the pictures that its run made."""
        reply = replies.answered(answer, self._limit_kb, as_it_is=caller.as_it_is)
        if answer.result is None or caller.as_it_is or not answer.result.files or answer.result.meta.rehearsed:
            return reply  # of a rehearsal the person was shown the names of files, and not the pictures in them
        return replies.with_pictures(reply, await pictures.of_run(answer.result, self._counter.captured))

    async def _recall(self, request_id: str, caller: Caller) -> Reply:
        """Return the answer of an earlier console, as the history has it."""
        found = None
        if REQUEST_ID.fullmatch(request_id):
            async with self._entering(caller):
                found = await self._counter.recall(caller.agent, request_id)
        if found is None:
            return replies.unknown_request(request_id)
        answer, before = found
        reply = await self._reply(answer, caller)
        if before or request_id in self._fetched:
            return replies.delivered_before(reply)
        self._fetched[request_id] = time.monotonic()
        await self._counter.delivered(request_id)
        return reply

    async def _deliver(self, ticket: Ticket, answer: Answer, caller: Caller) -> Reply:
        """Return the reply with an answer; a repeated one within the hour says that it is the same answer."""
        reply = await self._reply(answer, caller)
        if answer.request_id in self._fetched:
            return replies.delivered_before(reply)
        self._fetched[answer.request_id] = time.monotonic()
        ticket.hand_over()
        await self._counter.delivered(answer.request_id)
        return reply

    def _too_old(self, request_id: str) -> bool:
        """Return whether it was first fetched more than an hour ago; drop older entries to bound the table."""
        now = time.monotonic()
        while self._fetched and now - next(iter(self._fetched.values())) > 2 * KEPT_SECONDS:
            self._fetched.popitem(last=False)
        fetched_at = self._fetched.get(request_id)
        return fetched_at is not None and now - fetched_at > KEPT_SECONDS


def _tool(name: str) -> Tool:
    try:
        return Tool(name)
    except ValueError:
        known = ", ".join(catalog.SCHEMAS)
        raise UnknownTool(f"There is no tool {name[:100]!a}.", f"Assent has {known}.") from None
