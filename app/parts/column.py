"""A column of widgets that scrolls up and down, exactly as high as what is in it at the present width."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QVBoxLayout, QWidget


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
