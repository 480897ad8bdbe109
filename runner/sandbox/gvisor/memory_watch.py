"""Ends containers that hold more memory than they may: where no control group binds them, and beside one that does."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Set

EVERY_SECONDS = 0.02
"""Between two looks at all containers: what a program can write to meanwhile is what it can have too much."""


class Watched(Protocol):
    def over(self) -> bool:
        """Return whether it is over, having been ended where it held too much. Called on a thread."""
        ...


class MemoryWatch:
    """One thread for all containers, there while there are any: a busy loop must not keep a limit from holding."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._all: set[Watched] = set()
        self._thread: threading.Thread | None = None

    @property
    def watched(self) -> Set[Watched]:
        return self._all

    def add(self, one: Watched) -> None:
        with self._changed:
            self._all.add(one)
            if self._thread is None:
                self._thread = threading.Thread(target=self._look, name="gVisor memory", daemon=True)
                self._thread.start()

    def remove(self, one: Watched) -> None:
        with self._changed:
            self._all.discard(one)
            self._changed.notify()

    def _look(self) -> None:
        while True:
            with self._changed:
                if not self._all:
                    self._thread = None
                    return
                now = list(self._all)
            gone = [one for one in now if one.over()]
            with self._changed:
                self._all.difference_update(gone)
                if self._all:
                    self._changed.wait(EVERY_SECONDS)
