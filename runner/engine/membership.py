"""Agents come and go: added and revoked, here or by another process."""

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
    """Every method is called on the engine's loop."""

    def __init__(
        self,
        agents: Agents,
        record: Record,
        withdraw_all: Callable[[str, str], None],
        forget: Callable[[str], Awaitable[None]],
    ) -> None:
        """`withdraw_all(agent, why)` ends what an agent asks; `forget(agent)` all that it was granted and keeps."""
        self._agents = agents
        self._record = record
        self._withdraw_all = withdraw_all
        self._forget = forget
        agents.listen(lambda _agent: record.publish(AgentsChanged()), self._revoked_elsewhere, self.report)

    def report(self) -> None:
        """A list of agents that cannot be read keeps all of them out: a standing trouble."""
        if problem := self._agents.problem:
            self._record.trouble("agents", problem, "Restore the file, or add the agents again.")
        else:
            self._record.clear("agents")

    async def add(self, name: str) -> str:
        """Register an agent; its token, to be shown once. Raises KnownError for a name that will not do."""
        token = self._agents.add(name)
        await self._record.note("agent-added", "", {"agent": name})
        self._record.publish(AgentsChanged())
        return token

    async def revoke(self, name: str) -> None:
        """Its token is worth nothing from now on, and what it asked is withdrawn.

        Raises KnownError where that cannot be written down; it counts until the next start all the same.
        """
        try:
            self._agents.revoke(name)
        finally:
            if barred(self._agents, name, float("inf")):
                self._withdraw_all(name, REVOKED)
                await self._ended(name)

    def barred(self, agent: str, since: float) -> str:
        """Why a request that `agent` made at `since` (seconds since the epoch) may not go on; empty where it may.

        Looks at the file: another process may have revoked the agent, or given its name to a new one.
        """
        self._agents.refresh()
        return barred(self._agents, agent, since)

    def registered(self, agent: str) -> float:
        """When the agent of that name was added, in seconds since the epoch; 0 for one that nobody added."""
        return max((one.created_at for one in self._agents.all() if one.name == agent), default=0.0)

    def _revoked_elsewhere(self, agent: Agent) -> None:
        """`assent agents revoke` did it."""
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
    """As `Membership.barred`, of what is known by now."""
    found = next((one for one in agents.all() if one.name == agent), None)
    return REVOKED if found is not None and (found.revoked or found.created_at > since) else ""
