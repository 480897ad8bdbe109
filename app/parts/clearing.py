"""The button that empties a search field, as large as the text is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QLineEdit, QToolButton

from runner.model.translation import tr

if TYPE_CHECKING:
    from app.look.look import Look

_SIZE = 14
_EDGE = 3
"""Pixels between the button and the edge of its field."""


class ClearButton(QToolButton):
    """Stands at the right end of a field while there is something in it. The button of Qt does not grow with text."""

    def __init__(self, look: Look, field: QLineEdit) -> None:
        super().__init__(field)
        self._look = look
        self._field = field
        self.setAccessibleName(tr("Clear"))
        self.setToolTip(tr("Clear"))
        self.setCursor(Qt.CursorShape.ArrowCursor)
        # From the keyboard, the words are selected and deleted.
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        look.dress(self, "x", size=_SIZE)
        field.setTextMargins(0, 0, look.px(_SIZE) + look.px(_EDGE) * 2, 0)
        self.clicked.connect(field.clear)
        field.textChanged.connect(lambda text: self.setVisible(bool(text)))
        field.installEventFilter(self)
        self.setVisible(bool(field.text()))
        self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize:
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        size, edge = self.sizeHint(), self._look.px(_EDGE)
        height = min(size.height(), self._field.height() - 2 * edge)
        at = (self._field.height() - height) // 2
        self.setGeometry(self._field.width() - size.width() - edge, at, size.width(), height)


def clearable(field: QLineEdit, look: Look) -> None:
    """Give `field` a button that empties it."""
    ClearButton(look, field)
