"""The rows of a table file, as plain text, with bars behind the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QPainter, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyledItemDelegate, QStyleOptionViewItem, QTableView

from runner.model.translation import tr

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from app.files.found import Table
    from app.look.look import Look

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
SHARE = Qt.ItemDataRole.UserRole + 1
"""The number of a cell as a share of the largest of its column; None where it is none."""
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
WIDEST = 260
"""Pixels of a column before somebody drags it."""
MEASURED = 30
"""Rows that a column's width is taken from."""


class TableModel(QAbstractTableModel):
    """The first row is the heading."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[tuple[str, ...], ...] = ()
        self._shares: tuple[tuple[float | None, ...], ...] = ()
        self._columns = 0
        self._numbers: frozenset[int] = frozenset()

    def replace(self, table: Table) -> None:
        self.beginResetModel()
        self._rows = table.rows
        self._shares = table.shares
        self._columns = max(map(len, table.rows), default=0)
        first = range(len(table.shares[0]) if table.shares else 0)
        self._numbers = frozenset(one for one in first if any(row[one] is not None for row in table.shares))
        self.endResetModel()

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else max(0, len(self._rows) - 1)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else self._columns

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._cell(index.row() + 1, index.column())
        if role == SHARE:
            shares = self._shares[index.row()] if index.row() < len(self._shares) else ()
            return shares[index.column()] if index.column() < len(shares) else None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if index.column() in self._numbers else _LEFT
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        across = orientation is Qt.Orientation.Horizontal
        if role == Qt.ItemDataRole.TextAlignmentRole and across:
            return _RIGHT if section in self._numbers else _LEFT
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        return self._cell(0, section) if across else str(section + 1)

    def _cell(self, row: int, column: int) -> str:
        cells = self._rows[row] if row < len(self._rows) else ()
        return cells[column] if column < len(cells) else ""


class _Bars(QStyledItemDelegate):
    """Paints a bar behind each number, as long as its share; one below zero in another color."""

    def __init__(self, look: Look, parent: QObject) -> None:
        super().__init__(parent)
        self._look = look

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        share = index.data(SHARE)
        if isinstance(share, float):
            room = option.rect.adjusted(self._look.px(4), self._look.px(5), -self._look.px(4), -self._look.px(5))
            room.setLeft(room.right() - round(room.width() * min(1.0, abs(share))))
            tokens = self._look.tokens
            painter.fillRect(room, QColor(tokens.high_tint if share < 0 else tokens.bar))
        super().paint(painter, option, index)


class TableView(QTableView):
    """Read-only; quick however many rows there are."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._fills = False
        self.model_ = TableModel(self)
        self.setModel(self.model_)
        self.setAccessibleName(tr("Table"))
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setItemDelegate(_Bars(look, self))
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.horizontalHeader().setMaximumSectionSize(look.px(2000))
        self.horizontalHeader().setResizeContentsPrecision(MEASURED)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(look.px(26))

    def for_card(self) -> None:
        """Take all of the width, without numbers of rows: the table stands on a card of its own size."""
        self.verticalHeader().hide()
        self.setShowGrid(False)
        self.horizontalHeader().setStretchLastSection(False)
        self._fills = True

    def show_table(self, table: Table) -> None:
        self.model_.replace(table)
        self.resizeColumnsToContents()
        for column in range(self.model_.columnCount()):
            self.setColumnWidth(column, min(self.columnWidth(column), self._look.px(WIDEST)))
        self.scrollToTop()
        self._fill()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fill()

    def _fill(self) -> None:
        """Share out the width that is left over among the columns, where all of it is to be taken."""
        count = self.model_.columnCount()
        if not self._fills or not count:
            return
        wanted = [
            min(max(self.sizeHintForColumn(one), self.horizontalHeader().sectionSizeHint(one)), self._look.px(WIDEST))
            for one in range(count)
        ]
        more = max(0, self.viewport().width() - sum(wanted)) // count
        for column, width in enumerate(wanted):
            self.setColumnWidth(column, width + more)
