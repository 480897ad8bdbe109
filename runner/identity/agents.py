"""The registered agents: their names and the hashes of their tokens, in a file private to its owner."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import hmac
import json
import os
import re
import secrets
import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.system.clock import LAST_TIME
from runner.system.durable import replace_file
from runner.system.plain_file import read_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from runner.system.places import Places

SCHEMA = 1
NAME = re.compile(r"[A-Za-z0-9._-]{1,40}")
TOKEN_BYTES = 32
"""256 bits: not guessable, so a plain SHA-256 of the token is enough to store."""
TOKEN_PREFIX = "assent_"
"""Lets people and secret scanners recognize a token."""
SEEN_SECONDS = 60.0
"""Shortest interval between two writes of `last_seen`."""
LOCK_SECONDS = 2.0
"""Time limit for the lock on the list; another process holds it for some milliseconds."""
BROKEN = (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError)
"""What reading a damaged file raises."""


@dataclass(frozen=True, slots=True)
class Agent:
    """A registered local program. Times are seconds since the epoch; 0 means never."""

    name: str
    token_sha256: str
    created_at: float
    last_seen: float = 0.0
    revoked_at: float = 0.0

    @property
    def revoked(self) -> bool:
        return self.revoked_at > 0


class Agents:
    """The registered agents. Written by one thread; any may call `all`, as the table is replaced as a whole.

    A file that cannot be read does not stop Assent from starting: no agent is known then, `problem` says
    why, and the file is moved aside before the next one is written. Every change is made to the present content of
    the file, under a lock beside it: another process may add or revoke at the same time.
    """

    def __init__(self, places: Places, clock: Callable[[], float] = time.time) -> None:
        self._file = places.agents
        self._seen_file = places.seen
        self._clock = clock
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
        self._unwritten: dict[str, Agent] = {}
        """Revoked agents, by the hash of their token, that could not be written yet."""
        self._stamp: tuple[int, int] | None = None
        self.problem = ""
        self._remove_leftovers()
        self.refresh()

    def listen(
        self,
        first_seen: Callable[[Agent], None],
        lost: Callable[[Agent], None],
        troubled: Callable[[], None] = lambda: None,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        """Set the callbacks for an agent first seen since the start (as it was before), for one revoked by another
        process, for a change of `problem`, and for agents added by another process.
        """
        self._first_seen = first_seen
        self._lost = lost
        self._troubled = troubled
        self._changed = changed

    def all(self) -> tuple[Agent, ...]:
        """Return all agents in the order in which they were added, including revoked ones."""
        return tuple(self._agents.values())

    def add(self, name: str) -> str:
        """Register an agent and return its token, which cannot be retrieved later.

        Raises KnownError for a name that is invalid, in use, or cannot be written.
        """
        if not NAME.fullmatch(name):
            raise KnownError(
                f"{name[:60]!r} cannot be an agent's name.",
                "Use up to 40 letters, digits, dots, hyphens and underscores.",
            )
        token = TOKEN_PREFIX + secrets.token_urlsafe(TOKEN_BYTES)

        def added(now: dict[str, Agent]) -> dict[str, Agent]:
            if (known := now.get(name)) and not known.revoked:
                raise KnownError(
                    f"There is an agent called {name} already.", "Revoke it first, or choose another name."
                )
            others = {other: agent for other, agent in now.items() if other != name}
            return {**others, name: Agent(name, _digest(token), self._clock())}

        self._change(added)
        return token

    def revoke(self, name: str) -> None:
        """Make the agent's token invalid. Raises KnownError where there is no such agent."""
        self.refresh()
        agent = self._agents.get(name)
        if agent is None:
            raise KnownError(f"There is no agent called {name[:60]}.", "Look at the list of agents.")
        if agent.revoked:
            return
        # In force even on a full disk: a revocation must work at once.
        self._unwritten[agent.token_sha256] = replace(agent, revoked_at=self._clock())
        self._agents = self._without_unwritten(self._agents)
        self._change(lambda now: now)

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

    def _change(self, change: Callable[[dict[str, Agent]], dict[str, Agent]]) -> None:
        """Apply `change` to the table in the file and write the result. Raises KnownError."""
        try:
            with self._locked():
                # Regardless of the stamp: no other process writes from here on.
                self._stamp = None
                self.refresh()
                agents = change(self._agents)
                if self.problem and self._file.exists():
                    os.replace(self._file, self._file.with_name(f"{self._file.name}.unreadable-{int(self._clock())}"))
                replace_file(self._file, _text(agents))
                self._stamp = _stamp(self._file)
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

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock on the list. Raises OSError, also where another process holds it too long."""
        lock = self._file.with_name(f"{self._file.name}.lock")
        lock.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            end = time.monotonic() + LOCK_SECONDS
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > end:
                        raise
                    time.sleep(0.005)
            yield
        finally:
            os.close(descriptor)

    def _remove_leftovers(self) -> None:
        """Remove temporary files of writers that were killed."""
        folder = self._file.parent
        drafts = (f"{self._file.name}.*.new", f".{self._file.name}.*.new")
        if not any(path for pattern in drafts for path in folder.glob(pattern)):
            return
        with contextlib.suppress(OSError), self._locked():
            for pattern in drafts:
                for path in folder.glob(pattern):
                    path.unlink(missing_ok=True)

    def _write_seen(self) -> None:
        """Write the times to a file of their own: only changes write the table. Raises OSError."""
        seen = {**_read_seen(self._seen_file)}
        for agent in self._agents.values():
            seen[agent.name] = max(agent.last_seen, seen.get(agent.name, 0.0))
        known = {name: at for name, at in seen.items() if name in self._agents}
        replace_file(self._seen_file, json.dumps({"schema": SCHEMA, "seen": known}, indent=2) + "\n")

    def refresh(self) -> None:
        """Read the file again if another process (`assent agents`) has written it."""
        stamp = _stamp(self._file)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        before = self._agents or self._last_read
        try:
            self._agents = self._without_unwritten(_with_seen(_read(self._file), _read_seen(self._seen_file), before))
        except FileNotFoundError:
            return
        except BROKEN as error:
            self._agents, self._last_read = {}, before
            self._set_problem(
                f"The list of agents in {self._file} could not be read ({type(error).__name__}: {str(error)[:200]}). "
                "No agent is known until it is repaired or agents are added again."
            )
            return
        self._set_problem("")
        self._last_read = {}
        self._report_lost(before)
        if {one.token_sha256 for one in self._agents.values()} - {one.token_sha256 for one in before.values()}:
            self._changed()

    def _report_lost(self, before: dict[str, Agent]) -> None:
        """Report each agent of `before` whose token is no longer valid."""
        for agent in before.values():
            if not agent.revoked and not self._holds(agent):
                self._lost(agent)

    def _without_unwritten(self, agents: dict[str, Agent]) -> dict[str, Agent]:
        """Return the table with the revocations that are not on disk yet."""
        return {name: self._unwritten.get(agent.token_sha256, agent) for name, agent in agents.items()}

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


def _stamp(file: Path) -> tuple[int, int] | None:
    """Return a value that changes whenever the file is replaced; None where there is no file."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _read(file: Path) -> dict[str, Agent]:
    data = json.loads(read_file(file).decode("utf-8"))
    if data["schema"] != SCHEMA:
        raise ValueError(f"schema {data['schema']} is not {SCHEMA}")
    agents = [Agent(**entry) for entry in data["agents"]]
    for agent in agents:
        if not NAME.fullmatch(agent.name) or not re.fullmatch(r"[0-9a-f]{64}", agent.token_sha256):
            raise ValueError("an entry is not in order")
        for at in (agent.created_at, agent.last_seen, agent.revoked_at):
            if type(at) not in (int, float) or not 0 <= at <= LAST_TIME:
                raise ValueError(f"a time of {agent.name} is none")
    return {agent.name: agent for agent in agents}


def _with_seen(agents: dict[str, Agent], seen: dict[str, float], before: dict[str, Agent]) -> dict[str, Agent]:
    """Return the table with the newest time each agent was seen; one that was added again was not seen yet."""
    newest = {}
    for name, agent in agents.items():
        known = before.get(name)
        here = known.last_seen if known and known.token_sha256 == agent.token_sha256 else 0.0
        there = at if (at := seen.get(name, 0.0)) >= agent.created_at else 0.0
        newest[name] = replace(agent, last_seen=max(agent.last_seen, here, there))
    return newest


def _read_seen(file: Path) -> dict[str, float]:
    """Return the times in the file; one that cannot be read means never, as no decision depends on it."""
    try:
        seen = json.loads(read_file(file).decode("utf-8"))["seen"].items()
        return {str(name): float(at) for name, at in seen if 0 <= at <= LAST_TIME}
    except BROKEN:
        return {}


def _text(agents: dict[str, Agent]) -> str:
    return json.dumps({"schema": SCHEMA, "agents": [asdict(agent) for agent in agents.values()]}, indent=2) + "\n"
