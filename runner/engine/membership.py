"""Adds and revokes agents, and notices those that another process revoked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.approval.door import REVOKED
from runner.model.errors import KnownError
from runner.model.events import AgentsChanged
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from runner.identity.agents import Agent, Agents
    from runner.model.record import Record


class Membership:
    """The registered agents as the engine sees them. Every method is called on the engine's loop."""

    def __init__(
        self,
        agents: Agents,
        record: Record,
        withdraw_all: Callable[[str, str], None],
        forget: Callable[[str], Awaitable[None]],
    ) -> None:
        """`withdraw_all(agent, why)` ends its requests; `forget(agent)` removes its grants and kept sandboxes."""
        self._agents = agents
        self._record = record
        self._withdraw_all = withdraw_all
        self._forget = forget
        agents.listen(self._first_seen, self._revoked_elsewhere, self.report, self._added_elsewhere)

    def report(self) -> None:
        """Report as trouble that the list of agents cannot be read: no agent is known then."""
        if problem := self._agents.problem:
            self._record.trouble("agents", problem, "Restore the file, or add the agents again.")
        else:
            self._record.clear("agents")

    async def add(self, name: str) -> str:
        """Register an agent and return its token, to be shown once. Raises KnownError for an invalid name."""
        token = self._agents.add(name)
        await self._record.note("agent-added", "", {"agent": name})
        self._record.publish(AgentsChanged())
        return token

    async def revoke(self, name: str) -> None:
        """Make the agent's token invalid and withdraw its requests.

        Raises KnownError where that cannot be written; it is in force until the next start all the same.
        """
        try:
            self._agents.revoke(name)
        finally:
            if barred(self._agents, name, float("inf")):
                self._withdraw_all(name, REVOKED)
                await self._ended(name)

    def barred(self, agent: str, since: float) -> str:
        """Return why a request that `agent` made at `since` may not continue; empty where it may.

        `since` is in seconds since the epoch. Reads the file again if it has changed: another process may have
        revoked the agent, or given its name to a new one.
        """
        self._agents.refresh()
        return barred(self._agents, agent, since)

    def registered(self, agent: str) -> float:
        """Return when the agent was added, in seconds since the epoch; 0 for a name that is not registered."""
        return max((one.created_at for one in self._agents.all() if one.name == agent), default=0.0)

    def _first_seen(self, agent: Agent) -> None:
        """Record whose token was accepted: an agent may have been added by a command, or by hand."""
        body = {"agent": agent.name, "token_sha256": agent.token_sha256, "added": agent.created_at}
        spawn(f"seen {agent.name}", self._record.note("agent-seen", "", body))
        self._record.publish(AgentsChanged("" if agent.last_seen else agent.name))

    def _added_elsewhere(self) -> None:
        """Report that `assent agents add` has added an agent."""
        self._record.publish(AgentsChanged())

    def look_again(self) -> None:
        """Read the file again if another process has changed it: a window watches it."""
        self._agents.refresh()

    def _revoked_elsewhere(self, agent: Agent) -> None:
        """Withdraw the requests of an agent that `assent agents revoke` has revoked."""
        self._withdraw_all(agent.name, REVOKED)
        spawn(f"revoked {agent.name}", self._ended(agent.name))

    async def _ended(self, name: str) -> None:
        await self._record.note("agent-revoked", "", {"agent": name})
        self._record.publish(AgentsChanged())
        try:
            await self._forget(name)
        except KnownError as failure:
            self._record.trouble("grants", failure.what, failure.remedy)


def barred(agents: Agents, agent: str, since: float) -> str:
    """Return the same as `Membership.barred`, without reading the file again."""
    found = next((one for one in agents.all() if one.name == agent), None)
    return REVOKED if found is not None and (found.revoked or found.created_at > since) else ""
