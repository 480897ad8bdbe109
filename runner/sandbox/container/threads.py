"""A bounded set of threads for calls that block."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeVar

from runner.sandbox.container.failures import EngineGone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")
IDLE_SECONDS = 10.0
"""After which a thread without work ends."""


class Threads:
    """Daemon threads, started when there is work and ended when there is none.

    Not an executor of the standard library: the interpreter waits for the threads of those at its end, and a
    call that cannot be broken off, such as the resolving of a name, would hold the whole process.
    """

    def __init__(self, name: str, most: int) -> None:
        self._name = name
        self._most = most
        self._changed = threading.Condition()
        self._work: deque[Callable[[], None]] = deque()
        self._alive: set[threading.Thread] = set()
        self._idle = 0
        self._closing = False

    @property
    def alive(self) -> int:
        """How many threads there are."""
        return len(self._alive)

    def submit(self, work: Callable[[], None]) -> None:
        """Have `work` called on one of the threads. It must not raise."""
        with self._changed:
            self._closing = False
            self._work.append(work)
            if len(self._work) <= self._idle:
                self._changed.notify()
            elif len(self._alive) < self._most:
                thread = threading.Thread(target=self._serve, name=f"{self._name} {len(self._alive) + 1}", daemon=True)
                try:
                    thread.start()
                except RuntimeError:  # the machine has no more of them
                    if not self._alive:
                        self._work.pop()
                        raise
                else:
                    self._alive.add(thread)

    async def call(
        self,
        function: Callable[[], T],
        seconds: float | None,
        hangs: EngineGone,
        listeners: Iterable[Callable[[], None]],
    ) -> T:
        """Return what `function` does, called on one of the threads.

        Raises `hangs` where it takes longer than `seconds`; each of the `listeners` is called for an EngineGone.
        """
        result: Future[T] = Future()

        def work() -> None:
            if result.set_running_or_notify_cancel():
                try:
                    answer = function()
                except BaseException as error:  # noqa: BLE001 - whoever awaits it gets it
                    result.set_exception(error)
                else:
                    result.set_result(answer)

        self.submit(work)
        answer = asyncio.wrap_future(result)
        try:
            await asyncio.wait({answer}, timeout=seconds)
            if not result.done():
                raise hangs
            return await answer
        except EngineGone:
            for listener in listeners:
                listener()
            raise
        finally:
            if not answer.done():
                answer.cancel()

    def close(self) -> None:
        """Have every thread end as soon as it has no work. Returns at once; later work starts threads again."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()

    def _serve(self) -> None:
        while (work := self._next()) is not None:
            work()
            del work  # what it holds is not to stay while this thread waits

    def _next(self) -> Callable[[], None] | None:
        with self._changed:
            self._idle += 1
            self._changed.wait_for(lambda: self._work or self._closing, IDLE_SECONDS)
            self._idle -= 1
            if self._work:
                return self._work.popleft()
            self._alive.discard(threading.current_thread())
            return None
