"""Containers that the console starts itself wait in line, and none of them holds up the others for good."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from runner.sandbox.container.start_queue import StartQueue
from runner.system.tasks import spawn
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.asyncio
NEVER = 10 * HANGS


async def soon(queue: StartQueue) -> Callable[[], None]:
    async with asyncio.timeout(HANGS):
        return await queue.turn()


async def waiting(queue: StartQueue) -> asyncio.Task[Callable[[], None]]:
    """Return one that waits for its turn."""
    task = spawn("a start", queue.turn())
    await asyncio.sleep(0)  # it stands in line from its first step
    assert not task.done()
    return task


async def test_turns_come_in_order_once_an_earlier_one_ends() -> None:
    queue = StartQueue(2, NEVER)
    first, _second = await soon(queue), await soon(queue)
    third, fourth = await waiting(queue), await waiting(queue)
    first()
    async with asyncio.timeout(HANGS):
        await third
    assert not fourth.done()
    first()  # again, which gives nobody a turn
    await asyncio.sleep(0)
    assert not fourth.done()
    (await third)()
    async with asyncio.timeout(HANGS):
        await fourth


async def test_one_that_leaves_the_line_takes_no_turn() -> None:
    queue = StartQueue(1, NEVER)
    first = await soon(queue)
    gone = await waiting(queue)
    gone.cancel()
    await asyncio.wait({gone})
    first()
    await soon(queue)


async def test_starts_that_hang_keep_no_other_from_starting() -> None:
    queue = StartQueue(1, 0.01)
    first = await soon(queue)
    late = await soon(queue)
    late()  # it started out of turn, and so ends none
    queue.wait_seconds = NEVER
    last = await waiting(queue)
    first()
    async with asyncio.timeout(HANGS):
        await last


async def test_each_loop_has_turns_of_its_own() -> None:
    queue = StartQueue(1, NEVER)
    await soon(queue)
    await asyncio.to_thread(asyncio.run, soon(queue))
