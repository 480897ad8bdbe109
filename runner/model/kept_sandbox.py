"""A sandbox that an agent keeps, as the window and the history know it (spec X5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runner.model.request import Limits

if TYPE_CHECKING:
    from runner.model.request import Isolation, Language


@dataclass(frozen=True, slots=True)
class Kept:
    """One sandbox of one agent; never another's."""

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
    """How often something was done in it."""
    ends_at: float = 0.0
    """Seconds since the epoch: when it is removed unless it is used before."""
