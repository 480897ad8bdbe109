"""Whether the console is closing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Closing:
    """Shared by all who must not begin anything once the console is on its way out."""

    why: str = ""
    """For people and agents; empty while the console is open."""
