"""What a program at work reports, and how it is spoken to."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

import pytest

from runner.model.errors import KnownError
from runner.model.network import Contact
from runner.model.work import CommandAnswered, CommandSeen, HostSeen, WorkEnded, WorkSession, WorkStarted, after
from runner.work import control
from runner.work.log import NAME, WorkLog, WorkReading

if TYPE_CHECKING:
    from pathlib import Path

STARTED = WorkStarted(1.0, ("claude",), "/p", "claude-code", ("api.example",))
HELD = CommandSeen(2.0, 1, "rm -rf /\n\x1b]52;c;x\x07", "/p", level="CRITICAL", held=True)
REFUSED = HostSeen(3.0, Contact("evil.example", 443, allowed=False, why="is not allowed"))


def test_a_reader_gets_what_was_written_since(tmp_path: Path) -> None:
    log, reading = WorkLog(tmp_path), WorkReading(tmp_path)
    assert reading.new() == []
    log.add(STARTED)
    log.add(HELD)
    assert reading.new() == [STARTED, HELD]
    log.add(REFUSED)
    assert reading.new() == [REFUSED]
    log.close()


def test_damaged_and_unfinished_lines_are_left_out(tmp_path: Path) -> None:
    log, reading = WorkLog(tmp_path), WorkReading(tmp_path)
    with (tmp_path / NAME).open("ab") as file:
        file.write(b'{"kind": "command"}\nnonsense\n{"kind": 5}\n{"kind": "')
        file.flush()
        assert reading.new() == []
        file.write(b'x"}\n')
    log.add(STARTED)
    assert reading.new() == [STARTED]
    log.close()


def test_a_session_is_what_its_events_say() -> None:
    session = WorkSession("p-1", "/p", ("claude",), 0.0)
    for event in (STARTED, HELD, REFUSED, REFUSED):
        session = after(session, event)
    assert (session.client, session.command_count, session.held, session.contacts) == (
        "claude-code",
        1,
        (HELD,),
        (REFUSED,),
    )
    session = after(session, CommandAnswered(4.0, 1, run=False))
    assert session.held == ()
    assert after(session, WorkEnded(5.0, 0)).ended == WorkEnded(5.0, 0)


def test_orders_are_carried_out_or_refused(tmp_path: Path) -> None:
    def opened(host: str) -> dict[str, object]:
        if host == "no.example":
            raise KnownError("It has ended.")
        return {"host": host}

    listening = control.ControlSocket(control.place(tmp_path, "p-1"), {"open": opened})
    with contextlib.closing(listening):
        assert control.order(tmp_path, "p-1", "open", host="a.example") == {"host": "a.example"}
        with pytest.raises(KnownError, match="It has ended"):
            control.order(tmp_path, "p-1", "open", host="no.example")
        for do, more in (("else", {}), ("open", {}), ("open", {"host": 1, "more": 2})):
            with pytest.raises(KnownError, match="not understood"):
                control.order(tmp_path, "p-1", do, **more)
    with pytest.raises(KnownError, match="no longer at work"):
        control.order(tmp_path, "p-1", "open", host="a.example")
    assert "orders to the program" not in [one.name for one in threading.enumerate()]


def test_a_long_path_is_no_hindrance(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 120)
    listening = control.ControlSocket(control.place(deep, "p-1"), {"usage": lambda: {"processes": 3}})
    with contextlib.closing(listening):
        assert control.order(deep, "p-1", "usage") == {"processes": 3}


def test_hosts_do_not_use_up_the_room_for_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = WorkLog(tmp_path)
    monkeypatch.setattr("runner.work.log.MOST_OF_HOSTS", 1_000)
    monkeypatch.setattr("runner.work.log.MOST_BYTES", 3_000)
    assert not all(log.add(REFUSED) for _ in range(20))
    assert log.add(HELD)
    assert not all(log.add(HELD) for _ in range(20))
    assert log.add(WorkEnded(5.0, 0))
    log.close()
