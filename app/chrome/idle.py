"""Lets requests wait by itself once nobody has done anything in Assent for as long as a setting says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.chrome.presence import Presence


class Idle(QObject):
    """It decides nothing: whoever hears `left` and `returned` tells the engine, as the menu of the bell does.

    Away that a person chose is theirs to end.
    """

    left = Signal()
    """Nobody is there: requests are to wait."""
    returned = Signal()
    """Somebody is, after `left`."""

    def __init__(self, presence: Presence, minutes: Callable[[], int], parent: QObject) -> None:
        """`minutes` returns after how many it is so; 0 for never."""
        super().__init__(parent)
        self._presence = presence
        self._minutes = minutes
        self._gone = False
        """Whether it was this that has let requests wait."""
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._over)
        presence.changed.connect(self._follow)

    @Slot()
    def note(self) -> None:
        """Somebody did something: the time begins again."""
        if self._gone and self._presence.away:
            self._gone = False
            self.returned.emit()
        self.begin()

    @Slot()
    def begin(self) -> None:
        """Count from now."""
        if minutes := self._minutes():
            self._timer.start(minutes * 60_000)
        else:
            self._timer.stop()

    @Slot()
    def _over(self) -> None:
        if self._minutes() and not self._presence.away:
            self._gone = True
            self.left.emit()

    @Slot()
    def _follow(self) -> None:
        """Forget that it was by itself where the person has come back otherwise."""
        if not self._presence.away:
            self._gone = False
