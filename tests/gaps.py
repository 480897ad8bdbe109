"""How long a loop turned to nothing else, in a time that does not run while other programs have the processors."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

BETWEEN_SECONDS = 0.001


class Gaps:
    """The most processor time of this process, in seconds, for which this loop turned to nothing else.

    Not time on the wall: that grows with what else the machine does. A thread that holds the interpreter counts.
    """

    def __init__(self) -> None:
        self.worst = 0.0

    async def watch(self) -> None:
        while True:
            before = time.process_time()
            await asyncio.sleep(BETWEEN_SECONDS)
            self.worst = max(self.worst, time.process_time() - before)


@asynccontextmanager
async def gaps() -> AsyncIterator[Gaps]:
    """Watch the running loop while the block is entered."""
    found = Gaps()
    watching = spawn("gaps", found.watch())
    try:
        yield found
    finally:
        watching.cancel()
