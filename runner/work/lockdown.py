"""The sign of a console in lockdown, for programs that start without asking it.

Lockdown ends with the console, however that ends: so it is a lock that the console holds, and no file that stays.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.system.file_lock import held, is_held

if TYPE_CHECKING:
    from pathlib import Path

    from runner.system.places import Places

HOLD_SECONDS = 0.2
LOCKED = "Assent is in lockdown: nothing is started, and nothing is written into projects."


class LockdownSign:
    """The console's end: shown to other processes while it is up."""

    def __init__(self, places: Places) -> None:
        self._file = _file(places)
        self._up = contextlib.ExitStack()
        self._is_up = False

    def show(self, *, up: bool) -> None:
        """Put it up, or take it down. Raises OSError, also where another console has put up its own."""
        if up and not self._is_up:
            self._up.enter_context(held(self._file, HOLD_SECONDS))
        elif not up:
            self._up.close()
        self._is_up = up


def require_open(places: Places) -> None:
    """Raise KnownError in lockdown. A program that starts asks this once it can be told to end, not before."""
    if is_locked(places):
        raise KnownError(LOCKED, "Lift it in the window of Assent.")


def is_locked(places: Places) -> bool:
    """Whether a console is in lockdown."""
    return is_held(_file(places))


def _file(places: Places) -> Path:
    return places.state / "lockdown"
