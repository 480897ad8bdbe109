"""The list of changes with their ticks: a model and a delegate, so that ten thousand rows are as quick as ten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRectF,
    Qt,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from app.parts.badge import badge_size, paint_badge
from app.parts.row_model import Index, RowModel
from app.parts.text.copies import offer_copies
from app.parts.ticked import TickedDelegate, TickedView
from app.work import words
from app.work.change_rows import ChangeRow, ChangeTable, RowKind, ticks_for
from app.work.unified import said_of_parts
from runner.model.translation import plural, tr
from runner.work.added import MOST_READ, AddedFindings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtCore import QObject

    from app.look.look import Look

ROW = 32
CHANGE = Qt.ItemDataRole.UserRole + 13
_COUNT = Qt.ItemDataRole.UserRole + 14
_FOUND = Qt.ItemDataRole.UserRole + 15
NOTHING_READ = AddedFindings()
NOT_READ = tr("not read")
_CENTER = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextSingleLine)
LOOK_MS = 60
"""From the last movement of the list until the lines of the rows on screen are counted."""
TAG_INKS = {
    RowKind.MARKED: ("medium", "medium_tint"),
    RowKind.MERGED: ("medium", "medium_tint"),
    RowKind.MANY: ("muted", "hover"),
    RowKind.CONFLICT: ("high", "high_tint"),
    RowKind.LEFT_OUT: ("muted", "hover"),
}


class TickedChanges(RowModel[ChangeRow]):
    """Rows that are `ChangeRow` and can be ticked; a search shows a part of them."""

    ticked_changed = Signal()
    set_by_hand = Signal()
    """A person has ticked a row or left one out."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(CHANGE, parent)
        self.table = ChangeTable()
        """All rows; `rows` are those that the search shows."""
        self.ticked: frozenset[bytes] = frozenset()
        self._by_key: dict[bytes, ChangeRow] = {}
        self._chosen: frozenset[bytes] = frozenset()
        """Ticked by the person."""
        self._left: frozenset[bytes] = frozenset()
        """Left out by the person."""
        self._parts: dict[bytes, tuple[frozenset[int], int]] = {}
        """Of rows that are ticked in part: which parts, and how many there are."""
        self._search = ""
        self._counts: dict[bytes, str] = {}
        self._findings: dict[bytes, AddedFindings] = {}
        self._known_chosen: tuple[frozenset[bytes], ChangeTable, tuple[ChangeRow, ...]] | None = None
        """The ticked rows, and of which ticks and rows that is true."""

    def begin(self, table: ChangeTable) -> None:
        """Show the changes of another working copy, ticked as is usual."""
        self._by_key, self._chosen, self._left, self._counts = {}, frozenset(), frozenset(), {}
        self._parts, self._findings = {}, {}
        self.take(table)

    def take(self, table: ChangeTable) -> None:
        """Show another list of the same; what a person has set stays where its row is the same."""
        self.beginResetModel()
        now = {row.key: row for row in table.rows}
        same = {key for key, row in now.items() if self._by_key.get(key) == row}
        # Of one that is another now nobody has chosen parts: what was left out of it stays out, so all of it does.
        self._left |= self._parts.keys() - same
        self._parts = {key: parts for key, parts in self._parts.items() if key in same}
        self.ticked = ticks_for(table, self._by_key, self._chosen, self._left)
        self.table = table
        self._by_key = now
        self._chosen &= self.ticked
        self._left &= self._by_key.keys()
        self._counts = {key: said for key, said in self._counts.items() if key in same}
        self._findings = {key: found for key, found in self._findings.items() if key in same}
        self._filter()
        self.endResetModel()
        self.ticked_changed.emit()

    def search(self, text: str) -> None:
        """Show the rows whose name has `text` in it."""
        if text != self._search:
            self.beginResetModel()
            self._search = text
            self._filter()
            self.endResetModel()
            self.ticked_changed.emit()

    def _filter(self) -> None:
        text = self._search.casefold()
        self.rows = tuple(row for row in self.table.rows if text in row.name.casefold()) if text else self.table.rows

    @property
    def searching(self) -> bool:
        return bool(self._search)

    def row_of(self, key: bytes) -> int:
        """Return the number of a row on show; -1 for none."""
        return next((number for number, row in enumerate(self.rows) if row.key == key), -1)

    def row(self, key: bytes) -> ChangeRow:
        """Return the row with this key, also one that the search hides."""
        return self._by_key[key]

    # ---- ticks ----

    @property
    def chosen(self) -> tuple[ChangeRow, ...]:
        """The ticked rows."""
        known = self._known_chosen
        if known is None or known[0] is not self.ticked or known[1] is not self.table:
            rows = tuple(row for row in self.table.rows if row.key in self.ticked)
            self._known_chosen = known = self.ticked, self.table, rows
        return known[2]

    def hidden(self) -> int:
        """Return how many ticked rows the search does not show."""
        return len(self.ticked) - sum(row.key in self.ticked for row in self.rows)

    def set_tick(self, number: int, ticked: bool) -> None:
        """Tick a row or leave it out, where that can be."""
        row = self.rows[number]
        if not row.can_tick or ((row.key in self.ticked) == ticked and row.key not in self._parts):
            return
        self._parts.pop(row.key, None)
        one = frozenset({row.key})
        self.ticked = self.ticked | one if ticked else self.ticked - one
        self._chosen = self._chosen | one if ticked else self._chosen - one
        self._left = self._left - one if ticked else self._left | one
        self._show(row)
        self.ticked_changed.emit()
        self.set_by_hand.emit()

    def toggle(self, number: int) -> None:
        """Tick all of a row, or leave it out."""
        key = self.rows[number].key
        self.set_tick(number, key not in self.ticked or key in self._parts)

    def toggle_part(self, row: ChangeRow, part: int, all_parts: int) -> None:
        """Tick one part of a row, or leave it out; `all_parts` says how many it has."""
        number = self.row_of(row.key)
        if number < 0 or self.rows[number] != row or not row.has_parts or not 0 < part <= all_parts:
            return
        now = self.parts(row, all_parts) ^ {part}
        self.set_tick(number, bool(now))
        if now and len(now) < all_parts:
            self._parts[row.key] = now, all_parts
            self._show(row)
            self.ticked_changed.emit()
            self.set_by_hand.emit()

    def parts(self, row: ChangeRow, all_parts: int) -> frozenset[int]:
        """Return which parts of a row are ticked."""
        if row.key not in self.ticked:
            return frozenset()
        return self._parts.get(row.key, (frozenset(range(1, all_parts + 1)), all_parts))[0]

    @property
    def in_part(self) -> dict[bytes, frozenset[int]]:
        """The ticked parts of the rows that are ticked in part, by key."""
        return {key: parts for key, (parts, _) in self._parts.items() if key in self.ticked}

    def _show(self, row: ChangeRow) -> None:
        if (number := self.row_of(row.key)) >= 0:
            self.dataChanged.emit(self.index(number, 0), self.index(number, 0))

    # ---- findings ----

    def findings(self, row: ChangeRow) -> AddedFindings | None:
        """Return what was found in what a row adds; None where that is not known."""
        return self._findings.get(row.key)

    def found_in_chosen(self) -> list[AddedFindings]:
        """Return what is known of findings in what the ticked rows add; at most `MOST_READ` are."""
        return [found for key, found in self._findings.items() if key in self.ticked]

    def unread(self, first: int, last: int) -> Iterator[ChangeRow]:
        """Yield the rows whose findings are not known: those from `first` to `last`, then the others, up to a bound."""
        if len(self._findings) >= MOST_READ:
            return
        for row in (*self.rows[first : last + 1], *self.table.rows):
            if row.is_single and row.key not in self._findings:
                yield row

    def know_findings(self, row: ChangeRow, found: AddedFindings) -> bool:
        """Show what was found in what a row adds; False where it is another row by now."""
        if self._by_key.get(row.key) != row:
            return False
        self._findings[row.key] = found
        self._show(row)
        return True

    # ---- counts ----

    def uncounted(self, first: int, last: int) -> list[ChangeRow]:
        """Return the rows from `first` to `last` whose lines have not been counted."""
        return [row for row in self.rows[first : last + 1] if row.is_single and row.key not in self._counts]

    def know_count(self, row: ChangeRow, count: str) -> None:
        """Show how many lines of a row differ, unless it is another row by now."""
        if self._by_key.get(row.key) != row:
            return
        self._counts[row.key] = count
        self._show(row)

    # ---- for the view ----

    def flags(self, index: Index) -> Qt.ItemFlag:
        usual = super().flags(index)
        can = 0 <= index.row() < len(self.rows) and self.rows[index.row()].can_tick
        return usual | Qt.ItemFlag.ItemIsUserCheckable if can else usual

    def spoken(self, row: ChangeRow) -> str:
        return ", ".join(part for part in (self._state(row), row.spoken, self._said(row)) if part)

    def hint(self, row: ChangeRow) -> str:
        said = (row.name, row.why and f"{row.tag}: {row.why}", self._said(row))
        return "\n".join(part for part in said if part)

    def more(self, row: ChangeRow, role: int) -> Any:
        match role:
            case _ if role == _COUNT:
                return row.count or self._counts.get(row.key, "")
            case _ if role == _FOUND:
                return self._findings.get(row.key, NOTHING_READ)
            case Qt.ItemDataRole.CheckStateRole if row.can_tick:
                if row.key in self._parts:
                    return Qt.CheckState.PartiallyChecked
                return Qt.CheckState.Checked if row.key in self.ticked else Qt.CheckState.Unchecked
            case _:
                return None

    def _state(self, row: ChangeRow) -> str:
        """Return whether a row is ticked, in words."""
        if not row.can_tick:
            return ""
        if row.key in self._parts:
            ticked, number = self._parts[row.key]
            return tr("{said_of_parts} ticked", said_of_parts=said_of_parts(len(ticked), number))
        return tr("ticked") if row.key in self.ticked else tr("not ticked")

    def _said(self, row: ChangeRow) -> str:
        """Return what was found in what a row adds, in words."""
        found = self._findings.get(row.key, NOTHING_READ)
        if found.worst is not None:
            number = plural("{count} finding", "{count} findings", len(found.findings))
            return tr("{number} in what it adds, up to {name}", number=number, name=found.worst.name)
        return tr("not read for findings: {not_read}", not_read=found.not_read) if found.skipped else ""


LEAST_NAME, DOT = 120, 10
"""Pixels that a name gets at least where it needs them, and of the badge where it has no room for its word."""


class ChangeDelegate(TickedDelegate):
    """Tick, sign, name, a word where there is one, and how many lines."""

    def paint_row(
        self, painter: QPainter, room: QRectF, box: QRectF, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row = index.data(CHANGE)
        if not isinstance(row, ChangeRow):
            return
        px, tokens = self._look.px, self._look.tokens
        sign = QRectF(box.right() + px(7), room.top(), px(16), room.height())
        painter.setFont(self._look.font(0, bold=True))
        painter.setPen(QColor(getattr(tokens, words.INKS[row.sign])))
        painter.drawText(sign, _CENTER, row.sign)
        left, right = sign.right() + px(6), room.right() - px(10)
        font = self._look.font()
        whole = QFontMetricsF(font).horizontalAdvance(row.name)
        count, found = str(index.data(_COUNT) or ""), index.data(_FOUND)
        # The name first: in a narrow row the number of lines gives way to it, then the word of the badge.
        left_over = right - left - min(whole, px(LEAST_NAME)) - self._beside(row, found)
        if count and left_over >= self._small(count) + px(8):
            right = self.paint_small(painter, room, right, count, tokens.muted) - px(8)
        right = self._paint_found(painter, room, right, found, in_a_word=left_over >= 0)
        if row.tag:
            right = self._paint_tag(painter, room, right, row.tag, TAG_INKS[row.kind])
        painter.setPen(QColor(tokens.text if row.can_tick else tokens.muted))
        self.paint_name(painter, room, left, right, row.name, font)

    def _small(self, text: str) -> float:
        """Return the width of a small text in pixels."""
        return QFontMetricsF(self._look.font(-1)).horizontalAdvance(text)

    def _beside(self, row: ChangeRow, found: AddedFindings) -> float:
        """Return how many pixels what stands beside the name takes, without the number of lines."""
        px = self._look.px
        tags = [tag for tag in (row.tag, NOT_READ if found.worst is None and found.skipped else "") if tag]
        badge = 0.0 if found.worst is None else badge_size(self._look, found.worst).width() + px(8)
        return badge + sum(self._tag_width(tag) + px(8) for tag in tags)

    def _tag_width(self, tag: str) -> float:
        return self._small(tag) + self._look.px(14)

    def _paint_found(
        self, painter: QPainter, room: QRectF, right: float, found: AddedFindings, *, in_a_word: bool
    ) -> float:
        if found.worst is None:
            return self._paint_tag(painter, room, right, NOT_READ, ("muted", "hover")) if found.skipped else right
        if not in_a_word:
            side = self._look.px(DOT)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(getattr(self._look.tokens, found.worst.name.lower())))
            painter.drawEllipse(QRectF(right - side, room.center().y() - side / 2, side, side))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            return right - side - self._look.px(8)
        size = badge_size(self._look, found.worst)
        corner = QPointF(right - size.width(), room.center().y() - size.height() / 2)
        paint_badge(painter, self._look, found.worst, corner)
        return corner.x() - self._look.px(8)

    def _paint_tag(self, painter: QPainter, room: QRectF, right: float, tag: str, inks: tuple[str, str]) -> float:
        px = self._look.px
        ink, tint = (getattr(self._look.tokens, name) for name in inks)
        painter.setFont(self._look.font(-1))
        width = self._tag_width(tag)
        pill = QRectF(right - width, room.center().y() - px(10), width, px(20))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tint))
        painter.drawRoundedRect(pill, px(10), px(10))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QColor(ink))
        painter.drawText(pill, _CENTER, tag)
        return right - width - px(8)


class ChangeView(TickedView[ChangeRow]):
    """The changes of a working copy."""

    resting = Signal()
    """The rows on screen are others than a moment ago."""

    def __init__(self, look: Look, model: TickedChanges) -> None:
        super().__init__(look, model, tr("Changes"), ChangeDelegate, ROW)
        self._changes = model
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(LOOK_MS)
        self._soon.timeout.connect(self.resting)
        self.verticalScrollBar().valueChanged.connect(self._moved)
        model.modelReset.connect(self._moved)
        offer_copies(self, lambda row: [("path", model.rows[row].name)] if 0 <= row < len(model.rows) else [])

    def on_screen(self) -> tuple[int, int]:
        """Return the first and the last row that can be seen."""
        last = self.rowAt(self.viewport().height() - 1)
        return max(0, self.rowAt(0)), last if last >= 0 else len(self._changes.rows) - 1

    @Slot()
    def _moved(self) -> None:
        self._soon.start()

    def toggle(self, row: int) -> None:
        self._changes.toggle(row)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._moved()

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show:
            self._moved()
        return super().viewportEvent(event)
