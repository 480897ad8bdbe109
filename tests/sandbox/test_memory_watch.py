"""The thread that holds the memory of containers to its limit continues whatever one of them does."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from runner.sandbox.gvisor.container import DirectContainer
from runner.sandbox.gvisor.memory_watch import MemoryWatch
from tests.patience import HANGS

if TYPE_CHECKING:
    from runner.sandbox.gvisor.sentry import SentryReadings


class Running:
    """Stands in for the process of a container."""

    killed = False

    def poll(self) -> int | None:
        return -9 if self.killed else None

    def kill(self) -> None:
        self.killed = True


class Counted:
    """A container that is over after it was looked at some times."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self._looks = 0

    def over(self) -> bool:
        self._looks += 1
        if self._looks > 3:
            self.done.set()
        return self.done.is_set()


class Gone(DirectContainer):
    """A container that cannot be looked at: its folder is being removed."""

    def __init__(self) -> None:
        self.process = Running()
        self._process = self.process  # type: ignore[assignment]
        self._group = None
        self._in_use = True

    def readings(self) -> SentryReadings | None:
        raise FileNotFoundError


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_container_that_cannot_be_looked_at_is_ended_and_the_others_are_watched_on() -> None:
    watch, gone, other = MemoryWatch(), Gone(), Counted()
    watch.add(gone)
    watch.add(other)
    assert other.done.wait(HANGS)
    assert gone.process.killed
