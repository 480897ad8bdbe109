"""A list of rows of two lines each, as a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.parts.row_model import RowModel
from app.parts.text.lines import SUMMARY, Summary

if TYPE_CHECKING:
    from PySide6.QtCore import QObject


class SummaryModel(RowModel[Summary]):
    """Rows that are `Summary`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(SUMMARY, parent)

    def show(self, rows: tuple[Summary, ...]) -> None:
        """Show rows; those that come after what is shown are added, so that the choice stays."""
        before, kept = self.rows, len(self.rows)
        if rows == before:
            return
        if [one.title for one in rows[:kept]] != [one.title for one in before]:
            self.replace(rows)
            return
        self.add(rows)
        self.say_changed(kept)

    def hint(self, row: Summary) -> str:
        return "\n".join(filter(None, (row.title, row.below, row.state)))
