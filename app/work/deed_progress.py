"""The progress of Apply, Undo or Discard: a bar with numbers, and Cancel as long as nothing has been written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QWidget

from runner.model.translation import tr
from runner.workspace.progress import MANY_BYTES

if TYPE_CHECKING:
    from app.link.bridge import EngineLink
    from app.look.look import Look

LOOK_MS = 150
"""Between two looks at how far it is."""
NOT_YET = tr("copied; nothing has been written yet")


class DeedProgress(QWidget):
    """Asks for it again and again, from `begin` to `end`."""

    said = Signal(str)
    """How far it is, in numbers."""

    def __init__(self, look: Look, bridge: EngineLink, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._name = ""
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Under way"))
        self.cancel = QPushButton(tr("Cancel"))
        self.cancel.setAutoDefault(False)
        self.cancel.setToolTip(tr("Nothing has been written into your folder yet"))
        self.cancel.clicked.connect(self._cancel)
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self.look)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(look.px(8))
        row.addWidget(self.bar, 1)
        row.addWidget(self.cancel)
        self.hide()

    def begin(self, name: str) -> None:
        """Something is done with the working copy `name`."""
        self._name = name
        self.bar.setRange(0, 0)
        self.cancel.hide()
        self._timer.start()
        self.show()

    def end(self) -> None:
        """Nothing is done any more."""
        self._timer.stop()
        self.hide()

    @Slot()
    def look(self) -> None:
        """Show how far it is now."""
        now = self._bridge.work.progress(self._name)
        self.cancel.setVisible(now is not None and not now.sure)
        if now is None:
            return
        by_size = not now.sure and now.whole >= MANY_BYTES
        most, value = (now.whole // 1000, now.size // 1000) if by_size else (now.total, now.done)
        self.bar.setRange(0, max(1, most))
        self.bar.setValue(value)
        self.said.emit(f"{now.words} {'done' if now.sure else NOT_YET}.")

    @Slot()
    def _cancel(self) -> None:
        self._bridge.work.cancel(self._name)
