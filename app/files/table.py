"""The rows of a table file, as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from app.look.look import Look

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
WIDEST = 260
"""Pixels of a column before somebody drags it."""
MEASURED = 30
"""Rows that a column's width is taken from."""


class TableModel(QAbstractTableModel):
    """The first row is the heading."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[tuple[str, ...], ...] = ()
        self._columns = 0

    def replace(self, rows: tuple[tuple[str, ...], ...]) -> None:
        self.beginResetModel()
        self._rows = rows
        self._columns = max(map(len, rows), default=0)
        self.endResetModel()

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else max(0, len(self._rows) - 1)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else self._columns

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._cell(index.row() + 1, index.column())
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        return self._cell(0, section) if orientation is Qt.Orientation.Horizontal else str(section + 1)

    def _cell(self, row: int, column: int) -> str:
        cells = self._rows[row] if row < len(self._rows) else ()
        return cells[column] if column < len(cells) else ""


class TableView(QTableView):
    """Read-only; quick however many rows there are."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.model_ = TableModel(self)
        self.setModel(self.model_)
        self.setAccessibleName("Table")
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setAlternatingRowColors(True)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.horizontalHeader().setMaximumSectionSize(look.px(2000))
        self.horizontalHeader().setResizeContentsPrecision(MEASURED)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(look.px(26))

    def show_rows(self, rows: tuple[tuple[str, ...], ...]) -> None:
        self.model_.replace(rows)
        self.resizeColumnsToContents()
        for column in range(self.model_.columnCount()):
            self.setColumnWidth(column, min(self.columnWidth(column), self._look.px(WIDEST)))
        self.scrollToTop()
