"""Changes of agents by a command: noted in the list of agents with the change itself, for the history to record."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from runner.identity.agent_file import BROKEN, NAME, Agent
from runner.system.clock import LAST_TIME

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

KINDS = ("agent-added", "agent-revoked", "agent-renamed", "agent-paused", "agent-resumed", "agent-changed")
"""Kinds of entries that a note may ask for."""
COMMAND, WINDOW = "command", "window"
"""By what an agent was changed: `assent agents` or `assent connect`, or a page of the window beside the engine."""
MOST = 1000
"""Notes that are kept, the newest: a script may change something for ever while no console is opened."""
LONGEST = 4000
"""Characters of what a note says was set."""


@dataclass(frozen=True, slots=True)
class AgentChange:
    """One change of an agent. `at` is in seconds since the epoch."""

    at: float
    kind: str
    agent: str
    to: str = ""
    """The new name, of a renaming."""
    now: dict[str, object] = field(default_factory=dict)
    """What was set, as JSON has it."""
    by: str = COMMAND

    @property
    def body(self) -> dict[str, object]:
        """What the history records: by what it was made and when, apart from when that was recorded."""
        more = {name: value for name, value in (("to", self.to), ("now", self.now)) if value}
        return {"agent": self.agent, "by": self.by, "made": self.at, **more}


def changes_between(before: Mapping[str, Agent], after: Mapping[str, Agent], at: float) -> list[AgentChange]:
    """Return what became of each agent between two states of the list."""
    found: list[AgentChange] = []
    for name, agent in after.items():
        known = before.get(name)
        if known is None or known.token_sha256 != agent.token_sha256:
            if agent.renamed_to and known is not None:
                found.append(AgentChange(at, "agent-renamed", name, agent.renamed_to))
            elif not agent.revoked and not (agent.former and before.get(agent.former)):
                found.append(AgentChange(at, "agent-added", name))
        elif agent.revoked and not known.revoked:
            found.append(AgentChange(at, "agent-revoked", name))
        elif known.paused is not agent.paused:
            found.append(AgentChange(at, "agent-paused" if agent.paused else "agent-resumed", name))
        if known is not None and known.token_sha256 == agent.token_sha256 and (now := _set(known, agent)):
            found.append(AgentChange(at, "agent-changed", name, now=now))
    return found


def _set(before: Agent, after: Agent) -> dict[str, object]:
    now = before.allowance.differing(after.allowance) | ({"ink": after.ink} if after.ink != before.ink else {})
    return plain(now)


def plain(values: Mapping[str, object]) -> dict[str, object]:
    """Return values as they are read from JSON."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def explained(notes: Iterable[AgentChange], kind: str, agent: str, now: Mapping[str, object]) -> bool:
    """Return whether notes say of an agent what was seen to have changed: the history gets it from them then."""
    mine = [note for note in notes if (note.kind, note.agent) == (kind, agent)]
    noted: dict[str, object] = {}
    for note in mine:
        noted |= note.now
    return bool(mine) and all(name in noted and noted[name] == value for name, value in plain(now).items())


def as_data(changes: Iterable[AgentChange]) -> list[dict[str, Any]]:
    """Return the newest notes as they stand in the file."""
    return [asdict(change) for change in tuple(changes)[-MOST:]]


def changes_of(data: Mapping[str, Any]) -> tuple[AgentChange, ...]:
    """Return the notes in what the file holds, without those that are none: no agent depends on them."""
    noted = data.get("changes")
    entries = noted[-MOST:] if isinstance(noted, list) else []
    return tuple(change for entry in entries if (change := _read(entry)) is not None)


def _read(entry: object) -> AgentChange | None:
    try:
        change = AgentChange(**entry)  # type: ignore[arg-type]
        good = (
            type(change.at) in (int, float)
            and 0 <= change.at <= LAST_TIME
            and change.kind in KINDS
            and change.by in (COMMAND, WINDOW)
            and bool(NAME.fullmatch(change.agent))
            and (change.to == "" or bool(NAME.fullmatch(change.to)))
            and isinstance(change.now, dict)
            and len(json.dumps(change.now, allow_nan=False)) <= LONGEST
        )
    except BROKEN:
        return None
    return change if good else None
