"""The end of waiting for a worker, on a loop that is late itself."""

from __future__ import annotations

import asyncio
import os
import time

import pytest

from runner.risk.worker import deadline
from runner.risk.worker.deadline import Deadline

pytestmark = pytest.mark.asyncio


async def wait_late(waiting: Deadline) -> None:
    """Wait on a loop that is blocked until all patience is over and a look is due as well."""
    loop = asyncio.get_running_loop()
    async with waiting:
        waiting._timer.cancel()
        waiting._timer = loop.call_at((waiting._timeout.when() or 0.0) + 0.0001, waiting._look)
        loop.call_soon(time.sleep, 0.05)
        await asyncio.sleep(30)


async def test_a_look_that_comes_after_the_end_of_all_patience_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "processor_seconds", lambda _pid: None)
    faults: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: faults.append(context))
    with pytest.raises(TimeoutError):
        await wait_late(Deadline(os.getpid(), 0.001))
    assert faults == []
