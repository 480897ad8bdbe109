"""Runs as rows: what runs now, then the latest that ended."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from app import phrases
from app.parts.amounts import clock
from app.parts.text.lines import SUMMARY, Summary
from app.state import attention
from runner.model.result import Outcome
from runner.model.translation import plural, tr, translated

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import QObject
    from PySide6.QtGui import QImage

    from app.state.cards import Card, Cards
    from runner.model.result import Result

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_DOT = " \N{MIDDLE DOT} "


class RunsModel(QAbstractTableModel):
    """One column, newest first."""

    def __init__(
        self, cases: Cards, picture_of: Callable[[Result | None], QImage | None], parent: QObject | None = None
    ) -> None:
        """`picture_of` gives the small picture that stands for a result in a row."""
        super().__init__(parent)
        self._cases = cases
        self._picture_of = picture_of
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

    def copies(self, row: int) -> list[tuple[str, str]]:
        """Return what can be copied of a run, by name."""
        card = self.card(row)
        if card is None:
            return []
        printed = "" if card.result is None else card.result.stdout + card.result.stderr
        request = card.request
        return [("title", request.title), ("code", request.code), ("output", printed), ("digest", card.digest)]

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
            return replace(summary(card), picture=self._picture_of(card.result))
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return summary(card).spoken
        return None


def summary(card: Card) -> Summary:
    """Return one run in a row: who asked for it, for what and when; how it stands or ended."""
    request = card.request
    when = phrases.clock(request.received_at)
    title = attention.headline(card)
    claim = phrases.claim_of(request, card.several)
    below = _DOT.join((claim, phrases.asks_for(request), when))
    if card.result is None:
        if card.held is not None:
            return Summary(title, below, tr("paused {clock}", clock=clock(time.monotonic() - card.held)), "medium")
        elapsed = clock(card.elapsed) if card.started is not None else ""
        return Summary(title, below, tr("running {elapsed}", elapsed=elapsed), "accent_ink")
    words, ink = outcome(card.result)
    if card.result.outcome is Outcome.FAILED and (error := phrases.error_line(card.result.stderr)):
        below = _DOT.join((error, below))
    return Summary(title, below, words, ink)


def outcome(result: Result) -> tuple[str, str]:
    """Return how a run ended in a few words, and the ink for it. What a person stopped is no failure."""
    took = phrases.span(result.duration)
    match result.outcome:
        case Outcome.OK:
            files = f", {plural('{count} file', '{count} files', len(result.files))}" if result.files else ""
            return tr("ok {took}{files}", took=took, files=files), "low"
        case Outcome.FAILED:
            return tr("failed, exit {exit_code}", exit_code=result.exit_code), "high"
        case Outcome.KILLED:
            return tr("stopped after {took}", took=took), "muted"
        case other:
            return translated(other.value.replace("_", " ")), "high"


def state_words(card: Card) -> str:
    """Return how a run stands, in a sentence: `Running 0:11 of 1:30 in the local sandbox.`"""
    if card.result is not None:
        return phrases.ended(card.result)
    if card.held is not None:
        return tr("Paused. The time limit is on hold.")
    if card.started is None:
        return tr("Starting\N{HORIZONTAL ELLIPSIS}")
    of, where = clock(card.request.limits.seconds), phrases.isolation(card.request.isolation)
    return tr("Running {clock} of {of} in the {where}.", clock=clock(card.elapsed), of=of, where=where)
