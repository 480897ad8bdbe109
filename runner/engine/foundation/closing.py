"""The flag that says the console is closing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Closing:
    """The reason for which the console is closing, shared by all parts that must not begin anything then."""

    why: str = ""
    """The reason, for people and agents; empty while the console is open."""
