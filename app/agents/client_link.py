"""The window's questions about clients and their configuration: files are read and written off the engine's loop."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, NamedTuple

from runner.clients.connection import ClientConnections
from runner.clients.known import CLIENTS
from runner.identity.agent_changes import WINDOW
from runner.identity.agents import Agents
from runner.model.errors import KnownError

if TYPE_CHECKING:
    from asyncio import Future
    from pathlib import Path

    from app.link.bridge import EngineLink
    from runner.clients.client import Client
    from runner.clients.connection import ConnectionPlan
    from runner.engine.engine import Engine

TOKEN_SECONDS = 10.0
"""Time limit for the engine to register an agent."""


class ClientState(NamedTuple):
    """A client as its tile shows it."""

    client: Client
    installed: bool
    agent: str = ""
    """The agent as which it is connected; '' where it is not."""
    problem: str = ""
    """Why its configuration cannot be read."""
    hooked: bool = False
    """Whether its own tools are asked for as well."""


class ClientLink:
    """Every method returns a future; it raises KnownError where a file cannot be read or changed."""

    def __init__(self, link: EngineLink, home: Path | None = None) -> None:
        self._link = link
        self._home = home

    def states(self) -> Future[tuple[ClientState, ...]]:
        """Ask for all clients, the installed ones first."""

        async def work(engine: Engine) -> tuple[ClientState, ...]:
            return await asyncio.to_thread(self._states, engine)

        return self._link.call(work)

    def plan(self, client: Client, *, hook: bool) -> Future[ConnectionPlan]:
        """Ask what connecting would change."""

        async def work(engine: Engine) -> ConnectionPlan:
            connections = self._connections(engine)
            return await asyncio.to_thread(connections.plan, client, connections.setup(hook=hook))

        return self._link.call(work)

    def connect(self, plan: ConnectionPlan) -> Future[ConnectionPlan]:
        """Write what was shown, with a token for a new agent."""

        async def work(engine: Engine) -> ConnectionPlan:
            loop = asyncio.get_running_loop()

            def new_token(name: str) -> str:
                adding = asyncio.run_coroutine_threadsafe(engine.membership.add(name), loop)
                return adding.result(TOKEN_SECONDS)

            return await asyncio.to_thread(self._connections(engine).connect, plan, new_token)

        return self._link.call(work)

    def removal(self, client: Client) -> Future[ConnectionPlan]:
        """Ask what disconnecting would change."""

        async def work(engine: Engine) -> ConnectionPlan:
            connections = self._connections(engine)
            return await asyncio.to_thread(connections.removal, client, connections.setup())

        return self._link.call(work)

    def disconnect(self, plan: ConnectionPlan) -> Future[None]:
        """Take back what was put in, and revoke the agent."""

        async def work(engine: Engine) -> None:
            await asyncio.to_thread(self._connections(engine).disconnect, plan, lambda _name: None)
            if plan.agent:
                await engine.membership.revoke(plan.agent)

        return self._link.call(work)

    def _connections(self, engine: Engine) -> ClientConnections:
        # Its own view of the list: that of the engine is for the engine's thread.
        return ClientConnections(engine.parts.places, Agents(engine.parts.places, by=WINDOW), os.environ, self._home)

    def _states(self, engine: Engine) -> tuple[ClientState, ...]:
        connections = self._connections(engine)
        setup = connections.setup()
        found = []
        for client in CLIENTS:
            agent, problem, hooked = "", "", False
            try:
                if (connected := connections.connected(client, setup)) is not None and connected.agent is not None:
                    agent, hooked = connected.agent.name, connected.hooked
            except KnownError as error:
                problem = str(error)
            found.append(ClientState(client, bool(client.found(setup.home, os.environ)), agent, problem, hooked))
        return tuple(sorted(found, key=lambda state: not state.installed))
