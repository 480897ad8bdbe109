"""The window's loop around tests and pictures, which Qt turns while they wait."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

from app.start.loop import make_loop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtWidgets import QApplication


@contextmanager
def in_loop(app: QApplication) -> Iterator[None]:
    """Stand where a slot stands: inside the loop. At the end it is closed, and no task may have failed."""
    loop = make_loop(app)
    failed: list[str] = []
    loop.set_exception_handler(lambda _loop, context: failed.append(f"{context}"))
    asyncio.events._set_running_loop(loop)
    try:
        yield
    finally:
        asyncio.events._set_running_loop(None)
        loop.run_until_complete(_cancel_all())
        loop.close()
    assert not failed, failed


async def _cancel_all() -> None:
    """Until none is left: while some end, a timer of the window that is still shown may start another."""
    loop, this = asyncio.get_running_loop(), asyncio.current_task()
    while left := asyncio.all_tasks(loop) - {this}:
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
