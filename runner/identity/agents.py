"""The registered agents: their names and the hashes of their tokens, in a file private to its owner."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import secrets
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.identity.agent_changes import COMMAND, AgentChange, as_data, changes_between, changes_of
from runner.identity.agent_file import (
    BROKEN,
    INKS,
    NAME,
    SCHEMA,
    Agent,
    agents_of,
    in_force,
    next_ink,
    read_list,
    read_seen,
    require_name,
    settings_of,
    stamp,
    text_of,
    unknown,
    with_seen,
)
from runner.identity.allowance import Allowance
from runner.model.errors import KnownError
from runner.system.durable import replace_file
from runner.system.file_lock import held

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from runner.system.places import Places

__all__ = ["INKS", "NAME", "Agent", "Agents"]

TOKEN_BYTES = 32
"""256 bits: not guessable, so a plain SHA-256 of the token is enough to store."""
TOKEN_PREFIX = "assent_"
"""Lets people and secret scanners recognize a token."""
SEEN_SECONDS = 60.0
"""Shortest interval between two writes of `last_seen`."""
LOCK_SECONDS = 2.0
"""Time limit for the lock on the list; another process holds it for some milliseconds."""


class Agents:
    """The registered agents. Written by one thread; any may call `all`, as the table is replaced as a whole.

    A file that cannot be read does not stop Assent from starting: no agent is known then, `problem` says
    why, and the file is moved aside before the next one is written. Every change is made to the present content of
    the file, under a lock beside it: another process may add or revoke at the same time.
    """

    def __init__(self, places: Places, clock: Callable[[], float] = time.time, by: str = COMMAND) -> None:
        """`by` says what makes changes here, for the history."""
        self._file = places.agents
        self._seen_file = places.seen
        self._clock = clock
        self._by = by
        self._agents: dict[str, Agent] = {}
        self._last_read: dict[str, Agent] = {}
        """The agents that were known before the file could not be read; empty while it can."""
        self._met: set[str] = set()
        """Digests of the tokens that were used since the start: one added again under its name is met again."""
        self._written_at = 0.0
        self._first_seen: Callable[[Agent], None] = lambda _agent: None
        self._lost: Callable[[Agent], None] = lambda _agent: None
        self._troubled: Callable[[], None] = lambda: None
        self._changed: Callable[[], None] = lambda: None
        self._altered: Callable[[Agent, Agent], None] = lambda _before, _now: None
        self._noted: Callable[[], None] = lambda: None
        self._unwritten: dict[str, tuple[float, float]] = {}
        """When agents were revoked and paused, by the hash of their token, where that could not be written yet."""
        self._stamp: tuple[int, int] | None = None
        self._on_file: dict[str, Agent] = {}
        """The agents as they stand in the file."""
        self._recorded = False
        """Whether somebody who writes the history hears of every change that is made here."""
        self.unrecorded: tuple[AgentChange, ...] = ()
        """Changes by commands, noted in the file, that the history does not have yet."""
        self.news: tuple[AgentChange, ...] = ()
        """Those of them that came with the last reading of the file."""
        self.problem = ""
        self._remove_leftovers()
        self.refresh()

    def listen(
        self,
        first_seen: Callable[[Agent], None],
        lost: Callable[[Agent], None],
        troubled: Callable[[], None] = lambda: None,
        changed: Callable[[], None] = lambda: None,
        altered: Callable[[Agent, Agent], None] = lambda _before, _now: None,
        noted: Callable[[], None] = lambda: None,
    ) -> None:
        """Set the callbacks for an agent first seen since the start (as it was before), for one revoked or renamed by
        another process, for a change of `problem`, for agents added by another process, for one that another
        process has paused or given another allowance or ink (as it was, as it is), and for `news`.

        From now on changes that are made here are recorded by the caller; before, they are noted in the file.
        """
        self._recorded = True
        self._noted = noted
        self._first_seen = first_seen
        self._lost = lost
        self._troubled = troubled
        self._changed = changed
        self._altered = altered

    def all(self) -> tuple[Agent, ...]:
        """Return all agents in the order in which they were added, including revoked ones."""
        return tuple(self._agents.values())

    def add(self, name: str, token: str = "") -> str:
        """Register an agent and return its token, a new one unless it is given; it cannot be retrieved later.

        Raises KnownError for a name that is invalid, in use, or cannot be written.
        """
        require_name(name)
        token = token or new_token()

        def added(now: dict[str, Agent]) -> dict[str, Agent]:
            if (known := now.get(name)) and not known.revoked:
                raise KnownError(
                    f"There is an agent called {name} already.", "Revoke it first, or choose another name."
                )
            others = {other: agent for other, agent in now.items() if other != name}
            return {**others, name: Agent(name, _digest(token), self._clock(), ink=next_ink(others.values()))}

        self._change(added)
        return token

    def revoke(self, name: str) -> None:
        """Make the agent's token invalid. Raises KnownError where there is no such agent."""
        self.refresh()
        agent = self._agents.get(name)
        if agent is None:
            raise unknown(name)
        if not agent.revoked:
            self._enforce(agent, revoked_at=self._clock(), paused_at=agent.paused_at)

    def pause(self, name: str) -> None:
        """Have the calls of an agent refused. Raises KnownError where there is none of that name in force."""
        self.refresh()
        agent = in_force(self._agents, name)
        if not agent.paused:
            self._enforce(agent, revoked_at=0.0, paused_at=self._clock())

    def _enforce(self, agent: Agent, *, revoked_at: float, paused_at: float) -> None:
        """Revoke or pause an agent, in force even on a full disk: that must work at once."""
        self._unwritten[agent.token_sha256] = (revoked_at, paused_at)
        self._agents = self._with_unwritten(self._agents)
        self._change(lambda now: now)

    def resume(self, name: str) -> None:
        """Take the calls of an agent again. Raises KnownError."""
        self.refresh()
        agent = in_force(self._agents, name)
        revoked_at, _ = self._unwritten.pop(agent.token_sha256, (0.0, 0.0))
        if revoked_at:
            self._unwritten[agent.token_sha256] = (revoked_at, 0.0)
        self._alter(name, lambda one: replace(one, paused_at=0.0))

    def allow(self, name: str, allowance: Allowance) -> None:
        """Set what an agent may do. Raises KnownError."""
        self._alter(name, lambda one: replace(one, allowance=allowance))

    def paint(self, name: str, ink: int) -> None:
        """Give an agent another ink. Raises KnownError."""
        if not 0 <= ink < INKS:
            raise KnownError(f"There is no ink {ink}.", f"Choose 0 to {INKS - 1}.")
        self._alter(name, lambda one: replace(one, ink=ink))

    def rename(self, name: str, new: str) -> None:
        """Give an agent another name; its token, allowance, pause and ink stay. Raises KnownError.

        To everything that goes by names it is another agent from now on. The old name stays in the list as a revoked
        one, so that nothing of before can pass to an agent that gets that name later; nor does it get what an
        earlier agent of its new name was allowed.
        """
        require_name(new)

        def renamed(now: dict[str, Agent]) -> dict[str, Agent]:
            agent, at = in_force(now, name), self._clock()
            if (known := now.get(new)) and not known.revoked:
                raise KnownError(f"There is an agent called {new} already.", "Choose another name.")
            added = agent.registered_at
            now = {
                other: replace(agent, name=new, created_at=at, added_at=added, former=name) if other == name else one
                for other, one in now.items()
                if other != new
            }
            left = Agent(name, _digest(secrets.token_urlsafe(TOKEN_BYTES)), agent.created_at, agent.last_seen, at)
            return {one.name: one for one in (*now.values(), replace(left, ink=agent.ink, renamed_to=new))}

        self._change(renamed)

    def _alter(self, name: str, change: Callable[[Agent], Agent]) -> None:
        """Write a change of one agent. Raises KnownError."""
        self._change(lambda now: {**now, name: change(in_force(now, name))})

    def found(self, name: str) -> Agent | None:
        """Return the agent of a name, revoked or not; the last one that was known where the file cannot be read."""
        return self._agents.get(name) or self._last_read.get(name)

    def allowance(self, name: str) -> Allowance:
        """Return what an agent may do; of one that is not registered, what all may."""
        found = self.found(name)
        return Allowance() if found is None else found.allowance

    def renamed(self, agent: Agent) -> str:
        """Return the name that an agent has now where it was renamed; empty where it was not."""
        now = (one.name for one in self.all() if one.token_sha256 == agent.token_sha256 and not one.revoked)
        return next((name for name in now if name != agent.name), "")

    def recognize(self, token: str) -> Agent | None:
        """Return the agent of a token, None for a wrong one. Takes the same time for every wrong token."""
        self.refresh()
        digest = _digest(token)
        found = None
        for agent in self._agents.values():
            if hmac.compare_digest(agent.token_sha256, digest) and not agent.revoked:
                found = agent
        return None if found is None else self._seen(found)

    def named_by(self, token: str) -> Agent | None:
        """Return the agent of a token as `recognize` does, without counting that as a call of the agent."""
        self.refresh()
        digest = _digest(token)
        return next((agent for agent in self.all() if agent.token_sha256 == digest and not agent.revoked), None)

    def owner(self, token: str) -> Agent | None:
        """Return the agent that a token is or was of; None for one that is nobody's."""
        digest = _digest(token)
        return next((agent for agent in self.all() if agent.token_sha256 == digest), None)

    def _seen(self, agent: Agent) -> Agent:
        now = self._clock()
        seen = replace(agent, last_seen=now)
        self._agents = {**self._agents, agent.name: seen}
        first = agent.token_sha256 not in self._met
        if first or now - self._written_at >= SEEN_SECONDS:
            self._written_at = now
            # Where it cannot be written only the time of the last call is lost; the call itself continues.
            with contextlib.suppress(OSError):
                self._write_seen()
        if first:
            self._met.add(agent.token_sha256)
            self._first_seen(agent)
        return seen

    def recorded(self, changes: Collection[AgentChange]) -> None:
        """Take notes out of the file that the history has now. Raises KnownError."""
        if changes:
            self._change(lambda now: now, done=changes)

    def _change(
        self, change: Callable[[dict[str, Agent]], dict[str, Agent]], done: Collection[AgentChange] = ()
    ) -> None:
        """Apply `change` to the table in the file, without the notes in `done`, and write it. Raises KnownError."""
        try:
            with held(self._file, LOCK_SECONDS):
                # Regardless of the stamp: no other process writes from here on.
                self._stamp = None
                self.refresh()
                agents = change(self._agents)
                if self.problem and self._file.exists():
                    os.replace(self._file, self._file.with_name(f"{self._file.name}.unreadable-{int(self._clock())}"))
                notes = [] if self._recorded else changes_between(self._on_file, agents, self._clock())
                notes = [replace(one, by=self._by) for one in notes]
                unrecorded = tuple(one for one in (*self.unrecorded, *notes) if one not in done)
                replace_file(self._file, text_of(agents, as_data(unrecorded)))
                self._on_file, self.unrecorded = agents, unrecorded
                self._stamp = stamp(self._file)
        except OSError as error:
            raise KnownError(
                f"The list of agents could not be written to {self._file}: {error.strerror or error}.",
                "Free disk space or give yourself the right to write there, then try again.",
            ) from error
        self._unwritten.clear()
        self._agents = agents
        self._set_problem("")
        # Those of a file that could not be read and was moved aside: their tokens are no longer valid.
        before, self._last_read = self._last_read, {}
        self._report_lost(before)

    def _remove_leftovers(self) -> None:
        """Remove temporary files of writers that were killed."""
        folder = self._file.parent
        drafts = (f"{self._file.name}.*.new", f".{self._file.name}.*.new")
        if not any(path for pattern in drafts for path in folder.glob(pattern)):
            return
        with contextlib.suppress(OSError), held(self._file, LOCK_SECONDS):
            for pattern in drafts:
                for path in folder.glob(pattern):
                    path.unlink(missing_ok=True)

    def _write_seen(self) -> None:
        """Write the times to a file of their own: only changes write the table. Raises OSError."""
        seen = {**read_seen(self._seen_file)}
        for agent in self._agents.values():
            seen[agent.name] = max(agent.last_seen, seen.get(agent.name, 0.0))
        known = {name: at for name, at in seen.items() if name in self._agents}
        replace_file(self._seen_file, json.dumps({"schema": SCHEMA, "seen": known}, indent=2) + "\n")

    def refresh(self) -> None:
        """Read the file again if another process (`assent agents`) has written it."""
        found = stamp(self._file)
        if found == self._stamp:
            return
        self._stamp, self.news = found, ()
        before = self._agents or self._last_read
        try:
            data = read_list(self._file)
            self._on_file = agents_of(data)
            self._agents = self._with_unwritten(with_seen(self._on_file, read_seen(self._seen_file), before))
        except FileNotFoundError:
            return
        except BROKEN as error:
            self._agents, self._on_file, self._last_read = {}, {}, before
            self._set_problem(
                f"The list of agents in {self._file} could not be read ({type(error).__name__}: {str(error)[:200]}). "
                "No agent is known until it is repaired or agents are added again."
            )
            return
        self._set_problem("")
        self._last_read = {}
        noted = changes_of(data)
        self.news = tuple(one for one in noted if one not in self.unrecorded)
        self.unrecorded = noted
        self._report_lost(before)
        if {one.token_sha256 for one in self._agents.values()} - {one.token_sha256 for one in before.values()}:
            self._changed()
        for name, agent in self._agents.items():
            known = before.get(name)
            if known is not None and self._holds(known) and settings_of(known) != settings_of(agent):
                self._altered(known, agent)
        if self.news:
            self._noted()

    def _report_lost(self, before: dict[str, Agent]) -> None:
        """Report each agent of `before` whose token is no longer valid."""
        for agent in before.values():
            if not agent.revoked and not self._holds(agent):
                self._lost(agent)

    def _with_unwritten(self, agents: dict[str, Agent]) -> dict[str, Agent]:
        """Return the table with the revocations and pauses that are not on disk yet."""
        found = {}
        for name, agent in agents.items():
            revoked_at, paused_at = self._unwritten.get(agent.token_sha256, (0.0, 0.0))
            found[name] = replace(
                agent, revoked_at=agent.revoked_at or revoked_at, paused_at=agent.paused_at or paused_at
            )
        return found

    def _set_problem(self, problem: str) -> None:
        if problem != self.problem:
            self.problem = problem
            self._troubled()

    def still_holds(self, agent: Agent) -> bool:
        """Return whether the token of `agent` is still valid, also where another process revoked it a moment ago."""
        self.refresh()
        return self._holds(agent)

    def _holds(self, agent: Agent) -> bool:
        """Return whether the token of `agent` is still valid."""
        now = self._agents.get(agent.name)
        return now is not None and not now.revoked and now.token_sha256 == agent.token_sha256


def new_token() -> str:
    """Return a token that nobody has."""
    return TOKEN_PREFIX + secrets.token_urlsafe(TOKEN_BYTES)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
