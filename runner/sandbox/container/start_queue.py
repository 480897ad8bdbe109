"""The line in which containers wait for their start, where the console starts each of them itself.

A container is started by much work of the processor. Many that start at the same time hinder each other: twenty took a
fifth longer than six after six, and the first of them was ready only when nearly all were (`make bench ARGS=direct`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

FOR_EACH_PROCESSOR = 3
"""Starts at the same time; from two to three the figures are alike."""
WAIT_SECONDS = 5.0
"""After which a container starts out of turn: some starts that hang must not keep every other from starting."""


class StartQueue:
    """Lets a bounded number of containers start at the same time, in the order of their coming."""

    def __init__(self, most: int | None = None, wait_seconds: float = WAIT_SECONDS) -> None:
        """`most` start at the same time; None for what the processors of this machine suggest."""
        self._most = most or FOR_EACH_PROCESSOR * max(2, len(os.sched_getaffinity(0)))
        self.wait_seconds = wait_seconds
        # One for each loop, as they can be awaited on one loop only.
        self._turns: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
            weakref.WeakKeyDictionary()
        )

    async def turn(self) -> Callable[[], None]:
        """Wait for a turn, no longer than the wait; return what ends it, which is harmless when called again."""
        turns = self._turns.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(self._most))
        ending = contextlib.ExitStack()
        try:
            async with asyncio.timeout(self.wait_seconds):
                await turns.acquire()
        except TimeoutError:
            return ending.close
        ending.callback(turns.release)
        return ending.close
