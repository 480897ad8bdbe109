"""What one check of this machine has found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    OK = "ok"
    WARN = "warn"
    """It works, with a caveat."""
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Check:
    """One check. `fix` is a command or a sentence; empty where there is nothing to do."""

    name: str
    state: State
    what: str
    fix: str = ""
    images: tuple[str, ...] = ()
    """Names of images that are to be built."""
