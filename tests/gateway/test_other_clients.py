"""Clients that others wrote: both TypeScript SDKs, Inspector and the official conformance suite."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runner.gateway.guard import Guard
from tests.components import AGENTS, require
from tests.gateway.stage import PRINT
from tests.gateway.test_revival import restarted
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import Receive, Scope, Send

    from tests.gateway.stage import Stage

pytestmark = pytest.mark.asyncio
SCRIPT = Path(__file__).with_name("sdk_client.cjs")
EXPECTED = Path(__file__).with_name("conformance.yaml")
REVISIONS = ("2025-11-25", "2026-07-28")


class Driven:
    """A client in a process of its own that does one thing after the other."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def do(self, deed: str, **more: object) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps({"do": deed, **more}).encode() + b"\n")
        line = await asyncio.wait_for(self._process.stdout.readline(), HANGS)
        assert line, "the client ended"
        return json.loads(line)


@asynccontextmanager
async def typescript(stage: Stage, version: str, transport: str) -> AsyncIterator[Driven]:
    command = [sys.executable, "-m", "app", "mcp"]
    variables = {"ASSENT_HOME": str(stage.places.config.parent), "ASSENT_TOKEN": stage.token}
    environment = {
        "PATH": os.environ["PATH"],
        "NODE_PATH": str(AGENTS.parent),
        "ADDRESS": stage.url,
        "TOKEN": stage.token,
        "COMMAND": json.dumps(command),
        "VARIABLES": json.dumps(variables),
    }
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        "node", str(SCRIPT), version, transport, stdin=pipe, stdout=pipe, env=environment
    )
    try:
        yield Driven(process)
    finally:
        process.stdin.close()  # type: ignore[union-attr]
        await asyncio.wait_for(process.wait(), HANGS)


@pytest.mark.parametrize("transport", ["http", "stdio"])
@pytest.mark.parametrize("version", ["1", "2"])
async def test_typescript_sdk(stage: Stage, version: str, transport: str) -> None:
    require("node packages")
    async with typescript(stage, version, transport) as client:
        assert "code_execute" in await client.do("list")
        stage.answers()
        assert await client.do("call", tool="code_execute", given=PRINT) == "4"
        stage.counter.on_question = lambda _ticket: None
        before = len(stage.counter.tickets)
        assert await client.do("start", tool="code_execute", given=PRINT) == "started"
        ticket = await stage.counter.question(before + 1)
        assert await client.do("abort") == "aborted"
        await stage.counter.until(lambda: ticket.request_id in stage.counter.withdrawn)
        stage.answers()
        async with restarted(stage):
            assert await client.do("call", tool="code_execute", given=PRINT) == "4"


async def test_inspector(stage: Stage) -> None:
    require("node packages")
    stage.answers()
    words = [str(AGENTS / "mcp-inspector"), "--cli", stage.url, "--transport", "http"]
    words += ["--header", f"Authorization: Bearer {stage.token}"]
    listed = await asyncio.to_thread(_run, [*words, "--method", "tools/list"])
    assert "code_execute" in [tool["name"] for tool in json.loads(listed)["tools"]]
    given = [f"{name}={value}" for name, value in PRINT.items()]
    more = ["--method", "tools/call", "--tool-name", "code_execute", *(w for one in given for w in ("--tool-arg", one))]
    called = await asyncio.to_thread(_run, [*words, *more])
    assert json.loads(called)["content"][0]["text"] == "4"


@pytest.mark.parametrize("revision", REVISIONS)
async def test_conformance(stage: Stage, revision: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """All that fails is listed with the reason, and what is listed fails. The suite sends no token: it gets one."""
    require("node packages")
    stage.answers()
    take = Guard.__call__

    async def with_token(self: Guard, scope: Scope, receive: Receive, send: Send) -> None:
        token = (b"authorization", f"Bearer {stage.token}".encode())
        if scope["type"] == "http":
            scope = {**scope, "headers": [*scope["headers"], token]}
        await take(self, scope, receive, send)

    monkeypatch.setattr(Guard, "__call__", with_token)
    words = [str(AGENTS / "conformance"), "server", "--url", stage.url, "--requirements", revision]
    await asyncio.to_thread(_run, [*words, "--expected-failures", str(EXPECTED), "--output-dir", str(tmp_path)])


def _run(command: list[str]) -> str:
    # First the Node.js beside them: both need a newer one than many systems have.
    environment = {**os.environ, "PATH": f"{AGENTS}:{os.environ['PATH']}"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10 * HANGS, env=environment)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    return done.stdout
