"""A call that needs nobody, over HTTP and the stdio bridge, against a bare MCP server that does nothing.

And one that runs remembered code, against that server and the same run in the sandbox alone.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from runner.model.decision import Verdict
from runner.model.events import QuestionAsked
from runner.model.request import Language
from runner.policy.grants import MOST_USES_HIGH, Choice, Subject
from runner.sandbox.contract import Job
from runner.sandbox.local.sandbox import LocalSandbox
from runner.system.places import Places
from runner.system.tasks import spawn
from tests.bench.row import Row

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams

    from runner.engine.engine import Engine
    from runner.model.events import Event

TOOL = "code_sandbox_info"
CALLS, FIRST = 200, 20
EXTRA = 5.0
"""Milliseconds that a call may take more than one of the bare server."""
RUNS = 60
"""Calls that run code: what is HIGH is remembered for 100 uses."""
MOST_OF_A_RUN = 1.0
"""What Assent adds to a run, as a share of that run in its sandbox and a call that does nothing."""
CODE = "print('hello')\n"
SETTINGS = {
    "ASSENT_PORT": "0",
    "ASSENT_RATE_PER_MINUTE": "100000",
    "ASSENT_BURST": "100000",
    "SANDBOX_TYPE": "local",
    "ASSENT_SECRETS_FILE": "true",
}
AGENT = "bench"


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="assent-bench-") as home, _served(home) as (bare, address, token):
        yield from asyncio.run(_measured(home, bare, address, token))


async def _measured(home: str, bare: str, address: str, token: str) -> list[Row]:
    bridge = StdioServerParameters(
        command=sys.executable, args=["-m", "app", "mcp"], env={"ASSENT_HOME": home, "ASSENT_TOKEN": token}
    )
    nothing = StdioServerParameters(command=sys.executable, args=["-m", __name__, "stdio"])
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        clients = {
            "bare": await enter(_by_http(bare, "none")),
            "HTTP": await enter(_by_http(address, token)),
            "bare stdio": await enter(Client(nothing)),
            "stdio bridge": await enter(Client(bridge)),
        }
        took: dict[str, list[float]] = {name: [] for name in (*clients, "gateway alone")}
        for number in range(FIRST + CALLS):
            # In turn, so that all meet the same machine.
            for name, client in clients.items():
                seconds = await _call(client, TOOL, {})
                took[name].append(seconds) if number >= FIRST else None
            seconds = await _call(clients["HTTP"], "code_result", {"id": "0" * 32})
            took["gateway alone"].append(seconds) if number >= FIRST else None
        found = await _running(clients["HTTP"], clients["bare"])
    p50 = {name: median(each) * 1e3 for name, each in took.items()}
    pairs = (("gateway alone", "bare"), ("HTTP", "bare"), ("stdio bridge", "bare stdio"))
    for name, floor in pairs:
        found.append(Row(f"{name}: a call that needs nobody (p50)", p50[name], "ms", p50[floor]))
        found.append(Row(f"{name}: more than a bare server (p50)", p50[name] - p50[floor], "ms", at_most=EXTRA))
    return found


async def _running(assent: Client, bare: Client) -> list[Row]:
    """Rows of a call that runs remembered code. What it runs is started here as Assent starts it, with nothing else."""
    sandbox, calls, floor, direct = LocalSandbox(), list[float](), list[float](), list[float]()
    await sandbox.check()
    try:
        for number in range(FIRST // 2 + RUNS):
            start = time.perf_counter()
            run = await sandbox.start(Job(f"bench{number}", Language.PYTHON, CODE), lambda _usage: None)
            await run.finished()
            alone = time.perf_counter() - start
            nothing = await _call(bare, TOOL, {})
            call = await _call(assent, "code_execute", {"language": "python", "code": CODE})
            if number >= FIRST // 2:
                calls.append(call)
                floor.append(alone + nothing)
                direct.append(call - alone - nothing)
    finally:
        await sandbox.close()
    whole, least = median(calls) * 1e3, median(floor) * 1e3
    return [
        Row("HTTP: a call that runs remembered code (p50)", whole, "ms", least),
        Row(
            "HTTP: more than its run and a bare server (p50)", median(direct) * 1e3, "ms", least, at_most=MOST_OF_A_RUN
        ),
    ]


async def _call(client: Client, tool: str, arguments: dict[str, object]) -> float:
    start = time.perf_counter()
    answer = await client.call_tool(tool, arguments)
    assert tool == "code_result" or not answer.is_error, answer
    return time.perf_counter() - start


@asynccontextmanager
async def _by_http(address: str, token: str) -> AsyncIterator[Client]:
    http = create_mcp_http_client(headers={"Authorization": f"Bearer {token}"})
    async with http, Client(streamable_http_client(address, http_client=http)) as client:
        yield client


@contextmanager
def _served(home: str) -> Iterator[tuple[str, str, str]]:
    """Address of a bare server, address of Assent, token: each a process of its own, as an agent is one."""
    environment = {**os.environ, **SETTINGS, "ASSENT_HOME": home}
    with _process("http", environment) as bare, _process("assent", environment) as assent:
        address, token = assent.split()
        yield bare, address, token


@contextmanager
def _process(what: str, environment: dict[str, str]) -> Iterator[str]:
    """Start this module as a server; yield what it says first. It ends with its standard input."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", __name__, what]
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None and process.stdin is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()
            process.wait()


# ---- the servers ----


def _nothing() -> Server[Any]:
    from mcp.server.lowlevel import Server
    from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

    tools = [Tool(name=TOOL, input_schema={"type": "object"})]

    async def listed(
        _context: ServerRequestContext[Any, Any], _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=tools)

    async def called(_context: ServerRequestContext[Any, Any], _params: CallToolRequestParams) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text="nothing")])

    return Server("bare", on_list_tools=listed, on_call_tool=called)


async def _bare() -> None:
    import uvicorn

    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    server = uvicorn.Server(uvicorn.Config(_nothing().streamable_http_app(), log_config=None, access_log=False))
    serving = spawn("bare server", server.serve(sockets=[listener]))
    await asyncio.to_thread(sys.stdin.read)
    server.should_exit = True
    await serving


async def _stdio() -> None:
    from mcp.server.stdio import stdio_server

    server = _nothing()
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


async def _assent() -> None:
    from runner.assembly import open_engine

    engine = open_engine(Places.under(Path(os.environ["ASSENT_HOME"])))
    engine.listen(lambda event: _remember(engine, event))
    await engine.start()
    print(engine.parts.address, await engine.membership.add(AGENT), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await engine.close("the bench is over")


def _remember(engine: Engine, event: Event) -> None:
    """Approve what is asked about, and the same from now on."""
    if isinstance(event, QuestionAsked):
        spawn("remember", _remembered(engine, event.request_id))


async def _remembered(engine: Engine, request_id: str) -> None:
    ticket = engine.ticket(AGENT, request_id)
    assert ticket is not None
    digest = ticket.case.request.digest
    await engine.remembering.add(request_id, digest, Choice(Subject.EXACT, MOST_USES_HIGH, 3600.0))
    assert engine.answer(request_id, digest, Verdict.APPROVED, "") == ""


if __name__ == "__main__":
    asyncio.run({"http": _bare, "stdio": _stdio, "assent": _assent}[sys.argv[1]]())
