"""A button that copies a text and says so."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Slot
from PySide6.QtWidgets import QPushButton, QWidget

from app.parts.text.to_clipboard import to_clipboard
from runner.model.translation import tr

SAID_MS = 1500


class CopyButton(QPushButton):
    """Copies what `set_text_to_copy` gave; shows "Copied" for a moment."""

    def __init__(self, words: str, spoken: str, parent: QWidget | None = None) -> None:
        super().__init__(words, parent)
        self._words = words
        self._copied = ""
        self.setAccessibleName(spoken)
        self.setAutoDefault(False)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SAID_MS)
        self._timer.timeout.connect(self._restore)
        self.clicked.connect(self._copy)

    def set_text_to_copy(self, text: str) -> None:
        self._copied = text
        self.setEnabled(bool(text))

    @Slot()
    def _copy(self) -> None:
        to_clipboard(self._copied)
        self.setFixedWidth(self.width())  # the words change, the layout does not
        self.setText(tr("Copied"))
        self._timer.start()

    @Slot()
    def _restore(self) -> None:
        self.setText(self._words)
        self.setMinimumWidth(0)
        self.setMaximumWidth(16_777_215)
