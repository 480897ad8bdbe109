"""A real gateway on loopback with a paper counter behind it, and clients of both protocol eras."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from runner.agents import Agents
from runner.gateway.server import Gateway
from runner.places import Places
from tests.gateway.counter import PaperCounter, Terms

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

AGENT = "tester"
ERAS = ("legacy", "auto")
"""Modes of the SDK's client: the handshake era, and 2026-07-28."""
VERSION = "2026-07-28"
PRINT = {"language": "python", "code": "print(2 + 2)"}


@dataclass
class Stage:
    gateway: Gateway
    counter: PaperCounter
    agents: Agents
    places: Places
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
    async def client(self, era: str, token: str = "", **headers: str) -> AsyncIterator[Client]:
        """The official client, connected."""
        authorization = {"Authorization": f"Bearer {token or self.token}"}
        async with (
            httpx2.AsyncClient(headers=authorization | headers, timeout=30) as http,
            Client(streamable_http_client(self.url, http_client=http), mode=era) as client,  # type: ignore[arg-type]
        ):
            yield client

    @asynccontextmanager
    async def http(self) -> AsyncIterator[httpx2.AsyncClient]:
        async with httpx2.AsyncClient(timeout=30) as http:
            yield http

    def answers(self, *, stdout: str = "4\n") -> None:
        """From now on every question is approved and run at once."""
        self.counter.on_question = lambda ticket: self.counter.run_at_once(ticket, stdout)


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


@asynccontextmanager
async def staged(root: Path, terms: Terms | None = None) -> AsyncIterator[Stage]:
    """An open gateway; closed again at the end."""
    places = Places.under(root)
    agents = Agents(places)
    token = agents.add(AGENT)
    counter = PaperCounter(terms or Terms())
    gateway = Gateway(counter, agents, counter.terms, places)
    url = await gateway.open()
    try:
        yield Stage(gateway, counter, agents, places, url, token)
    finally:
        await gateway.close("The console is closing.")
