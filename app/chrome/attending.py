"""Lets the countdowns stand while somebody is active among the requests: being thorough with one loses no other."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from app.review.interest import Interest

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.bridge import EngineLink
    from app.cards import Cards
    from app.chrome.dock import Dock
    from app.review.deciding import Deciding

    Clock = Callable[[], float]

PAUSE = 1.0
"""Seconds between two words to the engine, which lets the countdowns stand for longer than that."""


class Attending(QObject):
    """A key, a turn of the wheel or a press by the person counts; that something came on screen does not."""

    def __init__(
        self, deciding: Deciding, dock: Dock, cases: Cards, bridge: EngineLink, clock: Clock = time.monotonic
    ) -> None:
        """`clock` is in seconds."""
        super().__init__(deciding)
        self._cases = cases
        self._bridge = bridge
        self._clock = clock
        self._said_at = float("-inf")
        for part in (deciding.queue, deciding.review, dock):
            Interest(part).shown.connect(self.note)
        deciding.attended.connect(self.note)

    @Slot()
    def note(self) -> None:
        """Somebody did something there."""
        if self._cases.count_waiting() and self._clock() - self._said_at >= PAUSE:
            self._said_at = self._clock()
            self._bridge.decisions.attend()
