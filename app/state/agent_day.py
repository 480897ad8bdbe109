"""The day of an agent in words and numbers, for the list of agents."""

from __future__ import annotations

from typing import NamedTuple


class AgentDay(NamedTuple):
    became: str = ""
    """What became of its requests, in words; empty for none."""
    hours: tuple[int, ...] = ()
    """How many requests came in each hour of the clock on the wall, from midnight; empty for none."""
    last: str = ""
    """When the last one came, what it was and what became of it; empty where no request can be read."""
    cut: bool = False
    """There were more requests than were counted for the hours."""


NONE = AgentDay()
