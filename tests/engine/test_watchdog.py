"""A loop of the engine that is really blocked: reported, its runs ended, and over when it comes round again."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from runner import assembly
from runner.engine.lifecycle import watchdog
from runner.engine.thread import EngineThread
from runner.model.decision import Verdict
from runner.model.request import Language, Tool
from runner.model.submission import Submission
from runner.sandbox.container.container import Container
from runner.sandbox.container.exec import ExecContainer
from runner.settings.loading import load
from runner.system.places import Places
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from runner.approval.ticket import Ticket
    from runner.engine.engine import Engine

SECONDS = HANGS
FOR_EVER = "import time\nwhile True: time.sleep(0.1)"


class Silence:
    """What the watchdog reports, and a loop that the test blocks."""

    def __init__(self) -> None:
        self.reported: list[float] = []
        self._changed = threading.Condition()
        self._go_on = threading.Event()
        self._blocked = threading.Event()

    def report(self, seconds: float) -> None:
        with self._changed:
            self.reported.append(seconds)
            self._changed.notify_all()

    def until(self, true: Callable[[], bool]) -> None:
        with self._changed:
            assert self._changed.wait_for(true, SECONDS)

    @contextmanager
    def blocking(self, host: EngineThread) -> Iterator[None]:
        host.post(lambda _engine: (self._blocked.set(), self._go_on.wait(SECONDS)))
        assert self._blocked.wait(SECONDS)
        try:
            yield
        finally:
            self._go_on.set()


@pytest.fixture
def silence(monkeypatch: pytest.MonkeyPatch) -> Silence:
    monkeypatch.setattr(watchdog, "BEAT_SECONDS", 0.01)
    monkeypatch.setattr(watchdog, "SILENT_SECONDS", 0.3)
    return Silence()


@contextmanager
def engine_of(home: Path, silence: Silence) -> Iterator[EngineThread]:
    def made() -> Engine:
        places = Places.under(home)
        chosen = {"ASSENT_PORT": "0", "SANDBOX_TYPE": "local"}
        return assembly.build(places, load(places, chosen))

    host = EngineThread(made, silent=silence.report)
    host.start()
    try:
        yield host
    finally:
        assert host.close("The test is over.", SECONDS)


def test_a_loop_that_does_not_come_round_is_reported_until_it_does(home: Path, silence: Silence) -> None:
    with engine_of(home, silence) as host:
        host.call(lambda engine: engine.modes.guard()).result(SECONDS)
        with silence.blocking(host):
            silence.until(lambda: len(silence.reported) > 2 and silence.reported[-1] > 0)
            assert silence.reported[-1] >= 0.3
        silence.until(lambda: silence.reported[-1] == 0)


async def ask(engine: Engine) -> Ticket:
    async with asyncio.timeout(SECONDS):
        while not engine.parts.ledger.is_open:
            await asyncio.sleep(0.01)
    return await engine.submit(Submission("claude", Tool.CODE_EXECUTE, Language.PYTHON, FOR_EVER))


def running(host: EngineThread, home: Path) -> threading.Thread:
    """Have code run in the local sandbox; return the thread that waits for its process."""
    ticket = host.call(ask).result(SECONDS)
    settled = threading.Event()

    def approve(engine: Engine) -> None:
        if ticket.request_id in engine.runs._runs:
            settled.set()
        elif engine.desk.position(ticket.request_id):
            engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.APPROVED, "")

    for _ in range(round(SECONDS * 100)):
        host.post(approve)
        if settled.wait(0.01):
            break
    return host.engine.runs._runs[ticket.request_id]._thread  # type: ignore[attr-defined,no-any-return]


def test_runs_are_ended_while_the_loop_is_blocked(
    home: Path, silence: Silence, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchdog, "LASTING_SECONDS", 0.6)
    with engine_of(home, silence) as host:
        thread = running(host, home)
        with silence.blocking(host):
            thread.join(SECONDS)
            assert not thread.is_alive(), "the run continues"


def test_a_person_ends_runs_of_a_loop_that_is_blocked(home: Path, silence: Silence) -> None:
    with engine_of(home, silence) as host:
        thread = running(host, home)
        with silence.blocking(host):
            host.end_runs()
            thread.join(SECONDS)
            assert not thread.is_alive(), "the run continues"


@pytest.mark.parametrize(("kind", "signal"), [(Container, "SIGKILL"), (ExecContainer, "SIGUSR2")])
def test_a_container_is_killed_without_the_loop(kind: type[Container], signal: str) -> None:
    sent: list[tuple[str, str]] = []

    class Client:
        def submit(self, function: Callable[[object], object]) -> None:
            function(self)

        def kill(self, id: str, name: str) -> None:
            sent.append((id, name))

    container = kind.__new__(kind)
    container._client = Client()  # type: ignore[assignment]
    container.id = "c1"
    container.kill_now()
    assert sent == [("c1", signal)]
