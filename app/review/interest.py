"""Notices that a person does something with what is on screen."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QWidget

_DONE = frozenset({QEvent.Type.MouseButtonPress, QEvent.Type.Wheel, QEvent.Type.KeyPress})


class Interest(QObject):
    """A press, a turn of the wheel or a key anywhere inside a widget; that it came on screen is none of these."""

    shown = Signal()

    def __init__(self, inside: QWidget) -> None:
        super().__init__(inside)
        for widget in (inside, *inside.findChildren(QWidget)):
            widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _DONE and event.spontaneous():
            self.shown.emit()
        return super().eventFilter(watched, event)
