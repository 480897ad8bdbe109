"""The state of an empty panel: a picture, a title, what to do next, and perhaps a button."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.parts.plain import plain_label
from app.parts.roles import Role
from app.parts.text.text_area import BY_KEYBOARD

if TYPE_CHECKING:
    from PySide6.QtGui import QFocusEvent

    from app.look.look import Look

_WIDTH = 380


class EmptyState(QWidget):
    """`sentence` says what will appear here or what to do; `button` is left out where there is nothing to do."""

    accessible_role = Role.Grouping
    pressed = Signal()

    def __init__(
        self, look: Look, icon: str, title: str, sentence: str, button: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._look = look
        self.by_keyboard = False
        """It has a focus that came by keyboard."""
        self._icon = icon
        self._picture = plain_label()
        self._title = plain_label(role="title", wrap=True)
        self._sentence = plain_label(role="muted", wrap=True)
        column = self._column = QVBoxLayout(self)
        column.setSpacing(look.px(8))
        column.addStretch(2)
        for label in (self._picture, self._title, self._sentence):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(self._picture)
        for label in (self._title, self._sentence):
            label.setMaximumWidth(look.px(_WIDTH))
            # A row of its own: aligned in the column, the label would be given one line and cut the others.
            row = QHBoxLayout()
            row.addStretch(1)
            row.addWidget(label, 1000)
            row.addStretch(1)
            column.addLayout(row)
        self.button: QPushButton | None = None
        if button:
            self.button = QPushButton(button)
            self.button.setProperty("kind", "primary")
            self.button.clicked.connect(self.pressed)
            column.addSpacing(look.px(8))
            column.addWidget(self.button, alignment=Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)
        self.say(title, sentence)
        self._paint_icon()
        look.changed.connect(self._paint_icon)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.by_keyboard = event.reason() in BY_KEYBOARD
        super().focusInEvent(event)

    def words(self) -> QRect:
        """Return where the picture, the texts and the button are."""
        last = self.button or self._sentence
        width = min(self.width(), self._look.px(_WIDTH))
        top = self._picture.geometry().top()
        return QRect((self.width() - width) // 2, top, width, last.geometry().bottom() - top)

    def add_below(self, widget: QWidget) -> None:
        """Put `widget` at the foot, over the whole width."""
        self._column.addWidget(widget)

    def say(self, title: str, sentence: str) -> None:
        """Replace both texts."""
        self._title.setText(title)
        self._sentence.setText(sentence)
        self.setAccessibleName(f"{title}. {sentence}")

    def _paint_icon(self) -> None:
        self._picture.setPixmap(self._look.pixmap(self._icon, "muted", 36))
