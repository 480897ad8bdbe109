"""A banner inside the window: something to know, a warning, or something that stops Assent from working."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSizePolicy, QToolButton, QWidget

from app.parts.plain import plain_label
from app.parts.roles import Role

if TYPE_CHECKING:
    from app.look.look import Look


class Tone(StrEnum):
    INFO = "info"
    GOOD = "good"
    WARN = "warn"
    BAD = "bad"


_ICONS = {
    Tone.INFO: ("info", "accent_ink"),
    Tone.GOOD: ("circle-check", "low"),
    Tone.WARN: ("triangle-alert", "medium"),
    Tone.BAD: ("circle-alert", "high"),
}
_WORDS = {Tone.INFO: "Note", Tone.GOOD: "Done", Tone.WARN: "Warning", Tone.BAD: "Problem"}
"""What the picture says to those who do not see it."""


class Notice(QFrame):
    """Text that wraps, at most one action, and a cross to close it where `closable`."""

    accessible_role = Role.AlertMessage
    acted = Signal()
    closed = Signal()

    def __init__(
        self,
        look: Look,
        tone: Tone,
        text: str,
        action: str = "",
        closable: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._look = look
        self._picture = plain_label()
        self._text = plain_label(wrap=True)
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.action = QPushButton()
        self.action.clicked.connect(self.acted)
        self._cross = QToolButton()
        self._cross.setAccessibleName("Close this notice")
        self._cross.setToolTip("Close")
        self._cross.clicked.connect(self._close)
        look.dress(self._cross, "x")
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(look.px(12), look.px(8), look.px(8), look.px(8))
        row.setSpacing(look.px(10))
        row.addWidget(self._picture)
        row.addWidget(self._text, 1)
        row.addWidget(self.action)
        row.addWidget(self._cross)
        # Not before it has a parent: by itself it would be a window, and take the focus from this one.
        self._cross.setVisible(closable)
        self.say(tone, text, action)
        look.changed.connect(self._paint_icon)

    def say(self, tone: Tone, text: str, action: str = "") -> None:
        """Replace tone, text and the words on the button; no words, no button."""
        self._tone = tone
        self._text.setText(text)
        self.action.setText(action)
        self.action.setVisible(bool(action))
        self.setProperty("tone", str(tone))
        self.setAccessibleName(f"{_WORDS[tone]}: {text}")
        self._picture.setAccessibleName(_WORDS[tone])
        self.style().unpolish(self)
        self.style().polish(self)
        self._paint_icon()

    def hold(self, button: QPushButton) -> None:
        """Give `button` a place in it, after its own."""
        self._row.removeWidget(button)
        self._row.insertWidget(self._row.indexOf(self._cross), button)

    @property
    def text(self) -> str:
        return self._text.text()

    def _close(self) -> None:
        self.hide()
        self.closed.emit()

    def _paint_icon(self) -> None:
        self._picture.setPixmap(self._look.pixmap(*_ICONS[self._tone], 16))
