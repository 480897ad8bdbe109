"""A dialog that asks a person to confirm something; only its own button confirms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.parts.plain import plain_label

if TYPE_CHECKING:
    from collections.abc import Callable


WIDTH = 420
"""Pixels where the text has its usual size."""
_LINE = 16
"""The height of a line of that text."""


class ConfirmDialog(QDialog):
    """Opened with `open`, never with `exec`. The focus starts on the button that changes nothing."""

    def __init__(self, parent: QWidget, title: str, what: str, yes: str, answered: Callable[[bool], None]) -> None:
        super().__init__(parent)
        self._answered = answered
        width = max(WIDTH, WIDTH * self.fontMetrics().height() // _LINE)
        self.setWindowTitle(title)
        self.setAccessibleDescription(what)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        heading, text = plain_label(title, "title", wrap=True), plain_label(what, wrap=True)
        for label in (heading, text):
            label.ensurePolished()
            # Said outright: a dialog does not ask labels that wrap how high they are.
            label.setMinimumHeight(label.heightForWidth(width - 40))
        self.no = QPushButton("Cancel")
        self.yes = QPushButton(yes)
        self.yes.setProperty("kind", "danger")
        self.yes.setAutoDefault(False)
        self.no.setDefault(True)
        self.yes.clicked.connect(self.accept)
        self.no.clicked.connect(self.reject)
        self.finished.connect(self._answer)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addStretch()
        buttons.addWidget(self.no)
        buttons.addWidget(self.yes)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(10)
        column.addWidget(heading)
        column.addWidget(text)
        column.addSpacing(6)
        column.addLayout(buttons)
        self.setFixedWidth(width)
        self.no.setFocus()

    @Slot(int)
    def _answer(self, result: int) -> None:
        self._answered(result == QDialog.DialogCode.Accepted)
