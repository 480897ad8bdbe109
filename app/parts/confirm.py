"""A dialog that asks a person to confirm something; only its own button confirms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.parts.plain import plain_label
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QMouseEvent

WIDTH = 420
"""Pixels where the text has its usual size."""
_LINE = 16
"""The height of a line of that text."""


class ConfirmButton(QPushButton):
    """A button that can be set to take nothing but the mouse."""

    confirmed = Signal()

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.mouse_only = False
        """Neither a key nor a press by a screen reader counts."""
        self._by_mouse = False
        self.setAutoDefault(False)
        self.clicked.connect(self._clicked)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._by_mouse = True
        super().mouseReleaseEvent(event)
        self._by_mouse = False

    @Slot()
    def _clicked(self) -> None:
        if self._by_mouse or not self.mouse_only:
            self.confirmed.emit()


class ConfirmDialog(QDialog):
    """Opened with `open`, never with `exec`. The focus starts on the button that changes nothing."""

    def __init__(self, parent: QWidget, title: str, what: str, yes: str, answered: Callable[[bool], None]) -> None:
        super().__init__(parent)
        self._answered = answered
        width = max(WIDTH, WIDTH * self.fontMetrics().height() // _LINE)
        self.setWindowTitle(title)
        self.setAccessibleDescription(what)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._room = width - 40
        heading, text = plain_label(title, "title", wrap=True), plain_label(what, wrap=True)
        self._text = text
        for label in (heading, text):
            label.ensurePolished()
            # Said outright: a dialog does not ask labels that wrap how high they are.
            label.setMinimumHeight(label.heightForWidth(self._room))
        self.no = QPushButton(tr("Cancel"))
        self.yes = ConfirmButton(yes)
        self.yes.setProperty("kind", "danger")
        self.no.setDefault(True)
        self.yes.confirmed.connect(self.accept)
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
        self._column = column
        self.setFixedWidth(width)
        self.no.setFocus()

    @property
    def what(self) -> str:
        """What the person reads before the answer."""
        return self._text.text()

    def say(self, what: str) -> None:
        """Say what the answer means by now. The buttons stay where they are unless it needs more lines."""
        self._text.setText(what)
        self._text.setMinimumHeight(max(self._text.minimumHeight(), self._text.heightForWidth(self._room)))
        self.setAccessibleDescription(what)

    def put_above_buttons(self, widget: QWidget) -> None:
        """Put something more between the text and the buttons."""
        self._column.insertWidget(2, widget)

    @Slot(int)
    def _answer(self, result: int) -> None:
        self._answered(result == QDialog.DialogCode.Accepted)
