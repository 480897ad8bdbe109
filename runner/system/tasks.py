"""Named tasks, each referenced until it is done."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

T = TypeVar("T")
_live: set[asyncio.Task[Any]] = set()


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

    def run() -> None:
        result, failure = None, None
        try:
            result = work()
        except BaseException as error:  # raised where it is awaited
            failure = error
        # The loop may have ended; then nobody waits any more.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, result, failure)

    threading.Thread(target=run, name=name, daemon=True).start()
    return await answer


def live() -> list[str]:
    """Return the names of the tasks still running, for the tests and the shutdown."""
    return sorted(task.get_name() for task in _live)
