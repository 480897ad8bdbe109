"""The engine's thread where its start fails: told, and a person still stops, locks down and closes."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from runner import assembly
from runner.approval.modes import Mode
from runner.engine.foundation.open_ledger import OpenLedger
from runner.engine.foundation.parts import Parts
from runner.engine.foundation.sandbox_choice import SandboxChoice
from runner.engine.thread import EngineThread
from runner.model.events import EngineTroubled, GatewayOpened, ModeChanged
from runner.settings.loading import load
from runner.system.places import Places
from tests.doubles import HeldSandbox
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.engine.engine import Engine
    from runner.model.events import Event

SECONDS = HANGS
"""More than anything here takes."""


class Heard:
    """What the engine's thread tells."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.faults: list[tuple[BaseException, str]] = []

    def trouble(self, room: str) -> str:
        """What was said of `room` first."""
        found = [event.what for event in self.events if isinstance(event, EngineTroubled) and event.area == room]
        return found[0] if found else ""


@contextmanager
def thread(home: Path, port: int = 0) -> Iterator[tuple[EngineThread, Heard]]:
    """An engine on its thread, once its start is over."""
    heard = Heard()

    def made() -> Engine:
        places = Places.under(home)
        engine = assembly.build(places, load(places, {"ASSENT_PORT": str(port)}), (HeldSandbox(),))
        engine.listen(heard.events.append)
        return engine

    host = EngineThread(made, lambda error, where: heard.faults.append((error, where)))
    host.start()
    try:
        yield host, heard
    finally:
        assert host.close("The test is over.", SECONDS)
        assert not host.started and host.ended


def works(host: EngineThread, heard: Heard) -> None:
    """Everything that a person needs when something is wrong."""
    assert host.engine and host.started and not host.ended
    host.call(lambda engine: engine.modes.lock()).result(SECONDS)
    assert any(isinstance(event, ModeChanged) and event.mode == Mode.LOCKDOWN for event in heard.events)
    host.post(lambda engine: engine.stop_all("Stopped."))
    assert host.call(lambda engine: engine.membership.add("codex")).result(SECONDS).startswith("assent_")


@pytest.mark.errors_expected
@pytest.mark.parametrize(
    ("area", "owner", "method"),
    [
        ("gateway", Parts, "open_gateway"),
        ("ledger", OpenLedger, "open"),
        ("sandbox", SandboxChoice, "open"),
        ("secrets", OpenLedger, "seal"),
    ],
)
def test_a_part_that_fails_in_an_unknown_way_is_reported_and_the_rest_opens(
    home: Path, monkeypatch: pytest.MonkeyPatch, area: str, owner: type, method: str
) -> None:
    async def fail(*_: object) -> None:
        raise ModuleNotFoundError("No module named 'psutil'")

    monkeypatch.setattr(owner, method, fail)
    with thread(home) as (host, heard):
        works(host, heard)
    assert heard.trouble(area).endswith("ModuleNotFoundError: No module named 'psutil'.")
    assert [type(error) for error, _ in heard.faults] == [ModuleNotFoundError]


@pytest.mark.errors_expected
def test_a_start_that_fails_as_a_whole_is_reported_and_survived(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(_: OpenLedger) -> list[object]:
        raise ModuleNotFoundError("No module named 'psutil'")

    monkeypatch.setattr(OpenLedger, "left_open", fail)
    with thread(home) as (host, heard):
        works(host, heard)
    assert heard.trouble("start").endswith("ModuleNotFoundError: No module named 'psutil'.")
    assert [(type(error), where) for error, where in heard.faults] == [(ModuleNotFoundError, "while starting")]


def test_a_port_that_is_taken_is_reported_with_its_holder_and_another_one_serves(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
        with thread(home, port) as (host, heard):
            works(host, heard)
    assert heard.trouble("port").startswith(f"Port {port} is taken by ") and heard.trouble("gateway") == ""
    [address] = [event.address for event in heard.events if isinstance(event, GatewayOpened)]
    assert f":{port}/" not in address and address.split(":")[2].partition("/")[0] in heard.trouble("port")
    assert heard.faults == []


def test_a_keyring_that_asks_for_its_password_does_not_hold_the_end(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, answered = threading.Event(), threading.Event()

    def wait(_secrets: object) -> bytes:
        asked.set()
        assert answered.wait(SECONDS)
        return b"x" * 32

    monkeypatch.setattr("runner.identity.signer.signing_key", wait)
    try:
        with thread(home) as (host, _heard):
            assert asked.wait(SECONDS)
            assert host.close("The test is over.", 5.0), "the console would be ended with a failure"
    finally:
        answered.set()


@pytest.mark.errors_expected
def test_an_engine_that_could_not_be_built_is_over(home: Path) -> None:
    def made() -> Engine:
        raise ModuleNotFoundError("No module named 'psutil'")

    faults: list[BaseException] = []
    host = EngineThread(made, lambda error, _where: faults.append(error))
    host.start()
    assert host.close("The test is over.", SECONDS)
    host.post(lambda engine: engine.stop_all("Stopped."))
    assert host.ended and not host.started
    assert [type(error) for error in faults] == [ModuleNotFoundError]
