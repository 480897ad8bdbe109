"""How registries are reached: by the company's proxy where there is one, and only by what TLS has vouched for."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING

import pytest

from runner.model.network import Destination
from runner.network.authorities import Authorities
from runner.packages.client import Access, RegistryClient
from runner.packages.failures import NoPlan, Unusable
from runner.system.tasks import spawn
from tests.network.stage import free_port
from tests.network.stage import served as serving
from tests.packages.registry import LoopbackRegistry, certificate, served
from tests.packages.test_planner import chosen, planned

if TYPE_CHECKING:
    from pathlib import Path

    from runner.packages.target import PythonTarget

pytestmark = pytest.mark.asyncio
Make = "Callable[..., Planner]"


class Tunnels:
    """A proxy that does what CONNECT asks of it. `before` is what it says on behalf of the host, before the host."""

    def __init__(self, before: bytes = b"") -> None:
        self._before = before
        self.heads: list[bytes] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        host, _, port = head.split(b" ")[1].decode().rpartition(":")
        far, out = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + self._before)
        ways = [spawn("to the host", _carried(reader, out)), spawn("from the host", _carried(far, writer))]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            out.transport.abort()
            for way in ways:
                way.cancel()
            await asyncio.wait(ways)


async def _carried(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()


async def test_plans_go_through_the_proxy_of_the_company(
    registry: LoopbackRegistry, planner: Make, target: PythonTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.add("app", "1.0")
    tunnels = Tunnels()
    async with serving(tunnels) as port:
        monkeypatch.setenv("HTTP_PROXY", f"http://u:p@127.0.0.1:{port}")
        monkeypatch.setenv("HTTPS_PROXY", f"http://u:p@127.0.0.1:{port}")
        maker = planner(registry)
        plan = await planned(maker, target, "app")
        assert chosen(plan) == ["app 1.0"]
        assert tunnels.heads and all(b"Proxy-Authorization: Basic" in head for head in tunnels.heads)
        assert tunnels.heads[0].startswith(f"CONNECT 127.0.0.1:{registry.port} ".encode())
        assert not any("Proxy-Authorization" in head for head in registry.headers)


async def test_a_proxy_that_does_not_answer_is_not_gone_past(
    registry: LoopbackRegistry, planner: Make, target: PythonTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.add("app", "1.0")
    port = free_port()
    monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{port}")
    with pytest.raises(NoPlan, match=f"the proxy 127.0.0.1:{port}"):
        await planned(planner(registry), target, "app")
    assert registry.asked == []


async def test_what_is_said_before_the_handshake_is_never_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever stands on the way can send an answer of his own at once; TLS on top would make it the registry's."""
    context, authority = certificate(tmp_path)
    trusting = Authorities((str(authority),))
    body = json.dumps({"files": []}).encode()
    forged = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    with served(LoopbackRegistry(), context) as registry:
        tunnels = Tunnels(forged)
        async with serving(tunnels) as port:
            monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")
            client = RegistryClient(Access(registry.url))
            with pytest.raises(Unusable, match="private"):
                await client.get(f"{registry.url}app/")
            known = RegistryClient(Access(registry.url, frozenset({_here(registry)}), authorities=trusting))
            try:
                assert await known.get(f"{registry.url}app/") is None, "the forged answer was taken"
                assert registry.asked == ["/simple/app/"]
            finally:
                await known.close()


def _here(registry: LoopbackRegistry) -> Destination:
    return Destination("127.0.0.1", registry.port)
