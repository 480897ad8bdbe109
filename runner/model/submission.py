"""A tool call of an agent, checked for form but not yet a request: the engine adds identity and sandbox."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from runner.model.request import Claim

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.model.request import ClientTool, Language, Tool, WorkPlace


class SessionDoor(NamedTuple):
    """What the process on the terminal says of a call from its rings. The console asks it whether that is so."""

    name: str
    """Of the working copy."""
    key: str
    """A new one for each program at work, never shown in its rings."""


@dataclass(frozen=True, slots=True)
class Submission:
    """One tool call. `None` for a limit means the configured default."""

    agent: str
    tool: Tool
    language: Language | None = None
    code: str = ""
    title: str = ""
    timeout: float | None = None
    """Seconds."""
    memory_mb: int | None = None
    disk_mb: int | None = None
    max_output_bytes: int | None = None
    context: Mapping[str, object] | None = None
    """Variables for the code: JSON data."""
    stdin: str = ""
    network_enabled: bool | None = None
    """None where the agent says nothing about it."""
    allowed_domains: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    registry: str = ""
    """Name of the registry that packages come from; '' for that of the language."""
    sandbox_id: str = ""
    """Id of the kept sandbox to use; '' for none."""
    file_path: str = ""
    content: str = ""
    executable: bool = False
    offset: int = 0
    max_bytes: int | None = None
    client: ClientTool | None = None
    """The tool of the agent's own program that it is about."""
    files: tuple[str, ...] = ()
    """For such a tool the files that it would write, wherever they are."""
    may_join: bool = False
    """Whether it may wait for the answer of an identical request that is open; so with calls over MCP."""
    program: str = ""
    """What the agent's program says that it is."""
    claim: Claim = field(default_factory=Claim)
    """What the agent says about why it asks."""
    work: WorkPlace | None = None
    """The working copy in whose rings the agent's program is; None for an agent outside of any."""
    session: int = 0
    """Which session of the agent it comes from; 0 where that is not known."""
