"""Counts the requests that expired while nobody looked at the queue, until somebody does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from runner.model.decision import Verdict
from runner.model.events import RequestDecided

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.state.cards import Cards
    from runner.model.events import Event


class Unseen(QObject):
    """They are seen when the page of the queue is on screen in a window that has the focus."""

    changed = Signal()

    def __init__(self, cases: Cards, looking: Callable[[], bool], parent: QObject) -> None:
        """`looking` tells whether the queue is looked at now."""
        super().__init__(parent)
        self._cases = cases
        self._looking = looking
        self._expired: set[str] = set()
        cases.happened.connect(self._take)

    @property
    def count(self) -> int:
        """How many are listed as missed still and were not seen."""
        return len(self._expired)

    @Slot()
    def look(self) -> None:
        """Count none any more, where the queue is looked at now."""
        if self._expired and self._looking():
            self._expired.clear()
            self.changed.emit()

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        before = len(self._expired)
        for event in events:
            if isinstance(event, RequestDecided) and event.decision.verdict is Verdict.EXPIRED:
                self._expired.add(event.request_id)
        self._expired &= {card.id for card in self._cases.missed()}
        if self._expired and self._looking():
            self._expired.clear()
        if len(self._expired) != before:
            self.changed.emit()
