"""Questions to the ledger, asked on a thread of their own; a new question stops the one before."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from app.link.background import Errands
from runner.audit.history.search import History, Interrupted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PySide6.QtCore import QObject

T = TypeVar("T")


class Reader:
    """One connection to the ledger at `path`. The window's thread asks; only the newest question is answered."""

    def __init__(self, path: Path, name: str, parent: QObject) -> None:
        self.path = path
        self._errands = Errands(name, parent)
        self._history: History | None = None
        self._file: tuple[int, int] = (0, 0)
        self._newest = 0

    def ask(self, work: Callable[[History], T], done: Callable[[T], None], failed: Callable[[Exception], None]) -> None:
        """Pass what `work` returns to `done`, or its error to `failed`, unless something else was asked meanwhile."""
        mine = self._newest = self._newest + 1
        self._interrupt()

        def do() -> T:
            if mine != self._newest:
                raise Interrupted("Something else was asked.")
            return work(self._open())

        def tell(found: T) -> None:
            if mine == self._newest:
                done(found)

        def tell_failure(error: Exception) -> None:
            if mine == self._newest and not isinstance(error, Interrupted):
                failed(error)

        self._errands.send(do, tell, tell_failure)

    def close(self) -> None:
        """Answer nothing more and give the file up."""
        self._newest += 1
        self._errands.close()
        if self._history is not None:
            self._history.close()

    def _interrupt(self) -> None:
        if self._history is not None:
            self._history.interrupt()

    def _open(self) -> History:
        """Return the ledger as it is now: a new one may have taken the place of one that could not be read."""
        history = self._history
        file = _identity(self.path)
        if history is None or file != self._file:
            self._history = None
            if history is not None:
                history.close()
            history = History(self.path)
            self._history, self._file = history, file
        return history


def _identity(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino
