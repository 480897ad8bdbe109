"""What must not move the real engine: floods, nonsense, callers that vanish, tokens that end in the middle."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import psutil
import pytest
import pytest_asyncio
from mcp.shared.exceptions import MCPError

from runner.audit.ledger.verify import verify
from runner.gateway.limits import HTTP_BURST
from runner.identity.agents import Agents
from runner.model.decision import Decider, Verdict
from runner.model.events import CallsRefused
from runner.model.result import Outcome
from runner.system.tasks import spawn
from tests.gateway.house import House, opened
from tests.gateway.stage import PRINT, call, posted
from tests.gateway.test_mcp_calls import text
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = pytest.mark.asyncio
MEMORY = 100 << 20
"""Bytes that ten thousand messages may cost at most, the test's own sockets and texts included."""


@pytest_asyncio.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with opened(tmp_path) as house:
        yield house


NONSENSE: dict[str, tuple[dict[str, str | None], bytes]] = {
    "wrong token": ({"Authorization": "Bearer assent_nonsense"}, call(PRINT)),
    "no token": ({"Authorization": None}, call(PRINT)),
    "foreign host": ({"Host": "evil.example"}, call(PRINT)),
    "foreign origin": ({"Origin": "http://evil.example"}, call(PRINT)),
    "malformed": ({}, b'{"jsonrpc": "2.0", "id": 1, "method": '),
    "invalid UTF-8": ({}, call(PRINT).replace(b"print", b"\xff\xfe")),
    "NUL": ({}, call({**PRINT, "code": "print(1)\0"})),
    "half a character": ({}, call(PRINT).replace(b"print", rb"\ud800")),
    "twenty megabytes": ({}, call({**PRINT, "code": "x" * (20 << 20)})),
    "unknown tool": ({"Mcp-Name": "approve_all"}, call(PRINT, "approve_all")),
    "unknown argument": ({}, call({**PRINT, "approved": True})),
    "wrong type": ({}, call({**PRINT, "code": ["print(1)"]})),
    "unsupported language": ({}, call({**PRINT, "language": "cobol"})),
    "limit below zero": ({}, call({**PRINT, "timeout": -1})),
    "limit above the maximum": ({}, call({**PRINT, "max_memory_mb": 10**9})),
    "endless number": ({}, call(PRINT).replace(b'"print(2 + 2)"', b'"x", "timeout": 1e999')),
}


async def test_nonsense_is_answered_and_never_becomes_a_request(house: House) -> None:
    async with house.http() as http:
        for name, (changes, body) in NONSENSE.items():
            response = await http.post(house.url, content=body, headers=house.headers(**changes))
            assert len(response.text) > 10, name
            if response.status_code < 400:
                answer = response.json()
                assert "error" in answer or answer["result"]["isError"], name
    assert house.engine.desk.waiting() == ()
    assert house.records() == []
    await house.works()
    await house.engine.close("The test is over.")
    assert {event.agent for event in house.heard if isinstance(event, CallsRefused)} == {"", "tester"}
    assert verify(house.engine.parts.places.ledger).ok


async def test_half_requests_keep_nobody_else_waiting(house: House) -> None:
    whole = posted(house.headers(Host=house.host), call(PRINT))
    async with AsyncExitStack() as stack:
        for end in (0, 20, whole.index(b"\r\n\r\n"), len(whole) - 1) * 25:
            _, writer = await stack.enter_async_context(house.dialed())
            writer.write(whole[:end])
            await writer.drain()
        await house.works()
    assert len(house.records()) == 1


async def test_ten_thousand_messages_at_once(tmp_path: Path) -> None:
    """On 50 connections without waiting for replies: a few are taken, the rest refused; nobody else suffers."""
    async with opened(tmp_path, {"ASSENT_RATE_PER_MINUTE": "60", "ASSENT_BURST": "20"}) as house:
        # The clock of the limits stands: on a slow machine they would let more through, the longer it takes.
        limits = house.engine.parts._gateway._limits
        now = limits._clock()
        limits._clock = lambda: now
        calm = await house.engine.membership.add("calm")
        before = psutil.Process().memory_info().rss
        # A caller that does not wait has no turn either: else the last of them would have theirs in half an hour.
        headers = house.headers(Host=house.host, Mcp_Name="code_sandbox_info", Assent_Hold="0.1")
        message = posted(headers, call({}, "code_sandbox_info"))

        async def many() -> list[bytes]:
            async with house.dialed() as (reader, writer):
                writer.write(message * 200)
                return [await _status(reader) for _ in range(200)]

        flood = [spawn("flood", many()) for _ in range(50)]
        assert text(await house.works(calm)) == "4"
        replies = [status for some in await asyncio.gather(*flood) for status in some]
        assert len(replies) == 10_000
        assert set(replies) == {b"200", b"429"}
        assert replies.count(b"200") == HTTP_BURST
        assert psutil.Process().memory_info().rss - before < MEMORY
        await house.engine.close("The test is over.")
        refused = sum(event.count for event in house.heard if isinstance(event, CallsRefused))
        assert refused >= 10_000 - 20, "no more are taken than may come at once"
        ledger = sqlite3.connect(house.engine.parts.places.ledger)
        (entries,) = ledger.execute("select count(*) from entries").fetchone()
        ledger.close()
        assert entries < 500, "a flood is a line in the history, not thousands"


@pytest.mark.parametrize("when", ["asked", "running", "finished but not delivered"])
async def test_a_caller_that_vanishes(house: House, era: str, when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    withdrawn, storing, stored = [], threading.Event(), threading.Event()
    withdraw = house.engine.withdraw
    monkeypatch.setattr(house.engine, "withdraw", lambda *said: (withdrawn.append(said), withdraw(*said)))

    def store(*_what: object) -> dict[str, object]:
        storing.set()
        assert stored.wait(HANGS)
        return {"artifact": ""}

    async with house.calling(era):
        question = await house.question()
        if when != "asked":
            await house.run()
        if when == "finished but not delivered":
            monkeypatch.setattr(house.engine.parts.files, "store", store)
            house.sandbox.runs[0].finish("4\n")
            await house.until(storing.is_set)
    await house.until(lambda: withdrawn)
    stored.set()
    await house.closed()
    (record,) = house.records()
    assert record.decision is not None
    if when == "asked":
        assert (record.decision.verdict, record.decision.by) == (Verdict.WITHDRAWN, Decider.AGENT)
        assert "no longer open" in house.approve(question)
        assert house.sandbox.runs == []
    else:
        assert record.result is not None
        assert record.result.outcome is (Outcome.KILLED if when == "running" else Outcome.OK)
    monkeypatch.undo()
    await house.works(era=era)


async def test_closing_tells_everybody(house: House, era: str) -> None:
    async with house.client(era) as client:
        running = spawn("run", client.call_tool("code_execute", PRINT))
        await house.run()
        others = [{**PRINT, "code": f"print({number})"} for number in range(3)]
        asking = [spawn("ask", client.call_tool("code_execute", other)) for other in others]
        await house.until(lambda: len(house.engine.desk.waiting()) == 3)
        async with asyncio.timeout(HANGS):
            await house.engine.close("Assent was closed.")
            asked, ran = await asyncio.gather(*asking), await running
    for result in asked:
        assert result.is_error
        assert text(result).startswith("Denied: Assent was closed. Nothing was run")
    assert ran.is_error
    assert "Assent was closed." in text(ran)
    assert len(house.sandbox.runs) == 1
    assert verify(house.engine.parts.places.ledger).ok


@pytest.mark.parametrize("where", ["in the window", "by another process"])
async def test_a_token_revoked_while_its_call_waits(house: House, era: str, where: str) -> None:
    other = await house.engine.membership.add("other")
    async with house.client(era) as client:
        calling = spawn("call", client.call_tool("code_execute", PRINT))
        question = await house.question()
        if where == "in the window":
            await house.engine.membership.revoke("tester")
        else:
            Agents(house.engine.parts.places).revoke("tester")
        assert house.approve(question) != "", "what a revoked agent asked cannot be approved"
        result = await calling
        assert result.is_error
        assert "revoked" in text(result)
        with pytest.raises(MCPError):
            await client.call_tool("code_execute", PRINT)
    assert house.sandbox.runs == []
    await house.works(other, era)


async def _status(reader: asyncio.StreamReader) -> bytes:
    """The status of the next response, which is read to its end."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:-2])
    if b"content-length" in lines:
        await reader.readexactly(int(lines[b"content-length"]))
    else:
        await reader.readuntil(b"\r\n0\r\n\r\n")
    return head.split()[1]
