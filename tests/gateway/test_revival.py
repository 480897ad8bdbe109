"""Clients that outlive a console: their sessions are taken up by the next one; refusals never leave them waiting."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from runner.gateway import catalog
from runner.gateway.revival import MOST_ENDED
from runner.gateway.server import Gateway
from runner.gateway.sessions import MOST_EACH
from runner.system.offload import Aside
from runner.system.tasks import spawn
from tests.gateway.counter import Terms
from tests.gateway.stage import AGENT, PRINT, call, introduction, staged
from tests.gateway.test_mcp_calls import text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import httpx2

    from tests.gateway.stage import Stage

pytestmark = pytest.mark.asyncio
OLD = "0123456789abcdef" * 2
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


@asynccontextmanager
async def restarted(stage: Stage) -> AsyncIterator[Gateway]:
    """Another console on the same port, which knows none of the sessions."""
    await stage.gateway.close("The console is closing.")
    gateway = Gateway(stage.counter, stage.agents, Terms(port=stage.port), stage.places, Aside())
    await gateway.open()
    try:
        yield gateway
    finally:
        await gateway.close("The console is closing.")


def known(gateway: Gateway) -> int:
    """Number of sessions that the guard keeps for the agent."""
    assert gateway._guard is not None
    return len(gateway._guard._sessions._open.get(AGENT, {}))


async def posted(http: httpx2.AsyncClient, stage: Stage, session: str, message: dict[str, Any], **more: str) -> Any:
    headers = stage.headers(Mcp_Session_Id=session, MCP_Protocol_Version="2025-06-18", **more)
    return await http.post(stage.url, json=message, headers=headers)


async def test_a_client_of_the_handshake_era_survives_a_restart(stage: Stage) -> None:
    stage.answers()
    async with stage.client("legacy") as client:
        assert text(await client.call_tool("code_execute", PRINT)) == "4"
        async with restarted(stage) as gateway:
            calls = [client.call_tool("code_execute", {**PRINT, "title": str(number)}) for number in range(12)]
            assert {text(result) for result in await asyncio.gather(*calls)} == {"4"}
            assert len((await client.list_tools()).tools) in (len(catalog.TOOLS), len(catalog.TOOLS) - 1)
            assert known(gateway) == 1, "calls that came at once opened a session each"


async def test_cancelling_works_in_a_revived_session(stage: Stage) -> None:
    async with stage.client("legacy") as client:
        await client.list_tools()
        async with restarted(stage):
            answering = spawn("call", client.call_tool("code_execute", PRINT))
            await stage.counter.question()
            answering.cancel()
            await stage.counter.until(lambda: stage.counter.withdrawn)


async def test_a_revived_session_answers_under_its_old_id_until_it_is_ended(stage: Stage) -> None:
    async with stage.http() as http:
        for _ in range(2):
            answer = await posted(http, stage, OLD, LIST)
            assert answer.status_code == 200 and answer.headers["mcp-session-id"] == OLD
        assert known(stage.gateway) == 1
        headers = stage.headers(Mcp_Session_Id=OLD, MCP_Protocol_Version="2025-06-18", Content_Type=None)
        assert (await http.request("DELETE", stage.url, headers=headers)).status_code == 200
        assert known(stage.gateway) == 0
        assert (await http.request("DELETE", stage.url, headers=headers)).status_code == 404
        assert (await posted(http, stage, OLD, LIST)).status_code == 404, "the client itself has ended it"
    assert known(stage.gateway) == 0


async def test_sessions_that_clients_end_are_remembered_within_a_bound(stage: Stage) -> None:
    assert stage.gateway._guard is not None
    revival = stage.gateway._guard._revival
    for number in range(MOST_ENDED + 5):
        revival.end(AGENT, str(number))
    assert revival.may(AGENT, "0") and not revival.may(AGENT, "5") and revival.may("other", "5")
    assert len(revival._ended[AGENT]) == MOST_ENDED


async def test_a_session_of_another_agent_is_not_taken_up(stage: Stage) -> None:
    other = stage.agents.add("other")
    session = await stage.session()
    async with stage.http() as http:
        answer = await posted(http, stage, session, LIST, Authorization=f"Bearer {other}")
        assert answer.status_code == 404
        assert (await posted(http, stage, OLD, LIST, Authorization="Bearer assent_none")).status_code == 401
    assert known(stage.gateway) == 1


async def test_invented_sessions_are_bounded_like_all_others(tmp_path: Path) -> None:
    async with staged(tmp_path, Terms(rate_per_minute=60, burst=20)) as stage, stage.http() as http:
        answers = [await posted(http, stage, f"{number:032}", LIST) for number in range(60)]
        assert {answer.status_code for answer in answers} == {200, 429}, "opening sessions has a rate"
        assert known(stage.gateway) <= MOST_EACH
        assert stage.gateway._guard is not None
        assert len(stage.gateway._guard._revival._new[AGENT]) == known(stage.gateway)
        assert (await posted(http, stage, "x" * 1000, LIST)).status_code == 404


async def test_old_ids_go_with_their_sessions(stage: Stage) -> None:
    async with stage.http() as http:
        for number in range(MOST_EACH + 5):
            assert (await posted(http, stage, f"{number:032}", LIST)).status_code == 200
    assert stage.gateway._guard is not None
    assert len(stage.gateway._guard._revival._new[AGENT]) == known(stage.gateway) <= MOST_EACH


async def test_nothing_is_to_be_discovered(stage: Stage) -> None:
    async with stage.http() as http:
        for path in ("oauth-authorization-server", "oauth-protected-resource/mcp"):
            answer = await http.get(f"http://{stage.host}/.well-known/{path}")
            assert answer.status_code == 404 and "www-authenticate" not in answer.headers
        foreign = await http.get(f"http://{stage.host}/.well-known/x", headers={"Host": "evil.example"})
    assert foreign.status_code == 421
    assert [status for status, _ in stage.counter.refusals] == [""]


async def test_a_refusal_names_the_request_or_is_text(stage: Stage) -> None:
    async with stage.http() as http:
        large = await http.post(stage.url, content=call({**PRINT, "code": "x" * (6 << 20)}), headers=stage.headers())
        assert large.status_code == 413 and large.json()["id"] == 1
        hidden = json.dumps({"method": "tools/call", "params": "x" * (6 << 20), "id": 7, "jsonrpc": "2.0"})
        unknown = await http.post(stage.url, content=hidden.encode(), headers=stage.headers())
        assert unknown.status_code == 413 and unknown.headers["content-type"].startswith("text/plain")
        assert stage.gateway._guard is not None
        stage.gateway._guard.hang_up()
        closing = await http.post(stage.url, json=introduction(), headers=stage.headers())
        assert closing.status_code == 503 and closing.json()["id"] == 0
