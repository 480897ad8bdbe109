"""The presence of the person: away, or not to be disturbed for a while.

Not disturbed, nothing comes up, sounds or flashes; what waits is counted and expires as always. Away, it waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from runner.model.events import AwayChanged
from runner.system.clock import since_boot

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.state.cards import Cards
    from runner.model.events import Event

MINUTES = (15, 60)


class Presence(QObject):
    """Quiet ends by itself, and with the program: who starts Assent again wants to hear from it."""

    changed = Signal()

    def __init__(self, cases: Cards, parent: QObject | None = None, now: Callable[[], float] = since_boot) -> None:
        super().__init__(parent)
        self.away = False
        """Whether the engine lets requests wait."""
        cases.happened.connect(self._take)
        self._now = now
        self._until = 0.0
        self._over = QTimer(self)
        self._over.setSingleShot(True)
        self._over.timeout.connect(self._end_if_over)

    @property
    def quiet(self) -> bool:
        return self._now() < self._until

    @property
    def may_disturb(self) -> bool:
        """Whether anything may come up, sound or flash."""
        return not self.away and not self.quiet

    @property
    def left(self) -> float:
        """Seconds until it ends."""
        return max(0.0, self._until - self._now())

    def begin(self, minutes: int) -> None:
        """Be quiet for `minutes` from now."""
        self._until = self._now() + minutes * 60
        self._over.start(minutes * 60_000)
        self.changed.emit()

    @Slot()
    def end(self) -> None:
        """Disturb again."""
        self._until = 0.0
        self._over.stop()
        self.changed.emit()

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        for event in events:
            if isinstance(event, AwayChanged) and event.away is not self.away:
                self.away = event.away
                self.changed.emit()

    @Slot()
    def _end_if_over(self) -> None:
        if self.quiet:  # the timer is not that exact
            self._over.start(round(self.left * 1000) + 1)
        else:
            self.end()
