"""One step of the page: its ring with a number, a heading, and what belongs to it below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.parts.gauges.state_ring import RingState, StateRing
from app.parts.plain import plain_label

if TYPE_CHECKING:
    from app.look.look import Look


class FirstStep(QFrame):
    """Put widgets and layouts into `column`."""

    def __init__(self, look: Look, number: int, heading: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        px = look.px
        self.setProperty("card", True)
        self.ring = StateRing(look, str(number))
        self.heading = plain_label(heading, "title", wrap=True)
        self.column = QVBoxLayout()
        self.column.setSpacing(px(8))
        words = QVBoxLayout()
        words.setSpacing(px(6))
        words.addWidget(self.heading)
        words.addLayout(self.column)
        row = QHBoxLayout(self)
        row.setContentsMargins(px(16), px(12), px(16), px(12))
        row.setSpacing(px(12))
        row.addWidget(self.ring, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)

    def show_state(self, state: RingState) -> None:
        """Show whether it is done."""
        self.ring.show_state(state)
