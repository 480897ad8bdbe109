"""The bar below output or code in which a person types what to look for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QToolButton, QWidget

from app.parts.plain import plain_label
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QKeyEvent

    from app.look.look import Look


class SearchBar(QFrame):
    """Find text: Enter for the next match, Shift+Enter for the one before, Esc closes."""

    changed = Signal()
    """Another text, or another way to read it."""
    stepped = Signal(int)
    """1 for the next match, -1 for the one before."""
    closed = Signal()

    def __init__(self, look: Look, parent: QWidget | None = None, what: str = tr("Search the output")) -> None:
        super().__init__(parent)
        self.field = QLineEdit()
        self.field.setPlaceholderText(what)
        self.field.setAccessibleName(what)
        self.field.textChanged.connect(self.changed)
        self.regex = _button(look, "regex", tr("Regular expression"))
        self.regex.setCheckable(True)
        self.regex.toggled.connect(self.changed)
        back = _button(look, "chevron-up", tr("Previous match"))
        back.clicked.connect(lambda: self.stepped.emit(-1))
        on = _button(look, "chevron-down", tr("Next match"))
        on.clicked.connect(lambda: self.stepped.emit(1))
        cross = _button(look, "x", tr("Close the search"))
        cross.clicked.connect(self.closed)
        self._outcome = plain_label(role="small")
        row = QHBoxLayout(self)
        row.setContentsMargins(look.px(8), look.px(4), look.px(8), look.px(4))
        row.setSpacing(look.px(4))
        row.addWidget(self.field, 1)
        row.addWidget(self._outcome)
        for button in (self.regex, back, on, cross):
            row.addWidget(button)

    def tell(self, outcome: str) -> None:
        """Say what the search came to, in a few words."""
        self._outcome.setText(outcome)
        self._outcome.setAccessibleName(outcome)

    def finder(self) -> Callable[[str], list[tuple[int, int]]] | None:
        """Return what finds the matches in a line, upper and lower case alike; None for an empty text.

        Raises ValueError for a regular expression that cannot be read. RE2 reads it: its time grows with the
        length of the text alone, so no output can make a search hang.
        """
        text = self.field.text()
        if not text:
            return None
        import re2  # only once somebody searches

        options = re2.Options()
        options.case_sensitive = False
        options.log_errors = False
        options.literal = not self.regex.isChecked()
        try:
            pattern: Any = re2.compile(text, options=options)
        except re2.error as error:
            raise ValueError(str(error)) from error
        return lambda line: [found.span() for found in pattern.finditer(line) if found.end() > found.start()]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Escape:
                self.closed.emit()
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self.stepped.emit(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
            case _:
                event.ignore()


def _button(look: Look, icon: str, name: str) -> QToolButton:
    button = QToolButton()
    button.setAccessibleName(name)
    button.setToolTip(name)
    look.dress(button, icon)
    return button
