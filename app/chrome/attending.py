"""Lets the countdowns stand while somebody works in Assent: being thorough with one thing loses no request."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QWindow
from PySide6.QtWidgets import QApplication, QDialog

from app.review.interest import Interest

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.link.bridge import EngineLink
    from app.state.cards import Cards

    Clock = Callable[[], float]

PAUSE = 1.0
"""Seconds between two words to the engine, which lets the countdowns stand for longer than that."""
DIRECT = Qt.FindChildOption.FindDirectChildrenOnly
_DONE = frozenset({QEvent.Type.MouseButtonPress, QEvent.Type.Wheel, QEvent.Type.KeyPress})


class Attending(QObject):
    """A key, a turn of the wheel or a press by the person in its window, the small card or a dialog counts.

    That something came on screen does not, nor that the pointer rests there.
    """

    active = Signal()
    """Somebody did something in Assent; at most once in `PAUSE`."""

    def __init__(self, cases: Cards, bridge: EngineLink, parent: QObject, clock: Clock = time.monotonic) -> None:
        """`clock` is in seconds."""
        super().__init__(parent)
        self._cases = cases
        self._bridge = bridge
        self._clock = clock
        self._said_at = float("-inf")
        app = QGuiApplication.instance()
        assert isinstance(app, QGuiApplication)
        app.focusWindowChanged.connect(self._watch_dialog)

    def watch(self, window: QWindow) -> None:
        """Hear what the desktop sends to a window: of all events of a program these few are the person's."""
        window.installEventFilter(self)

    @Slot()
    def _watch_dialog(self) -> None:
        """Hear what is done in a dialog. Windows of menus and hints, which come and go, are never heard."""
        dialog = QApplication.activeWindow()
        if isinstance(dialog, QDialog) and dialog.findChild(Interest, options=DIRECT) is None:
            Interest(dialog).shown.connect(self.note)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Note what a person does; every event is passed on."""
        if event.type() in _DONE and event.spontaneous():
            self.note()
        return super().eventFilter(watched, event)

    @Slot()
    def note(self) -> None:
        """Somebody did something."""
        if self._clock() - self._said_at < PAUSE:
            return
        self._said_at = self._clock()
        self.active.emit()
        if self._cases.count_waiting():
            self._bridge.decisions.attend()
