"""Whose call is next: one at a time for each asker, the person first, agents in turn."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Generic, TypeVar

T = TypeVar("T")

PERSON = ""
"""The asker that goes before all others; no agent has this name."""


class Turns(Generic[T]):
    """The queue of calls. The caller of `take` reports with `done` when a call is over."""

    def __init__(self, most_agents: int) -> None:
        """`most_agents`: that many agents are served at once at most; the person always."""
        self._most_agents = most_agents
        self._waiting: OrderedDict[str, deque[T]] = OrderedDict()
        self._served: set[str] = set()

    def put(self, asker: str, item: T) -> None:
        self._waiting.setdefault(asker, deque()).append(item)

    def take(self) -> tuple[str, T] | None:
        """Return the next asker and what it wants; None where nothing may begin now."""
        asker = self._next()
        if asker is None:
            return None
        queue = self._waiting.pop(asker)
        item = queue.popleft()
        if queue:
            self._waiting[asker] = queue  # at the end: the others come first
        self._served.add(asker)
        return asker, item

    def done(self, asker: str) -> None:
        """The call of `asker` is over; its next one may begin."""
        self._served.discard(asker)

    @property
    def ready(self) -> bool:
        """Whether something could begin now."""
        return self._next() is not None

    def drain(self) -> list[T]:
        """Remove and return everything that waits."""
        items = [item for queue in self._waiting.values() for item in queue]
        self._waiting.clear()
        return items

    def _next(self) -> str | None:
        if PERSON in self._waiting and PERSON not in self._served:
            return PERSON
        if len(self._served - {PERSON}) >= self._most_agents:
            return None
        return next((asker for asker in self._waiting if asker != PERSON and asker not in self._served), None)
