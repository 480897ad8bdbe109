"""A real gateway on loopback with a paper counter behind it, and clients of both protocol eras."""

from __future__ import annotations

import asyncio
import contextlib
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest import mock

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation

from runner.gateway import server
from runner.gateway.server import Gateway
from runner.identity.agents import Agents
from runner.system.offload import Aside
from runner.system.places import Places
from tests.gateway.counter import PaperCounter, Terms
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

AGENT = "tester"
ERAS = ("legacy", "auto")
"""Modes of the SDK's client: the handshake era, and 2026-07-28."""
VERSION = "2026-07-28"
PRINT = {"language": "python", "code": "print(2 + 2)"}


@dataclass
class Address:
    """Where a gateway listens, and one agent's token: every way to speak to it."""

    url: str
    token: str

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1].split("/")[0])

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def headers(self, **changes: str | None) -> dict[str, str]:
        """Those of a well-behaved message of the modern era, with some changed or (None) left out."""
        headers: dict[str, str | None] = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": VERSION,
            "Mcp-Method": "tools/call",
            "Mcp-Name": "code_execute",
        }
        headers |= {name.replace("_", "-"): value for name, value in changes.items()}
        return {name: value for name, value in headers.items() if value is not None}

    @asynccontextmanager
    async def client(self, era: str, token: str = "", name: str = "", **headers: str) -> AsyncIterator[Client]:
        """The official client, connected; `name` is what it says that it is."""
        authorization = {"Authorization": f"Bearer {token or self.token}"}
        info = Implementation(name=name, version="1") if name else None
        async with (
            httpx2.AsyncClient(headers=authorization | headers, timeout=HANGS) as http,
            Client(streamable_http_client(self.url, http_client=http), mode=era, client_info=info) as client,
        ):
            yield client

    @asynccontextmanager
    async def http(self) -> AsyncIterator[httpx2.AsyncClient]:
        async with httpx2.AsyncClient(timeout=HANGS) as http:
            yield http

    @asynccontextmanager
    async def dialed(self) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """A bare connection, dropped at the end."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            yield reader, writer
        finally:
            writer.close()
            # The other side may have closed before.
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def session(self) -> str:
        """Id of a fresh session of the handshake era."""
        async with self.http() as http:
            opened = await http.post(self.url, json=introduction(), headers=self.headers(MCP_Protocol_Version=None))
        return str(opened.headers["mcp-session-id"])

    @asynccontextmanager
    async def calling(self, era: str, arguments: dict[str, Any] | None = None) -> AsyncIterator[asyncio.StreamReader]:
        """A call of code_execute on a connection of our own, which is dropped at the end."""
        message = modern("tools/call", {"name": "code_execute", "arguments": arguments or PRINT})
        headers = self.headers(Host=self.host)
        if era == "legacy":
            headers |= {"MCP-Protocol-Version": "2025-06-18", "Mcp-Session-Id": await self.session()}
            message["params"]["_meta"] = {"progressToken": "p"}
        async with self.dialed() as (reader, writer):
            writer.write(posted(headers, json.dumps(message).encode()))
            await writer.drain()
            yield reader


@dataclass
class Stage(Address):
    gateway: Gateway
    counter: PaperCounter
    agents: Agents
    places: Places

    def answers(self, *, stdout: str = "4\n") -> None:
        """From now on every question is approved and run at once."""
        self.counter.on_question = lambda ticket: self.counter.run_at_once(ticket, stdout)


def posted(headers: dict[str, str], body: bytes) -> bytes:
    """A whole HTTP message."""
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST /mcp HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def modern(method: str, params: dict[str, Any] | None = None, request_id: object = 1) -> dict[str, Any]:
    """A message of the modern era."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": "p",
    }
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {**(params or {}), "_meta": meta}}


def call(arguments: dict[str, Any], tool: str = "code_execute") -> bytes:
    return json.dumps(modern("tools/call", {"name": tool, "arguments": arguments})).encode()


def introduction() -> dict[str, Any]:
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


@contextlib.contextmanager
def unhurried() -> Iterator[None]:
    """A gateway that is closed has as long as a busy machine needs: within a second it would be ended by force."""
    with mock.patch.multiple(server, STOP_SECONDS=HANGS, GRACE_SECONDS=HANGS):
        yield


@asynccontextmanager
async def staged(root: Path, terms: Terms | None = None) -> AsyncIterator[Stage]:
    """An open gateway; closed again at the end."""
    places = Places.under(root)
    agents = Agents(places)
    token = agents.add(AGENT)
    counter = PaperCounter(terms or Terms())
    aside = Aside()
    gateway = Gateway(counter, agents, counter.terms, places, aside)
    with unhurried():
        url = await gateway.open()
        try:
            yield Stage(url, token, gateway, counter, agents, places)
        finally:
            await gateway.close("The console is closing.")
            aside.close()
