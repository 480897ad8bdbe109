"""The cases of this process: the active ones and the latest closed ones."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.model.request import Request
    from runner.requests.case import Case

KEPT = 500
"""Number of closed cases per agent whose answers can still be fetched; the ledger has them all."""
KEPT_BYTES = 16 << 20
"""Bytes of memory that closed cases of one agent may use."""
WATCHED = 50
"""Number of closed cases whose last output remains in memory, for a window that has not shown it yet."""


class Cases:
    """The cases by request id, oldest first."""

    def __init__(self) -> None:
        self._active: dict[str, Case] = {}
        self._closed: dict[str, Case] = {}
        self._order: defaultdict[str, deque[tuple[str, int]]] = defaultdict(deque)
        """Ids and sizes of closed cases by agent, oldest first: a busy agent does not displace those of others."""
        self._bytes: Counter[str] = Counter()
        self._watched: deque[Case] = deque()
        self._per_agent: Counter[str] = Counter()
        self._newest: dict[tuple[str, str], str] = {}
        """Id of the newest request that is here, by agent and digest."""

    def add(self, case: Case) -> None:
        self._newest[case.request.agent, case.request.digest] = case.request.id
        self._active[case.request.id] = case
        self._per_agent[case.request.agent] += 1

    def close(self, case: Case) -> None:
        """Move a case to the closed ones; its answer can be fetched until later ones of its agent displace it."""
        if self._active.pop(case.request.id, None) is None:
            return
        agent, size = case.request.agent, case.forget()
        self._per_agent[agent] -= 1
        self._closed[case.request.id] = case
        order = self._order[agent]
        order.append((case.request.id, size))
        self._bytes[agent] += size
        while len(order) > KEPT or (self._bytes[agent] > KEPT_BYTES and len(order) > 1):
            oldest, freed = order.popleft()
            self._forget_newest(self._closed.pop(oldest))
            self._bytes[agent] -= freed
        self._watched.append(case)
        if len(self._watched) > WATCHED:
            self._watched.popleft().transcript = None

    def _forget_newest(self, case: Case) -> None:
        key = (case.request.agent, case.request.digest)
        if self._newest.get(key) == case.request.id:
            del self._newest[key]

    def identical(self, request: Request) -> Case | None:
        """Return the newest request of the same agent with the same digest, active or closed."""
        found = self._newest.get((request.agent, request.digest))
        return None if found is None else self.find(found)

    def find(self, request_id: str) -> Case | None:
        return self._active.get(request_id) or self._closed.get(request_id)

    def active(self) -> tuple[Case, ...]:
        return tuple(self._active.values())

    def waiting(self, agent: str) -> int:
        """Return the number of requests of `agent` that are not closed."""
        return self._per_agent[agent]
