"""Network over the wire: the official client asks, the real engine and local sandbox answer, hosts are this test's."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from runner.assembly import build
from runner.engine.request.path import FOR_THE_WINDOW
from runner.gateway.server import DETAILS
from runner.model.answer import ASK_FOR_HOSTS
from runner.model.decision import Verdict
from runner.model.events import QuestionAsked, RequestArrived
from runner.model.request import NetworkMode
from runner.sandbox.local.sandbox import LocalSandbox
from runner.settings.loading import load
from runner.system.places import Places
from tests.engine.network_stage import EVIL, GOOD, INNER, PERSISTENT, serve
from tests.gateway.stage import AGENT, ERAS, Address
from tests.network.stage import PUBLIC, Hosts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from mcp.client.client import Client
    from mcp_types import CallToolResult

    from runner.model.events import Event
    from runner.model.request import Request

pytestmark = pytest.mark.asyncio


class Approving(Address):
    """Everything that is asked is approved."""

    requests: list[Request]


@asynccontextmanager
async def online(root: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Approving]:
    hosts = Hosts({GOOD: [PUBLIC], EVIL: [PUBLIC], INNER: ["10.1.2.3"]})
    monkeypatch.setattr("runner.engine.supply.networking.dialer_of_this_machine", lambda _seconds: hosts.dialer())
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    hosts.ports[80] = server.sockets[0].getsockname()[1]
    places = Places.under(root / "home")
    environment = {
        "ASSENT_PORT": "0",
        "ASSENT_WEAKEST_ISOLATION_CRITICAL": "local",
        "ASSENT_NPM_REGISTRIES": f"{INNER}:80",
    }
    engine = build(places, load(places, environment), (LocalSandbox(root / "runs"),))
    requests: list[Request] = []

    def approve(event: Event) -> None:
        if isinstance(event, RequestArrived):
            requests.append(event.request)
        if isinstance(event, QuestionAsked):
            (question,) = [one for one in engine.desk.waiting() if one.request_id == event.request_id]
            loop = asyncio.get_running_loop()
            loop.call_soon(engine.answer, question.request_id, question.digest, Verdict.APPROVED, "")

    engine.listen(approve)
    await engine.start()
    there = Approving(engine.parts.address, await engine.membership.add(AGENT))
    there.requests = requests
    try:
        yield there
    finally:
        await engine.close("the test is over")
        server.close()
        await server.wait_closed()


async def called(client: Client, tool: str, **arguments: Any) -> CallToolResult:
    return await client.call_tool(tool, arguments)


def text(result: CallToolResult) -> str:
    return "".join(part.text for part in result.content if part.type == "text")


def data(result: CallToolResult) -> dict[str, Any]:
    assert isinstance(result.structured_content, dict)
    return result.structured_content


@pytest.mark.parametrize("era", ERAS, ids=["handshake era", "modern era"])
async def test_an_agent_reaches_what_it_named_and_is_told_of_what_it_did_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, era: str
) -> None:
    code = f"{PERSISTENT}\nprint(reach('{GOOD}'))\nreach('{EVIL}')"
    async with online(tmp_path, monkeypatch) as there, there.client(era) as client:
        ran = await called(
            client, "code_execute", language="python", code=code, network_enabled=True, allowed_domains=[f"{GOOD}:80"]
        )
    said = text(ran)
    assert said.startswith("hello\n") and said.endswith(f"not reached: {EVIL}:80.\n{ASK_FOR_HOSTS}")
    assert data(ran)["refused_hosts"] == f"{EVIL}:80" and data(ran)["advice"] == ASK_FOR_HOSTS
    assert ran.meta is not None
    hosts = {one["host"]: one["outcome"] for one in ran.meta[DETAILS]["network"]["hosts"]}
    assert hosts == {f"{GOOD}:80": "allowed", f"{EVIL}:80": "refused"}


async def test_a_kept_sandbox_keeps_its_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = f"{PERSISTENT}\nprint(reach('{GOOD}'))"
    async with online(tmp_path, monkeypatch) as there, there.client("auto") as client:
        made = await called(
            client, "code_create_sandbox", language="python", network_enabled=True, allowed_domains=[f"{GOOD}:80"]
        )
        facts = data(made)["facts"]
        assert (facts["network"], facts["allowed_domains"]) == ("domains", [f"{GOOD}:80"])
        id = facts["sandbox_id"]
        inside = await called(client, "code_execute", language="python", code=code, sandbox_id=id)
        assert text(inside) == "hello"
        again = await called(client, "code_execute", language="shell", code=f"ls; echo {GOOD}", sandbox_id=id)
        assert not again.is_error
        without = await called(
            client, "code_execute", language="python", code=code, sandbox_id=id, network_enabled=False
        )
        assert text(without).startswith("no:") and "refused_hosts" not in data(without)
        networks = [request.domains for request in there.requests]
    assert networks == [(f"{GOOD}:80",), (f"{GOOD}:80",), (f"{GOOD}:80",), ()]


async def test_the_facts_say_which_networks_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with online(tmp_path, monkeypatch) as there, there.client("auto") as client:
        facts = data(await called(client, "code_sandbox_info"))["facts"]
    assert not facts.keys() & FOR_THE_WINDOW
    assert facts["network"] == "none unless you ask" and f"{INNER}:80" in facts["package_registries"]
    assert facts["network_modes"] == ["none", "registries", "domains"]


async def test_the_facts_name_no_protection_that_a_usual_run_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_NETWORK_ENABLED", "true")
    monkeypatch.setattr("runner.engine.foundation.sandbox_choice.usual_mode", lambda *_: NetworkMode.REGISTRIES)
    async with online(tmp_path, monkeypatch) as there, there.client("auto") as client:
        facts = data(await called(client, "code_sandbox_info"))["facts"]
    assert not [one for one in facts["protections"] if one.startswith("no network")], facts
