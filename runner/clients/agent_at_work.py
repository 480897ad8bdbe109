"""The agent that a client's program at work belongs to."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from runner.clients.client import ConfigScope
from runner.clients.connection import ClientConnections
from runner.clients.known import BY_ID
from runner.clients.receipts import Receipts
from runner.model.errors import KnownError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from runner.identity.agents import Agent, Agents
    from runner.system.places import Places


def agent_of(
    client: str,
    agents: Agents,
    places: Places,
    project: Path,
    environment: Mapping[str, str],
    home: Path | None = None,
) -> Agent | None:
    """Return the agent of a client, revoked or not; None where it has none.

    It is that of the token in the client's configuration, of the project before that of the account; without one, that
    as which `assent connect` connected it last, or the one in force that is called as the client is.
    """
    connections = ClientConnections(places, agents, environment, home)
    known = BY_ID[client]
    setups = [connections.setup()]
    if known.entry.has_projects:
        setups.insert(0, connections.setup(ConfigScope.PROJECT, project))
    for setup in setups:
        with contextlib.suppress(KnownError):
            if (owner := connections.owner(known, setup)) is not None:
                return owner
    receipts = Receipts(places)
    made = (receipts.find(client, setup.scope, str(setup.folder)) for setup in setups[:-1])
    of_account = receipts.find(client, ConfigScope.USER, "")
    names = (*(one.agent for one in (*made, of_account) if one is not None), client)
    return next((agent for name in names if (agent := _in_force(agents, name)) is not None), None)


def _in_force(agents: Agents, name: str) -> Agent | None:
    """Return the agent that has, or had before it was renamed, this name; None where it is not in force."""
    seen: set[str] = set()
    while name and name not in seen:
        seen.add(name)
        found = agents.found(name)
        if found is None or not found.revoked:
            return found
        name = found.renamed_to
    return None
