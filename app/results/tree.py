"""A JSON value, folded: each value is a row, and opens into those inside of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QPalette, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QAbstractItemView, QStyledItemDelegate, QStyleOptionViewItem, QTreeView

from runner.model.translation import tr

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from app.files.found import JsonRows
    from app.look.look import Look

KIND = Qt.ItemDataRole.UserRole + 1
OPEN_AT_FIRST = 12
"""Rows up to which values are opened when they are shown."""


class _Inks(QStyledItemDelegate):
    def __init__(self, look: Look, parent: QObject) -> None:
        super().__init__(parent)
        self._look = look

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        super().initStyleOption(option, index)
        if kind := index.data(KIND):
            ink = QColor(getattr(self._look.tokens, kind))
            option.palette.setColor(QPalette.ColorRole.Text, ink)
            option.palette.setColor(QPalette.ColorRole.HighlightedText, ink)


class JsonView(QTreeView):
    """Read-only; left and right fold and open a value."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._model = QStandardItemModel(self)
        self.setModel(self._model)
        self.setItemDelegate(_Inks(look, self))
        self.setAccessibleName(tr("Value"))
        self.setHeaderHidden(True)
        self.setUniformRowHeights(True)
        self.setFont(look.mono())
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setIndentation(look.px(16))
        self.setTabKeyNavigation(False)
        look.changed.connect(self.viewport().update)

    def show_tree(self, tree: JsonRows) -> None:
        self._model.clear()
        above: list[QStandardItem] = [self._model.invisibleRootItem()]
        for node in tree.nodes:
            item = QStandardItem(node.text)
            item.setEditable(False)
            item.setData(node.kind, KIND)
            del above[node.depth + 1 :]
            above[-1].appendRow(item)
            above.append(item)
        self._open()

    def _open(self) -> None:
        """Open level by level, as long as there is room for all of it."""
        level = [self._model.index(row, 0) for row in range(self._model.rowCount())]
        rows = len(level)
        for depth in range(8):
            inside = [self._model.index(row, 0, one) for one in level for row in range(self._model.rowCount(one))]
            if not inside or (depth and rows + len(inside) > OPEN_AT_FIRST):
                break
            for one in level:
                self.expand(one)
            rows += len(inside)
            level = inside
        self.scrollToTop()

    def rows_open(self) -> int:
        """Return how many rows there are to see."""
        count, index = 0, self._model.index(0, 0)
        while index.isValid() and count <= OPEN_AT_FIRST:
            count, index = count + 1, self.indexBelow(index)
        return count
