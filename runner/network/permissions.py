"""The hosts that one run may reach: changed by a person while the gate reads them."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.network.addresses import Reach

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.model.network import Destination


@dataclass(frozen=True, slots=True)
class Permission:
    """One allowed destination, and where its addresses may lie."""

    destination: Destination
    reach: Reach = Reach.PUBLIC
    inside: frozenset[str] = frozenset()
    """The addresses of the own network that a person allowed; for `PRIVATE`, and any where there are none."""


class Permissions:
    """The destinations that are allowed. Nothing else ever is; all methods may be called on any thread."""

    def __init__(self, allowed: Iterable[Destination] = (), private: Iterable[Destination] = ()) -> None:
        """`private` are those of `allowed` that this machine is configured with; more of them count for nothing."""
        self._lock = threading.Lock()
        configured = set(private)
        self._reach = {one: Reach.CONFIGURED if one in configured else Reach.PUBLIC for one in allowed}
        self._inside: dict[Destination, frozenset[str]] = {}
        self._closed = False

    def find(self, host: str, port: int) -> Permission | None:
        """Return the permission for the canonical `host` at `port`: the widest, where several fit."""
        with self._lock:
            fitting = [(reach, one) for one, reach in self._reach.items() if one.fits(host, port)]
            if not fitting:
                return None
            reach, destination = max(fitting)
            return Permission(destination, reach, self._inside.get(destination, frozenset()))

    def names(self, host: str, port: int) -> bool:
        """Return whether a destination names exactly the canonical `host` at `port`, and not only by a wildcard."""
        with self._lock:
            return any(not one.is_wildcard and one.fits(host, port) for one in self._reach)

    def allow(self, destination: Destination, reach: Reach, inside: Iterable[str] = ()) -> None:
        """Allow `destination` from now on, unless everything was ended; within the own network at `inside` only."""
        with self._lock:
            if not self._closed:
                if inside:
                    self._inside[destination] = frozenset(inside)
                self._reach[destination] = max(reach, self._reach.get(destination, reach))

    def withdraw(self, destination: Destination) -> None:
        with self._lock:
            self._reach.pop(destination, None)

    @property
    def destinations(self) -> tuple[Destination, ...]:
        """What is allowed now, in the order in which it was."""
        with self._lock:
            return tuple(self._reach)

    @property
    def ports(self) -> tuple[int, ...]:
        """The ports of all destinations, in order."""
        with self._lock:
            return tuple(sorted({one.port for one in self._reach}))

    def close(self) -> None:
        """Allow nothing any more, whatever comes later."""
        with self._lock:
            self._closed = True
            self._reach.clear()

    @property
    def closed(self) -> bool:
        return self._closed
