"""Widgets in one row, or in several where the row is too narrow for their words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QRect, QSize
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtGui import QResizeEvent

_ENDLESS = 1 << 20


class Flow(QLayout):
    """Rows end at the right, or begin at the left with `left`. Tell it the width with `fit`; its height follows."""

    def __init__(self, widgets: Iterable[QWidget], spacing: int, left: bool = False, below: int | None = None) -> None:
        """`below` is the space between rows, where that is another than between their widgets."""
        super().__init__()
        self._below = spacing if below is None else below
        self._items: list[QLayoutItem] = []
        self._left = left
        self._width = _ENDLESS
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)
        for widget in widgets:
            self.addWidget(widget)

    def fit(self, width: int) -> bool:
        """Take over the available width; return whether that changes the number of rows."""
        before, self._width = len(self._rows(self._width)), width
        broken = len(self._rows(width)) != before
        if broken:
            self.invalidate()
        return broken

    @property
    def length(self) -> int:
        """Return the width of all of them in one row."""
        return self._length(self._shown())

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def sizeHint(self) -> QSize:
        rows = self._rows(self._width)
        heights = [max(item.sizeHint().height() for item in row) for row in rows]
        width = max((self._length(row) for row in rows), default=0)
        return QSize(width, sum(heights) + self._below * max(0, len(rows) - 1))

    def minimumSize(self) -> QSize:
        widest = max((item.sizeHint().width() for item in self._shown()), default=0)
        return QSize(widest, self.sizeHint().height())

    def setGeometry(self, room: QRect) -> None:
        super().setGeometry(room)
        top = room.top()
        for row in self._rows(room.width()):
            left = room.left() if self._left else room.right() + 1 - self._length(row)
            height = max(item.sizeHint().height() for item in row)
            for item in row:
                wanted = item.sizeHint()
                item.setGeometry(QRect(QPoint(left, top), QSize(min(wanted.width(), room.width()), height)))
                left += wanted.width() + self.spacing()
            top += height + self._below

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _length(self, row: list[QLayoutItem]) -> int:
        return sum(item.sizeHint().width() for item in row) + self.spacing() * (len(row) - 1)

    def _rows(self, width: int) -> list[list[QLayoutItem]]:
        rows: list[list[QLayoutItem]] = []
        for item in self._shown():
            if rows and self._length([*rows[-1], item]) <= width:
                rows[-1].append(item)
            else:
                rows.append([item])
        return rows


class FlowRow(QWidget):
    """Widgets as `Flow` places them, as high as their rows need at the present width."""

    def __init__(self, widgets: Iterable[QWidget], spacing: int, below: int, left: bool = True) -> None:
        """`below` is the space between rows."""
        super().__init__()
        self._flow = Flow(widgets, spacing, left=left, below=below)
        self.setLayout(self._flow)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self._flow.fit(self.width())
        height = self._flow.sizeHint().height()
        if self.minimumHeight() != height:
            self.setFixedHeight(height)

    def event(self, event: QEvent) -> bool:
        """Follow what is shown and hidden as well."""
        handled = super().event(event)
        if event.type() is QEvent.Type.LayoutRequest:
            self._fit()
        return handled
