"""The waiting requests as rows of a table; a row keeps its place while the pointer is in the list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from app import phrases
from app.parts.amounts import time_left
from app.parts.plain import tip
from app.queue.order import Lane, Line, Order, RequestLine
from app.state import attention
from runner.model.translation import tr
from runner.system.clock import since_boot

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from app.state.cards import Card, Cards

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()

LINE = Qt.ItemDataRole.UserRole
CARD = Qt.ItemDataRole.UserRole + 1


class QueueModel(QAbstractTableModel):
    """One column. Rows are `Lane` or `RequestLine`; `refresh` brings them in line with the store.

    While `hold(True)` counts, rows only ever join at the end; what is no longer open stays where it is, as a
    `RequestLine` whose card does not wait any more.
    """

    def __init__(self, cases: Cards, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cases = cases
        self._order = Order()
        self._lines: list[Line] = []
        self._cards: dict[str, Card] = {}
        self._held = False
        self.marked: set[str] = set()
        """Requests that are selected for a batch."""

    # ---- for the view ----

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._lines)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else 1

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        if isinstance(self.line(index.row()), RequestLine):
            return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
        return Qt.ItemFlag.ItemNeverHasChildren

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        line = self.line(index.row())
        if line is None:
            return None
        if role == LINE:
            return line
        if role == CARD:
            return self.card(index.row())
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self.text(index.row())
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(self._whole(index.row()))
        return None

    # ---- for the panel ----

    def line(self, row: int) -> Line | None:
        return self._lines[row] if 0 <= row < len(self._lines) else None

    def card(self, row: int) -> Card | None:
        match self.line(row):
            case RequestLine(request_id):
                return self._cards.get(request_id)
            case _:
                return None

    def text(self, row: int) -> str:
        """Return the row in words, as a screen reader says it."""
        line = self.line(row)
        if isinstance(line, Lane):
            return (
                tr("Agent {agent}", agent=phrases.visible(line.agent))
                if line.agent
                else tr("Missed")
                if line.missed
                else tr("New")
            )
        card = self.card(row)
        if card is None:
            return ""
        level = attention.words(card)
        left = time_left((card.deadline or 0.0) - since_boot()) if card.waiting else state(card)
        alike = tr("{count} more alike", count=len(self.behind(row))) if self.behind(row) else ""
        marked = tr("selected") if card.id in self.marked else ""
        spoken = (
            level,
            attention.sentence(card).rstrip(".") or attention.headline(card),
            phrases.quoted_title(card.request),
            phrases.sender(card.request, card.several),
            phrases.asks_for(card.request),
            left,
            tr("paused") if card.waiting and card.paused else "",
            tr("asked again") if card.again else "",
            phrases.times(card.asked),
            alike,
            marked,
        )
        return ", ".join(part for part in spoken if part)

    def _whole(self, row: int) -> str:
        """Return the tool tip: what the row may have had no space for."""
        line, card = self.line(row), self.card(row)
        if isinstance(line, Lane):
            return phrases.visible(line.agent)
        if card is None:
            return ""
        parts = (
            attention.sentence(card),
            phrases.claim_of(card.request, card.several),
            phrases.times(card.asked),
            attention.class_words(card),
        )
        return "\n".join(part for part in parts if part)

    def behind(self, row: int) -> tuple[str, ...]:
        """Return requests that are alike and not listed by themselves."""
        line = self.line(row)
        return self._order.behind.get(line.request_id, ()) if isinstance(line, RequestLine) else ()

    def group(self, row: int) -> tuple[str, ...]:
        """Return the request of `row` and every one that is alike, listed or not."""
        line = self.line(row)
        if not isinstance(line, RequestLine):
            return ()
        name = self._order.group_of(line.request_id)
        if not name:
            return (line.request_id,)
        cards = ((one, self._cases.card(one)) for one in self._order.groups.get(name, ()))
        return tuple(one for one, card in cards if card is not None and card.waiting)

    def is_open(self, row: int) -> bool:
        """Return whether the group of `row` is listed one by one."""
        line = self.line(row)
        return isinstance(line, RequestLine) and self._order.group_of(line.request_id) in self._order.opened

    def toggle_group(self, row: int) -> None:
        """List the requests of a group one by one, or behind the first."""
        line = self.line(row)
        if isinstance(line, RequestLine) and (name := self._order.group_of(line.request_id)):
            self._order.opened ^= {name}
            # Although the pointer is in the list: the person wants it to change.
            held, self._held = self._held, False
            self.refresh()
            self._held = held

    def toggle_mark(self, row: int) -> None:
        """Select the request of `row` and those behind it for a batch, or none of them."""
        card = self.card(row)
        if card is None or not card.waiting:
            return
        mine = {card.id, *self.behind(row)}
        self.marked = self.marked - mine if card.id in self.marked else self.marked | mine
        self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, 0))

    def row_of(self, request_id: str) -> int:
        """Return the row of a request; -1 where it is not listed."""
        try:
            return self._lines.index(RequestLine(request_id))
        except ValueError:
            return -1

    def in_lane(self, row: int) -> int:
        """Return how many requests the heading at `row` is for, with those behind others."""
        count, at = 0, row + 1
        while isinstance(self.line(at), RequestLine):
            count += 1 + len(self.behind(at))
            at += 1
        return count

    def hold(self, held: bool) -> None:
        """Keep every row where it is, until released."""
        self._held = held
        if not held:
            self.refresh()

    def refresh(self) -> None:
        """Take over what is open now, with as few row changes as there are."""
        waiting = self._cases.waiting()
        missed = self._cases.missed()
        self.marked &= {card.id for card in waiting}
        wanted = self._order.held(self._lines, waiting) if self._held else self._order.settled(waiting, missed)
        for card in (*waiting, *missed):
            self._cards[card.id] = card
        self._become(wanted)
        listed = {line.request_id for line in self._lines if isinstance(line, RequestLine)}
        for gone in [one for one in self._cards if one not in listed]:
            del self._cards[gone]

    def _become(self, wanted: list[Line]) -> None:
        keep = _kept_in_order(self._lines, wanted)
        self._remove_others(keep)
        self._insert_missing(wanted)

    def _remove_others(self, keep: set[Line]) -> None:
        row = len(self._lines)
        while row > 0:
            end = row
            while row > 0 and self._lines[row - 1] not in keep:
                row -= 1
            if row < end:
                self.beginRemoveRows(QModelIndex(), row, end - 1)
                del self._lines[row:end]
                self.endRemoveRows()
            row -= 1

    def _insert_missing(self, wanted: list[Line]) -> None:
        """Insert the lines of `wanted` that are missing; the others are in the same order already."""
        row = 0
        while row < len(wanted):
            if row < len(self._lines) and self._lines[row] == wanted[row]:
                row += 1
                continue
            following = self._lines[row] if row < len(self._lines) else None
            end = row
            while end < len(wanted) and wanted[end] != following:
                end += 1
            self.beginInsertRows(QModelIndex(), row, end - 1)
            self._lines[row:row] = wanted[row:end]
            self.endInsertRows()
            row = end


def state(card: Card) -> str:
    """Return the outcome of a request that no longer waits, in a word or two."""
    if card.armed is not None:
        return tr("approved for later")
    if card.missed and card.decision is not None:
        # When the agent sent it, and how long the question was open.
        return tr("missed {clock}", clock=phrases.clock(card.request.received_at + card.decision.after_seconds))
    return phrases.verdict(card.decision.verdict) if card.decision else tr("over")


def why_missed(card: Card) -> str:
    """Return why a request was missed: `no answer in 60 s`."""
    if card.decision is None or card.armed is not None:
        return ""
    return tr("no answer in {after_seconds}", after_seconds=phrases.span(round(card.decision.after_seconds)))


def _kept_in_order(lines: list[Line], wanted: list[Line]) -> set[Line]:
    """Return lines that are in both and need not move: those whose new places rise from one to the next."""
    place = {line: number for number, line in enumerate(wanted)}
    kept: set[Line] = set()
    highest = -1
    for line in lines:
        if (number := place.get(line, -1)) > highest:
            kept.add(line)
            highest = number
    return kept
