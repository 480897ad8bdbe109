"""Work that would hold up the window, done on a thread of its own; what comes of it arrives in the window's thread."""

from __future__ import annotations

import contextlib
import queue
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal, Slot

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Errands(QObject):
    """One daemon thread that does one errand after the other; started with the first.

    The object must live in the window's thread. After `close` nothing is told any more.
    """

    _done = Signal(object, object)

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._waiting: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._done.connect(self._tell, Qt.ConnectionType.QueuedConnection)

    def send(
        self,
        work: Callable[[], T],
        told: Callable[[T], None],
        failed: Callable[[Exception], None],
    ) -> None:
        """Do `work` when those before it are done; then `told` with what it gave, or `failed` with what it raised."""

        def errand() -> None:
            try:
                found = work()
            except Exception as error:
                self._report(failed, error)
            else:
                self._report(told, found)

        if self._thread is None:
            self._thread = threading.Thread(target=self._main, name=f"assent-{self._name}", daemon=True)
            self._thread.start()
        self._waiting.put(errand)

    def tell(self, told: Callable[[T], None], what: T) -> None:
        """From inside an errand: news before its end, told in the window's thread."""
        self._report(told, what)

    def close(self) -> None:
        """Take no more; the errand under way ends by itself."""
        self._closed = True
        self._waiting.put(None)

    def _report(self, told: Callable[[T], None], what: T) -> None:
        # The object may be gone while the window closes down.
        with contextlib.suppress(RuntimeError):
            if not self._closed:
                self._done.emit(told, what)

    def _main(self) -> None:
        while (errand := self._waiting.get()) is not None:
            errand()

    @Slot(object, object)
    def _tell(self, told: Callable[[Any], None], what: object) -> None:
        if not self._closed:
            told(what)
