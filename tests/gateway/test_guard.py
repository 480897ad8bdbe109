"""Who is let in: host, origin, token, size and speed, checked on every message; refusals change nothing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from mcp.shared.exceptions import MCPError

from runner.gateway import body, connection
from runner.system.tasks import spawn
from tests.gateway.counter import Terms
from tests.gateway.stage import PRINT, call, staged
from tests.patience import HANGS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.gateway.stage import Stage

pytestmark = pytest.mark.asyncio


async def untouched(stage: Stage) -> None:
    """Nothing became a request, and the gateway still answers."""
    assert stage.counter.tickets == {}
    stage.answers()
    async with stage.client("auto") as client:
        assert not (await client.call_tool("code_execute", PRINT)).is_error


@pytest.mark.parametrize(
    ("changes", "status", "told"),
    [
        ({"Host": "evil.example"}, 421, "exact address"),
        ({"Host": "127.0.0.1"}, 421, "exact address"),
        ({"Host": "127.0.0.1:1"}, 421, "exact address"),
        ({"Origin": "http://localhost:3000"}, 403, "web pages"),
        ({"Origin": "null"}, 403, "web pages"),
        ({"Authorization": None}, 401, "token"),
        ({"Authorization": "Bearer nonsense"}, 401, "token"),
        ({"Authorization": "Bearer"}, 401, "token"),
        ({"Authorization": "Basic dGVzdGVyOng="}, 401, "token"),
    ],
)
async def test_strangers_are_turned_away(stage: Stage, changes: dict[str, str | None], status: int, told: str) -> None:
    async with stage.http() as http:
        response = await http.post(stage.url, content=call(PRINT), headers=stage.headers(**changes))
    assert response.status_code == status
    assert told in response.text and response.headers["content-type"].startswith("text/plain")
    assert stage.counter.refusals == [("", response.text)]
    await untouched(stage)


async def test_localhost_is_our_name_too(stage: Stage) -> None:
    stage.answers()
    async with stage.http() as http:
        headers = stage.headers(Host=f"localhost:{stage.port}")
        response = await http.post(stage.url, content=call(PRINT), headers=headers)
    assert response.status_code == 200


@pytest.mark.parametrize("name", ["Authorization", "Host"])
async def test_a_header_sent_twice_counts_as_none(stage: Stage, name: str) -> None:
    headers = [*stage.headers().items(), ("Host", stage.host), (name, stage.headers(Host=stage.host)[name])]
    head = "".join(f"{name}: {value}\r\n" for name, value in headers)
    reply = await _raw(stage, f"POST /mcp HTTP/1.1\r\n{head}Content-Length: 2\r\nConnection: close\r\n\r\n{{}}")
    assert int(reply.split()[1]) in (400, 401, 421)
    await untouched(stage)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"[" * 200_000,
        b'{"a":' * 100_000,
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"code_execute","arguments":"\xff\xfe"}}',
        b"\xff\xfe\x00",
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}',
        b'{"jsonrpc":"2.0","id":1,"method":7}',
        b'{"jsonrpc":"1.0"}',
        b"1" * 5000,
    ],
    ids=[
        "empty",
        "cut",
        "null",
        "batch",
        "deep list",
        "deep object",
        "bad utf-8",
        "binary",
        "params",
        "method",
        "old",
        "int",
    ],
)
@pytest.mark.parametrize("version", ["2026-07-28", None])
async def test_malformed_messages_get_an_error(stage: Stage, body: bytes, version: str | None) -> None:
    async with stage.http() as http:
        headers = stage.headers(MCP_Protocol_Version=version)
        response = await http.post(stage.url, content=body, headers=headers)
    assert 400 <= response.status_code < 500
    assert response.text
    await untouched(stage)


@pytest.mark.parametrize("version", ["2026-07-28", "2025-06-18"])
async def test_half_characters_in_code(stage: Stage, version: str) -> None:
    body = call(PRINT).replace(b"print(2 + 2)", rb"print('\ud800')")
    async with stage.http() as http:
        headers = stage.headers(MCP_Protocol_Version=version)
        if version == "2025-06-18":
            headers["Mcp-Session-Id"] = await stage.session()
        response = await http.post(stage.url, content=body, headers=headers)
    assert "code is not valid Unicode at character 7" in response.text
    await untouched(stage)


async def test_a_nul_in_the_title(stage: Stage) -> None:
    async with stage.http() as http:
        response = await http.post(stage.url, content=call({**PRINT, "title": "a\0b"}), headers=stage.headers())
    assert response.json()["result"]["isError"] is True
    assert "title contains a NUL" in response.text
    await untouched(stage)


async def test_twenty_megabytes_of_code(stage: Stage) -> None:
    async with stage.http() as http:
        body = call({**PRINT, "code": "x" * (20 << 20)})
        declared = await http.post(stage.url, content=body, headers=stage.headers())

        async def pieces() -> object:
            for start in range(0, len(body), 1 << 20):
                yield body[start : start + (1 << 20)]

        undeclared = await http.post(stage.url, content=pieces(), headers=stage.headers())  # type: ignore[arg-type]
    for response in (declared, undeclared):
        assert response.status_code == 413
        assert "larger than the 5,120 KiB" in response.text
    await untouched(stage)


async def test_other_methods_and_paths(stage: Stage) -> None:
    async with stage.http() as http:
        for method in ("PUT", "PATCH", "DELETE", "GET"):
            response = await http.request(method, stage.url, headers=stage.headers())
            assert response.status_code in (404, 405)
        assert (await http.post(f"http://{stage.host}/approve", headers=stage.headers())).status_code == 404
    await untouched(stage)


async def test_half_requests_are_let_go(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEADER_SECONDS", 0.05)
    monkeypatch.setattr(body, "BODY_SECONDS", 0.05)
    head = "".join(f"{name}: {value}\r\n" for name, value in stage.headers(Host=stage.host).items())
    silent = await _raw(stage, "")
    half = await _raw(stage, "POST /mcp HTTP/1.1\r\nHost: ")
    unfinished = await _raw(stage, f"POST /mcp HTTP/1.1\r\n{head}Content-Length: 100\r\nConnection: close\r\n\r\n{{")
    assert silent == half == ""
    assert " 408 " in unfinished.splitlines()[0]
    assert "did not arrive" in unfinished
    await untouched(stage)


async def test_a_half_request_after_a_whole_one_is_let_go(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEADER_SECONDS", 0.05)
    async with stage.dialed() as (reader, writer):
        writer.write(f"GET /nothing HTTP/1.1\r\nHost: {stage.host}\r\n\r\n".encode())
        assert b" 401 " in await reader.readuntil(b"token it shows.")
        writer.write(b"POST /mcp HTTP/1.1\r\nHo")
        async with asyncio.timeout(HANGS):
            assert await reader.read() == b""


async def test_a_session_is_of_one_agent_only(stage: Stage) -> None:
    other = stage.agents.add("other")
    async with stage.http() as http:
        session = {"Mcp-Session-Id": await stage.session(), "MCP-Protocol-Version": "2025-06-18"}
        message = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        mine = await http.post(stage.url, json=message, headers=stage.headers() | session)
        stolen = await http.post(
            stage.url, json=message, headers=stage.headers(Authorization=f"Bearer {other}") | session
        )
    assert mine.status_code == 200
    assert stolen.status_code == 404


async def test_a_revoked_agent_is_out_at_once(stage: Stage, era: str) -> None:
    async with stage.client(era) as client:
        await client.list_tools()
        stage.agents.revoke("tester")
        with pytest.raises(MCPError):
            await client.call_tool("code_execute", PRINT)
    assert stage.counter.tickets == {}


@pytest.mark.parametrize("when", ["asked", "running", "being written"])
async def test_a_caller_that_goes_away_withdraws(stage: Stage, era: str, when: str) -> None:
    if when == "being written":
        stage.counter.submit_gate = asyncio.Event()
    async with stage.calling(era):
        if when == "being written":
            await stage.counter.until(lambda: stage.counter.being_written)
        else:
            ticket = await stage.counter.question()
            if when == "running":
                stage.counter.approve(ticket)
                await stage.counter.until(lambda: ticket.transcript is not None)
    if stage.counter.submit_gate is not None:
        stage.counter.submit_gate.set()
    await stage.counter.until(lambda: stage.counter.withdrawn)
    answer = await (await stage.counter.question()).answered(HANGS)
    assert answer is not None
    assert answer.is_error


async def test_a_caller_that_got_pending_may_go(tmp_path: Path, era: str) -> None:
    async with staged(tmp_path, Terms(hold_seconds=0.05)) as stage:
        async with stage.calling(era) as reader:
            await reader.readuntil(b"pending")
        stage.answers()
        async with stage.client(era) as client:
            await client.list_tools()
        assert stage.counter.withdrawn == []
        assert len(stage.counter.desk.waiting()) == 1


async def test_closing_ends_open_streams_and_says_so(stage: Stage) -> None:
    """The stream of the handshake era has no end of its own; closing brings it to an orderly one."""
    async with stage.http() as http:
        headers = stage.headers(MCP_Protocol_Version="2025-06-18", Content_Type=None)
        headers |= {"Mcp-Session-Id": await stage.session(), "Accept": "text/event-stream"}
        async with http.stream("GET", stage.url, headers=headers) as stream:
            assert stream.status_code == 200
            closing = spawn("close", stage.gateway.close("The console is closing."))
            async with asyncio.timeout(HANGS):
                assert [chunk async for chunk in stream.aiter_bytes()] == []
                await closing


async def _raw(stage: Stage, text: str) -> str:
    """Send `text` as it is and read until the other side closes."""
    async with stage.dialed() as (reader, writer), asyncio.timeout(HANGS):
        writer.write(text.encode())
        return (await reader.read()).decode("utf-8", "replace")
