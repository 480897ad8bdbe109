"""A list of rows as a model of one column: what all lists that paint their own rows have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from app.parts.plain import tip

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()


class SpokenRow(Protocol):
    """A row that can be read aloud."""

    @property
    def spoken(self) -> str: ...


Row = TypeVar("Row", bound=SpokenRow)


class RowModel(Generic[Row], QAbstractTableModel):
    """Gives each row out under a role. All of their text is plain, in the tool tip too."""

    def __init__(self, role: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._role = role
        self.rows: tuple[Row, ...] = ()

    def replace(self, rows: tuple[Row, ...]) -> None:
        """Show other rows; nothing is chosen then."""
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def add(self, rows: tuple[Row, ...]) -> None:
        """Show rows that begin with as many as are shown: what comes after those is added, and the choice stays."""
        if len(rows) > len(self.rows):
            self.beginInsertRows(NOWHERE, len(self.rows), len(rows) - 1)
            self.rows = rows
            self.endInsertRows()
        self.rows = rows

    def say_changed(self, number: int) -> None:
        """Repaint the first `number` rows."""
        if number:
            self.dataChanged.emit(self.index(0, 0), self.index(number - 1, 0))

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not 0 <= index.row() < len(self.rows):
            return None
        row = self.rows[index.row()]
        match role:
            case self._role:
                return row
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.AccessibleTextRole:
                return self.spoken(row)
            case Qt.ItemDataRole.ToolTipRole:
                return tip(self.hint(row))
            case _:
                return self.more(row, role)

    def spoken(self, row: Row) -> str:
        """Return a row as it is read aloud."""
        return row.spoken

    def hint(self, row: Row) -> str:
        """Return what is said of a row under the pointer, by lines."""
        return row.spoken

    def more(self, row: Row, role: int) -> Any:
        """Return what a row has under any other role."""
        return None
