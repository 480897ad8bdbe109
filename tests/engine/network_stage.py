"""An engine with its real local sandbox and real gates; the hosts outside are servers of this test."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import TYPE_CHECKING

from runner.assembly import build
from runner.model.events import HostContacted
from runner.model.request import Language, Tool
from runner.model.submission import Submission
from runner.settings.loading import load
from runner.system.places import Places
from tests.network.stage import PUBLIC, Hosts
from tests.patience import HANGS
from tests.recorded import record_in
from tests.stages.engine import EngineStage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import pytest

    from runner.approval.ticket import Ticket
    from runner.audit.history.search import CaseRecord
    from runner.model.answer import Answer
    from runner.model.network import Contact

AGENT = "claude"
GOOD, EVIL, INNER, OWN = "good.example", "evil.example", "inner.example", "own.example"
ADDRESSES = {GOOD: [PUBLIC], EVIL: [PUBLIC], INNER: ["10.1.2.3"], OWN: ["127.0.0.1"]}
PERSISTENT = """
import sys, time, urllib.request
def reach(host):
    try:
        with urllib.request.urlopen(f"http://{host}/", timeout=60) as answer:
            return answer.read().decode()
    except OSError as error:
        return f"no: {error}"
def insist(host):
    while not (said := reach(host)).startswith("hello"):
        time.sleep(0.05)
    return said
"""
STREAM = """
import urllib.request
try:
    with urllib.request.urlopen("http://{host}/stream", timeout=60) as answer:
        print(answer.readline().decode().strip(), flush=True)
        rest = answer.read()
    print("ended")
except Exception as error:
    print("ended", type(error).__name__)
"""
"""Reads what does not end by itself; what it prints last shows that it was ended."""


async def serve(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, streams: asyncio.Event | None = None
) -> None:
    """Answer one request, or begin a stream that does not end; `streams` is set while somebody reads from that."""
    with contextlib.suppress(OSError, EOFError):
        head = await reader.readuntil(b"\r\n\r\n")
        if streams is None or b" /stream " not in head.partition(b"\r\n")[0]:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
            await writer.drain()
        else:
            writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nfirst\n")
            await writer.drain()
            streams.set()
            await reader.read()
            streams.clear()
    writer.close()


class NetworkedStage(EngineStage):
    """The engine, the servers, and everything that happened."""

    def __init__(self, root: Path, hosts: Hosts, environment: dict[str, str]) -> None:
        self.hosts = hosts
        self.streams = asyncio.Event()
        """Set while a program reads from a stream."""
        usual = {"SANDBOX_TYPE": "local", "ASSENT_WEAKEST_ISOLATION_CRITICAL": "local"}
        places = Places.under(root)
        super().__init__(build(places, load(places, usual | environment)), places)

    async def asks(self, code: str, *domains: str, **more: object) -> Ticket:
        """Ask for a networked run, and wait for the question."""
        values: dict[str, object] = {"network_enabled": True, "allowed_domains": domains, "timeout": 60.0} | more
        agent = str(values.pop("agent", AGENT))
        submission = Submission(agent, Tool.CODE_EXECUTE, Language.PYTHON, code, **values)  # type: ignore[arg-type]
        return await self.asked(submission)

    async def running(self, code: str, *domains: str, **more: object) -> Ticket:
        """Ask, and approve."""
        ticket = await self.asks(code, *domains, **more)
        assert self.approve(ticket) == ""
        return ticket

    async def answer(self, ticket: Ticket) -> Answer:
        answer = await ticket.answered(HANGS)
        assert answer is not None
        return answer

    def contacts(self, ticket: Ticket) -> list[Contact]:
        return [
            event.contact
            for event in self.heard
            if isinstance(event, HostContacted) and event.request_id == ticket.request_id
        ]

    async def refused(self, ticket: Ticket, host: str) -> Contact:
        """Wait until the run was refused `host`."""

        def found() -> list[Contact]:
            return [one for one in self.contacts(ticket) if one.host == host and one.allowed is False]

        await self.until(found)
        return found()[-1]

    def record(self, request_id: str) -> CaseRecord:
        return record_in(self.places.ledger, request_id)

    def entries(self, request_id: str) -> list[str]:
        return [step.entry.kind for step in self.record(request_id).steps]


@contextlib.asynccontextmanager
async def networked(
    root: Path, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str] | None = None
) -> AsyncIterator[NetworkedStage]:
    """A stage whose names lead to its own servers."""
    hosts = Hosts(dict(ADDRESSES))
    monkeypatch.setattr("runner.network.dialing.addresses_of", hosts.resolve)
    monkeypatch.setattr("runner.engine.supply.networking.dialer_of_this_machine", lambda _seconds: hosts.dialer())
    stage = NetworkedStage(root, hosts, environment or {})
    server = await asyncio.start_server(partial(serve, streams=stage.streams), "127.0.0.1", 0)
    hosts.ports[80] = server.sockets[0].getsockname()[1]
    await stage.engine.start(gateway=False)
    await stage.until(lambda: stage.engine.parts.sandboxes.present is not None)
    try:
        yield stage
    finally:
        await stage.engine.close("the test is over")
        server.close()
        await server.wait_closed()
