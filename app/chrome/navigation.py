"""The pages of the window, down its left side: icons with names, and a count where something waits or runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.chrome.pages import PageSpec
    from app.look.look import Look


WIDTH, BARE = 74, 52
"""Pixels; the latter where the icons stand alone."""
LABELLED = 50
"""Pixels of a button with its name under the icon; where there is less height, the icons stand alone."""


class Navigation(QWidget):
    """Buttons that behave as one choice. Says which page is wanted; the window shows it."""

    wanted = Signal(str)

    def __init__(self, look: Look, pages: Iterable[PageSpec], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._buttons: dict[str, PageButton] = {}
        self._group = QButtonGroup(self)
        self.setFixedWidth(look.px(WIDTH))
        column = QVBoxLayout(self)
        column.setContentsMargins(look.px(6), 0, look.px(6), 0)
        column.setSpacing(look.px(2))
        for page in pages:
            if not page.icon:
                continue
            button = self._make(page)
            self._buttons[page.name] = button
            self._group.addButton(button)
            column.addWidget(button)
        column.addStretch()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        named = self.height() >= len(self._buttons) * self._look.px(LABELLED)
        style = Qt.ToolButtonStyle.ToolButtonTextUnderIcon if named else Qt.ToolButtonStyle.ToolButtonIconOnly
        for button in self._buttons.values():
            if button.toolButtonStyle() is not style:
                button.setToolButtonStyle(style)
        width = self._look.px(WIDTH if named else BARE)
        if self.minimumWidth() != width:
            self.setFixedWidth(width)
            if (layout := self.layout()) is not None:
                layout.invalidate()  # within this event Qt would leave the buttons as wide as before

    def mark(self, name: str) -> None:
        """Mark `name` as the page on screen; none where it has no button here."""
        self._group.setExclusive(name in self._buttons)
        for page, button in self._buttons.items():
            button.setChecked(page == name)
        # Tab comes to the page on screen, and arrows go on from there; Qt would come to where the focus was last.
        # A click leaves the focus where it is: the keys on the buttons of a page are for the page.
        for page, button in self._buttons.items():
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus if page == name else Qt.FocusPolicy.NoFocus)

    def count(self, name: str, number: int, ink: str = "accent", *, missed: int = 0) -> None:
        """Show a count at the page `name`, in the token `ink`; `missed` is how many were and are not seen yet."""
        self._buttons[name].show_count(number, ink, missed)

    def _make(self, page: PageSpec) -> PageButton:
        button = PageButton(self._look, page.title)
        button.setText(page.title)
        button.setFont(self._look.font(-2.0))
        button.setToolTip(f"{page.title} ({page.keys})" if page.keys else page.title)
        button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        button.clicked.connect(lambda: self.wanted.emit(page.name))
        self._look.dress(button, page.icon, size=20)
        return button


class PageButton(QToolButton):
    """The icon of a page, with a count at its corner; the name is its tool tip and what a screen reader says."""

    def __init__(self, look: Look, name: str) -> None:
        super().__init__()
        self._look = look
        self._name = name
        self._count = 0
        self._ink = "accent"
        self._missed = 0
        self.setCheckable(True)
        self.setProperty("kind", "page")
        self.setAccessibleName(name)
        look.changed.connect(self.update)

    def show_count(self, number: int, ink: str, missed: int = 0) -> None:
        """Show `number` in the token `ink`; nothing for 0. Beside another number, a dot says that some were missed."""
        if (number, ink, missed) != (self._count, self._ink, self._missed):
            self._count, self._ink, self._missed = number, ink, missed
            counted = str(number) if number and (number != missed or ink != "muted") else ""
            words = (self._name, counted, tr("{missed} missed", missed=missed) if missed else "")
            self.setAccessibleName(", ".join(word for word in words if word))
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._count:
            return
        px, tokens = self._look.px, self._look.tokens
        font = self._look.font(-2.0, bold=True)
        height = px(16)
        width = max(height, round(QFontMetricsF(font).horizontalAdvance(_short(self._count))) + px(8))
        room = QRectF(self.width() - width - px(3), px(1), width, height)
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(getattr(tokens, self._ink)))
        painter.drawRoundedRect(room, height / 2, height / 2)
        painter.setFont(font)
        painter.setPen(QColor(tokens.on_accent))
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter, _short(self._count))
        if self._missed and self._ink != "muted":
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.muted))
            painter.drawEllipse(QRectF(room.left() - px(9), room.center().y() - px(3.5), px(7), px(7)))
        painter.end()


def _short(number: int) -> str:
    """Return a count in at most three characters, which have room on the rail."""
    return str(number) if number < 100 else "99+"
