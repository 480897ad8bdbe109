"""Words that lead somewhere, as a button that looks like a link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from app.parts.plain import set_tip

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent


ISOLATED, END = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"
"""Between them a text has a direction of its own."""


class LinkButton(QPushButton):
    """Words in the color of a link on one line; cut at the end where there is no room, all of it in the tool tip."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = ""
        self.setProperty("kind", "link")
        self.setAutoDefault(False)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def say(self, words: str) -> None:
        """Show `words`."""
        self._words = words
        self.setAccessibleName(words)
        set_tip(self, words)
        self._elide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def _elide(self) -> None:
        shown = self.fontMetrics().elidedText(self._words, Qt.TextElideMode.ElideRight, max(0, self.width() - 4))
        if self.layoutDirection() is Qt.LayoutDirection.RightToLeft:
            shown = f"{ISOLATED}{shown}{END}"  # a command in the words would read in another order
        # Qt takes an ampersand in the words of a button for a shortcut.
        self.setText(shown.replace("&", "&&"))
