"""Events as an engine would send them, for tests and pictures of the window without one."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import time
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QCoreApplication

from app.link.bridge import EngineLink
from runner.approval.deliberate import ApproveBy
from runner.identity.allowance import most_of
from runner.model.assessment import Assessment, Capability, Finding, Level, Span, Touch
from runner.model.decision import Decider, Decision, Verdict
from runner.model.events import (
    Event,
    QuestionAsked,
    RequestArrived,
    RequestAssessed,
    RequestClosed,
    RequestDecided,
    RunFinished,
    RunMeasured,
    RunStarted,
)
from runner.model.request import Isolation, Language, Limits, Request, Tool
from runner.model.result import Meta, Outcome, Result, Usage
from runner.requests.bounds import bounds
from runner.settings.loading import Settings
from runner.system.clock import since_boot

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable, Iterator

    from runner.engine.thread import EngineThread
    from runner.identity.agents import Agent
    from runner.identity.secrets import Secrets
    from runner.model.errors import KnownError
    from runner.model.work import WorkSession
    from runner.policy.grants import Grant
    from runner.policy.rules import Rules
    from runner.sandbox.output import Transcript
    from runner.workspace.progress import WriteProgress

_numbers = itertools.count(1)
PROTECTIONS = ("no network (namespace)", "read-only system", "private /tmp", "memory limit")


def request(code: str = "print('hello')", agent: str = "claude-code", **others: Any) -> Request:
    number = next(_numbers)
    others.setdefault("language", Language.PYTHON)
    return Request(f"r{number:05}", agent, Tool.CODE_EXECUTE, time.time(), code=code, limits=Limits(), **others)


def finding(line: int, reason: str, level: Level = Level.HIGH, capability: Capability = Capability.NETWORK) -> Finding:
    rule = f"test.{capability.name.lower()}"
    return Finding(rule, level, capability, Span(line, 0, line, 80), "evidence", reason, "T1059")


def assessment(level: Level = Level.HIGH, *findings: Finding, touch: Touch | None = None) -> Assessment:
    return Assessment(level, ("Code is run.",), findings, touch or Touch(), unread=())


def asked(
    one: Request, assessed: Assessment | None = None, window: float = 60.0, left: float | None = None, blocked: str = ""
) -> tuple[Event, ...]:
    """A request arrives, is assessed, and a person is asked."""
    deadline = since_boot() + (window if left is None else left)
    return (
        RequestArrived(one),
        RequestAssessed(one.id, assessed or assessment()),
        QuestionAsked(one.id, deadline, window, blocked),
    )


def decided(
    one: Request, verdict: Verdict = Verdict.APPROVED, by: Decider = Decider.PERSON, reason: str = ""
) -> tuple[Event, ...]:
    decision = Decision(verdict, by, reason, after_seconds=4.2, digest=one.digest)
    told: tuple[Event, ...] = (RequestDecided(one.id, decision),)
    return told if verdict is Verdict.APPROVED else (*told, RequestClosed(one.id))


def started(one: Request) -> tuple[Event, ...]:
    return (RunStarted(one.id, PROTECTIONS),)


def measured(
    one: Request, at: float, cpu: float = 40.0, memory: int = 60 << 20, disk: int = 1 << 20
) -> tuple[Event, ...]:
    return (RunMeasured(one.id, Usage(at, cpu, memory, disk, 3)),)


def result(outcome: Outcome = Outcome.OK, stdout: str = "hello\n", **others: Any) -> Result:
    code = {Outcome.OK: 0, Outcome.TIMED_OUT: -1}.get(outcome, 1)
    meta = Meta(runtime="local", limits=Limits(), protections=PROTECTIONS)
    return Result(outcome, stdout, others.pop("stderr", ""), code, 1.2, peak_memory=60 << 20, meta=meta, **others)


def finished(one: Request, ended: Result | None = None) -> tuple[Event, ...]:
    return (RunFinished(one.id, ended or result()), RequestClosed(one.id))


class RecordingBridge(EngineLink):
    """The real link's signals, and its methods with nothing behind them: what was asked of it is noted.

    What the real one does not have is not here either, and a call has to fit the real one's signature. A method that
    gives a future gives one that stays open until `give` or `fail`.
    """

    def __init__(self) -> None:
        super().__init__(cast("EngineThread", None), _unexpected)
        self.calls: list[tuple[Any, ...]] = []
        self.asides: list[tuple[Any, ...]] = []
        """What the window asks by itself, and decides nothing."""
        self.open: list[tuple[str, Future[Any]]] = []
        """Names and futures of the calls that have not been answered, in the order in which they came."""
        self.transcripts: dict[str, Transcript] = {}
        self.builds: dict[str, tuple[str, Transcript]] = {}
        self.reachable: dict[str, tuple[str, ...]] = {}
        self.at_work: tuple[WorkSession, ...] = ()
        self.progress: dict[str, WriteProgress] = {}
        self.known: tuple[Agent, ...] = ()
        self.written: Rules | None = None
        self.kept: tuple[Grant, ...] = ()
        self.unreadable = ""
        self.approve_by = ApproveBy.KEY
        self.closes = True
        self.prompting = False
        self.idle_minutes = 0
        self.minimum = ""
        for part in PARTS:
            setattr(self, part, _recording(cast("Any", type(getattr(self, part))))(self))

    def waits(self, name: str) -> bool:
        """Whether somebody waits for what comes of a call of `name`."""
        return any(of == name and not future.done() for of, future in self.open)

    def give(self, name: str, value: Any = None, newest: bool = False) -> None:
        """The engine answers the oldest open call of `name`, or the newest; the pages take it up."""
        self._take(name, newest).set_result(value)
        turn()

    def fail(self, name: str, error: KnownError, newest: bool = False) -> None:
        """The engine answers that it could not be done."""
        self._take(name, newest).set_exception(error)
        turn()

    def _take(self, name: str, newest: bool) -> Future[Any]:
        # Pages that have let go of theirs do not count.
        self.open = [(of, future) for of, future in self.open if not future.done()]
        found = [one for one in self.open if one[0] == name]
        assert found, f"nobody waits for {name}: {[of for of, _ in self.open]}"
        one = found[-1 if newest else 0]
        self.open.remove(one)
        return one[1]

    def note(self, name: str, values: tuple[Any, ...], waits: bool) -> Future[Any] | None:
        """A call of the method `name`; an open future where somebody may wait for what comes of it."""
        (self.asides if name in ASIDES else self.calls).append((name, *values))
        if not waits:
            return None
        future: Future[Any] = asyncio.get_running_loop().create_future()
        self.open.append((name, future))
        return future

    def secrets(self) -> Secrets | None:
        return None

    def sounds(self) -> bool:
        return False

    def away_after(self) -> int:
        return self.idle_minutes

    def may_run_critical(self, isolation: Isolation) -> bool:
        return not self.minimum or isolation.strength >= Isolation(self.minimum).strength

    def prompts(self) -> bool:
        return self.prompting

    def close(self, why: str, timeout: float = 2.0) -> bool:
        self.calls.append(("close", why))
        return self.closes


PARTS = ("decisions", "pin", "runs", "memory", "agents", "upkeep", "keeping", "work")
ASIDES = {"attend", "changes", "earlier", "findings", "lines", "look_at", "secrets_where", "state", "usage"}
NOT_ASKED = {"call", "post", "hear"}
"""Public methods of the link that pages do not use."""


def given_at_once(bridge: RecordingBridge) -> dict[str, Callable[..., object]]:
    """What the engine's state answers without being asked."""
    return {
        "rules": lambda: bridge.written,
        "grants": lambda: bridge.kept,
        "grants_problem": lambda: bridge.unreadable,
        "all": lambda: bridge.known,
        "most": lambda: most_of(Settings()),
        "approve_by": lambda: bridge.approve_by,
        "bounds": lambda request: bounds(request, Settings()),
        "transcript": bridge.transcripts.get,
        "build": bridge.builds.get,
        "reachable": bridge.reachable.get,
        "sessions": lambda: bridge.at_work,
        "progress": bridge.progress.get,
    }


def turn() -> None:
    """Let tasks that can go on do so, as far as they come."""
    loop = asyncio.get_running_loop()
    for _ in range(4):
        turned: list[bool] = []
        loop.call_soon(turned.append, True)
        while not turned:
            QCoreApplication.processEvents()


def _unexpected(error: BaseException, where: str) -> None:
    raise AssertionError(where) from error


def _public(real: type) -> Iterator[tuple[str, Callable[..., object]]]:
    for name, method in vars(real).items():
        if inspect.isfunction(method) and not name.startswith("_") and name not in NOT_ASKED:
            yield name, method


def _noting(name: str, real: Callable[..., object], recording: Callable[[Any], RecordingBridge]) -> Callable[..., Any]:
    """A method that notes its call, and takes only what `real` would take."""
    signature = inspect.signature(real)
    waits = str(signature.return_annotation).startswith("Future[")

    def note(self: object, *values: object, **named: object) -> object:
        bound = signature.bind(self, *values, **named)
        given = (*bound.args[1:], *bound.kwargs.values())
        if len(given) == len(signature.parameters) - 1 and [*signature.parameters][-1] == "pin" and not given[-1]:
            # Most calls need none.
            given = given[:-1]
        bridge = recording(self)
        at_once = given_at_once(bridge).get(name)
        return at_once(*given) if at_once is not None else bridge.note(name, given, waits)

    note.__name__ = f"noting_{name}"
    return note


@cache
def _recording(real: Any) -> Any:
    """A double of one part of the link."""
    methods = {name: _noting(name, method, lambda part: part._link) for name, method in _public(real)}
    return type(f"Recording{real.__name__}", (real,), methods)


for _name, _real in _public(EngineLink):
    if _name not in vars(RecordingBridge):
        setattr(RecordingBridge, _name, _noting(_name, _real, lambda bridge: bridge))
