"""The door of a program at work to the console: how much memory whoever is in the rings can make it take."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import pytest

from runner.gateway import session_bridge
from runner.gateway.limits import CallLimits, largest_message
from runner.settings.loading import load
from runner.system.places import Places
from runner.system.socket_address import short_address
from runner.work import console_door
from runner.work.console_door import DOOR, FOLDER, ConsoleDoor
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LONGEST = 300_000


class Client:
    """A connection through the door."""

    def __init__(self, copy: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(HANGS)
        with short_address(copy / FOLDER / DOOR) as address:
            self._socket.connect(address)
        self._read = self._socket.makefile("rb")
        self.send(b"60\n")

    def send(self, data: bytes) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it may be refused before all is sent
            self._socket.sendall(data)

    def answer(self) -> Any:
        """Return the next answer; None where the connection is closed."""
        try:
            line = self._read.readline()
        except ConnectionResetError:
            return None
        return json.loads(line) if line else None

    def close(self) -> None:
        self._read.close()
        self._socket.close()


def call(number: int, size: int) -> bytes:
    body = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": ""}}
    return json.dumps({**body, "more": "x" * size}).encode() + b"\n"


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(console_door, "BESIDES", 0)
    folder = tmp_path / "copy"
    folder.mkdir()
    return folder


@contextlib.contextmanager
def opened(copy: Path, patience: float = HANGS) -> Iterator[ConsoleDoor]:
    door = ConsoleDoor(copy, partial(session_bridge.serve, Places.standard(), "t", "p-1", "k"), LONGEST, patience)
    try:
        yield door
    finally:
        door.close()


def all_given_back(door: ConsoleDoor) -> bool:
    with door.under_way._changed:
        return door.under_way._changed.wait_for(lambda: door.under_way.taken == 0, HANGS)


def test_the_longest_message_is_the_one_that_the_console_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load(Places.standard(), {}).settings
    assert CallLimits(settings, lambda _agent: 0).largest_message == largest_message(settings.max_code_kb) < 6 << 20


def test_a_message_that_is_too_long_is_refused_before_it_is_parsed(copy: Path) -> None:
    with opened(copy) as door:
        client = Client(copy)
        sending = threading.Thread(target=client.send, args=(b"[" + b"{}," * LONGEST + b"{}]\n",), daemon=True)
        sending.start()
        said = client.answer()
        assert "longer than" in said["error"]["message"] and said["id"] is None
        assert client.answer() is None
        sending.join()
        client.close()
        assert all_given_back(door)
        other = Client(copy)
        other.send(call(1, LONGEST - 1_000))
        assert other.answer()["id"] == 1
        other.close()


def test_each_message_gives_its_room_back(copy: Path) -> None:
    with opened(copy) as door:
        client = Client(copy)
        blank = b" " * 200_000
        lines = (b"\n", blank + b"\n", b"x" + blank + b"\n", b"[" + blank + b"]\n", call(1, 200_000))
        for _ in range(3):
            for line in lines:
                client.send(line)
        assert [client.answer().get("id") for _ in range(9)].count(1) == 3
        client.send(b"x" * 200_000)
        client.close()
        assert all_given_back(door)


def test_what_is_under_way_is_bounded_over_all_connections(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken, go = threading.Semaphore(0), threading.Event()
    really = session_bridge.SessionBridge._exchange

    def exchange(self: session_bridge.SessionBridge, message: dict[str, Any], *, again: bool) -> None:
        taken.release()
        assert go.wait(HANGS)
        really(self, message, again=again)

    monkeypatch.setattr(session_bridge.SessionBridge, "_exchange", exchange)
    with opened(copy, patience=0.0) as door:
        first, second, third = Client(copy), Client(copy), Client(copy)
        first.send(call(1, 200_000))
        assert taken.acquire(timeout=HANGS)
        sending = threading.Thread(target=second.send, args=(call(2, 200_000),), daemon=True)
        sending.start()
        said = second.answer()
        assert "too large together" in said["error"]["message"] and second.answer() is None
        third.send(call(3, 10_000))
        assert taken.acquire(timeout=HANGS), "there is room for a small one"
        go.set()
        sending.join()
        assert first.answer()["id"] == 1 and third.answer()["id"] == 3
        for client in (first, second, third):
            client.close()
        assert all_given_back(door)


def test_a_message_waits_for_room(copy: Path) -> None:
    with opened(copy) as door:
        first, second = Client(copy), Client(copy)
        assert door.under_way.take(LONGEST)
        second.send(call(2, 10_000))
        first.close()
        door.under_way.give_back(LONGEST)
        assert second.answer()["id"] == 2
        second.close()


def test_an_introduction_that_is_kept_is_short(copy: Path) -> None:
    with opened(copy) as door:
        client = Client(copy)
        body = {"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {"x": [{}] * 50_000}}
        client.send(json.dumps(body).encode() + b"\n")
        said = client.answer()
        assert said["id"] == 7 and "initialize" in said["error"]["message"]
        client.close()
        assert all_given_back(door)


def test_a_client_that_is_gone_in_the_middle_of_an_answer_takes_no_room(copy: Path) -> None:
    gone = threading.Event()

    def serve(lines: Iterator[bytes], out: BinaryIO, hold: str, done: Any) -> None:
        for line in lines:
            done(len(line))
        gone.set()

    door = ConsoleDoor(copy, serve, LONGEST)
    client = Client(copy)
    client.send(call(1, 200_000) + b"x" * 100_000)
    client.close()
    assert gone.wait(HANGS) and all_given_back(door)
    door.close()
