"""Notices when something that is about to be clicked has been moved from under the pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QTimer, Signal, Slot

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

_MOVES = frozenset({QEvent.Type.Move, QEvent.Type.Resize})
_COMES_OR_GOES = frozenset({QEvent.Type.Show, QEvent.Type.Hide, QEvent.Type.ParentChange})


class Steady(QObject):
    """Watches where buttons are in their window: a banner above them moves them as much as a longer word on one."""

    moved = Signal()
    """A visible button is no longer where it was."""

    def __init__(self, buttons: tuple[QWidget, ...], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._buttons = buttons
        self._places: dict[QWidget, QRect] = {}
        self._watched: set[QWidget] = set()
        # A layout moves things in several steps; only where they end counts.
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(0)
        self._later.timeout.connect(self.look)

    def watch(self) -> None:
        """Look at the buttons and everything they stand in; again whenever they were put into another window."""
        for button in self._buttons:
            step: QWidget | None = button
            while step is not None and not step.isWindow():
                if step not in self._watched:
                    self._watched.add(step)
                    step.installEventFilter(self)
                step = step.parentWidget()
        self.look()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _MOVES or event.type() in _COMES_OR_GOES:
            self._later.start()
        return super().eventFilter(watched, event)

    @Slot()
    def look(self) -> None:
        """Compare where the buttons are with where they were."""
        moved = False
        for button in self._buttons:
            if not button.isVisible():
                # Where it appears next is not a place it was moved to.
                self._places.pop(button, None)
                continue
            place = QRect(button.mapTo(button.window(), QPoint()), button.size())
            moved = moved or self._places.get(button, place) != place
            self._places[button] = place
        if moved:
            self.moved.emit()
