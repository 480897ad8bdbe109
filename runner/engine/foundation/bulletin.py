"""The engine's listeners, and the areas that do not work at present."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from runner.model.events import EngineTroubled, TroubleCleared

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.model.events import Event

log = logging.getLogger(__name__)


class Bulletin:
    """Publish events to listeners on the engine's loop, and remember the present troubles."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[Event], None]] = []
        self._troubles: dict[str, EngineTroubled] = {}

    def listen(self, listener: Callable[[Event], None]) -> None:
        """Call `listener` with every event from now on, on the engine's loop."""
        self._listeners.append(listener)

    def publish(self, event: Event) -> None:
        """Call every listener with `event`."""
        for listener in self._listeners:
            listener(event)

    def trouble(self, area: str, what: str, remedy: str, *, damaged: bool = False) -> None:
        """Publish that something in `area` does not work: once, until it changes or is cleared."""
        trouble = EngineTroubled(area, what, remedy, damaged)
        if self._troubles.get(area) != trouble:
            self._troubles[area] = trouble
            log.warning("%s: %s %s", area, what, remedy)
            self.publish(trouble)

    def clear(self, area: str) -> None:
        """Publish that `area` works again; nothing where it did work."""
        if self._troubles.pop(area, None):
            self.publish(TroubleCleared(area))

    def standing(self, area: str) -> EngineTroubled | None:
        """Return the present trouble of `area`, None where it works."""
        return self._troubles.get(area)
