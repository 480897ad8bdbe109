"""Engine events become Qt signals, questions to the engine become futures: the only file that knows both sides."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal, Slot

from app.link.decisions import Decisions, HistoryUpkeep, PinKeeping, SecretKeeping
from app.link.registry import AgentRegistry
from app.link.working import WorkControl
from runner.model import engine_texts
from runner.model.errors import KnownError
from runner.model.request import Isolation
from runner.model.translation import tr
from runner.policy.decide import meets

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable, Coroutine
    from concurrent.futures import Future as EngineFuture

    from runner.approval.hindsight import Preview
    from runner.approval.learning import Learned
    from runner.approval.precedents import Precedents
    from runner.engine.engine import Engine
    from runner.engine.thread import EngineThread
    from runner.identity.secrets import Secrets
    from runner.model.events import Event
    from runner.model.file_changes import FilePreview, UndoPlan
    from runner.model.submission import Submission
    from runner.policy.explain import Explanation
    from runner.policy.grants import Choice, Grant
    from runner.policy.rules import Rules
    from runner.sandbox.output import Transcript

T = TypeVar("T")

STOPPED = "Stopped by a person."
REMOVED = "A person removed it."
REVOKED = "Revoked by a person."
STARTING = tr("Assent is still starting. Try again in a moment.")
ENDED = tr("The engine of Assent is not running, so nothing can be done: see the fault log, then start Assent again.")
ASKED = "in the engine, asked by the window"
MOST_A_TURN = 256
"""Events taken in before the window paints and hears of keys again: about ten milliseconds of work."""


class InternalFault(KnownError):
    """A bug that is in the fault log already: the caller only has to say that the call failed."""

    def __init__(self) -> None:
        super().__init__(tr("This failed inside Assent."), tr("What happened was written down."))


class EngineLink(QObject):
    """Calls to the engine and its events, for the window's thread.

    A method that gives a future has the engine begin at once; await the future for what comes of it. It raises
    KnownError and nothing else: a bug is recorded first. Letting go of a future does not stop the engine's work.
    """

    happened = Signal(object)
    """tuple[Event, ...]: what happened since the last time, in order; of very much the first part."""
    silent = Signal(float)
    """Seconds for which the engine has not answered; 0 when it answers again."""
    _rung = Signal()
    _returned = Signal(object, object)

    def __init__(
        self, host: EngineThread, record: Callable[[BaseException, str], None], parent: QObject | None = None
    ) -> None:
        """`record` writes a bug to the fault log; called in the window's thread."""
        super().__init__(parent)
        self._host = host
        self._record = record
        self._lock = threading.Lock()
        self._pending: deque[Event | partial[None]] = deque()
        """Events, and the delivery of what calls gave, in the order in which the engine sent them."""
        self.decisions = Decisions(self)
        self.pin = PinKeeping(self)
        self.runs = RunControl(self)
        self.memory = Memory(self)
        self.agents = AgentRegistry(self)
        self.upkeep = HistoryUpkeep(self)
        self.keeping = SecretKeeping(self)
        self.work = WorkControl(self)
        self._rung.connect(self._drain, Qt.ConnectionType.QueuedConnection)
        self._returned.connect(self._deliver)

    # ---- events ----

    def hear(self, event: Event) -> None:
        """Take an event from the engine's thread; one signal is sent per batch, however many events come."""
        self._put(event)

    def _put(self, what: Event | partial[None]) -> None:
        with self._lock:
            self._pending.append(what)
            first = len(self._pending) == 1
        if first:
            self._rung.emit()

    @Slot()
    def _drain(self) -> None:
        """Send on what came, up to a bound; the rest has its turn after what Qt has to do meanwhile."""
        with self._lock:
            due = [self._pending.popleft() for _ in range(min(MOST_A_TURN, len(self._pending)))]
            more = bool(self._pending)
        if more:
            self._rung.emit()
        batch: list[Event] = []
        for what in due:
            if not isinstance(what, partial):
                batch.append(what)
                continue
            if batch:
                self.happened.emit(tuple(batch))
                batch = []
            what()
        if batch:
            self.happened.emit(tuple(batch))

    # ---- calls ----

    @property
    def engine(self) -> Engine | None:
        """For what can be read at once; None before it is there."""
        return self._host.engine if self._host.started else None

    def call(self, work: Callable[[Engine], Coroutine[Any, Any, T]]) -> Future[T]:
        """Have the engine do `work` now. The future is resolved in the window's thread, after earlier events."""
        answer: Future[T] = asyncio.get_running_loop().create_future()
        try:
            if not self._host.started:
                raise KnownError(ENDED if self._host.ended else STARTING)
            begun = self._host.call(work)
        except KnownError as error:
            _fail(answer, error)
        else:
            begun.add_done_callback(lambda done: self._put(partial(self._returned.emit, done, answer)))
        return answer

    def post(self, work: Callable[[Engine], object]) -> None:
        """Have the engine do something short of which nothing comes back."""
        self._host.post(work)

    @Slot(object, object)
    def _deliver(self, done: EngineFuture[Any], answer: Future[Any]) -> None:
        error = None if done.cancelled() else done.exception()
        if error is not None and not isinstance(error, KnownError):
            # Also where nobody waits any more.
            self._record(error, ASKED)
            error = InternalFault()
        if answer.done():
            return
        if done.cancelled():
            answer.cancel()
        elif error is not None:
            _fail(answer, error)
        else:
            answer.set_result(done.result())

    # ---- the engine as a whole ----

    def guard(self) -> Future[None]:
        """Ask about everything again."""
        return self.call(lambda engine: engine.modes.guard())

    def lock(self) -> Future[None]:
        """Deny everything from now on."""
        return self.call(lambda engine: engine.modes.lock())

    def trust(self, agent: str, seconds: float, pin: str = "") -> Future[None]:
        """Approve what `agent` asks up to HIGH for `seconds`; `pin` where that is asked for."""

        async def work(engine: Engine) -> None:
            await engine.modes.trust(agent, seconds, proven=await engine.proven(pin))

        return self.call(work)

    def go_away(self) -> Future[None]:
        """Let requests wait for the person from now on, instead of expiring."""
        return self.call(lambda engine: engine.absence.leave())

    def come_back(self) -> Future[None]:
        """Let requests expire as always."""
        return self.call(lambda engine: engine.absence.come_back())

    def renew_ledger(self) -> Future[None]:
        """Set a ledger that cannot be read aside and begin a new one."""
        return self.call(lambda engine: engine.history.renew())

    def try_history_again(self) -> Future[None]:
        """Look whether the history can be opened or written now."""
        return self.call(lambda engine: engine.history.try_again())

    def end_runs(self) -> None:
        """End every run of an engine that does not answer."""
        self._host.end_runs()

    def reload_settings(self) -> Future[None]:
        """Take up saved settings that need no restart."""
        if self._host.started:
            return self.call(lambda engine: engine.take_up_settings())
        # It may have read them before they were saved.
        self._host.post(lambda engine: engine.reload())
        answer: Future[None] = asyncio.get_running_loop().create_future()
        answer.set_result(None)
        return answer

    def sounds(self) -> bool:
        """Return whether notices that stay are to be heard; not before the engine is there."""
        engine = self.engine
        return engine is not None and engine.parts.configuration.settings.notice_sound

    def away_after(self) -> int:
        """Return after how many idle minutes requests begin to wait; 0 for never, and before the engine is there."""
        engine = self.engine
        return engine.parts.configuration.settings.away_after if engine is not None else 0

    def may_run_critical(self, isolation: Isolation) -> bool:
        """Return whether CRITICAL requests may run there, as the settings have it; so before the engine is there."""
        engine = self.engine
        if engine is None:
            return True
        settings = engine.parts.configuration.settings
        return meets(isolation, Isolation(settings.weakest_isolation_critical), settings)

    def prompts(self) -> bool:
        """Return whether requests come up as cards while the window is not in front; not before the engine is there."""
        engine = self.engine
        return engine is not None and engine.parts.configuration.settings.compact_prompt

    def secrets(self) -> Secrets | None:
        """Return where the engine keeps its secrets; None before it is there."""
        engine = self.engine
        return engine.parts.secrets if engine is not None else None

    def close(self, why: str, timeout: float = 2.0) -> bool:
        """Close the engine; blocks for at most `timeout` seconds. Return False when it took longer."""
        return self._host.close(why, timeout)


class RunControl:
    """Runs, the sandboxes that agents keep, and what sandboxes give here."""

    def __init__(self, link: EngineLink) -> None:
        self._link = link

    def stop(self, request_id: str, why: str = STOPPED) -> None:
        """End one run; `why` goes into its result."""
        self._link.post(lambda engine: engine.runs.stop(request_id, why))

    def hold(self, request_id: str, held: bool) -> None:
        """Pause or resume one run."""
        self._link.post(lambda engine: engine.runs.hold(request_id, held))

    def hold_all(self, held: bool) -> Future[tuple[str, ...]]:
        """Pause or resume every run. The future gives the ids of those that cannot be paused."""

        async def work(engine: Engine) -> tuple[str, ...]:
            return engine.runs.hold_all(held)

        return self._link.call(work)

    def stop_all(self) -> None:
        """End every run and every program at work, and deny every open question."""

        def work(engine: Engine) -> None:
            engine.stop_all()
            engine.work.end_all(STOPPED)

        self._link.post(work)

    def remove_sandbox(self, id: str) -> Future[None]:
        """Remove a sandbox that an agent keeps, with everything in it."""

        async def work(engine: Engine) -> None:
            await engine.sandboxes.remove(id, REMOVED)

        return self._link.call(work)

    def plan_undo(self, sandbox: str, request_id: str) -> Future[UndoPlan]:
        """Ask what undoing a run in a kept sandbox would do."""
        return self._link.call(lambda engine: engine.sandboxes.undoing.plan(sandbox, request_id))

    def undo(self, plan: UndoPlan) -> Future[None]:
        """Put the files of a kept sandbox back, as was shown."""
        return self._link.call(lambda engine: engine.sandboxes.undoing.undo(plan))

    def changed_file(self, sandbox: str, request_id: str, place: int) -> Future[FilePreview]:
        """Ask for one of the files that a run changed, before and after it."""
        return self._link.call(lambda engine: engine.sandboxes.undoing.preview(sandbox, request_id, place))

    def sandbox_facts(self) -> Future[dict[str, object]]:
        """Ask for the facts that `code_sandbox_info` gives agents."""
        return self._link.call(lambda engine: engine.parts.sandboxes.facts())

    def look_for_sandbox(self) -> Future[dict[str, object]]:
        """Choose again the sandbox of runs from now on. The future gives its facts."""

        async def work(engine: Engine) -> dict[str, object]:
            await engine.look_for_sandbox()
            return await engine.parts.sandboxes.facts()

        return self._link.call(work)

    def accept_sandbox(self, isolation: Isolation, pin: str = "") -> Future[None]:
        """Take a sandbox that is weaker than that of last time for the usual one; `pin` where that is asked for."""

        async def work(engine: Engine) -> None:
            await engine.accept_sandbox(isolation, proven=await engine.proven(pin))

        return self._link.call(work)

    def allow_host(self, request_id: str, host: str, port: int, *, private: str = "", pin: str = "") -> Future[str]:
        """Let a run reach a host that it was refused. The future gives why not, or ''; it raises PrivateAddress."""

        async def work(engine: Engine) -> str:
            proven = await engine.proven(pin)
            return await engine.hosts.allow(request_id, host, port, private=private, proven=proven)

        return self._link.call(work)

    def always_allow_host(
        self, id: str, host: str, port: int, seconds: float, *, private: str, pin: str = ""
    ) -> Future[Grant]:
        """Let the agent of a run reach a host for `seconds`. The future raises PrivateAddress like `allow_host`."""

        async def work(engine: Engine) -> Grant:
            proven = await engine.proven(pin)
            return await engine.hosts.allow_always(id, host, port, private=private, seconds=seconds, proven=proven)

        return self._link.call(work)

    def transcript(self, request_id: str) -> Transcript | None:
        """Return the live output of a run; None before it runs."""
        engine = self._link.engine
        return engine.transcript(request_id) if engine is not None else None

    def build(self, request_id: str) -> tuple[str, Transcript] | None:
        """Return the package of a request that is being built, and the output of its build; None where none is."""
        engine = self._link.engine
        return engine.installing.build(request_id) if engine is not None else None

    def reachable(self, request_id: str) -> tuple[str, ...] | None:
        """Return what a run may reach now; None where it has no network, or is over."""
        engine = self._link.engine
        return engine.runs.reachable(request_id) if engine is not None else None


class Memory:
    """Grants and rules, and what both mean for a call."""

    def __init__(self, link: EngineLink) -> None:
        self._link = link

    def grants(self) -> tuple[Grant, ...]:
        """Return those that count now; none before the engine is there."""
        engine = self._link.engine
        return engine.parts.configuration.grants.all() if engine is not None else ()

    def grants_problem(self) -> str:
        """Return why nothing is remembered, where the file cannot be read."""
        engine = self._link.engine
        return engine.parts.configuration.grants.problem if engine is not None else ""

    def rules(self) -> Rules | None:
        """Return the rules of the files; None before the engine is there."""
        engine = self._link.engine
        return engine.parts.configuration.rules if engine is not None else None

    def preview(self, request_id: str, choice: Choice) -> Future[Preview]:
        """Ask what a grant would have covered."""
        return self._link.call(lambda engine: engine.hindsight.preview(request_id, choice))

    def precedents(self, request_id: str) -> Future[Precedents]:
        """Ask how many like an open request a person approved today, and which values differ."""
        return self._link.call(lambda engine: engine.hindsight.precedents(request_id))

    def remember(self, request_id: str, digest: str, choice: Choice, pin: str = "") -> Future[Grant]:
        """Remember what was chosen about exactly the request of `digest`; `pin` where that is asked for."""

        async def work(engine: Engine) -> Grant:
            return await engine.remembering.add(request_id, digest, choice, proven=await engine.proven(pin))

        return self._link.call(work)

    def revoke_grant(self, name: str) -> Future[None]:
        """Revoke a grant."""

        async def work(engine: Engine) -> None:
            await engine.remembering.revoke((name,), REVOKED)

        return self._link.call(work)

    def renew_grants(self) -> Future[None]:
        """Set a grants file that cannot be read aside."""
        return self._link.call(lambda engine: engine.remembering.start_again())

    def explain_past(self, request_id: str) -> Future[Explanation]:
        """Ask what would happen to a past call today."""
        return self._link.call(lambda engine: engine.hindsight.explain_past(request_id))

    def explain_program(self, submission: Submission) -> Future[Explanation]:
        """Ask what would happen to a call that nobody made."""
        return self._link.call(lambda engine: engine.hindsight.explain_program(submission))

    def learned(self) -> Future[Learned]:
        """Ask what the latest answers offer to remember."""
        return self._link.call(lambda engine: engine.hindsight.learned())


def _fail(answer: Future[Any], error: BaseException) -> None:
    answer.set_exception(_in_words(error) if isinstance(error, KnownError) else error)
    # Read already: one that nobody awaits any more is no fault of its own.
    answer.exception()


def _in_words(error: KnownError) -> KnownError:
    """Return the error with its sentences in the language of the window; the engine's own stays as it is."""
    what, remedy = engine_texts.in_words(error.what), engine_texts.in_words(error.remedy)
    if (what, remedy) == (error.what, error.remedy):
        return error
    kind = type(error)
    shown = kind.__new__(kind)
    vars(shown).update(vars(error), what=what, remedy=remedy)
    shown.args = (f"{what} {remedy}".strip(),)
    shown.__cause__ = error
    return shown
