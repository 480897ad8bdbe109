"""Go anywhere: one field that finds pages, requests, agents and commands. It leads there and decides nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QAbstractItemView, QDialog, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from app.parts.fold import fit
from app.parts.plain import plain_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from PySide6.QtGui import QKeyEvent

    from app.look.look import Look

SHOWN = 12


@dataclass(frozen=True, slots=True)
class Way:
    """A place to go to or a command, as the palette lists it."""

    name: str
    """Plain text, already made visible."""
    kind: str
    go: Callable[[], object]


class Palette(QDialog):
    """Every word of what is typed has to be in a name or kind. Enter goes to the first one, arrows choose."""

    def __init__(self, parent: QWidget, look: Look, ways: Iterable[Way]) -> None:
        super().__init__(parent, Qt.WindowType.Dialog | Qt.WindowType.FramelessWindowHint)
        px = look.px
        self._ways = tuple(ways)
        self._found: list[Way] = []
        self.setProperty("framed", True)
        self.setWindowTitle("Go anywhere")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.field = QLineEdit()
        self.field.setPlaceholderText("Page, request, agent or command")
        self.field.setAccessibleName("Go to page, request, agent or command")
        self.field.textChanged.connect(self._search)
        self.list = QListWidget()
        self.list.setAccessibleName("Where to go")
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.itemClicked.connect(self._go)
        self.none = plain_label("Nothing has this name.", "muted")
        column = QVBoxLayout(self)
        column.setContentsMargins(px(12), px(12), px(12), px(12))
        column.setSpacing(px(8))
        column.addWidget(self.field)
        column.addWidget(self.list, 1)
        column.addWidget(self.none)
        column.addStretch()
        fit(self, px(520), px(380))
        self._search("")

    @Slot(str)
    def _search(self, text: str) -> None:
        words = text.casefold().split()
        self._found = [way for way in self._ways if _fits(way, words)][:SHOWN]
        self.list.clear()
        for way in self._found:
            self.list.addItem(QListWidgetItem(f"{way.name}    {way.kind}"))
        self.list.setCurrentRow(0)
        self.list.setVisible(bool(self._found))
        self.none.setVisible(not self._found)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle keys that the field leaves to its window."""
        match event.key():
            case Qt.Key.Key_Down:
                self.list.setCurrentRow(min(self.list.currentRow() + 1, self.list.count() - 1))
            case Qt.Key.Key_Up:
                self.list.setCurrentRow(max(self.list.currentRow() - 1, 0))
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self._go()
            case _:
                super().keyPressEvent(event)

    @Slot()
    def _go(self) -> None:
        row = self.list.currentRow()
        if 0 <= row < len(self._found):
            way = self._found[row]
            self.accept()
            way.go()


def _fits(way: Way, words: list[str]) -> bool:
    whole = f"{way.name} {way.kind}".casefold()
    return all(word in whole for word in words)
