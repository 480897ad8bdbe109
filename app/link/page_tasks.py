"""The tasks that a page waits for: named, kept while they run, and cancelled when the page goes away."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from runner.model.errors import KnownError
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from asyncio import Task
    from collections.abc import Awaitable, Callable, Coroutine


class PageTasks(QObject):
    """Belongs to `page` and ends with it. A task that fails goes to the loop's exception handler at once.

    A coroutine that is started here may not run a Qt loop of its own (`exec` of a dialog or a menu): other tasks
    that become ready meanwhile would be lost. Open a dialog with `open` instead.
    """

    def __init__(self, name: str, page: QObject) -> None:
        super().__init__(page)
        self._name = name
        self._live: set[Task[Any]] = set()
        # Not a method of this object: by then it is none any more.
        self.destroyed.connect(partial(_cancel, self._live))

    def start(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` beside what the window does."""
        task = spawn(f"{self._name}: {name}", work)
        self._live.add(task)
        task.add_done_callback(partial(_ended, self._live))

    def attempt(self, name: str, answer: Awaitable[object], say: Callable[[str], None]) -> None:
        """Wait for something of which nothing is shown but a sentence, with `say`, where it could not be done."""

        async def work() -> None:
            try:
                await answer
            except KnownError as error:
                say(str(error))

        self.start(name, work())

    def cancel(self) -> None:
        """Wait for nothing any more; what the engine was asked to do, it does."""
        _cancel(self._live)


def _cancel(live: set[Task[Any]]) -> None:
    for task in tuple(live):
        task.cancel()


def _ended(live: set[Task[Any]], task: Task[Any]) -> None:
    live.discard(task)
    if not task.cancelled() and (error := task.exception()) is not None:
        what = f"in the task {task.get_name()}"
        task.get_loop().call_exception_handler({"message": what, "exception": error, "task": task})
