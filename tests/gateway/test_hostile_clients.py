"""Clients that speak the protocol and mean no good: odd ids and tokens, sessions and streams by the hundred."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from runner.gateway.sessions import MOST_EACH
from runner.system import tasks
from runner.system.tasks import spawn
from tests.gateway.stage import PRINT, introduction, modern, posted
from tests.gateway.test_guard import untouched
from tests.patience import HANGS

if TYPE_CHECKING:
    import httpx2

    from tests.gateway.stage import Stage

pytestmark = pytest.mark.asyncio
OLDER = "2025-06-18"
CALL = {"name": "code_execute", "arguments": PRINT}


async def headers(stage: Stage, era: str) -> dict[str, str]:
    """Those of a message of an era, with a session where there are sessions."""
    if era == "auto":
        return stage.headers()
    return stage.headers(MCP_Protocol_Version=OLDER, Mcp_Session_Id=await stage.session())


def message(era: str, request_id: object, **meta: object) -> dict[str, Any]:
    """A call of code_execute."""
    whole = modern("tools/call", CALL, request_id)
    whole["params"]["_meta"] = {**(whole["params"]["_meta"] if era == "auto" else {}), **meta}
    return whole


def answers(response: httpx2.Response) -> list[dict[str, Any]]:
    """The messages in a response that answer a request."""
    kind = response.headers.get("content-type", "")
    if kind.startswith("text/event-stream"):
        found = [json.loads(line[5:]) for line in response.text.splitlines() if line.startswith("data:") and line[6:]]
    else:
        found = [response.json()] if kind.startswith("application/json") else []
    return [one for one in found if "result" in one or "error" in one]


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_a_megabyte_about_the_client(stage: Stage, era: str) -> None:
    info = {"name": "x" * (1 << 20), "version": "1"}
    whole = introduction()
    whole["params"]["clientInfo"] = info
    if era == "auto":
        whole = message(era, 1, **{"io.modelcontextprotocol/clientInfo": info})
    async with stage.http() as http:
        response = await http.post(stage.url, json=whole, headers=stage.headers(MCP_Protocol_Version=None))
    assert response.status_code == 413
    assert response.json()["id"] == whole["id"] and "KiB besides the arguments" in response.text
    await untouched(stage)


@pytest.mark.parametrize("era", ["legacy", "auto"])
@pytest.mark.parametrize(
    "request_id", [None, 1.5, 1e300, True, [], {"a": 1}, "", 10**400, "x" * 5000, -1, "\ud800", "a\nb: c"], ids=repr
)
async def test_odd_ids(stage: Stage, era: str, request_id: object) -> None:
    """Each is answered, with that id or refused; none is a call whose answer cannot be given."""
    stage.answers()
    async with stage.http() as http:
        body = json.dumps(message(era, request_id)).encode()
        response = await http.post(stage.url, content=body, headers=await headers(stage, era))
    if response.status_code < 300:
        (answer,) = answers(response)
        assert answer["id"] == request_id and "result" in answer
    else:
        assert response.status_code in (400, 413) and response.text
        assert stage.counter.tickets == {}


@pytest.mark.parametrize("era", ["legacy", "auto"])
@pytest.mark.parametrize("token", [None, 1.5, True, [], {"a": [1]}, "", 10**30, "x" * 5000, "a\r\nb"], ids=repr)
async def test_odd_progress_tokens(stage: Stage, era: str, token: object) -> None:
    stage.answers()
    async with stage.http() as http:
        whole = message(era, 1, progressToken=token)
        response = await http.post(stage.url, json=whole, headers=await headers(stage, era))
    assert response.text and response.status_code < 500
    assert len(response.content) < 20_000, "the token is repeated in each message"
    if response.status_code < 300:
        (answer,) = answers(response)
        assert answer["id"] == 1


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_two_calls_with_one_id_are_both_answered(stage: Stage, era: str) -> None:
    async with stage.http() as http:
        usual = await headers(stage, era)
        first = spawn("first", http.post(stage.url, json=message(era, 7), headers=usual))
        ticket = await stage.counter.question()
        second = spawn("second", http.post(stage.url, json=message(era, 7), headers=usual))
        if era == "auto":
            await stage.counter.question(2)
        else:
            assert (await asyncio.wait_for(asyncio.shield(second), HANGS)).status_code == 400
            assert "same id" in (await second).text
        for one in list(stage.counter.tickets.values()):
            stage.counter.run_at_once(one, "4\n")
        replies = await asyncio.wait_for(asyncio.gather(first, second), HANGS)
    assert ticket.case.answer.done()
    for reply in replies:
        assert [one["id"] for one in answers(reply)] == [7]
    assert replies[0].status_code == 200, "the first is not taken over by the second"


async def test_a_call_before_the_handshake_is_over(stage: Stage) -> None:
    stage.answers()
    async with stage.http() as http:
        early = await headers(stage, "legacy")
        both = await asyncio.gather(
            http.post(stage.url, json=introduction(), headers=stage.headers(MCP_Protocol_Version=None)),
            http.post(stage.url, json=message("legacy", 3), headers=early),
        )
        assert [response.status_code for response in both] == [200, 200]
        (answer,) = answers(both[1])
        assert "result" in answer or "error" in answer
        unnamed = {name: value for name, value in early.items() if name != "Mcp-Session-Id"}
        alone = await http.post(stage.url, json=message("legacy", 4), headers=unnamed)
        assert alone.status_code == 400 and alone.text


async def test_far_more_sessions_than_are_kept(stage: Stage) -> None:
    """Opened by one agent: another still gets its own, and what is kept is bounded."""
    async with stage.http() as http:
        usual = stage.headers(MCP_Protocol_Version=None)
        for _ in range(6):
            opened = [http.post(stage.url, json=introduction(), headers=usual) for _ in range(MOST_EACH)]
            assert {response.status_code for response in await asyncio.gather(*opened)} <= {200, 429}
    assert stage.gateway._guard is not None
    assert len(stage.gateway._guard._sessions._open["tester"]) <= MOST_EACH
    stage.answers()
    async with stage.client("legacy", stage.agents.add("calm")) as client:
        assert not (await client.call_tool("code_execute", PRINT)).is_error


# The protocol's library leaves its end of such a stream to the collector.
@pytest.mark.filterwarnings("ignore:.*MemoryObjectSendStream:pytest.PytestUnraisableExceptionWarning")
async def test_a_storm_of_streams_that_are_opened_again_and_again(stage: Stage) -> None:
    session = await stage.session()
    changes = {"Mcp-Session-Id": session, "MCP-Protocol-Version": OLDER, "Last-Event-ID": "9" * 2000}
    head = "".join(f"{name}: {value}\r\n" for name, value in {**stage.headers(Host=stage.host), **changes}.items())
    for _ in range(20):
        await asyncio.gather(*(_opened_and_left(stage, f"GET /mcp HTTP/1.1\r\n{head}\r\n".encode()) for _ in range(10)))
    async with asyncio.timeout(HANGS):
        while stage.gateway._guard is not None and stage.gateway._guard._door.limits._answered["tester"]:
            await asyncio.sleep(0.01)
    assert not [name for name in tasks.live() if "stream" in name]
    await untouched(stage)


async def _opened_and_left(stage: Stage, request: bytes) -> None:
    async with stage.dialed() as (reader, writer):
        writer.write(request)
        await writer.drain()
        assert (await reader.readline()).split()[1] in (b"200", b"409", b"429")


async def test_a_batch_is_refused_whole(stage: Stage) -> None:
    async with stage.dialed() as (reader, writer):
        writer.write(posted(stage.headers(Host=stage.host), json.dumps([message("auto", 1)] * 3).encode()))
        status = (await reader.readline()).split()[1]
    assert status == b"400"
    assert stage.counter.tickets == {}
    await untouched(stage)
