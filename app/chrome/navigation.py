"""The pages of the window, down its left side; a rail of icons where there is little room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QSizePolicy, QToolButton, QVBoxLayout, QWidget

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from app.look.look import Look


@dataclass(frozen=True, slots=True)
class PageName:
    name: str
    icon: str


PAGES = (
    PageName("Today", "chart"),
    PageName("Queue", "inbox"),
    PageName("Running", "activity"),
    PageName("History", "history"),
    PageName("Agents", "bot"),
    PageName("Rules", "list"),
    PageName("Settings", "settings"),
    PageName("Doctor", "stethoscope"),
    PageName("Help", "info"),
)

LOW = 460
"""Height below which the nine pages have no room for their names."""


class Navigation(QWidget):
    """Buttons that behave as one choice. Says which page is wanted; the window shows it."""

    wanted = Signal(str)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._counts: dict[str, int] = {}
        self._narrow = False
        self._low = False
        self._buttons: dict[str, QToolButton] = {}
        self._group = QButtonGroup(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(look.px(2))
        for number, page in enumerate(PAGES):
            button = self._make(page, number)
            self._buttons[page.name] = button
            self._group.addButton(button)
            column.addWidget(button)
        column.addStretch()
        self._tell()

    def mark(self, name: str) -> None:
        """Mark `name` as the page on screen."""
        self._buttons[name].setChecked(True)
        # Tab comes to the page on screen, and arrows go on from there; Qt would come to where the focus was last.
        for page, button in self._buttons.items():
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus if page == name else Qt.FocusPolicy.ClickFocus)

    def count(self, name: str, number: int) -> None:
        """Show a count at the page `name`."""
        if self._counts.get(name, 0) != number:
            self._counts[name] = number
            self._tell()

    def set_narrow(self, narrow: bool) -> None:
        """Show icons with a small word below, in place of icon and word side by side."""
        if narrow != self._narrow:
            self._narrow = narrow
            self._tell()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show icons alone where not even the rail has room for all pages; their names are in the tool tips."""
        super().resizeEvent(event)
        low = self.height() < self._look.px(LOW)
        if low != self._low:
            self._low = low
            self._tell()

    def _make(self, page: PageName, number: int) -> QToolButton:
        button = QToolButton()
        button.setCheckable(True)
        button.setProperty("kind", "page")
        button.setToolTip(f"{page.name} (Ctrl+{number})")
        button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        button.clicked.connect(lambda: self.wanted.emit(page.name))
        self._look.dress(button, page.icon, size=18)
        return button

    def _tell(self) -> None:
        px = self._look.px
        self.setFixedWidth(px(48 if self._low else 80 if self._narrow else 132))
        beside, under = Qt.ToolButtonStyle.ToolButtonTextBesideIcon, Qt.ToolButtonStyle.ToolButtonTextUnderIcon
        small, icons = self._narrow or self._low, Qt.ToolButtonStyle.ToolButtonIconOnly
        for page in PAGES:
            button, number = self._buttons[page.name], self._counts.get(page.name, 0)
            button.setToolButtonStyle(icons if self._low else under if small else beside)
            button.setFont(self._look.font(-1.5 if small else 0, bold=bool(number)))
            words = f"{page.name} {_short(number)}" if number else page.name
            button.setText(words if small else f"  {words}")  # the style leaves no room after an icon
            button.setAccessibleName(f"{page.name}, {number}" if number else page.name)


def _short(number: int) -> str:
    """Return a count in at most two digits, which have room on the rail."""
    return str(number) if number < 100 else "99+"
