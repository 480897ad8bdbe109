"""The file with the agents: what is recorded of each, how it is written, and what a valid one looks like."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from runner.identity.allowance import Allowance
from runner.model.errors import KnownError
from runner.system.clock import LAST_TIME
from runner.system.plain_file import read_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

SCHEMA = 2
READABLE = (1, 2)
"""Schemas that can be read. The first one had neither inks nor pauses nor allowances."""
NAME = re.compile(r"[A-Za-z0-9._-]{1,40}")
INKS = 10
"""Inks by which people tell agents apart; the window knows their colors."""
BROKEN = (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError)
"""What reading a damaged file raises."""


@dataclass(frozen=True, slots=True)
class Agent:
    """A registered local program. Times are seconds since the epoch; 0 means never."""

    name: str
    token_sha256: str
    created_at: float
    """When it got this name. Nothing from before belongs to it."""
    last_seen: float = 0.0
    revoked_at: float = 0.0
    paused_at: float = 0.0
    """Since when its calls are refused; 0 while they are taken."""
    ink: int = 0
    """Number of its ink, below `INKS`."""
    allowance: Allowance = field(default_factory=Allowance)
    added_at: float = 0.0
    """When it was registered under its first name; 0 where it still has that."""
    former: str = ""
    """Its name before the last renaming; '' where it was never renamed."""
    renamed_to: str = ""
    """For the revoked entry that a renaming leaves under the old name: the new name."""

    @property
    def revoked(self) -> bool:
        return self.revoked_at > 0

    @property
    def paused(self) -> bool:
        return self.paused_at > 0 and not self.revoked

    @property
    def registered_at(self) -> float:
        """When it was registered, under whatever name."""
        return self.added_at or self.created_at


def next_ink(agents: Iterable[Agent]) -> int:
    """Return the first of the inks that the fewest agents in force have."""
    used = Counter(agent.ink for agent in agents if not agent.revoked)
    return min(range(INKS), key=lambda ink: (used[ink], ink))


def read_list(file: Path) -> Mapping[str, Any]:
    """Return what the file holds. Raises one of `BROKEN`."""
    data = json.loads(read_file(file).decode("utf-8"))
    if data["schema"] not in READABLE:
        raise ValueError(f"schema {data['schema']} is not {SCHEMA}")
    return {**data}


def agents_of(data: Mapping[str, Any]) -> dict[str, Agent]:
    """Return the agents by name, in the order of the file. Raises one of `BROKEN`."""
    agents = [_agent(entry, number) for number, entry in enumerate(data["agents"])]
    return {agent.name: agent for agent in agents}


def stamp(file: Path) -> tuple[int, int] | None:
    """Return a value that changes whenever the file is replaced; None where there is no file."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def settings_of(agent: Agent) -> tuple[object, ...]:
    """Return what a person has set for an agent besides its name."""
    return agent.paused, agent.allowance, agent.ink


def _agent(entry: Mapping[str, Any], number: int) -> Agent:
    """Return the agent of an entry; one of an earlier version gets its ink by its place. Raises one of `BROKEN`."""
    allowance = Allowance.parse(entry.get("allowance", {}))
    agent = Agent(**{"ink": number % INKS, **entry, "allowance": allowance})
    if not NAME.fullmatch(agent.name) or not re.fullmatch(r"[0-9a-f]{64}", agent.token_sha256):
        raise ValueError("an entry is not in order")
    for at in (agent.created_at, agent.last_seen, agent.revoked_at, agent.paused_at, agent.added_at):
        if type(at) not in (int, float) or not 0 <= at <= LAST_TIME:
            raise ValueError(f"a time of {agent.name} is none")
    if type(agent.ink) is not int or not 0 <= agent.ink < INKS:
        raise ValueError(f"the ink of {agent.name} is none")
    if any(name and not NAME.fullmatch(name) for name in (agent.former, agent.renamed_to)):
        raise ValueError(f"another name of {agent.name} is none")
    return agent


def text_of(agents: Mapping[str, Agent], changes: Sequence[Mapping[str, Any]] = ()) -> str:
    """Return the content of the file. `changes` are those that the history does not have yet."""
    more = {"changes": changes} if changes else {}
    return json.dumps({"schema": SCHEMA, "agents": [asdict(one) for one in agents.values()], **more}, indent=2) + "\n"


def read_seen(file: Path) -> dict[str, float]:
    """Return the times in the file; one that cannot be read means never, as no decision depends on it."""
    try:
        seen = json.loads(read_file(file).decode("utf-8"))["seen"].items()
        return {str(name): float(at) for name, at in seen if 0 <= at <= LAST_TIME}
    except BROKEN:
        return {}


def with_seen(agents: dict[str, Agent], seen: dict[str, float], before: dict[str, Agent]) -> dict[str, Agent]:
    """Return the table with the newest time each agent was seen; one that was added again was not seen yet."""
    newest = {}
    for name, agent in agents.items():
        known = before.get(name)
        here = known.last_seen if known and known.token_sha256 == agent.token_sha256 else 0.0
        there = at if (at := seen.get(name, 0.0)) >= agent.created_at else 0.0
        newest[name] = replace(agent, last_seen=max(agent.last_seen, here, there))
    return newest


def require_name(name: str) -> None:
    """Raise KnownError for what cannot be an agent's name."""
    if not NAME.fullmatch(name):
        raise KnownError(
            f"{name[:60]!r} cannot be an agent's name.",
            "Use up to 40 letters, digits, dots, hyphens and underscores.",
        )


def in_force(agents: Mapping[str, Agent], name: str) -> Agent:
    """Return the agent of a name. Raises KnownError where there is none that is not revoked."""
    agent = agents.get(name)
    if agent is None or agent.revoked:
        raise unknown(name)
    return agent


def unknown(name: str) -> KnownError:
    """Return the error for a name that stands for no agent."""
    return KnownError(f"There is no agent called {name[:60]}.", "See Agents in the window, or: assent agents list")
