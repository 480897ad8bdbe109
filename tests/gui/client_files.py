"""Clients of an account in a temporary folder, for the window without an engine: real files, answered at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from app.agents.client_link import ClientLink, ClientState
from runner.clients.connection import ClientConnections
from runner.clients.known import CLIENTS
from runner.identity.agents import Agents
from runner.model.errors import KnownError
from runner.system.places import Places

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable
    from pathlib import Path

    from runner.clients.client import Client
    from runner.clients.connection import ConnectionPlan


class ClientFiles(ClientLink):
    """The link that reads and writes where it is called, not in the engine's process."""

    def __init__(self, home: Path, installed: tuple[str, ...] = ("codex", "gemini-cli")) -> None:
        self.home = home
        self.places = Places.under(home / "assent")
        self.agents = Agents(self.places)
        self.connections = ClientConnections(self.places, self.agents, {}, home)
        self._installed = installed

    def states(self) -> Future[tuple[ClientState, ...]]:
        def found() -> tuple[ClientState, ...]:
            setup = self.connections.setup()
            each = [(client, self.connections.connected(client, setup)) for client in CLIENTS]
            states = [
                ClientState(
                    client,
                    client.id in self._installed,
                    known.agent.name if known and known.agent else "",
                    hooked=known is not None and known.hooked,
                )
                for client, known in each
            ]
            return tuple(sorted(states, key=lambda state: not state.installed))

        return _answered(found)

    def plan(self, client: Client, *, hook: bool) -> Future[ConnectionPlan]:
        return _answered(lambda: self.connections.plan(client, self.connections.setup(hook=hook)))

    def connect(self, plan: ConnectionPlan) -> Future[ConnectionPlan]:
        return _answered(lambda: self.connections.connect(plan, self.agents.add))

    def removal(self, client: Client) -> Future[ConnectionPlan]:
        return _answered(lambda: self.connections.removal(client, self.connections.setup()))

    def disconnect(self, plan: ConnectionPlan) -> Future[None]:
        return _answered(lambda: self.connections.disconnect(plan, self.agents.revoke))


def _answered(work: Callable[[], Any]) -> Future[Any]:
    answer: Future[Any] = asyncio.get_running_loop().create_future()
    try:
        answer.set_result(work())
    except KnownError as error:
        answer.set_exception(error)
    return answer
