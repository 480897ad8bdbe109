"""Distinguishes a key that is pressed by itself from a letter of a text that is being typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication

if TYPE_CHECKING:
    from collections.abc import Callable

ALONE_SECONDS = 0.7
"""A key that decides counts only this long after any other character: longer than between two letters of a word."""
QUIET_SECONDS = 1.0
"""After a key that came too quickly, letters do nothing until the keyboard has been quiet for this long."""
NO_CHARACTER = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
TYPED = frozenset({Qt.Key.Key_Backspace, Qt.Key.Key_Return, Qt.Key.Key_Enter})
"""Keys of somebody who is typing, besides those with a character."""


class Typing:
    """The times of the characters typed in a window; `time` is in seconds and may come from any clock."""

    def __init__(self) -> None:
        self._last = float("-inf")
        self._pause = float("inf")
        self._swallowing = False
        self._elsewhere = False

    def note(self, time: float) -> None:
        """Note that a character was typed."""
        # A clock that went back gives a negative pause, which is short: the safe side.
        pause, self._last = time - self._last, time
        self._pause = 0.0 if self._elsewhere else pause
        self._elsewhere = False
        # Whatever raises the window: a program that does so again and again would keep every key from denying.
        if pause >= QUIET_SECONDS:
            self._swallowing = False

    @property
    def alone(self) -> bool:
        """Whether the newest character came by itself."""
        return self._pause >= ALONE_SECONDS

    @property
    def swallowing(self) -> bool:
        """Whether letters do nothing for now."""
        return self._swallowing

    def swallow(self) -> None:
        """Swallow the characters that follow: the newest came too quickly, so they belong to the same text."""
        self._swallowing = True

    def expect_text(self) -> None:
        """The next character may belong to a text whose beginning went to another window."""
        self._elsewhere = True

    def stop_swallowing(self) -> None:
        """The person did something else."""
        self._swallowing = self._elsewhere = False


class Keystrokes(QObject):
    """Watches the keys of a window before its shortcuts and its widgets get them.

    `clock` gives the time of an event in seconds; by default when the key was pressed, not when the event is handled:
    a window that was busy gets several keys at once.
    """

    swallowed = Signal()
    """A character was dropped, as it belongs to a text that was typed blindly."""

    def __init__(self, parent: QObject, clock: Callable[[QKeyEvent], float] | None = None) -> None:
        super().__init__(parent)
        self._typing = Typing()
        self._clock = clock or _pressed_at

    @property
    def alone(self) -> bool:
        """Whether the key that is being handled was pressed by itself."""
        return self._typing.alone

    def swallow(self) -> None:
        """Drop characters until the keyboard is quiet or the mouse is used; text fields still get theirs."""
        self._typing.swallow()

    @Slot()
    def expect_text(self) -> None:
        """Take the next character for part of a text, unless the mouse is used first: the window was just raised."""
        self._typing.expect_text()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # Before anything else Qt sends a key as ShortcutOverride: once for each press, to whom it may belong.
        kind = event.type()
        if kind == QEvent.Type.MouseButtonPress:
            self._typing.stop_swallowing()
        elif kind in (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress) and isinstance(event, QKeyEvent):
            return self._take(event)
        return super().eventFilter(watched, event)

    def _take(self, event: QKeyEvent) -> bool:
        """Return whether this key is withheld from every widget."""
        if not _is_character(event):
            return False
        first = event.type() == QEvent.Type.ShortcutOverride
        if first:
            self._typing.note(self._clock(event))
        if not self._typing.swallowing or _takes_text():
            return False
        if first:
            self.swallowed.emit()
        event.accept()
        return True


def _is_character(event: QKeyEvent) -> bool:
    if event.modifiers() & NO_CHARACTER:
        return False
    return (event.text() != "" and event.text().isprintable()) or event.key() in TYPED


def _pressed_at(event: QKeyEvent) -> float:
    return event.timestamp() / 1000


def _takes_text() -> bool:
    """Return whether the focus is in a field for text."""
    focus = QApplication.focusWidget()
    return focus is not None and focus.testAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled)
