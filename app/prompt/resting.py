"""The moment from which a click on a compact card counts: once it has rested, after appearing, changing or moving."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer, Signal, Slot
from shiboken6 import isValid

from app.review.guard import REST_SECONDS, ClickGuard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from PySide6.QtWidgets import QWidget

_MOVES = frozenset({QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.Hide})


class Resting(QObject):
    """One guard for all cards of a place. What counts is where buttons are on the screen, whatever has moved them."""

    changed = Signal()
    """The rest has begun or is over."""
    looked = Signal()
    """Something has moved or grown, and has come to its place."""

    def __init__(self, parent: QObject, active: Callable[[], bool], buttons: Callable[[], Iterable[QWidget]]) -> None:
        """`active` tells whether clicks may count here at all; `buttons` are those that decide, on screen now."""
        super().__init__(parent)
        self._active = active
        self._buttons = buttons
        self._places: dict[QWidget, QRect] = {}
        self._later = QTimer(self)
        self.guard = ClickGuard(self._may_count)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(round(REST_SECONDS * 1000) + 10)
        self._timer.timeout.connect(self.changed)
        # A layout moves things in several steps; only where they end counts.
        self._later.setSingleShot(True)
        self._later.setInterval(0)
        self._later.timeout.connect(self.look)
        self._later.timeout.connect(self.looked)

    @property
    def resting(self) -> bool:
        return self._timer.isActive()

    @Slot()
    def rearm(self) -> None:
        """Ignore clicks for a moment."""
        self.guard.rearm()
        self._timer.start()
        self.changed.emit()

    def watch(self, widget: QWidget) -> None:
        """Look again whenever `widget` moves."""
        widget.installEventFilter(self)

    @Slot()
    def look(self) -> None:
        """Compare where the buttons are on the screen with where they were."""
        places = {one: _place(one) for one in self._buttons() if one.isVisible()}
        moved = any(self._places.get(one, place) != place for one, place in places.items())
        self._places = places
        if moved:
            self.rearm()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _MOVES and isValid(self) and hasattr(self, "_later"):
            # Widgets that go away with their window still say so, when this object is none any more.
            self._later.start()
        return super().eventFilter(watched, event)

    def _may_count(self) -> bool:
        """Return whether a click counts now, after noticing a move that was not noticed yet."""
        self.look()
        return self._active()


def _place(widget: QWidget) -> QRect:
    return QRect(widget.mapToGlobal(QPoint()), widget.size())
