"""Time limits in tests that hold on a busy machine as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from runner.model.result import Result

HANGS = 120.0
"""Seconds after which what a test awaits is taken to hang: far more than a busy machine needs."""
TRIES = 3
"""Of what has to come in time; a busy machine may hold up one or two of them, a fault holds up all."""
MORE = (1, 4, 16)
"""Times the limit."""


def until_it_speaks(run: Callable[[float], Result], seconds: float) -> tuple[Result, float]:
    """Run code that its time limit is to end, and return the limit it got: more where it was over before a word."""
    for times in MORE:
        result = run(seconds * times)
        if result.stdout:
            break
    return result, seconds * times


async def at_best(work: Callable[[], Awaitable[None]]) -> None:
    """Await what has to come in time, up to three times: a machine that stands still spoils one, a fault spoils all."""
    for left in reversed(range(TRIES)):
        try:
            await work()
        except (AssertionError, OSError, EOFError):
            if not left:
                raise
        else:
            return
