"""A sandbox that an agent keeps between calls, as the window and the history show it (spec X5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runner.model.request import Limits, NetworkMode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.model.file_changes import RunChanges
    from runner.model.request import Isolation, Language


@dataclass(frozen=True, slots=True)
class Kept:
    """One kept sandbox; only its own agent may use it."""

    id: str
    agent: str
    language: Language
    isolation: Isolation
    made_at: float
    """Seconds since the epoch."""
    image: str = ""
    """Id of the container image; '' where there is none."""
    limits: Limits = field(default_factory=Limits)
    title: str = ""
    uses: int = 0
    """Number of calls that used it."""
    ends_at: float = 0.0
    """Time of its removal unless it is used before, in seconds since the epoch."""
    network: NetworkMode = NetworkMode.NONE
    """The network that calls in it have unless they ask for less or more."""
    domains: tuple[str, ...] = ()
    """As in a request."""
    put_back_to: int = 0
    """The run before which its files are again, as a person undid it, and nothing has used it since; 0 for none."""
    runs: tuple[RunChanges, ...] = ()
    """Its latest runs that are over, and what each has changed, oldest first."""


def changes_of(kept: Iterable[Kept], request_id: str) -> RunChanges | None:
    """Return what a run in one of these sandboxes changed; None where none of them knows it."""
    return next((run for one in kept for run in one.runs if run.request_id == request_id), None)
