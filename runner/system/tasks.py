"""Named tasks, each referenced until it is done."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

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


def live() -> list[str]:
    """Return the names of the tasks still running, for the tests and the shutdown."""
    return sorted(task.get_name() for task in _live)
