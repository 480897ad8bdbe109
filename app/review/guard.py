"""Keeps a click or key that was meant for something else from answering a question that has just appeared."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

REST_SECONDS = 0.6
"""How long input is ignored (spec D1): longer than a click under way, shorter than reading a line."""
GRAVER_SECONDS = 1.5
"""The same, where after an answer a request is shown that is worth more of a look than the one before."""


class ClickGuard:
    """Input counts once its rest has passed since `rearm`, and only in an active window.

    A press and its release must fall into the same turn: what is pressed for one request never answers the next.
    `clock` is in seconds; `active` tells whether the window has the focus now (where the press arrives before the
    news of the activation, this is what stops it).
    """

    def __init__(self, active: Callable[[], bool], clock: Callable[[], float] = time.monotonic) -> None:
        self._active = active
        self._clock = clock
        self._turn = 1
        self._until = clock() + REST_SECONDS

    def rearm(self, seconds: float = REST_SECONDS) -> float:
        """Ignore input for `seconds`: a prompt appeared, the shown request changed, or the window was activated.

        A longer rest that has begun is not cut short. Return for how many seconds input is ignored now.
        """
        self._turn += 1
        now = self._clock()
        self._until = max(min(self._until, now + GRAVER_SECONDS), now + seconds)
        return self._until - now

    def press(self) -> int:
        """Return the turn that a press now belongs to, or 0 where it does not count."""
        # In this order: asking whether the window is active may find out that something has moved.
        return self._turn if self._active() and self._clock() >= self._until else 0

    def counts(self, pressed: int) -> bool:
        """Return whether the release of what was pressed in turn `pressed` counts."""
        return pressed != 0 and self._active() and pressed == self._turn
