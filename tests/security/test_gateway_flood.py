"""One agent, or a program without a token, that tries to keep everybody else from the gateway."""

from __future__ import annotations

import asyncio
import errno
import json
import resource
import sys
import threading
import time
from asyncio.subprocess import PIPE
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import pytest

from runner.engine.request import refusals
from runner.gateway import body, connection, sessions, tools
from runner.gateway.limits import CallLimits
from runner.model.answer import Answer
from runner.model.codec import DEEPEST
from runner.model.decision import Decider, Decision, Verdict
from runner.model.events import CallsRefused
from runner.model.request import Limits
from runner.model.result import Meta, Outcome, Result
from runner.system.tasks import spawn
from tests.bench import hostile
from tests.gaps import gaps
from tests.gateway.counter import Terms
from tests.gateway.house import opened
from tests.gateway.stage import PRINT, call, introduction, modern, posted, staged
from tests.patience import HANGS, TRIES

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator
    from pathlib import Path
    from types import ModuleType

    import httpx2

    from runner.approval.ticket import Ticket
    from tests.gateway.stage import Address, Stage

pytestmark = pytest.mark.asyncio
LOCKDOWN_SECONDS = 0.2
CALL_SECONDS = 1.0
"""Goals: what another agent and the person may notice of one agent at its worst."""


async def post(http: httpx2.AsyncClient, to: Address, content: bytes, **changes: str | None) -> httpx2.Response:
    return await http.post(to.url, content=content, headers=to.headers(**changes))


def said(response: httpx2.Response) -> str:
    """The text of a refusal, whichever layer refused."""
    if response.headers["content-type"].startswith("text/plain"):
        return response.text
    data = response.json()
    return str(data["error"]["message"] if "error" in data else data["result"]["content"][0]["text"])


# ---- large and deep messages ----

EMPTY_LISTS = b"[" + b"[]," * 1_500_000 + b"[]]"
HEAVY: dict[str, tuple[bytes, int]] = {
    "empty lists": (b'{"x":' + EMPTY_LISTS + b"}", 413),
    "a million names": (b"{" + b",".join(b'"%d":0' % number for number in range(600_000)) + b"}", 413),
    "quotes": (b'{"x":[' + b'"",' * 1_200_000 + b'""]}', 413),
    "escapes": (b'{"x":"' + b'\\"' * 2_300_000 + b'"}', 200),
    "one text": (b'{"x":"' + b"[{," * 1_500_000 + b'"}', 200),
    "deep": (b'{"x":' + b"[" * 40_000 + b"]" * 40_000 + b"}", 400),
    "just few enough": (b'{"x":[' + b"[]," * 24_900 + b"[]]}", 200),
}


def with_context(context: bytes) -> bytes:
    return call({**PRINT, "context": {}}).replace(b'"context": {}', b'"context": ' + context)


@pytest.mark.parametrize("name", HEAVY)
async def test_a_message_made_to_take_long_keeps_nobody_waiting(stage: Stage, name: str, era: str) -> None:
    context, status = HEAVY[name]
    content = with_context(context)
    headers = {"MCP_Protocol_Version": "2025-06-18", "Mcp_Session_Id": ""} if era == "legacy" else {}
    stage.answers()
    async with stage.http() as http:
        if era == "legacy":
            headers["Mcp_Session_Id"] = await stage.session()
        async with gaps() as found:
            response = await post(http, stage, content, **headers)
    assert response.status_code == status
    if status == 200:
        assert ('isError":true' in response.text) == (len(content) > 1 << 20)
    else:
        assert response.json()["id"] == 1
        assert said(response)
    # The whole of 200 ms is for a quiet machine; without the mend it is seconds.
    assert found.worst < 4 * LOCKDOWN_SECONDS


@pytest.mark.parametrize(("module", "work"), [(body, "split"), (tools, "submission")], ids=["message", "arguments"])
async def test_what_is_large_is_looked_through_beside_the_loop(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, module: ModuleType, work: str
) -> None:
    done, threads = getattr(module, work), list[threading.Thread]()
    monkeypatch.setattr(module, work, lambda *given: (threads.append(threading.current_thread()), done(*given))[1])
    stage.answers()
    async with stage.http() as http:
        response = await post(http, stage, call({**PRINT, "stdin": "x" * (100 << 10)}))
    assert response.status_code == 200
    assert threads and threading.current_thread() not in threads


@pytest.mark.parametrize("method", ["tools/list", "initialize", "notifications/progress"])
async def test_only_arguments_may_be_large(stage: Stage, method: str) -> None:
    message = modern(method, {"x": "y" * (80 << 10)})
    if method.startswith("notifications"):
        del message["id"]
    async with stage.http() as http:
        large = await post(http, stage, json.dumps(message).encode(), Mcp_Method=method, Mcp_Name=None)
        many = await post(
            http, stage, json.dumps(modern(method, {"x": [0] * 5000})).encode(), Mcp_Method=method, Mcp_Name=None
        )
    assert (large.status_code, many.status_code) == (413, 413)
    assert "besides the arguments" in said(large)
    assert "besides the arguments" in said(many)


@pytest.mark.parametrize("request_id", ["x" * 100_000, 10**400])
async def test_an_id_that_would_be_repeated_in_every_answer_is_refused(stage: Stage, request_id: object) -> None:
    async with stage.http() as http:
        response = await post(http, stage, json.dumps(modern("tools/list", {}, request_id)).encode())
    assert response.status_code == 400
    assert "id of this message is too long" in said(response)


@pytest.mark.parametrize("name", ["stdin", "context", "code"])
async def test_input_and_variables_are_bounded_as_code_is(stage: Stage, name: str) -> None:
    text = "x" * (1 << 20) + "y"
    content = call({**PRINT, name: {"x": text} if name == "context" else text})
    async with stage.http() as http:
        response = await post(http, stage, content)
    assert f"{name} has 1,048," in said(response)
    assert stage.counter.tickets == {}


async def test_a_name_given_twice_is_read_in_one_way(stage: Stage) -> None:
    """The library never sees another message than the one that was checked."""
    content = call(PRINT).replace(b'"arguments": {', b'"arguments": {"code": "import os"}, "arguments": {')
    stage.answers()
    async with stage.http() as http:
        assert (await post(http, stage, content)).status_code == 200
    (ticket,) = stage.counter.tickets.values()
    assert ticket.case.request.code == PRINT["code"]
    assert b"import os" not in body.split(content).around


# ---- many messages ----


async def test_bytes_of_one_agent_are_counted_before_they_are_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[int] = []
    split = body.split
    monkeypatch.setattr(body, "split", lambda raw: (parsed.append(len(raw)), split(raw))[1])
    async with staged(tmp_path, Terms(mb_per_minute=1)) as stage:
        other = stage.agents.add("other")
        stage.answers()
        content = call({**PRINT, "code": "x" * 1_000_000})

        async def pieces() -> AsyncIterator[bytes]:
            yield content[: 1 << 19]
            yield content[1 << 19 :]

        async with stage.http() as http:
            replies = [await post(http, stage, content) for _ in range(8)]
            unannounced = await http.post(stage.url, content=pieces(), headers=stage.headers())
            assert (await post(http, stage, call(PRINT), Authorization=f"Bearer {other}")).status_code == 200
    refused = [reply for reply in replies if reply.status_code == 429]
    assert len(refused) == 3, "5 MiB are taken at once"
    for reply in (*refused, unannounced):
        assert reply.status_code == 429
        assert "Too much data" in said(reply)
        assert reply.json()["id"] == 1
    assert int(refused[0].headers["retry-after"]) > 10
    assert sum(parsed) < 6 << 20


async def test_the_rate_is_checked_before_the_arguments(tmp_path: Path) -> None:
    async with staged(tmp_path, Terms(rate_per_minute=1, burst=1)) as stage, stage.http() as http:
        stage.answers()
        assert (await post(http, stage, call(PRINT))).status_code == 200
        response = await post(http, stage, call({**PRINT, "timeout": "x"}))
    assert "Too many calls" in said(response)


async def test_so_many_answers_of_one_agent_are_held_at_once(tmp_path: Path) -> None:
    async with staged(tmp_path, Terms(max_pending=20)) as stage:
        other = stage.agents.add("other")
        async with stage.http() as http:
            asked = spawn("asked", post(http, stage, call(PRINT)))
            ticket = await stage.counter.question()
            poll = posted(
                stage.headers(Host=stage.host, Mcp_Name="code_result"),
                call({"id": ticket.request_id, "wait": 30}, "code_result"),
            )
            async with AsyncExitStack() as stack:
                for _ in range(149):
                    _, writer = await stack.enter_async_context(stage.dialed())
                    writer.write(poll)
                await until(lambda: stage.gateway._limits._answered["tester"] == 150)
                refused = await post(http, stage, call(PRINT))
                assert (refused.status_code, refused.json()["id"]) == (429, 1)
                assert "being answered already" in said(refused)
                stage.answers()
                assert (await post(http, stage, call(PRINT), Authorization=f"Bearer {other}")).status_code == 200
                stage.counter.deny(ticket, "no")
                assert (await asked).status_code == 200
            await until(lambda: stage.gateway._limits._answered["tester"] == 0)


async def test_sessions_of_one_agent_take_none_from_others(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MOST_EACH", 3)
    other = stage.agents.add("other")
    async with stage.http() as http:
        streams = AsyncExitStack()
        first = await stage.session()
        ids = [await stage.session() for _ in range(2)]
        await streams.enter_async_context(http.stream("GET", stage.url, headers=of_session(stage, first)))
        ids.append(await stage.session())
        assert stage.gateway._guard is not None
        mine = stage.gateway._guard._sessions._open["tester"]
        await until(lambda: ids[2] in mine)
        assert {*mine} == {first, ids[1], ids[2]}, "the one unused for longest made room; a stream is use"
        alive = [(await listed(http, stage, one)).status_code for one in (first, *ids)]
        assert alive == [200] * 4 and len(mine) <= 3, "one that made room is revived when it is used after all"
        for one in ids[1:]:
            await streams.enter_async_context(http.stream("GET", stage.url, headers=of_session(stage, one)))
        refused = await post(http, stage, json.dumps(introduction()).encode(), MCP_Protocol_Version=None)
        assert refused.status_code == 429
        assert "sessions of yours are in use" in said(refused)
        foreign = await post(
            http,
            stage,
            json.dumps(introduction()).encode(),
            MCP_Protocol_Version=None,
            Authorization=f"Bearer {other}",
        )
        assert foreign.status_code == 200
        await streams.aclose()
        await http.request("DELETE", stage.url, headers=of_session(stage, ids[2]))
        assert await stage.session()


async def test_sessions_without_end(tmp_path: Path) -> None:
    """A thousand were enough to shut the handshake era for everybody, for half an hour."""
    async with staged(tmp_path, Terms(rate_per_minute=60, burst=20)) as stage, stage.http() as http:
        other = stage.agents.add("other")
        opening = json.dumps(introduction()).encode()
        replies = [await post(http, stage, opening, MCP_Protocol_Version=None) for _ in range(60)]
        assert {reply.status_code for reply in replies[-20:]} <= {200, 429}
        refused = next(reply for reply in replies if reply.status_code == 429)
        assert "Too many new sessions. Call again in 1 s." in said(refused)
        assert refused.json()["id"] == 0
        async with stage.client("legacy", other) as client:
            assert (await client.list_tools()).tools


def of_session(stage: Stage, session: str) -> dict[str, str]:
    headers = stage.headers(MCP_Protocol_Version="2025-06-18", Content_Type=None, Accept="text/event-stream")
    return headers | {"Mcp-Session-Id": session}


async def listed(http: httpx2.AsyncClient, stage: Stage, session: str) -> httpx2.Response:
    message = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    headers = stage.headers(MCP_Protocol_Version="2025-06-18") | {"Mcp-Session-Id": session}
    return await http.post(stage.url, json=message, headers=headers)


async def until(true: Any) -> None:
    async with asyncio.timeout(HANGS):
        while not true():
            await asyncio.sleep(0.01)


async def test_a_refusal_while_closing_names_the_request(stage: Stage) -> None:
    """Codex waits until its time limit for an answer with the id."""
    long = call({**PRINT, "title": "x" * 20_000})
    assert stage.gateway._guard is not None
    stage.gateway._guard.hang_up()
    async with stage.http() as http:
        for content in (call(PRINT), long.replace(b'"id": 1, ', b"").replace(b"{", b'{"id": 1, ', 1)):
            refused = await post(http, stage, content)
            assert (refused.status_code, refused.json()["id"]) == (503, 1)


# ---- what comes back ----


async def test_a_value_as_deep_as_a_run_may_return_arrives(stage: Stage, era: str) -> None:
    """The protocol's library fails at some 250 levels; `report.parse` takes no more than DEEPEST."""
    value: Any = 1
    for _ in range(DEEPEST):
        value = [value]

    def ran(ticket: Ticket) -> None:
        stage.counter.desk.withdraw(ticket.request_id, "")
        decision = Decision(Verdict.APPROVED, Decider.PERSON, "", digest=ticket.case.request.digest)
        result = Result(Outcome.OK, "4\n", "", 0, 0.1, value=value, meta=Meta(runtime="local", limits=Limits()))
        ticket.case.answer.set_result(Answer(ticket.request_id, decision, result))

    stage.counter.on_question = ran
    async with stage.client(era) as client:
        answer = await client.call_tool("code_execute", PRINT)
    assert not answer.is_error
    assert answer.structured_content is not None
    assert answer.structured_content["result"] == value


# ---- connections ----


MANY = """
import socket, sys
held = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(550)]
print("open", flush=True)
sys.stdin.read()
"""


async def test_more_connections_than_files(tmp_path: Path) -> None:
    """Any account of this machine can open connections; with 1,024 files accept() used to fail."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
    try:
        async with staged(tmp_path) as stage:
            stage.answers()
            command = (sys.executable, "-c", MANY, str(stage.port))
            both = [await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE) for _ in range(2)]
            async with asyncio.timeout(HANGS):
                for many in both:
                    assert many.stdout is not None and await many.stdout.readline() == b"open\n"
                async with stage.client("auto") as client:
                    assert not (await client.call_tool("code_execute", PRINT)).is_error
            assert stage.gateway._acceptor is not None
            assert len(stage.gateway._acceptor.connections) <= 512
            for many in both:
                await many.communicate(b"")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class WithoutFiles:
    """A listening socket of a process that has no more files, for a while."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self.failures = 3

    def fileno(self) -> int:
        return self._listener.fileno()

    def accept(self) -> tuple[socket.socket, Any]:
        if self.failures:
            self.failures -= 1
            raise OSError(errno.EMFILE, "no more files")
        return self._listener.accept()

    def close(self) -> None:
        self._listener.close()


async def test_files_that_run_out_all_the_same(stage: Stage) -> None:
    stage.answers()
    acceptor = stage.gateway._acceptor
    assert acceptor is not None
    acceptor._listener = without = WithoutFiles(acceptor._listener)  # type: ignore[assignment]
    async with asyncio.timeout(HANGS), stage.http() as http:
        assert (await post(http, stage, call(PRINT))).status_code == 200
    assert without.failures == 0


async def test_the_oldest_stranger_makes_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.gateway.server.MOST_CONNECTIONS", 20)
    monkeypatch.setattr(connection, "HEADER_SECONDS", 2 * HANGS)  # none ends for want of a token
    async with staged(tmp_path) as stage, AsyncExitStack() as stack, stage.http() as http:
        stage.answers()
        assert (await post(http, stage, call(PRINT))).status_code == 200
        lines = [await stack.enter_async_context(stage.dialed()) for _ in range(60)]
        async with asyncio.timeout(HANGS):
            assert await lines[0][0].read() == b""
        assert (await post(http, stage, call(PRINT))).status_code == 200, "its connection stayed"
        async with stage.client("auto") as client:
            assert not (await client.call_tool("code_execute", PRINT)).is_error
        assert stage.gateway._acceptor is not None
        assert len(stage.gateway._acceptor.connections) <= 20


async def test_an_agent_that_left_its_connections_open_makes_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where all are agents' and each is one that may stay, the one that has most of them loses an idle one."""
    monkeypatch.setattr("runner.gateway.server.MOST_CONNECTIONS", 8)
    monkeypatch.setattr(connection.Connections, "may_stay", lambda self, one: True)
    async with staged(tmp_path) as stage, AsyncExitStack() as stack:
        message = posted(stage.headers(Host=stage.host, Mcp_Name="code_sandbox_info"), call({}, "code_sandbox_info"))
        bearer = f"Bearer {stage.agents.add('other')}"
        other = posted(
            stage.headers(Host=stage.host, Authorization=bearer, Mcp_Name="code_sandbox_info"),
            call({}, "code_sandbox_info"),
        )
        lines = []
        for sent in (other, *[message] * 7):
            reader, writer = await stack.enter_async_context(stage.dialed())
            writer.write(sent)
            await reader.readuntil(b"\r\n\r\n")
            lines.append(reader)
        async with stage.http() as http, asyncio.timeout(HANGS):
            assert (await post(http, stage, b"")).status_code == 400
            await lines[1].read()
        assert [line.at_eof() for line in lines] == [False, True, *[False] * 6]


def hold_up() -> None:
    """Keep the loop from everything for longer than its time limits."""
    time.sleep(0.2)


async def test_a_console_that_was_held_up_closes_no_connection(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was sent meanwhile is not yet read: a computer that slept or was busy has missed it, not the agent."""
    monkeypatch.setattr(connection, "HEADER_SECONDS", 0.05)
    monkeypatch.setattr(connection, "LATE_SECONDS", 0.05)
    async with stage.dialed() as (reader, writer), asyncio.timeout(HANGS):
        while not stage.gateway._acceptor.connections:  # type: ignore[union-attr]
            await asyncio.sleep(0)
        hold_up()
        writer.write(
            posted(stage.headers(Host=stage.host, Mcp_Name="code_sandbox_info"), call({}, "code_sandbox_info"))
        )
        assert b" 200 " in await reader.readuntil(b"\r\n")


async def test_a_connection_that_is_closed_after_an_answer_says_so(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without that a client sends its next message into a closed connection: 100 callers of one agent did."""
    stage.answers()
    async with stage.http() as http:
        assert "close" not in (await post(http, stage, call(PRINT))).headers.get("connection", "")
        # The bound is worked out when the gateway opens; this stands for an agent that has as many as may stay.
        monkeypatch.setattr(connection.Connections, "may_stay", lambda self, one: False)
        for _ in range(3):
            assert "close" in (await post(http, stage, call(PRINT))).headers["connection"]
        refused = await post(http, stage, call(PRINT), Authorization="Bearer assent_guess")
        assert (refused.status_code, refused.headers["connection"]) == (401, "close")


async def test_the_rest_of_a_strangers_message_is_taken_after_the_answer(stage: Stage) -> None:
    """Closed at once, the connection would be reset while the client still sends, and the answer lost."""
    body_of_it = b" " * (3 << 20)
    message = posted(stage.headers(Host=stage.host, Authorization="Bearer assent_guess"), body_of_it)
    async with stage.dialed() as (reader, writer), asyncio.timeout(HANGS):
        writer.write(message[: -len(body_of_it)])
        assert b" 401 " in await reader.readline()
        writer.write(body_of_it)
        await writer.drain()
        assert b"Missing, wrong or revoked token" in await reader.read()


async def test_a_token_that_is_revoked_while_a_message_arrives_counts_no_more(stage: Stage) -> None:
    stage.answers()
    message = posted(stage.headers(Host=stage.host), call(PRINT))
    async with stage.dialed() as (reader, writer):
        writer.write(message[:-10])
        while not stage.agents.all()[0].last_seen:
            await asyncio.sleep(0)
        stage.agents.revoke(stage.agents.all()[0].name)
        writer.write(message[-10:])
        async with asyncio.timeout(HANGS):
            assert b" 401 " in await reader.readline()
    assert not stage.counter.tickets


async def test_what_opens_no_session_takes_none_away(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[str] = []
    monkeypatch.setattr(CallLimits, "session", lambda _limits, agent: counted.append(agent) or 0.0)
    headers = stage.headers(MCP_Protocol_Version=None)
    async with stage.http() as http:
        await http.delete(stage.url, headers=headers)
        await http.request("OPTIONS", stage.url, headers=headers)
    assert counted == []
    await stage.session()
    assert len(counted) == 1


async def test_a_connection_without_a_token_ends_with_its_answer(stage: Stage) -> None:
    guess = posted(stage.headers(Host=stage.host, Authorization="Bearer assent_guess"), call(PRINT))
    async with stage.dialed() as (reader, writer):
        writer.write(guess * 50)
        async with asyncio.timeout(HANGS):
            reply = await reader.read()
    assert reply.count(b" 401 ") == 1, "further guesses need a connection each"


async def test_a_stranger_is_let_go_soon(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEADER_SECONDS", 0.05)
    head = f"POST /mcp HTTP/1.1\r\nHost: {stage.host}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    async with stage.dialed() as (reader, writer):
        writer.write(head)
        async with asyncio.timeout(HANGS):
            reply = await reader.read()
    assert b" 401 " in reply


async def test_a_body_without_end(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEADER_SECONDS", 0.3)
    headers = stage.headers(Host=stage.host, Transfer_Encoding="chunked")
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    async with stage.dialed() as (reader, writer):
        writer.write(f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode())
        chunk = b"40000\r\n" + b" " * 0x40000 + b"\r\n"

        async def send() -> None:
            while True:
                writer.write(chunk)
                await writer.drain()

        sending = spawn("endless", send())
        async with asyncio.timeout(HANGS):
            reply = await reader.readuntil(b"Send less code.")
            with pytest.raises(ConnectionError):
                await sending
    assert b" 413 " in reply


@pytest.mark.parametrize("upgrade", ["websocket", "h2c"])
async def test_an_upgrade_is_no_way_in(stage: Stage, upgrade: str) -> None:
    stage.answers()
    async with stage.http() as http:
        stranger = await post(http, stage, b"", Authorization=None, Upgrade=upgrade, Connection="Upgrade")
        own = await post(http, stage, call(PRINT), Upgrade=upgrade, Connection="Upgrade")
    assert (stranger.status_code, own.status_code) == (401, 200)


async def test_large_heads(stage: Stage) -> None:
    async with stage.dialed() as (reader, writer):
        writer.write(b"POST /mcp HTTP/1.1\r\nX: " + b"x" * 100_000)
        async with asyncio.timeout(HANGS):
            reply = await reader.read()
    assert b" 400 " in reply


# ---- what a person and others notice ----


async def test_one_agent_at_its_worst(tmp_path: Path) -> None:
    """Every kind of flood at once, from another process: another agent is answered, and Lockdown works.

    In processor time of this process, which is the gateway's and its callers': other programs have no part in it.
    """
    async with opened(tmp_path) as house:
        calm = await house.engine.membership.add("calm")
        async with gaps() as floor, house.client("auto", calm) as client:
            begun = time.process_time()
            await client.call_tool("code_sandbox_info", {})
            usual = time.process_time() - begun
            begun = time.process_time()
            await house.engine.modes.lock()
            usual_lock = time.process_time() - begun
            await house.engine.modes.guard()
        flood = await asyncio.create_subprocess_exec(*hostile.command(house), stdin=PIPE)
        assert flood.stdin is not None
        flood.stdin.write(hostile.messages(house))
        flood.stdin.close()
        try:
            acceptor = house.engine.parts._gateway._acceptor
            await house.until(lambda: len(acceptor.connections) > 200)
            # Generous, for machines that do other work; `make bench ARGS=hostile` holds the goals themselves.
            most, most_lock = 4 * CALL_SECONDS + 10 * usual, 4 * LOCKDOWN_SECONDS + 10 * max(usual_lock, floor.worst)
            most_gap = 4 * LOCKDOWN_SECONDS + 10 * floor.worst
            async with gaps() as found, house.client("auto", calm) as client:
                for _ in range(TRIES):
                    begun = time.process_time()
                    assert not (await client.call_tool("code_sandbox_info", {})).is_error
                    if (took := time.process_time() - begun) < most:
                        break
                for _ in range(TRIES):
                    found.worst = 0.0
                    begun = time.process_time()
                    await house.engine.modes.lock()
                    if (locked := time.process_time() - begun) < most_lock and found.worst < most_gap:
                        break
                    await house.engine.modes.guard()
            assert flood.returncode is None
        finally:
            flood.kill()
            await flood.wait()
        # Closing waits a second for calls under way, and says so where some had to be ended.
        async with asyncio.timeout(HANGS):
            while acceptor.connections:
                await asyncio.sleep(0.01)
        assert took < most
        assert locked < most_lock
        assert found.worst < most_gap


async def test_the_person_is_told_once_and_not_a_thousand_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refusals, "BURST_SECONDS", 0.05)
    async with opened(tmp_path) as house:
        async with house.http() as http:
            for _ in range(10):
                await post(http, house, call({**PRINT, "code": ["x"]}))
                await post(http, house, call(PRINT), Authorization=None)
                await asyncio.sleep(0.03)
        told = [event for event in house.heard if isinstance(event, CallsRefused)]
        assert sorted(event.agent for event in told) == ["", "tester"]
        await house.engine.close("The test is over.")
    told = [event for event in house.heard if isinstance(event, CallsRefused)]
    assert len(told) == 4
    assert sum(event.count for event in told if not event.agent) == 10
