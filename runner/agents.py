"""The agents that may knock: their names and the hashes of their tokens, in a file of their owner's alone."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import re
import secrets
import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from runner.errors import KnownError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from runner.places import Places

SCHEMA = 1
NAME = re.compile(r"[A-Za-z0-9._-]{1,40}")
TOKEN_BYTES = 32
"""256 bits: beyond guessing, so a plain SHA-256 of the token is enough to keep."""
TOKEN_PREFIX = "assent_"
"""Lets people and secret scanners see what it is."""
SEEN_SECONDS = 60.0
"""`last_seen` goes to disk at most this often."""


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
    """Written by one thread; `all` may be read by any, because the table is replaced and never changed.

    A file that cannot be read never keeps Assent from starting: nobody is known then, `problem` says
    why, and the file is set aside before the next one is written.
    """

    def __init__(self, places: Places, clock: Callable[[], float] = time.time) -> None:
        self._file = places.agents
        self._clock = clock
        self._agents: dict[str, Agent] = {}
        self._met: set[str] = set()
        self._written_at = 0.0
        self._first_seen: Callable[[Agent], None] = lambda _agent: None
        self._lost: Callable[[Agent], None] = lambda _agent: None
        self._stamp: tuple[int, int] | None = None
        self.problem = ""
        self.refresh()

    def listen(self, first_seen: Callable[[Agent], None], lost: Callable[[Agent], None]) -> None:
        """Hear of each agent once, when it is first seen since the start, and when another process revoked it."""
        self._first_seen = first_seen
        self._lost = lost

    def all(self) -> tuple[Agent, ...]:
        """In the order in which they were added, revoked ones too."""
        return tuple(self._agents.values())

    def add(self, name: str) -> str:
        """Register an agent; its token, which cannot be had again.

        Raises KnownError for a name that will not do, is in use, or cannot be written down.
        """
        if not NAME.fullmatch(name):
            raise KnownError(
                f"{name[:60]!r} cannot be an agent's name.",
                "Use up to 40 letters, digits, dots, hyphens and underscores.",
            )
        self.refresh()
        if (known := self._agents.get(name)) and not known.revoked:
            raise KnownError(f"There is an agent called {name} already.", "Revoke it first, or choose another name.")
        token = TOKEN_PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
        others = {other: agent for other, agent in self._agents.items() if other != name}
        self._keep({**others, name: Agent(name, _digest(token), self._clock())})
        self._met.discard(name)
        return token

    def revoke(self, name: str) -> None:
        """Its token is worth nothing from now on. Raises KnownError where there is no such agent."""
        self.refresh()
        agent = self._agents.get(name)
        if agent is None:
            raise KnownError(f"There is no agent called {name[:60]}.", "Look at the list of agents.")
        if agent.revoked:
            return
        revoked = {**self._agents, name: replace(agent, revoked_at=self._clock())}
        # Counts even where the disk is full: whoever revokes wants it now.
        self._agents = revoked
        self._keep(revoked)

    def recognize(self, token: str) -> Agent | None:
        """Whose token this is. Takes the same time for every wrong token."""
        self.refresh()
        digest = _digest(token)
        found = None
        for agent in self._agents.values():
            if hmac.compare_digest(agent.token_sha256, digest) and not agent.revoked:
                found = agent
        return None if found is None else self._seen(found)

    def _seen(self, agent: Agent) -> Agent:
        now = self._clock()
        seen = replace(agent, last_seen=now)
        self._agents = {**self._agents, agent.name: seen}
        first = agent.name not in self._met
        if first or now - self._written_at >= SEEN_SECONDS:
            self._written_at = now
            # Only the time of the last call is lost where it cannot be written; the call itself goes on.
            with contextlib.suppress(OSError):
                self._write(self._agents)
        if first:
            self._met.add(agent.name)
            self._first_seen(seen)
        return seen

    def _keep(self, agents: dict[str, Agent]) -> None:
        try:
            if self.problem and self._file.exists():
                os.replace(self._file, self._file.with_name(f"{self._file.name}.unreadable-{int(self._clock())}"))
            self._write(agents)
        except OSError as error:
            raise KnownError(
                f"The list of agents could not be written to {self._file}: {error.strerror}.",
                "Free disk space or give yourself the right to write there, then try again.",
            ) from error
        self.problem = ""
        self._agents = agents

    def _write(self, agents: dict[str, Agent]) -> None:
        _write(self._file, agents)
        self._stamp = _stamp(self._file)

    def refresh(self) -> None:
        """Read the file again if another process (`assent agents`) has written it."""
        stamp = _stamp(self._file)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        before = self._agents
        try:
            self._agents = _read(self._file)
            self.problem = ""
        except FileNotFoundError:
            return
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            self._agents = {}
            self.problem = (
                f"The list of agents in {self._file} could not be read ({type(error).__name__}: {error}). "
                "No agent is known until it is repaired or agents are added anew."
            )
            return
        for agent in before.values():
            if not agent.revoked and not self._holds(agent):
                self._lost(agent)

    def _holds(self, agent: Agent) -> bool:
        """Whether the token of `agent` still counts."""
        now = self._agents.get(agent.name)
        return now is not None and not now.revoked and now.token_sha256 == agent.token_sha256


def _stamp(file: Path) -> tuple[int, int] | None:
    """What changes whenever the file is replaced; None where there is none."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _read(file: Path) -> dict[str, Agent]:
    data = json.loads(file.read_text("utf-8"))
    if data["schema"] != SCHEMA:
        raise ValueError(f"schema {data['schema']} is not {SCHEMA}")
    agents = [Agent(**entry) for entry in data["agents"]]
    for agent in agents:
        if not NAME.fullmatch(agent.name) or not re.fullmatch(r"[0-9a-f]{64}", agent.token_sha256):
            raise ValueError("an entry is not in order")
        if not all(isinstance(at, (int, float)) for at in (agent.created_at, agent.last_seen, agent.revoked_at)):
            raise ValueError(f"a time of {agent.name} is not a number")
    return {agent.name: agent for agent in agents}


def _write(file: Path, agents: dict[str, Agent]) -> None:
    """Whole or not at all: a temporary file beside it, flushed to disk, then renamed."""
    text = json.dumps({"schema": SCHEMA, "agents": [asdict(agent) for agent in agents.values()]}, indent=2)
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = file.with_name(f"{file.name}.{os.getpid()}.new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            out.write(text + "\n")
            out.flush()
            os.fsync(out.fileno())
        os.replace(temporary, file)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
