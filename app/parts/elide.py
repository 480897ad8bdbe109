"""A line of text that shortens with an ellipsis where there is no room, and tells all of it in its tool tip."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QLabel, QStyle, QWidget

from app.parts.plain import set_tip


class ElidedLabel(QLabel):
    """Plain text on one line; line breaks become spaces. `mode` says which end may go."""

    def __init__(
        self, text: str = "", parent: QWidget | None = None, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight
    ) -> None:
        super().__init__(parent)
        self._mode = mode
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)

    def setText(self, text: str) -> None:
        """Replace the text."""
        super().setText(" ".join(text.split()))
        self._tell()

    def minimumSizeHint(self) -> QSize:
        return QSize(self.fontMetrics().averageCharWidth() * 4, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._tell()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        side = QStyle.visualAlignment(self.layoutDirection(), self.alignment()) | Qt.AlignmentFlag.AlignAbsolute
        if self.layoutDirection() is Qt.LayoutDirection.RightToLeft:
            # A text keeps its own direction: a command of an agent would read in another order.
            painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        self.style().drawItemText(
            painter,
            self.contentsRect(),
            int(side | Qt.TextFlag.TextSingleLine),
            self.palette(),
            self.isEnabled(),
            self._shown(),
            QPalette.ColorRole.WindowText,
        )
        painter.end()

    def _shown(self) -> str:
        return self.fontMetrics().elidedText(self.text(), self._mode, self.contentsRect().width())

    def _tell(self) -> None:
        set_tip(self, self.text() if self._shown() != self.text() else "")
