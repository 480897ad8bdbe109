"""Adds, changes and revokes agents, and notices what another process did with them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING

from runner.approval.checkpoint import REVOKED
from runner.identity.agent_changes import explained
from runner.identity.allowance import Allowance
from runner.identity.forbidden import forbidden
from runner.model.errors import KnownError
from runner.model.events import AgentsChanged
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from runner.identity.agent_changes import AgentChange
    from runner.identity.agents import Agent, Agents
    from runner.model.record import Record
    from runner.model.request import Request
    from runner.settings.loading import Settings

log = logging.getLogger("assent.agents")

PAUSED = "A person has paused this agent: its calls are refused until it is resumed."
UNASKED = "A person has paused this agent, so nothing of it starts without being asked."
RENAMED = "The agent was renamed to {}."


class Membership:
    """The registered agents as the engine sees them. Every method is called on the engine's loop."""

    def __init__(
        self,
        agents: Agents,
        record: Record,
        settings: Callable[[], Settings],
        withdraw_all: Callable[[str, str], None],
        forget: Callable[[str, str], Awaitable[None]],
        deny_forbidden: Callable[[str], None],
    ) -> None:
        """`withdraw_all(agent, why)` ends its requests; `forget(agent, how)` removes its grants and kept sandboxes,
        `how` being "revoked" or "renamed"; `deny_forbidden(agent)` denies its open questions that its allowance
        forbids now.
        """
        self._agents = agents
        self._record = record
        self._settings = settings
        self._withdraw_all = withdraw_all
        self._forget = forget
        self._deny_forbidden = deny_forbidden
        self._taking = asyncio.Lock()
        """Held while changes by commands are recorded: each of them once."""
        agents.listen(
            self._first_seen,
            self._lost_elsewhere,
            self.report,
            self._added_elsewhere,
            self._altered_elsewhere,
            self._noted_elsewhere,
        )

    def report(self) -> None:
        """Report as trouble that the list of agents cannot be read: no agent is known then."""
        if problem := self._agents.problem:
            self._record.trouble("agents", problem, "Restore the file, or add the agents again.")
        else:
            self._record.clear("agents")

    async def take_up(self) -> None:
        """Record what commands changed, with the times at which they did, also while no console was open.

        What the history does not take stays noted beside the agents, for the next attempt.
        """
        self._agents.refresh()
        async with self._taking:
            done: list[AgentChange] = []
            with contextlib.suppress(KnownError):  # reported by the record
                for change in self._agents.unrecorded:
                    await self._record.append(change.kind, "", change.body)
                    done.append(change)
            try:
                self._agents.recorded(done)
            except KnownError as error:
                log.warning("Changes of agents would be recorded twice: %s", error)

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

    async def rename(self, name: str, new: str) -> None:
        """Give an agent another name. What it asked under the old one is withdrawn, its grants and sandboxes end.

        Raises KnownError where that is not possible; then nothing was changed.
        """
        self._agents.rename(name, new)
        await self._follow_renaming(name, new)

    async def pause(self, name: str) -> None:
        """Refuse the calls of an agent from now on. What waits stays open; what runs continues.

        Raises KnownError where that cannot be written; it is in force until the next start all the same.
        """
        try:
            self._agents.pause(name)
        finally:
            if (agent := self._agents.found(name)) is not None and agent.paused:
                await self._note("agent-paused", name)

    async def resume(self, name: str) -> None:
        """Take the calls of an agent again. Raises KnownError."""
        self._agents.resume(name)
        await self._note("agent-resumed", name)

    async def allow(self, name: str, allowance: Allowance) -> None:
        """Set what an agent may do; open questions that it forbids are denied. Raises KnownError."""
        before = self.allowance(name)
        self._agents.allow(name, allowance)
        self._deny_forbidden(name)
        if changed := before.differing(allowance):
            await self._note("agent-changed", name, changed)

    async def paint(self, name: str, ink: int) -> None:
        """Give an agent another ink. Raises KnownError."""
        self._agents.paint(name, ink)
        await self._note("agent-changed", name, {"ink": ink})

    def allowance(self, agent: str) -> Allowance:
        """Return what an agent may do; of one that is not registered, what all may."""
        return self._agents.allowance(agent)

    def paused(self, agent: str) -> str:
        """Return why the calls of an agent are refused at present; empty where they are taken."""
        found = self._agents.found(agent)
        return PAUSED if found is not None and found.paused else ""

    def refuses(self, agent: str) -> str:
        """Return why the calls of an agent are refused: it is paused, revoked or renamed; empty where they are not."""
        return self.paused(agent) or barred(self._agents, agent, float("inf"))

    def forbids(self, request: Request, unasked: bool) -> str:
        """Return why what a person has set for its agent forbids a request; empty where it does not.

        `unasked`: it would start without a person's answer to this very request.
        """
        self._agents.refresh()
        if unasked and self.paused(request.agent):
            return UNASKED
        return forbidden(request, self.allowance(request.agent), self._settings())

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
        body: dict[str, object] = {
            "agent": agent.name,
            "token_sha256": agent.token_sha256,
            "added": agent.created_at,
            **({"former": agent.former} if agent.former else {}),
        }
        if changed := Allowance().differing(agent.allowance):  # perhaps set by a command while no console was open
            body["now"] = changed
        spawn(f"seen {agent.name}", self._record.note("agent-seen", "", body))
        self._record.publish(AgentsChanged("" if agent.last_seen else agent.name))

    def _added_elsewhere(self) -> None:
        """Report that `assent agents add` has added an agent."""
        self._record.publish(AgentsChanged())

    def look_again(self) -> None:
        """Read the file again if another process has changed it: a window watches it."""
        self._agents.refresh()

    def _lost_elsewhere(self, agent: Agent) -> None:
        """Withdraw the requests of an agent that `assent agents` has revoked or renamed."""
        if new := self._agents.renamed(agent):
            recorded = self._is_recorded("agent-renamed", agent.name)
            spawn(f"renamed {agent.name}", self._follow_renaming(agent.name, new, recorded=recorded))
            return
        self._withdraw_all(agent.name, REVOKED)
        spawn(f"revoked {agent.name}", self._ended(agent.name, recorded=self._is_recorded("agent-revoked", agent.name)))

    def _altered_elsewhere(self, before: Agent, now: Agent) -> None:
        """Record what `assent agents` has changed of an agent, and act on it."""
        self._deny_forbidden(now.name)
        if before.paused is not now.paused:
            kind = "agent-paused" if now.paused else "agent-resumed"
            self._note_unless_recorded(kind, now.name, {})
        changed = before.allowance.differing(now.allowance)
        if changed := changed | ({"ink": now.ink} if now.ink != before.ink else {}):
            self._note_unless_recorded("agent-changed", now.name, changed)

    def _noted_elsewhere(self) -> None:
        self._record.publish(AgentsChanged())
        spawn("record changes of agents", self.take_up())

    def _is_recorded(self, kind: str, name: str, now: Mapping[str, object] | None = None) -> bool:
        """Return whether the command that changed an agent has noted that itself, for `take_up`."""
        return explained(self._agents.news, kind, name, now or {})

    def _note_unless_recorded(self, kind: str, name: str, changed: Mapping[str, object]) -> None:
        self._record.publish(AgentsChanged())
        if not self._is_recorded(kind, name, changed):
            spawn(f"changed {name}", self._note(kind, name, changed))

    async def _note(self, kind: str, name: str, changed: Mapping[str, object] | None = None) -> None:
        """Record a change of an agent, and publish it."""
        self._record.publish(AgentsChanged())
        await self._record.note(kind, "", {"agent": name} | ({"now": dict(changed)} if changed else {}))

    async def _follow_renaming(self, name: str, new: str, *, recorded: bool = False) -> None:
        """End what belongs to the old name of an agent."""
        self._withdraw_all(name, RENAMED.format(new))
        await self._forgotten(name, "renamed")  # before anything is written: a call may come meanwhile
        if not recorded:
            await self._record.note("agent-renamed", "", {"agent": name, "to": new})

    async def _ended(self, name: str, *, recorded: bool = False) -> None:
        await self._forgotten(name, "revoked")  # before anything is written: a call may come meanwhile
        if not recorded:
            await self._record.note("agent-revoked", "", {"agent": name})

    async def _forgotten(self, name: str, how: str) -> None:
        """End what was remembered for a name that stands for no agent any more."""
        self._record.publish(AgentsChanged())
        try:
            await self._forget(name, how)
        except KnownError as failure:
            self._record.trouble("grants", failure.what, failure.remedy)


def barred(agents: Agents, agent: str, since: float) -> str:
    """Return the same as `Membership.barred`, without reading the file again."""
    found = next((one for one in agents.all() if one.name == agent), None)
    if found is None or not (found.revoked or found.created_at > since):
        return ""
    return RENAMED.format(found.renamed_to) if found.renamed_to else REVOKED
