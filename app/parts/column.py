"""A column of widgets that scrolls up and down, exactly as high as what is in it at the present width."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

if TYPE_CHECKING:
    from app.look.look import Look


class ScrollColumn(QScrollArea):
    """Put widgets into `column`; it ends with a stretch of its own."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        """`name` is what a screen reader says."""
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(name)
        inside = QWidget()
        # Labels that wrap ask for the height they have when narrow; ignoring that leaves the height for the width.
        inside.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Ignored)
        whole = QVBoxLayout(inside)
        whole.setContentsMargins(0, 0, 0, 0)
        self.column = QVBoxLayout()
        whole.addLayout(self.column)
        whole.addStretch(1)
        self.setWidget(inside)


READABLE = 720
"""Pixels of a line of text: some 110 letters."""


def readable(look: Look, text: QWidget) -> QHBoxLayout:
    """Return a row with a text that breaks its lines where they are too long to be read along."""
    text.setMaximumWidth(look.px(READABLE))
    row = QHBoxLayout()
    row.addWidget(text, 1000)
    row.addStretch(1)
    return row


class Centred(QObject):
    """Keeps what is on a page within a width, in the middle of a window that is wider."""

    def __init__(self, page: QWidget, widest: int) -> None:
        super().__init__(page)
        self._page = page
        self._widest = widest
        page.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize and (layout := self._page.layout()) is not None:
            side, margins = max(0, self._page.width() - self._widest) // 2, layout.contentsMargins()
            if margins.left() != side:
                layout.setContentsMargins(side, margins.top(), side, margins.bottom())
        return super().eventFilter(watched, event)
