"""A combo box whose list is shown whole where the screen has the room."""

from __future__ import annotations

from PySide6.QtWidgets import QComboBox


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
