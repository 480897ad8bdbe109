"""kill -9 of a console in the middle of a call, at each moment, with the official client over HTTP and `assent mcp`."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError

from runner.audit.ledger.verify import verify
from runner.engine.lifecycle.recovery import INTERRUPTED, LOST
from runner.gateway import bridge
from runner.identity.agents import Agents
from runner.model.decision import Decider
from runner.model.result import Outcome
from runner.system.places import Places
from runner.system.tasks import spawn
from tests.components import require
from tests.path.dying_console import ANSWERING, NOBODY, RUNNING
from tests.patience import HANGS
from tests.recorded import records

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping
    from pathlib import Path

    from mcp_types import CallToolResult

    from runner.audit.history.search import CaseRecord

pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(180)]
AGENT = "claude"
ASKED = f"print('never') {NOBODY}"
WAYS = ("http", "http of the handshake era", "bridge")


class House:
    """One home folder and one port; the console there is started again after each of its ends."""

    def __init__(self, home: Path) -> None:
        self.places = Places.under(home)
        self.places.make()
        self.token = Agents(self.places).add(AGENT)
        self.log = home / "starts.log"
        self.log.touch()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.home = home
        self.console: subprocess.Popen[str] | None = None

    def start(self, hold: float = HANGS) -> None:
        """Start a console that answers a call `pending` after `hold` seconds; agents can reach it on return."""
        environment = {
            **os.environ,
            "ASSENT_HOME": str(self.home),
            "ASSENT_PORT": str(self.port),
            "ASSENT_HOLD_SECONDS": str(hold),
            "SANDBOX_TYPE": "local",
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        }
        command, pipe = [sys.executable, "-m", "tests.path.dying_console", str(self.log)], subprocess.PIPE
        self.console = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True)
        assert self.console.stdout is not None
        line = next((line for line in self.console.stdout if line != "asked\n"), "")  # what was left open, again
        assert line.startswith("http"), "the console did not start"

    def return_to(self) -> None:
        """Have the person come back to it."""
        assert self.console is not None and self.console.stdin is not None
        self.console.stdin.write("\n")
        self.console.stdin.flush()

    def ended(self) -> int:
        """Wait for the end of the console; return its exit code."""
        assert self.console is not None
        with self.console as console:
            return console.wait(HANGS)

    def kill_asked(self, questions: int) -> None:
        """Kill it once so many questions are recorded: what has only arrived may be on its way to the disk."""
        assert self.console is not None and self.console.stdout is not None
        for _ in range(questions):
            assert self.console.stdout.readline() == "asked\n"
        self.console.kill()

    def kill(self) -> None:
        assert self.console is not None
        self.console.kill()
        self.ended()

    @asynccontextmanager
    async def client(self, way: str) -> AsyncIterator[Client]:
        if way == "bridge":
            variables = {"ASSENT_HOME": str(self.home), "ASSENT_TOKEN": self.token}
            async with Client(
                StdioServerParameters(command=sys.executable, args=["-m", "app", "mcp"], env=variables)
            ) as client:
                yield client
            return
        http = create_mcp_http_client(headers={"Authorization": f"Bearer {self.token}"})
        transport = streamable_http_client(f"http://127.0.0.1:{self.port}/mcp", http_client=http)
        async with http, Client(transport, mode="auto" if way == "http" else "legacy") as client:
            yield client

    def record(self, code: str) -> CaseRecord:
        (found,) = (one for one in records(self.places.ledger) if one.request.code == code)
        return found

    def starts(self, code: str) -> int:
        return self.log.read_text().split().count(self.record(code).request.id)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    require("bubblewrap")
    # Readable by all: as root, code runs as another user.
    tmp_path.chmod(0o755)
    house = House(tmp_path / "home")
    yield house
    if house.console is not None and house.console.poll() is None:
        house.kill()


async def run(client: Client, code: str, waits: Callable[[], object] = bool) -> CallToolResult:
    """Call `code_execute`; `waits` is called once Assent says that the call waits."""

    async def progress(_done: float, _total: float | None, _message: str | None) -> None:
        waits()

    async with asyncio.timeout(HANGS):
        arguments = {"language": "python", "code": code}
        return await client.call_tool("code_execute", arguments, progress_callback=progress)


async def broken_off(client: Client, way: str, code: str, waits: Callable[[], object]) -> None:
    """Make a call in which the console is killed: the client hears of it, and not that the code ran."""
    if way == "bridge":
        answer = await run(client, code, waits)
        assert (text(answer), answer.is_error) == (bridge.LOST, True)
    else:
        with pytest.raises(MCPError):
            await run(client, code, waits)


async def killed(house: House, clients: Mapping[str, Client], code: str) -> None:
    """Make such a call in each way at the same time."""
    waiting = [asyncio.Event() for _ in clients]
    calls = [
        spawn(way, broken_off(client, way, of(way, code), waits.set))
        for (way, client), waits in zip(clients.items(), waiting, strict=True)
    ]
    if code == ASKED:
        for one in waiting:
            await asyncio.wait_for(one.wait(), HANGS)
        await asyncio.to_thread(house.kill_asked, len(calls))
    await asyncio.gather(*calls)
    assert await asyncio.to_thread(house.ended) == -signal.SIGKILL


async def works(clients: Mapping[str, Client], number: int) -> None:
    """Make a call by each of the connections that were there before: nobody has to start the agent again."""
    for way, client in clients.items():
        answer = await run(client, of(way, f"print({number} + 41)"))
        assert (text(answer), answer.is_error) == (str(number + 41), False), way


def of(way: str, code: str) -> str:
    """Return code that no other way asks for: one that asks for the same joins the call that is there."""
    return f"{code} # {way}"


def text(result: CallToolResult) -> str:
    return "".join(part.text for part in result.content if part.type == "text")


async def test_what_a_killed_console_was_doing_is_known_and_not_done_twice(house: House) -> None:
    running, answering = f"import time\ntime.sleep(60) {RUNNING}", f"print(1) {ANSWERING}"
    house.start()
    async with AsyncExitStack() as stack:
        clients = {way: await stack.enter_async_context(house.client(way)) for way in WAYS}
        for number, code in enumerate((ASKED, running)):
            await killed(house, clients, code)
            house.start()
            await works(clients, number)
        # One after the other: it dies with the first answer.
        for number, (way, client) in enumerate(clients.items(), 2):
            await killed(house, {way: client}, answering)
            house.start(hold=HANGS if number < len(WAYS) + 1 else 1.0)
            await works({way: client}, number)
        ids = {way: pending(await run(client, of(way, NOBODY))) for way, client in clients.items()}
        house.kill()
        house.start()
        house.return_to()
        for way, client in clients.items():
            late = await client.call_tool("code_result", {"id": ids[way]})
            assert (text(late), late.is_error) == ("(no output)", False), way
    house.kill()
    for way in WAYS:
        never, lost, done = (house.record(of(way, code)) for code in (ASKED, running, answering))
        assert never.decision is not None and never.result is None
        assert (never.decision.by, never.decision.reason) == (Decider.ENGINE, INTERRUPTED)
        assert lost.result is not None and done.result is not None
        assert (lost.result.outcome, lost.result.error) == (Outcome.ENGINE_LOST, LOST)
        assert (done.result.outcome, done.result.stdout) == (Outcome.OK, "1\n")
        assert [house.starts(of(way, code)) for code in (ASKED, running, answering, NOBODY)] == [0, 1, 1, 1]
    verdict = verify(house.places.ledger)
    assert verdict.ok, verdict.what


def pending(answer: CallToolResult) -> str:
    """Return the id by which a call that waits for a person can be fetched."""
    found = re.search(r"\b[0-9a-f]{32}\b", text(answer))
    assert found is not None, answer
    return found[0]
