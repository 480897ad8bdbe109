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

    A failure that nobody awaits reaches the loop's exception handler as soon as the task is let go, so it is
    never silent; one that somebody awaits is theirs to tell.
    """
    task = asyncio.get_running_loop().create_task(coro, name=name)
    _live.add(task)
    task.add_done_callback(_live.discard)
    return task


def live() -> list[str]:
    """Names of the tasks still running, for the tests and the way out."""
    return sorted(task.get_name() for task in _live)
