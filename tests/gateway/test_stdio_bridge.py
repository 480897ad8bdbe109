"""`assent mcp` as a process of its own: with and without a console, in both eras, spoken to by the official client."""

from __future__ import annotations

import asyncio
import io
import json
import os
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from runner.gateway import address_file, catalog
from runner.gateway import bridge as carrier
from runner.gateway.own_command import own_command
from runner.gateway.server import Gateway
from runner.identity.agents import Agents
from runner.system.offload import Aside
from runner.system.places import Places
from runner.system.tasks import spawn
from tests.gateway.counter import PaperCounter, Terms
from tests.gateway.stage import AGENT, PRINT, introduction, modern, staged
from tests.gateway.test_mcp_calls import Progress, data, text
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from runner.model.submission import Submission
    from tests.gateway.stage import Stage

pytestmark = pytest.mark.asyncio
START = f"Start it with the command `{own_command()}`, then"


def environment(root: Path, token: str, **more: str) -> dict[str, str]:
    return {"ASSENT_HOME": str(root), "ASSENT_TOKEN": token, "PYTHONPATH": os.getcwd(), **more}


@asynccontextmanager
async def bridged(root: Path, token: str, era: str, **more: str) -> AsyncIterator[Client]:
    """The official client, speaking to the bridge over stdio."""
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "runner.gateway.bridge"], env=environment(root, token, **more)
    )
    async with Client(command, mode=era) as client:  # type: ignore[arg-type]
        yield client


class Pipe:
    """The bridge, spoken to line by line."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def send(self, message: object) -> None:
        assert self.process.stdin is not None
        raw = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(raw + b"\n")
        await self.process.stdin.drain()

    async def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        async with asyncio.timeout(HANGS):
            answer: dict[str, Any] = json.loads(await self.process.stdout.readline())
        return answer

    async def hang_up(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        async with asyncio.timeout(HANGS):
            return await self.process.wait()


@asynccontextmanager
async def piped(root: Path, token: str) -> AsyncIterator[Pipe]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "runner.gateway.bridge",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=environment(root, token),
    )
    pipe = Pipe(process)
    try:
        yield pipe
    finally:
        if process.returncode is None:
            await pipe.hang_up()


async def test_a_call_goes_there_and_comes_back(stage: Stage, tmp_path: Path, era: str) -> None:
    progress = Progress()
    async with bridged(tmp_path, stage.token, era, ASSENT_HOLD="120") as client:
        assert next(tool.name for tool in (await client.list_tools()).tools) == "code_execute"
        answering = spawn(
            "call", client.call_tool("code_execute", {**PRINT, "title": "Größe"}, progress_callback=progress)
        )
        await progress.until("waiting for a person")
        assert progress.told[0][1] == 120
        ticket = await stage.counter.question()
        assert ticket.case.request.title == "Größe"
        stage.counter.run_at_once(ticket, "vier\n")
        assert text(await answering) == "vier"


async def test_each_bridge_is_a_session_of_its_own(
    stage: Stage, tmp_path: Path, era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, submit = [], stage.counter.submit

    async def noted(submission: Submission) -> Any:
        seen.append(submission.session)
        return await submit(submission)

    monkeypatch.setattr(stage.counter, "submit", noted)
    for _ in range(2):
        async with bridged(tmp_path, stage.token, era) as client:
            for _ in range(2):
                await client.call_tool("code_sandbox_info", {})
    assert seen == [1, 1, 2, 2]


async def test_many_calls_at_once(stage: Stage, tmp_path: Path, era: str) -> None:
    async with bridged(tmp_path, stage.token, era) as client:
        calls = [spawn("call", client.call_tool("code_execute", {**PRINT, "title": str(n)})) for n in range(20)]
        await stage.counter.question(20)
        for ticket in reversed(list(stage.counter.tickets.values())):
            stage.counter.run_at_once(ticket, ticket.case.request.title)
        assert [text(result) for result in await asyncio.gather(*calls)] == [str(n) for n in range(20)]


async def test_cancelling_reaches_the_console(stage: Stage, tmp_path: Path, era: str) -> None:
    async with bridged(tmp_path, stage.token, era) as client:
        answering = spawn("call", client.call_tool("code_execute", PRINT))
        await stage.counter.question()
        answering.cancel()
        await stage.counter.until(lambda: stage.counter.withdrawn)
        stage.answers()
        assert text(await client.call_tool("code_execute", PRINT)) == "4"


@pytest.mark.parametrize("end", ["hang up", "kill"])
async def test_a_client_that_ends_withdraws(stage: Stage, tmp_path: Path, end: str) -> None:
    async with piped(tmp_path, stage.token) as pipe:
        await pipe.send(modern("tools/call", {"name": "code_execute", "arguments": PRINT}))
        await stage.counter.question()
        if end == "kill":
            pipe.process.kill()
        else:
            assert await pipe.hang_up() == 0
        await stage.counter.until(lambda: stage.counter.withdrawn)
        await pipe.process.wait()


async def test_without_a_console_everything_says_so(tmp_path: Path, era: str) -> None:
    async with bridged(tmp_path, "assent_x", era) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [
            name for name in catalog.SCHEMAS if name != "approve"
        ]
        result = await client.call_tool("code_execute", PRINT)
    assert result.is_error
    assert START in text(result)
    assert data(result)["status"] == "unavailable"


async def test_a_console_that_died_counts_as_none(tmp_path: Path, era: str) -> None:
    places = Places.under(tmp_path)
    async with staged(tmp_path) as stage:
        port = stage.port
    address_file.write(places, address_file.ConsoleAddress("127.0.0.1", port, 1, 0.0))
    async with bridged(tmp_path, "assent_x", era) as client:
        assert START in text(await client.call_tool("code_execute", PRINT))


async def test_a_console_that_starts_later_is_found(tmp_path: Path, era: str) -> None:
    async with staged(tmp_path) as stage:
        token, agents, port = stage.token, stage.agents, stage.port
    async with bridged(tmp_path, token, era) as client:
        assert START in text(await client.call_tool("code_execute", PRINT))
        gateway = Gateway(stage.counter, agents, Terms(port=port), stage.places, Aside())
        await gateway.open()
        stage.answers()
        try:
            assert text(await client.call_tool("code_execute", PRINT)) == "4"
        finally:
            await gateway.close("The console is closing.")
        assert START in text(await client.call_tool("code_execute", PRINT))


async def test_a_console_that_was_restarted_is_found(tmp_path: Path, era: str) -> None:
    async with staged(tmp_path) as stage:
        stage.answers()
        async with bridged(tmp_path, stage.token, era) as client:
            assert text(await client.call_tool("code_execute", PRINT)) == "4"
            await stage.gateway.close("The console is closing.")
            gateway = Gateway(stage.counter, stage.agents, Terms(), stage.places, Aside())
            await gateway.open()
            try:
                assert text(await client.call_tool("code_execute", PRINT)) == "4"
            finally:
                await gateway.close("The console is closing.")


async def test_closing_while_a_call_waits_is_answered(stage: Stage, tmp_path: Path, era: str) -> None:
    async with bridged(tmp_path, stage.token, era) as client:
        answering = spawn("call", client.call_tool("code_execute", PRINT))
        await stage.counter.question()
        await stage.gateway.close("The console is closing.")
        assert text(await answering).startswith("The console is closing.")


@pytest.mark.parametrize(
    ("token", "told"), [("", "ASSENT_TOKEN is not set"), ("assent_wrong", "wrong or revoked token")]
)
async def test_a_token_that_will_not_do(stage: Stage, tmp_path: Path, token: str, told: str) -> None:
    async with piped(tmp_path, token) as pipe:
        await pipe.send(modern("tools/call", {"name": "code_execute", "arguments": PRINT}))
        answer = await pipe.read()
    assert answer["result"]["isError"] is True
    assert told in answer["result"]["content"][0]["text"]
    assert stage.counter.tickets == {}


async def test_lines_that_are_no_messages(stage: Stage, tmp_path: Path) -> None:
    async with piped(tmp_path, stage.token) as pipe:
        for line in (b"{", b"\xff", b"[]", b"[" * 100_000, b"7"):
            await pipe.send(line)
            assert (await pipe.read())["error"]["code"] in (-32700, -32600)
        await pipe.send(b"")
        await pipe.send(modern("tools/call", request_id="odd") | {"params": [1]})
        assert (await pipe.read())["result"]["isError"]
        await pipe.send({"id": 1})
        assert "error" in await pipe.read()
        await pipe.send(introduction())
        assert (await pipe.read())["result"]["serverInfo"]["name"] == "assent"


INCOMPLETE = pytest.mark.parametrize("params", [None, {}, {"protocolVersion": 7}, [1]])
CALL = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "code_execute", "arguments": PRINT}}


@INCOMPLETE
async def test_what_follows_a_handshake_without_a_version_is_answered(
    stage: Stage, tmp_path: Path, params: object
) -> None:
    stage.answers()
    async with piped(tmp_path, stage.token) as pipe:
        await pipe.send(introduction() | {"params": params})
        assert "error" in await pipe.read()
        await pipe.send(CALL)
        answer = await pipe.read()
        assert answer["id"] == 2 and answer.keys() & {"result", "error"}
        await pipe.send(introduction())
        assert (await pipe.read())["result"]["serverInfo"]["name"] == "assent"


@INCOMPLETE
async def test_a_handshake_without_a_version_is_completed_for_a_console_that_starts_later(
    tmp_path: Path, params: object
) -> None:
    token = Agents(Places.under(tmp_path)).add(AGENT)
    async with piped(tmp_path, token) as pipe:
        await pipe.send(introduction() | {"params": params})
        assert (await pipe.read())["result"]["protocolVersion"] == "2025-11-25"
        counter = PaperCounter(Terms())
        gateway = Gateway(counter, Agents(Places.under(tmp_path)), counter.terms, Places.under(tmp_path), Aside())
        await gateway.open()
        try:
            await pipe.send({**CALL, "params": {"name": "code_result", "arguments": {"request_id": "none"}}})
            answer = await pipe.read()
        finally:
            await gateway.close("The console is closing.")
    assert answer["id"] == 2 and "connection to Assent broke" not in answer["result"]["content"][0]["text"]


async def test_a_bug_in_the_bridge_answers_the_request(tmp_path: Path) -> None:
    """No request may be left without an answer, or the client waits for ever."""
    out = io.BytesIO()
    bridge = carrier.StdioBridge(Places.under(tmp_path), "token", "", carrier.StdioClient(out))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bridge, "_exchange", lambda _message, again: {}["protocolVersion"])
        bridge.carry(CALL)
    answer = json.loads(out.getvalue())
    assert answer["id"] == 2 and answer["result"]["isError"]


async def test_a_message_over_the_limit(stage: Stage, tmp_path: Path) -> None:
    async with piped(tmp_path, stage.token) as pipe:
        await pipe.send(modern("tools/call", {"name": "code_execute", "arguments": {**PRINT, "code": "x" * (8 << 20)}}))
        answer = await pipe.read()
    assert "larger than" in answer["result"]["content"][0]["text"]


async def test_no_token_is_sent_to_another_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with staged(tmp_path) as stage:
        assert not address_file.foreign(stage.port)
        monkeypatch.setattr(os, "getuid", lambda: 4_000_000)
        assert address_file.foreign(stage.port)
    assert not address_file.foreign(stage.port), "nobody listens any more"


async def test_the_bridge_asks_who_listens_before_it_sends_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places, out = Places.under(tmp_path), io.BytesIO()
    address_file.write(places, address_file.ConsoleAddress("127.0.0.1", 17317, os.getpid(), 0.0))
    bridge = carrier.StdioBridge(places, "assent_x", "", carrier.StdioClient(out))
    monkeypatch.setattr(address_file, "foreign", lambda port: port == 17317)
    monkeypatch.setattr(bridge, "_opened", lambda *_: pytest.fail("the token was sent"))
    bridge.carry(CALL)
    assert json.loads(out.getvalue())["result"]["content"][0]["text"].startswith(carrier.FOREIGN)


async def test_the_bridge_imports_little(tmp_path: Path) -> None:
    """Its start is what an agent waits for; the SDK alone would take half a second."""
    code = "import sys, runner.gateway.bridge as b; print(*sorted(m.split('.')[0] for m in sys.modules))"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
    names = set((await process.communicate())[0].decode().split())
    assert not names & {"mcp", "pydantic", "anyio", "uvicorn", "asyncio", "psutil", "PySide6", "yaml"}
