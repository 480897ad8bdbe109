"""Runs as rows: what runs now, then the latest that ended."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from app import phrases
from app.parts.amounts import clock
from app.parts.lines import SUMMARY, Summary
from runner.model.result import Outcome

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from app.cards import Card, Cards

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


class RunsModel(QAbstractTableModel):
    """One column, newest first."""

    def __init__(self, cases: Cards, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cases = cases
        self._cards: list[Card] = []

    def refresh(self) -> None:
        """Take over the store's runs."""
        cards = list(self._cases.runs())
        if [card.id for card in cards] == [card.id for card in self._cards]:
            self.tick()
            return
        self.beginResetModel()
        self._cards = cards
        self.endResetModel()

    def tick(self) -> None:
        """Update the times."""
        if self._cards:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._cards) - 1, 0))

    def card(self, row: int) -> Card | None:
        return self._cards[row] if 0 <= row < len(self._cards) else None

    def row_of(self, request_id: str) -> int:
        """Return the row of a run; -1 where it is not listed."""
        return next((row for row, card in enumerate(self._cards) if card.id == request_id), -1)

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._cards)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        card = self.card(index.row())
        if card is None:
            return None
        if role == SUMMARY:
            return summary(card)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return summary(card).spoken
        return None


def summary(card: Card) -> Summary:
    """Return one run in a row."""
    request = card.request
    below = f"{phrases.sender(request, card.several)} \N{MIDDLE DOT} {phrases.asks_for(request)}"
    if card.result is None:
        if card.held is not None:
            return Summary(phrases.title(request), below, f"paused {clock(time.monotonic() - card.held)}", "medium")
        elapsed = clock(card.elapsed) if card.started is not None else ""
        return Summary(phrases.title(request), below, f"running {elapsed}", "accent_ink")
    good = card.result.outcome is Outcome.OK
    return Summary(phrases.title(request), below, card.result.outcome.value, "low" if good else "high")
