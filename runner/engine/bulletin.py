"""Who listens to the engine, and which troubles stand."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from runner.model.events import EngineTroubled, TroubleCleared

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.model.events import Event

log = logging.getLogger(__name__)


class Bulletin:
    """Publish events to listeners on the engine's loop, and remember the troubles that stand."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[Event], None]] = []
        self._troubles: dict[str, EngineTroubled] = {}

    def listen(self, listener: Callable[[Event], None]) -> None:
        """Call `listener` with every event from now on, on the engine's loop."""
        self._listeners.append(listener)

    def publish(self, event: Event) -> None:
        for listener in self._listeners:
            listener(event)

    def trouble(self, area: str, what: str, remedy: str) -> None:
        """Publish that something does not work: once, until it changes or is cleared."""
        trouble = EngineTroubled(area, what, remedy)
        if self._troubles.get(area) != trouble:
            self._troubles[area] = trouble
            log.warning("%s: %s %s", area, what, remedy)
            self.publish(trouble)

    def clear(self, area: str) -> None:
        """Publish that `area` works again, if it did not."""
        if self._troubles.pop(area, None):
            self.publish(TroubleCleared(area))

    def standing(self, area: str) -> EngineTroubled | None:
        """Return the trouble of `area` that stands, if any."""
        return self._troubles.get(area)
