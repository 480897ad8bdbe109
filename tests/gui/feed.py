"""Events as an engine would send them, for tests and pictures of the window without one."""

from __future__ import annotations

import inspect
import itertools
import time
from typing import TYPE_CHECKING, Any, cast

from app.bridge import Bridge
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
from runner.model.request import Language, Limits, Request, Tool
from runner.model.result import Meta, Outcome, Result, Usage
from runner.requests.bounds import bounds
from runner.settings.loading import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runner.engine.thread import EngineThread
    from runner.identity.agents import Agent
    from runner.identity.secrets import Secrets
    from runner.policy.grants import Grant
    from runner.policy.rules import Rules
    from runner.requests.bounds import Bound
    from runner.sandbox.output import Transcript

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
    return Assessment(level, ("Code is run.",), findings, touch or Touch())


def asked(
    one: Request, assessed: Assessment | None = None, window: float = 60.0, left: float | None = None, blocked: str = ""
) -> tuple[Event, ...]:
    """A request arrives, is assessed, and a person is asked."""
    deadline = time.monotonic() + (window if left is None else left)
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


class RecordingBridge(Bridge):
    """The real bridge's signals, and its methods with nothing behind them: what was asked of it is noted.

    What the real one does not have is not here either, and a call has to fit the real one's signature.
    """

    def __init__(self) -> None:
        super().__init__(cast("EngineThread", None))
        self.calls: list[tuple[Any, ...]] = []
        self.asides: list[tuple[Any, ...]] = []
        """What the window asks by itself, and decides nothing."""
        self.transcripts: dict[str, Transcript] = {}
        self.known: tuple[Agent, ...] = ()
        self.written: Rules | None = None
        self.kept: tuple[Grant, ...] = ()
        self.unreadable = ""
        self.closes = True

    def rules(self) -> Rules | None:
        return self.written

    def secrets(self) -> Secrets | None:
        return None

    def grants(self) -> tuple[Grant, ...]:
        return self.kept

    def grants_problem(self) -> str:
        return self.unreadable

    def agents(self) -> tuple[Agent, ...]:
        return self.known

    def bounds(self, request: Request) -> Mapping[str, Bound]:
        return bounds(request, Settings())

    def ask_earlier(self, request_id: str) -> None:
        self.asides.append(("ask_earlier", request_id))

    def look_at(self, request_id: str) -> None:
        self.asides.append(("look_at", request_id))

    def transcript(self, request_id: str) -> Transcript | None:
        return self.transcripts.get(request_id)

    def sounds(self) -> bool:
        return False

    def close(self, why: str, timeout: float = 2.0) -> bool:
        self.calls.append(("close", why))
        return self.closes


def _noting(name: str, real: Callable[..., object]) -> Callable[..., None]:
    """A method that notes its call in `calls`, and takes only what `real` would take."""
    signature = inspect.signature(real)

    def note(self: RecordingBridge, *values: object, **named: object) -> None:
        self.calls.append((name, *signature.bind(self, *values, **named).args[1:]))

    return note


for _name, _real in vars(Bridge).items():
    if inspect.isfunction(_real) and not _name.startswith("_") and _name not in vars(RecordingBridge):
        setattr(RecordingBridge, _name, _noting(_name, _real))
