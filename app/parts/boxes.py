"""A combo box whose list is shown whole where the screen has the room, and room in boxes of numbers."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractSpinBox, QComboBox


def keep_from_edge(*boxes: QAbstractSpinBox) -> None:
    """Give numbers the distance from the left edge that other fields have.

    A style sheet cannot do that where there are buttons for up and down.
    """
    for box in boxes:
        box.lineEdit().setTextMargins(box.fontMetrics().averageCharWidth(), 0, 0, 0)


class WholeBox(QComboBox):
    """Its list goes over the box itself where there is too little room below and above it."""

    def showPopup(self) -> None:
        super().showPopup()
        view = self.view()
        popup, screen = view.window(), self.screen().availableGeometry()
        rows = min(self.count(), self.maxVisibleItems())
        needed = sum(view.sizeHintForRow(row) for row in range(rows)) + popup.height() - view.viewport().height()
        if popup.height() < needed <= screen.height():
            top = max(screen.top(), min(popup.y(), screen.bottom() + 1 - needed))
            popup.setGeometry(popup.x(), top, popup.width(), needed)
