"""Engine events become Qt signals, clicks become engine calls: the only file that knows both sides."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal, Slot

from runner.model.decision import Verdict
from runner.model.errors import KnownError
from runner.requests.bounds import bounds

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping
    from concurrent.futures import Future

    from runner.approval.editing import Version
    from runner.engine.engine import Engine
    from runner.engine.thread import EngineThread
    from runner.identity.agents import Agent
    from runner.identity.secrets import Secrets
    from runner.model.events import Event
    from runner.model.request import Request
    from runner.model.submission import Submission
    from runner.policy.grants import Choice, Grant
    from runner.policy.rules import Rules
    from runner.requests.bounds import Bound
    from runner.sandbox.output import Transcript


STOPPED = "Stopped by a person."
REMOVED = "A person removed it."
REVOKED = "Revoked by a person."
ENDED = "The engine of Assent is not running, so nothing can be done: see the fault log, then start Assent again."


class Bridge(QObject):
    """Lives in the window's thread. Every slot returns at once; what comes of it arrives by signal."""

    happened = Signal(object)
    """tuple[Event, ...]: what happened since the last time, in order."""
    declined = Signal(str, str)
    """Request id and why an answer to it was not taken."""
    agent_added = Signal(str, str)
    """Name and token of a new agent; the token is not to be had again."""
    sandbox_seen = Signal(object)
    """What `code_sandbox_info` tells agents, asked for with `ask_sandbox`."""
    previewed = Signal(str, object, object)
    """Request id, Choice, and the Preview of it or why there is none."""
    remembered = Signal(str, object)
    """Request id, and the Grant that was made of it or why not."""
    explained = Signal(int, object)
    """The number that was asked with, and the Explanation or why there is none."""
    suggested = Signal(object)
    """tuple[Suggestion, ...], asked for with `ask_suggestions`."""
    drafted = Signal(str, object, object)
    """Request id, a person's Version of it, and the Draft it makes or why there is none."""
    earlier_known = Signal(str, object)
    """Request id, and the Earlier version that was approved, or None."""
    reloaded = Signal()
    """Saved settings count, asked for with `reload_settings`."""
    all_held = Signal(bool, object)
    """True for paused, False for going on again; and the ids of the runs that cannot be paused."""
    failed = Signal(str)
    """A sentence about something asked for that could not be done."""
    _rung = Signal()
    _returned = Signal(object, object)

    def __init__(self, host: EngineThread, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._host = host
        self._lock = threading.Lock()
        self._batch: list[Event] = []
        self._rung.connect(self._drain, Qt.ConnectionType.QueuedConnection)
        self._returned.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    # ---- from the engine ----

    def hear(self, event: Event) -> None:
        """The engine's listener, called in its thread: one signal per batch however many events come."""
        with self._lock:
            self._batch.append(event)
            first = len(self._batch) == 1
        if first:
            self._rung.emit()

    @Slot()
    def _drain(self) -> None:
        with self._lock:
            batch, self._batch = tuple(self._batch), []
        self.happened.emit(batch)

    # ---- decisions ----

    def approve(self, request_id: str, digest: str) -> None:
        """Approve exactly what `digest` stands for; `declined` says why where that was not taken."""
        self._answer(request_id, digest, Verdict.APPROVED, "")

    def deny(self, request_id: str, digest: str, reason: str) -> None:
        self._answer(request_id, digest, Verdict.DENIED, reason or "Denied by a person.")

    def look_at(self, request_id: str) -> None:
        """A person does something with an open request: its countdown pauses."""
        self._host.post(lambda engine: engine.look_at(request_id))

    def bounds(self, request: Request) -> Mapping[str, Bound]:
        """How far the limits of `request` may be changed; nothing before the engine is there."""
        return bounds(request, self._host.engine.parts.configuration.settings) if self._host.started else {}

    def draft(self, request_id: str, version: Version) -> None:
        """Assess a person's version; `drafted` tells what it makes."""
        self._try(
            lambda engine: engine.editing.draft(request_id, version.code, version.limits),
            lambda found: self.drafted.emit(request_id, version, found),
        )

    def approve_edited(self, request_id: str, digest: str, version: Version, edited: str) -> None:
        """Approve a person's version in place of the request; `digest` is the request's, `edited` the version's."""

        async def work(engine: Engine) -> str:
            return await engine.editing.approve(request_id, digest, version.code, edited, version.limits)

        self._tell_declined(request_id, work)

    def arm(self, request_id: str, digest: str) -> None:
        """Approve a missed request for when its agent comes back."""
        self._tell_declined(request_id, lambda engine: engine.late.arm(request_id, digest))

    def ask_earlier(self, request_id: str) -> None:
        """`earlier_known` tells what was approved before for the same purpose."""
        self._ask(
            lambda engine: engine.editing.earlier(request_id), lambda found: self.earlier_known.emit(request_id, found)
        )

    def stop(self, request_id: str, why: str = STOPPED) -> None:
        """End one run; `why` goes into its result."""
        self._host.post(lambda engine: engine.runs.stop(request_id, why))

    def hold(self, request_id: str, held: bool) -> None:
        """Pause one run, or let it go on."""
        self._host.post(lambda engine: engine.runs.hold(request_id, held))

    def hold_all(self, held: bool) -> None:
        """Pause every run, or let all go on; `all_held` tells."""

        async def work(engine: Engine) -> tuple[str, ...]:
            return engine.runs.hold_all(held)

        self._ask(work, lambda left: self.all_held.emit(held, left))

    def stop_all(self) -> None:
        """End every run and deny every open question."""
        self._host.post(lambda engine: engine.stop_all())

    def remove_sandbox(self, id: str) -> None:
        """Remove a sandbox that an agent keeps, with everything in it."""
        self._ask(lambda engine: engine.sandboxes.remove(id, REMOVED), lambda _: None)

    # ---- modes ----

    def guard(self) -> None:
        """Ask about everything again."""
        self._ask(lambda engine: engine.modes.guard(), lambda _: None)

    def lock(self) -> None:
        """Deny everything from now on."""
        self._ask(lambda engine: engine.modes.lock(), lambda _: None)

    def trust(self, agent: str, seconds: float) -> None:
        """Approve what `agent` asks up to HIGH for `seconds`; `failed` says why not."""
        self._ask(lambda engine: engine.modes.trust(agent, seconds), lambda _: None)

    # ---- what is remembered ----

    def grants(self) -> tuple[Grant, ...]:
        """Those that count now; none before the engine is there."""
        return self._host.engine.parts.configuration.grants.all() if self._host.started else ()

    def grants_problem(self) -> str:
        """Why nothing is remembered, where the file cannot be read."""
        return self._host.engine.parts.configuration.grants.problem if self._host.started else ""

    def rules(self) -> Rules | None:
        """The rules of the files; None before the engine is there."""
        return self._host.engine.parts.configuration.rules if self._host.started else None

    def preview(self, request_id: str, choice: Choice) -> None:
        """`previewed` tells what would have been covered."""
        self._try(
            lambda engine: engine.hindsight.preview(request_id, choice),
            lambda found: self.previewed.emit(request_id, choice, found),
        )

    def remember(self, request_id: str, digest: str, choice: Choice) -> None:
        """Remember what was chosen about exactly the request that `digest` stands for; `remembered` tells."""
        self._try(
            lambda engine: engine.remembering.add(request_id, digest, choice),
            lambda made: self.remembered.emit(request_id, made),
        )

    def revoke_grant(self, name: str) -> None:
        self._ask(lambda engine: engine.remembering.revoke((name,), REVOKED), lambda _: None)

    def begin_grants_anew(self) -> None:
        """Set a grants file that cannot be read aside."""
        self._ask(lambda engine: engine.remembering.begin_anew(), lambda _: None)

    def explain_past(self, number: int, request_id: str) -> None:
        """What would happen to this call today; `explained` tells, with `number`."""
        self._try(
            lambda engine: engine.hindsight.explain_past(request_id), lambda found: self.explained.emit(number, found)
        )

    def explain_program(self, number: int, submission: Submission) -> None:
        """What would happen to a call that nobody made; `explained` tells, with `number`."""
        self._try(
            lambda engine: engine.hindsight.explain_program(submission),
            lambda found: self.explained.emit(number, found),
        )

    def ask_suggestions(self) -> None:
        """`suggested` tells what might be remembered."""
        self._ask(lambda engine: engine.hindsight.suggestions(), self.suggested.emit)

    # ---- agents and the ledger ----

    def add_agent(self, name: str) -> None:
        async def work(engine: Engine) -> str:
            return await engine.membership.add(name)

        self._ask(work, lambda token: self.agent_added.emit(name, token))

    def send_test(self, agent: str) -> None:
        """Ask for something harmless in the name of `agent`, so that a person sees what asking is like."""
        self._ask(lambda engine: engine.submit(test_request(agent)), lambda _: None)

    def revoke_agent(self, name: str) -> None:
        self._ask(lambda engine: engine.membership.revoke(name), lambda _: None)

    def agents(self) -> tuple[Agent, ...]:
        """Registered agents, revoked ones too; none before the engine is there."""
        return self._host.engine.parts.agents.all() if self._host.started else ()

    def ask_sandbox(self) -> None:
        """`sandbox_seen` tells what runs get here."""
        self._ask(lambda engine: engine.parts.sandboxes.facts(), self.sandbox_seen.emit)

    def look_for_sandbox(self) -> None:
        """Choose again what runs get from now on; `sandbox_seen` tells."""

        async def work(engine: Engine) -> dict[str, object]:
            await engine.look_for_sandbox()
            return await engine.parts.sandboxes.facts()

        self._ask(work, self.sandbox_seen.emit)

    def renew_ledger(self) -> None:
        """Set a ledger that cannot be read aside and begin a new one."""
        self._ask(lambda engine: engine.renew_ledger(), lambda _: None)

    def sounds(self) -> bool:
        """Whether notices that stay are to be heard; not before the engine is there."""
        return self._host.started and self._host.engine.parts.configuration.settings.notice_sound

    def reload_settings(self) -> None:
        """Take up saved settings that need no restart."""
        if not self._host.started:
            # It may have read them before they were saved.
            self._host.post(lambda engine: engine.reload())
            self.reloaded.emit()
            return
        self._ask(lambda engine: engine.take_up_settings(), lambda _: self.reloaded.emit())

    def secrets(self) -> Secrets | None:
        """Where the engine keeps its secrets; None before it is there."""
        return self._host.engine.parts.secrets if self._host.started else None

    def transcript(self, request_id: str) -> Transcript | None:
        """Live output of a run; None before it runs."""
        return self._host.engine.transcript(request_id) if self._host.started else None

    def close(self, why: str, timeout: float = 2.0) -> bool:
        """Close the engine; blocks for at most `timeout` seconds. False when it took longer."""
        return self._host.close(why, timeout)

    # ---- inside ----

    def _answer(self, request_id: str, digest: str, verdict: Verdict, reason: str) -> None:
        async def work(engine: Engine) -> str:
            return engine.answer(request_id, digest, verdict, reason)

        self._tell_declined(request_id, work)

    def _tell_declined(self, request_id: str, work: Callable[[Engine], Coroutine[Any, Any, str]]) -> None:
        """Do `work`, which gives why an answer was not taken, or nothing."""

        def told(why_not: str) -> None:
            if why_not:
                self.declined.emit(request_id, why_not)

        self._ask(work, told)

    def _try(self, work: Callable[[Engine], Coroutine[Any, Any, Any]], told: Callable[[Any], None]) -> None:
        """Like `_ask`, but what the world does not allow is told in a sentence in place of what was asked for."""

        async def tried(engine: Engine) -> object:
            try:
                return await work(engine)
            except KnownError as error:
                return str(error)

        self._ask(tried, told)

    def _ask(self, work: Callable[[Engine], Coroutine[Any, Any, Any]], told: Callable[[Any], None]) -> None:
        if not self._host.started:
            self.failed.emit(ENDED if self._host.ended else "Assent is still starting. Try again in a moment.")
            return
        self._host.call(work).add_done_callback(lambda future: self._returned.emit(future, told))

    @Slot(object, object)
    def _deliver(self, future: Future[Any], told: Callable[[Any], None]) -> None:
        if future.cancelled():
            return
        if (error := future.exception()) is not None:
            self.failed.emit(str(error))
            return
        told(future.result())


def test_request(agent: str) -> Submission:
    """The first request of a new agent: harmless, and it says where it comes from."""
    from runner.model.request import Language, Tool
    from runner.model.submission import Submission

    code = 'print("Assent works: this was shown to you before it ran.")\n'
    return Submission(agent, Tool.CODE_EXECUTE, Language.PYTHON, code, "Test request, sent from this window")
