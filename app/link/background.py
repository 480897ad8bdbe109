"""Work that would hold up the window, done on a thread of its own; what comes of it arrives in the window's thread.

What an errand holds (its window, mostly) is kept alive by the window's thread until the errand's outcome was delivered.
Were the worker the last to hold a widget, the widget would be destroyed in the wrong thread, and Qt with it.
"""

from __future__ import annotations

import itertools
import queue
import threading
import weakref
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal, Slot
from shiboken6 import isValid

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Errands(QObject):
    """One daemon thread that does one errand after the other; started with the first.

    The object must live in the window's thread. After `close`, or without this object, nothing is delivered any more.
    """

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._waiting: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        self._started = False
        self.closed = False

    def send(
        self,
        work: Callable[[], T],
        done: Callable[[T], None],
        failed: Callable[[Exception], None],
    ) -> None:
        """Do `work` when those before it are done; then `done` with its result, or `failed` with its error."""
        post = _post()
        number = next(post.numbers)
        post.errands[number] = _Errand(weakref.ref(self), work, done, failed)
        if not self._started:
            self._started = True
            weakref.finalize(self, self._waiting.put, None).atexit = False
            name = f"assent-{self._name}"
            threading.Thread(target=_work, args=(post, self._waiting), name=name, daemon=True).start()
        self._waiting.put(number)

    def tell(self, done: Callable[[T], None], what: T) -> None:
        """Send news from inside an errand before its end, delivered in the window's thread."""
        _post().news.emit(weakref.ref(self), done, what)

    def close(self) -> None:
        """Take no more; the errand under way ends by itself."""
        self.closed = True
        self._waiting.put(None)


@dataclass(frozen=True, slots=True)
class _Errand:
    owner: weakref.ref[Errands]
    work: Callable[[], Any]
    done: Callable[[Any], None]
    failed: Callable[[Exception], None]


class _Post(QObject):
    """Carries from the workers to the window's thread. There is one, and it is never destroyed."""

    done = Signal(int, bool, object)
    """Number of the errand, whether it went well, and what it gave or raised."""
    news = Signal(object, object, object)

    def __init__(self) -> None:
        super().__init__()
        self.numbers = itertools.count()
        self.errands: dict[int, _Errand] = {}
        """Errands whose outcome was not delivered yet, by number."""
        self.done.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self.news.connect(self._bring, Qt.ConnectionType.QueuedConnection)

    @Slot(int, bool, object)
    def _deliver(self, number: int, good: bool, outcome: Any) -> None:
        errand = self.errands.pop(number)
        if _listens(errand.owner()):
            (errand.done if good else errand.failed)(outcome)

    @Slot(object, object, object)
    def _bring(self, owner: weakref.ref[Errands], done: Callable[[Any], None], what: object) -> None:
        if _listens(owner()):
            done(what)


@cache
def _post() -> _Post:
    return _Post()


def _listens(owner: Errands | None) -> bool:
    return owner is not None and isValid(owner) and not owner.closed


def _work(post: _Post, waiting: queue.SimpleQueue[int | None]) -> None:
    """Work on errands, in the worker thread. No variable here may hold an errand when its outcome is delivered."""
    while (number := waiting.get()) is not None:
        post.done.emit(number, *_outcome(post.errands[number].work))


def _outcome(work: Callable[[], Any]) -> tuple[bool, object]:
    try:
        return True, work()
    except Exception as error:  # noqa: BLE001 - handed to whoever sent the errand
        # Without its frames, which hold what the errand holds.
        error.__context__ = error.__cause__ = None
        return False, error.with_traceback(None)
