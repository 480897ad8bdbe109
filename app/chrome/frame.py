"""The frame of the window: on the screen before anything else is loaded, filled once it is painted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QRect, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QMainWindow

from runner.model.translation import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QCloseEvent, QPaintEvent

    from app.chrome.window_state import Remembered

SMALLEST = (420, 600)
"""Below 960 the window is a column of cards."""
USUAL = (1280, 800)
TITLE_BAR = 40
"""Height that a window's title and edges may take; what they are is known only once it is on the screen."""


class Frame(QMainWindow):
    """Says when it was painted first and when it is wanted to close; closing itself is `leave.py`'s affair.

    Imports nothing but Qt: what stands inside takes a few times as long to load as Qt itself.
    """

    painted = Signal()
    close_wanted = Signal()
    raised = Signal()
    """The window was brought to the front by a program: another console, a notice, the tray."""

    def __init__(self, remembered: Remembered) -> None:
        super().__init__()
        self._remembered = remembered
        self._painted = False
        self._may_close = False
        self._wide: QRect | None = None
        """Where it was before it became a column."""
        self.setWindowTitle(tr("Assent"))
        self.setMinimumSize(*SMALLEST)
        saved = remembered.get("geometry")
        if not saved or not self.restoreGeometry(QByteArray.fromBase64(saved.encode("ascii", "replace"))):
            self.resize(first_size(self.screen().availableSize()))

    @Slot()
    def bring_to_front(self) -> None:
        """Show the window, whatever became of it."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()
        self.raised.emit()

    def narrow(self, width: int) -> None:
        """Become a column of `width` at the right edge of the screen; `widen` gives the present size back."""
        self._wide = self.geometry()
        room = self.screen().availableGeometry()
        self.showNormal()
        self.setGeometry(room.right() + 1 - width, room.top(), width, room.height())

    def widen(self, least: int) -> None:
        """Become as wide as it was before `narrow`, and at least `least`; nothing where it is as wide as that."""
        if self.width() >= least:
            return
        room = self.screen().availableGeometry()
        wanted = self._wide if self._wide is not None and self._wide.width() >= least else None
        if wanted is None:
            left = max(room.left(), min(self.x(), room.right() + 1 - USUAL[0]))
            wanted = QRect(left, self.y(), max(least, min(USUAL[0], room.width())), self.height())
        self.setGeometry(wanted)

    @Slot()
    def vanish(self) -> None:
        """Remember the place and disappear, when leaving begins."""
        self._remembered.set("geometry", bytes(self.saveGeometry().toBase64().data()).decode("ascii"))
        self._remembered.save()
        self._may_close = True
        self.hide()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._may_close:
            event.accept()
            return
        event.ignore()
        self.close_wanted.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            # After this paint, so that the window is on the screen before anything heavy starts.
            QTimer.singleShot(0, self, self.painted.emit)


def first_size(room: QSize) -> QSize:
    """Return the size at the first start on a screen with `room`: with its title it fits, so no button is below it."""
    return QSize(*USUAL).boundedTo(room - QSize(0, TITLE_BAR)).expandedTo(QSize(*SMALLEST))
