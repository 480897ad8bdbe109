"""Distinguishes a key that is held from one that is pressed again and again: a keyboard repeats what is held."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent

LET_GO_MS = 50
"""How long a release waits for the press that would make it a repetition; both leave the X server together."""


class Repetition:
    """Knows which presses the keyboard has made by itself.

    On X11 a held key arrives as releases and presses in turn. Qt marks both where the press has arrived by the time
    the release is handled; where it has not, only their common time shows that nobody has let go.
    """

    def __init__(self) -> None:
        self._released = (0, 0)

    def note_release(self, event: QKeyEvent) -> None:
        """Remember when a key was let go, by a person or by the keyboard."""
        self._released = (event.key(), event.timestamp())

    def repeats(self, event: QKeyEvent) -> bool:
        """Return whether this press was made by a key that is held."""
        return event.isAutoRepeat() or self._released == (event.key(), event.timestamp())


class KeyHold(QObject):
    """One chord that is held. What it stands for stops at `paused` and may come to its end only after `resumed`."""

    begun = Signal()
    paused = Signal()
    """The key came up: let go, or about to be repeated."""
    resumed = Signal()
    """The key was only repeated."""
    ended = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._repetition = Repetition()
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.setInterval(LET_GO_MS)
        self._wait.timeout.connect(self.ended)

    def press(self, event: QKeyEvent) -> None:
        """Take a press of the chord."""
        if self._repetition.repeats(event):
            if self._wait.isActive():
                self._wait.stop()
                self.resumed.emit()
        else:
            self._wait.stop()
            self.begun.emit()

    def release(self, event: QKeyEvent, key: Qt.Key) -> None:
        """Take a release of any part of the chord; `key` is the one that is repeated."""
        if event.isAutoRepeat():
            return
        if event.key() == key:
            self._repetition.note_release(event)
            self.paused.emit()
            self._wait.start()
        else:
            self._wait.stop()
            self.ended.emit()
