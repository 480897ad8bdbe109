"""Work on threads that hold nothing at their end."""

from __future__ import annotations

import asyncio
import threading

import pytest

from runner.system.tasks import in_daemon, spawn
from tests.patience import HANGS

pytestmark = pytest.mark.asyncio


async def test_a_thread_that_waits_takes_the_next_work() -> None:
    first = await in_daemon("one", threading.get_ident)
    assert await in_daemon("two", threading.get_ident) == first


async def test_work_that_waits_for_somebody_holds_up_no_other() -> None:
    held, free = threading.Event(), threading.Event()

    def wait() -> bool:
        held.set()
        return free.wait(HANGS)

    waiting = spawn("waiting", in_daemon("waits", wait))
    while not held.is_set():
        await asyncio.sleep(0)
    others = await asyncio.gather(*(in_daemon("other", lambda: True) for _ in range(3)))
    assert others == [True] * 3 and not waiting.done()
    free.set()
    assert await waiting


async def test_a_failure_is_raised_where_it_is_awaited_and_the_thread_stays() -> None:
    def fail() -> None:
        raise LookupError(threading.get_ident())

    with pytest.raises(LookupError) as failed:
        await in_daemon("fails", fail)
    assert await in_daemon("next", threading.get_ident) == failed.value.args[0]
