"""A list of rows of two lines each, as a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from app.parts.lines import SUMMARY
from app.parts.plain import tip

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from app.parts.lines import Summary

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


class SummaryModel(QAbstractTableModel):
    """One column of rows that are `Summary`. All of their text is plain, in the tool tip too."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[Summary, ...] = ()

    def replace(self, rows: tuple[Summary, ...]) -> None:
        """Show other rows; nothing is chosen then."""
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def show(self, rows: tuple[Summary, ...]) -> None:
        """Show rows; those that come after what is shown are added, so that the choice stays."""
        before, kept = self.rows, len(self.rows)
        if rows == before:
            return
        if [one.title for one in rows[:kept]] != [one.title for one in before]:
            self.replace(rows)
            return
        if len(rows) > kept:
            self.beginInsertRows(_NOWHERE, kept, len(rows) - 1)
            self.rows = rows
            self.endInsertRows()
        self.rows = rows
        if kept:
            self.dataChanged.emit(self.index(0, 0), self.index(kept - 1, 0))

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not 0 <= index.row() < len(self.rows):
            return None
        row = self.rows[index.row()]
        match role:
            case _ if role == SUMMARY:
                return row
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.AccessibleTextRole:
                return row.spoken
            case Qt.ItemDataRole.ToolTipRole:
                return tip("\n".join(filter(None, (row.title, row.below, row.state))))
            case _:
                return None
