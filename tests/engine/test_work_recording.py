"""What programs at work report, in the ledger: each event once, whenever a console is open or killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from runner.assembly import build
from runner.audit.ledger.ledger import Ledger, LedgerFailed
from runner.audit.ledger.verify import verify
from runner.engine.work.recording import MOST_IN_ENTRY
from runner.model.network import Contact
from runner.model.work import CommandAnswered, CommandSeen, HostOpened, HostSeen
from runner.settings.loading import load
from tests.engine.test_at_work import FakeProgram, a_copy
from tests.engine.test_work_deeds import ROOT, kinds, recorded

if TYPE_CHECKING:
    from pathlib import Path

    from runner.engine.engine import Engine
    from tests.stages.kept import House

pytestmark = pytest.mark.asyncio


def command(number: int, text: str = "make test", **more: Any) -> CommandSeen:
    return CommandSeen(5.0, number, text, "/p", sentence="Runs the tests.", level="LOW", **more)


def commands_in(ledger: Path) -> list[int]:
    return [one["number"] for _, body in recorded(ledger) for one in body.get("commands", ())]


async def next_console(house: House) -> Engine:
    engine = build(house.places, load(house.places, {}), ())
    await engine.start(gateway=False)
    await engine.work.look()
    return engine


async def test_what_a_program_does_is_recorded_with_what_was_decided(house: House, tmp_path: Path) -> None:
    program = FakeProgram(a_copy(house, tmp_path))
    program.log.add(command(1))
    program.log.add(CommandSeen(6.0, 2, "rm -rf ~", "/p", "Deletes.", "CRITICAL", held=True))
    program.log.add(CommandAnswered(7.0, 2, run=False, why="no"))
    for times in (1, 2, 3):
        program.log.add(HostSeen(8.0, Contact("evil.example", 443, allowed=False, why="is not allowed", times=times)))
    program.log.add(HostSeen(8.0, Contact("quiet.example", 443, allowed=False), quiet=True))
    program.log.add(HostOpened(9.0, "good.example", 443, always=True))
    await house.engine.work.look()
    program.log.add(HostSeen(9.0, Contact("evil.example", 443, allowed=False, why="is not allowed", times=4)))
    program.close(3)
    await house.engine.work.look()
    (_, started), (_, seen), (_, ended) = recorded(house.places.ledger)
    assert kinds(house) == ["work-started", "work-seen", "work-ended"]
    for body in (started, seen, ended):
        assert (body["name"], body["project"]) == (program.copy.name, str(program.copy.project))
    assert "later" not in started and started["program"] == ["claude"] and started["hosts"] == ["api.example"]
    assert [(one["text"], one["sentence"], one["level"]) for one in seen["commands"]] == [
        ("make test", "Runs the tests.", "LOW"),
        ("rm -rf ~", "Deletes.", "CRITICAL"),
    ]
    assert seen["answered"] == [{"number": 2, "run": False, "why": "no"}]
    assert [(one["host"], one["times"]) for one in seen["hosts"]] == [("evil.example", 3)]
    assert seen["opened"] == [{"host": "good.example", "port": 443, "always": True}]
    assert (ended["code"], ended["client"]) == (3, "claude-code")


async def test_a_thousand_commands_are_few_entries_without_credentials(house: House, tmp_path: Path) -> None:
    program = FakeProgram(a_copy(house, tmp_path))
    token = f"ghp_{'a1B2' * 9}"
    for number in range(1, 1001):
        program.log.add(command(number, f"curl -H 'Authorization: {token}'" if number == 7 else f"echo {number}"))
    await house.engine.work.look()
    assert kinds(house) == ["work-started", *["work-seen"] * (1000 // MOST_IN_ENTRY)]
    assert commands_in(house.places.ledger) == [*range(1, 1001)]
    assert token not in str(recorded(house.places.ledger))
    program.close()


async def test_what_happened_without_a_console_is_recorded_later_and_once(house: House, tmp_path: Path) -> None:
    program = FakeProgram(a_copy(house, tmp_path))
    program.log.add(command(1))
    await house.engine.work.look()
    await house.engine.close("for another console")
    program.log.add(command(2))
    program.close()
    engine = await next_console(house)
    last = recorded(house.places.ledger)
    assert [kind for kind, _ in last] == ["work-started", "work-seen", "work-seen", "work-ended"]
    assert commands_in(house.places.ledger) == [1, 2]
    assert last[2][1]["later"]
    await engine.close("for another console")
    engine = await next_console(house)
    assert recorded(house.places.ledger) == last
    await engine.close("the test is over")
    assert verify(house.places.ledger).ok


async def test_what_cannot_be_written_is_recorded_later_and_once(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = FakeProgram(a_copy(house, tmp_path))
    for number in range(1, 500):
        program.log.add(command(number))
    really, left = Ledger.append, 2

    async def append(self: Ledger, kind: str, request_id: str, body: Any, **how: bool) -> int:
        nonlocal left
        if kind.startswith("work-"):
            left -= 1
            if left < 0:
                raise LedgerFailed("The disk is full.")
        return await really(self, kind, request_id, body, **how)

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "append", append)
        await house.engine.work.look()
        assert kinds(house) == ["work-started", "work-seen"], "a part of it"
    house.engine._bulletin.clear("ledger")
    await house.engine.work.look()
    assert commands_in(house.places.ledger) == [*range(1, 500)]
    program.close()


CONSOLE = """
import asyncio, os, signal, sys
from pathlib import Path
from runner.assembly import build
from runner.audit.ledger.ledger import Ledger
from runner.settings.loading import load
from runner.system.places import Places

places = Places.under(Path(sys.argv[1]))
really = Ledger.append


async def append(self, kind, *rest, **how):
    number = await really(self, kind, *rest, **how)
    if kind == "work-seen":
        os.kill(os.getpid(), signal.SIGKILL)
    return number


async def main():
    Ledger.append = append
    engine = build(places, load(places, {}), ())
    await engine.start(gateway=False)
    await asyncio.sleep(60)

asyncio.run(main())
"""


async def test_a_console_killed_while_it_records_leaves_nothing_out_and_nothing_twice(
    house: House, tmp_path: Path
) -> None:
    await house.engine.close("for another console")
    program = FakeProgram(a_copy(house, tmp_path))
    for number in range(1, 900):
        program.log.add(command(number))
    for _ in range(2):
        program.log.add(command(900))
        words = [sys.executable, "-c", CONSOLE, str(house.places.config.parent)]
        more = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = await asyncio.to_thread(
            subprocess.run, words, cwd=ROOT, env=more, stderr=subprocess.PIPE, timeout=120, check=False
        )
        assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    program.close()
    engine = await next_console(house)
    assert commands_in(house.places.ledger) == [*range(1, 901), 900]
    assert [kind for kind, _ in recorded(house.places.ledger)].count("work-ended") == 1
    await engine.close("the test is over")
