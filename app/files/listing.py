"""Files as rows: name, kind, size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from app.files.kinds import kind
from app.parts.amounts import size
from app.parts.text.lines import SUMMARY, Summary
from app.parts.text.visible_characters import expose

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from runner.model.result import CapturedFile

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


class FilesModel(QAbstractTableModel):
    """One column, in the order they were collected."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.files: tuple[CapturedFile, ...] = ()

    def replace(self, files: tuple[CapturedFile, ...]) -> None:
        self.beginResetModel()
        self.files = files
        self.endResetModel()

    def file(self, row: int) -> CapturedFile | None:
        return self.files[row] if 0 <= row < len(self.files) else None

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.files)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        file = self.file(index.row())
        if file is None:
            return None
        summary = Summary(expose(file.path).text, kind(file.path), size(file.size))
        if role == SUMMARY:
            return summary
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return summary.spoken
        return None
