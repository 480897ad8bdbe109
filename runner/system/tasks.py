"""Named tasks, each referenced until it is done."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

T = TypeVar("T")
IDLE_SECONDS = 5.0
"""For which a thread of `in_daemon` waits for more work."""
_live: set[asyncio.Task[Any]] = set()
_Orders: TypeAlias = "SimpleQueue[Callable[[], Callable[[], None]]]"
_idle: deque[_Orders] = deque()
"""Of each thread that waits, where it takes its next work from."""


def spawn(name: str, coro: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Start `coro` on the running loop under `name`, and keep it from being collected.

    A failure that is not awaited reaches the loop's exception handler once the task is released, so it is
    never silent; one that is awaited is raised there.
    """
    task = asyncio.get_running_loop().create_task(coro, name=name)
    _live.add(task)
    task.add_done_callback(_live.discard)
    return task


async def in_daemon(name: str, work: Callable[[], T]) -> T:
    """Return what `work()` does on a thread that holds neither the loop nor the process at their end.

    For what may wait for a person, as a keyring does: the loop waits for the threads of `asyncio.to_thread`.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if answer.done():
            return
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(cast("T", result))

    def run() -> Callable[[], None]:
        result, failure = None, None
        try:
            result = work()
        except BaseException as error:  # raised where it is awaited
            failure = error
        return partial(settled, result, failure)

    def settled(result: T | None, failure: BaseException | None) -> None:
        # The loop may have ended; then nobody waits any more.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, result, failure)

    try:
        orders = _idle.pop()
    except IndexError:
        orders = SimpleQueue()
        threading.Thread(target=_daemon, args=(orders,), name=name, daemon=True).start()
    orders.put(run)
    return await answer


def _daemon(orders: _Orders) -> None:
    """Do what is ordered, one after the other, until nothing came for a while.

    A thread that waits already takes work in a fraction of the time that a new one takes to start.
    """
    while True:
        try:
            work = orders.get(timeout=IDLE_SECONDS)
        except Empty:
            try:
                _idle.remove(orders)
            except ValueError:  # taken at this moment: the order is on its way
                work = orders.get()
            else:
                return
        done = work()
        # Before it is announced: the listener may have the next work.
        _idle.append(orders)
        done()
        del work, done  # else what they hold would live as long as this thread idles


def live() -> list[str]:
    """Return the names of the tasks still running, for the tests and the shutdown."""
    return sorted(task.get_name() for task in _live)
