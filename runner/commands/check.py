"""The outcome of one check of this machine."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

STRONGEST_FIRST = ("gVisor without Docker", "gVisor", "Docker", "Images", "Local sandbox")
"""Checks of which a fix gets a stronger sandbox, first what is worth most."""


class State(StrEnum):
    OK = "ok"
    UNUSED = "unused"
    """Nothing depends on it, whether it works or not."""
    WARN = "warn"
    """It works, with a caveat."""
    BAD = "bad"

    @property
    def sign(self) -> str:
        """What a terminal shows of it, in four letters."""
        match self:
            case State.OK:
                return "ok  "
            case State.UNUSED:
                return "off "
            case State.WARN:
                return "look"
            case State.BAD:
                return "BAD "


@dataclass(frozen=True, slots=True)
class Check:
    """One check. `fix` is a command or a sentence; empty where there is nothing to do."""

    name: str
    state: State
    what: str
    fix: str = ""
    images: tuple[str, ...] = ()
    """Names of images that are to be built."""
    gvisor: bool = False
    """Whether Assent can fetch gVisor's program by itself; `fix` is what a person can type in place of that."""


def stronger(checks: Iterable[Check]) -> Check | None:
    """Return the check with the fix that gets the strongest sandbox which does not work yet; None where there is none.

    Before the others one that Assent can see to by itself.
    """
    order = {name: number for number, name in enumerate(STRONGEST_FIRST)}
    open_ones = [one for one in checks if one.name in order and one.state not in (State.OK, State.UNUSED) and one.fix]
    return min(open_ones, key=lambda one: (not (one.gvisor or one.images), order[one.name]), default=None)
