"""No anonymous tasks: every task has a name and is held until it is done."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

T = TypeVar("T")
_live: set[asyncio.Task[Any]] = set()


def spawn(name: str, coro: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Start `coro` on the running loop under `name`, and keep it from being collected.

    A failure nobody awaits reaches the loop's exception handler, so it is never silent.
    """
    task = asyncio.get_running_loop().create_task(coro, name=name)  # noqa: TID251 - the one allowed place
    _live.add(task)
    task.add_done_callback(_finished)
    return task


def _finished(task: asyncio.Task[Any]) -> None:
    _live.discard(task)
    if not task.cancelled() and (error := task.exception()) is not None:
        task.get_loop().call_exception_handler(
            {"message": f"task {task.get_name()} failed", "exception": error, "task": task}
        )


def live() -> list[str]:
    """Names of the tasks still running, for the tests and the way out."""
    return sorted(task.get_name() for task in _live)
