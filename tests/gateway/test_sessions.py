"""Sessions and connections of one agent: bounded, whatever comes at once, and closed by whoever owns them."""

from __future__ import annotations

import asyncio
import socket
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from runner.gateway import server
from runner.gateway.acceptor import Acceptor
from runner.gateway.connection import MOST_OF_ONE_AGENT, Connections
from runner.gateway.rejection import Rejected
from runner.gateway.server import Gateway
from runner.gateway.sessions import MOST_EACH, Sessions
from runner.identity.agents import Agents
from runner.system.offload import Aside
from runner.system.places import Places
from runner.system.tasks import spawn
from tests.gateway.counter import PaperCounter, Terms

if TYPE_CHECKING:
    from pathlib import Path


def test_sessions_that_are_being_opened_count() -> None:
    sessions = Sessions()
    with ExitStack() as work:
        for _ in range(MOST_EACH):
            work.enter_context(sessions.at_work("a", "", opens=True))
            assert sessions.superfluous("a") == ""
        with sessions.at_work("a", "", opens=True), pytest.raises(Rejected):
            sessions.superfluous("a")
        with sessions.at_work("b", "", opens=True):
            assert sessions.superfluous("b") == ""
    for number in range(MOST_EACH):
        sessions.opened("a", str(number))
    with sessions.at_work("a", "0", opens=False), sessions.at_work("a", "", opens=True):
        assert sessions.superfluous("a") == "1", "the first is in use"


@pytest.mark.parametrize(("most", "stay"), [(512, MOST_OF_ONE_AGENT), (40, 10)])
def test_one_agent_fills_a_quarter_of_the_connections_at_most(most: int, stay: int) -> None:
    assert Connections(most)._of_one_agent == stay


@pytest.mark.asyncio
async def test_a_connection_that_is_cancelled_half_way_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    begun = asyncio.Event()

    async def never(*_args: object) -> None:
        begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(loop, "connect_accepted_socket", never)
    ours, theirs = socket.socketpair()
    with ours, socket.socket() as listener:
        connecting = spawn("connection", Acceptor(listener, None, 8)._connect(theirs))  # type: ignore[arg-type]
        await begun.wait()
        connecting.cancel()
        await asyncio.wait({connecting})
        assert theirs.fileno() == -1


@pytest.mark.asyncio
async def test_a_start_that_is_cancelled_half_way_leaves_no_port_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listeners: list[socket.socket] = []
    listen = server._bound

    def listened(port: int) -> socket.socket:
        listeners.append(listen(port))
        return listeners[0]

    monkeypatch.setattr(server, "_bound", listened)
    places = Places.under(tmp_path)
    gateway = Gateway(PaperCounter(Terms()), Agents(places), Terms(), places, Aside())
    opening = spawn("open", gateway.open())
    while not listeners:
        await asyncio.sleep(0)
    opening.cancel()
    await asyncio.wait({opening})
    assert opening.cancelled() and listeners[0].fileno() == -1
    await gateway.close("over")
