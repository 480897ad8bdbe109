"""Decides when a request that is over, and that nobody is touching, gives its place to one that waits."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication

from app.review.interest import Interest

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

AFTER_PROMPT_MS = 80
"""Before what nobody looks at now takes over a new request: the compact prompt comes on screen first."""
TOUCHED_SECONDS = 10.0
"""How long after a press, a key or a turn of the wheel somebody still counts as busy with what is on screen."""


class GivingWay(QObject):
    """Watches everything inside a widget. It decides nothing: whoever hears `due` shows the next request."""

    due = Signal()

    def __init__(self, inside: QWidget, over: Callable[[], bool], clock: Callable[[], float] = time.monotonic) -> None:
        """`over` tells whether what is on screen is over while others wait; `clock` is in seconds."""
        super().__init__(inside)
        self._over = over
        self._clock = clock
        self._touched = float("-inf")
        self._interest = Interest(inside)
        self._interest.shown.connect(self.touch)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.timeout.connect(self.look)

    @Slot()
    def touch(self) -> None:
        """Note that somebody does something with what is on screen."""
        self._touched = self._clock()

    @Slot()
    def look(self) -> None:
        """Give way at once where nobody is touching anything, else as soon as nobody has for a while."""
        if not self._over():
            self._later.stop()
            return
        left = TOUCHED_SECONDS - (self._clock() - self._touched)
        if left <= 0 and QApplication.activeModalWidget() is None:
            self.due.emit()
        else:
            self._later.start(max(1, round(max(left, 1.0) * 1000)))
