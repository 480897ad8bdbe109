"""Whose call is next: one at a time for each asker, the person first, agents in turn, costly ones one at a time."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

PERSON = ""
"""The asker that goes before all others; no agent has this name."""


class Turns(Generic[T]):
    """The queue of calls. The caller of `take` reports with `done` when a call is over."""

    def __init__(self, most_agents: int, costly: Callable[[str], bool] = lambda _agent: False) -> None:
        """`most_agents`: that many agents are served at once at most; the person always.

        All agents that are `costly` share one of these places, so that however many they are another agent finds one.
        """
        self._most_agents = most_agents
        self._costly = costly
        self._waiting: OrderedDict[str, deque[T]] = OrderedDict()
        self._served: set[str] = set()

    def put(self, asker: str, item: T) -> None:
        self._waiting.setdefault(asker, deque()).append(item)

    def put_back(self, asker: str, item: T) -> None:
        """Queue `item` again, whose call was broken off: before the other calls of `asker`, behind other askers."""
        self._waiting.setdefault(asker, deque()).appendleft(item)
        self._waiting.move_to_end(asker)

    def take(self, *, spared: bool = False) -> tuple[str, T] | None:
        """Return the next asker and what it wants; None where nothing may begin now. `spared`: no costly agent's."""
        asker = self._next(spared=spared)
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

    @property
    def full(self) -> bool:
        """Whether calls of agents are served in every place."""
        return len(self._served - {PERSON}) >= self._most_agents

    @property
    def held_up(self) -> bool:
        """Whether an agent that is not costly waits while the calls of others are served."""
        waiting = self._waiting.keys() - self._served - {PERSON}
        return any(not self._costly(asker) for asker in waiting)

    def drain(self) -> list[T]:
        """Remove and return everything that waits."""
        items = [item for queue in self._waiting.values() for item in queue]
        self._waiting.clear()
        return items

    def _next(self, *, spared: bool = False) -> str | None:
        if PERSON in self._waiting and PERSON not in self._served:
            return PERSON
        if self.full:
            return None
        shared = spared or any(map(self._costly, self._served - {PERSON}))
        for asker in self._waiting:
            if asker != PERSON and asker not in self._served and not (shared and self._costly(asker)):
                return asker
        return None
