"""Rows of two lines, of which those are listed that hold some words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt

from app.parts.plain import tip
from app.parts.text.lines import SUMMARY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtWidgets import QWidget

    from app.parts.text.lines import Summary

_NOWHERE = QModelIndex()


class NarrowedRows(QAbstractListModel):
    """`take` says which rows there are, `narrow` which words they have to hold."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._all: list[Summary] = []
        self._lines: list[Summary] = []
        self._wanted = ""

    def take(self, rows: Iterable[Summary]) -> None:
        """Replace all rows."""
        self._all = list(rows)
        self.narrow(self._wanted)

    def narrow(self, text: str) -> None:
        """List what holds every word of `text`."""
        self._wanted = text
        words = text.casefold().split()
        self.beginResetModel()
        self._lines = [one for one in self._all if all(word in one.spoken.casefold() for word in words)]
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._lines)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not 0 <= index.row() < len(self._lines):
            return None
        line = self._lines[index.row()]
        if role == SUMMARY:
            return line
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return line.spoken
        # A row is one line high; what does not fit is in the hint.
        return tip(line.title) if role == Qt.ItemDataRole.ToolTipRole else None
