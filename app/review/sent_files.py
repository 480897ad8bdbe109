"""The files of a project that a request would send to another machine, with sizes; those that may hold a secret first.

These are ticked one by one by a person who wants them to be sent: that makes another version of the request.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFontMetricsF, QPainter
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from app import phrases
from app.parts.amounts import size
from app.parts.plain import plain_label
from app.parts.row_model import Index, RowModel
from app.parts.ticked import TickedDelegate, TickedView
from runner.model.sent_files import LINK
from runner.model.translation import numeral, plural, to_translate, tr, translated

if TYPE_CHECKING:
    from PySide6.QtCore import QObject
    from PySide6.QtGui import QPaintEvent

    from app.look.look import Look
    from runner.model.sent_files import SentFile, SentFiles

ROW = 28
SENT_ROW = Qt.ItemDataRole.UserRole + 31
REASONS = (
    to_translate("by its name"),
    to_translate("a repository of its own"),
    to_translate("neither a file nor a link"),
    to_translate("it changes while it is read"),
)
"""Words of the engine about files that may hold a secret, and about what is never sent."""


@dataclass(frozen=True, slots=True)
class SentRow:
    """One line of the list: a heading, or a file."""

    name: str
    amount: str = ""
    why: str = ""
    heading: bool = False
    tick: str = ""
    """Name by which it is included; '' for a row that cannot be ticked."""
    leaves: bool = True

    @property
    def spoken(self) -> str:
        return ", ".join(filter(None, (self.name, self.amount, self.why)))


class SentRows(RowModel[SentRow]):
    """The rows, and which of them are ticked."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(SENT_ROW, parent)
        self.ticked: frozenset[str] = frozenset()
        self.offered = False
        """Whether ticks can be set now."""

    def flags(self, index: Index) -> Qt.ItemFlag:
        usual = super().flags(index)
        can = self.can_tick(index.row())
        return usual | Qt.ItemFlag.ItemIsUserCheckable if can else usual

    def can_tick(self, number: int) -> bool:
        return self.offered and 0 <= number < len(self.rows) and bool(self.rows[number].tick)

    def spoken(self, row: SentRow) -> str:
        state = "" if not row.tick else tr("ticked") if row.tick in self.ticked else tr("not ticked")
        return ", ".join(filter(None, (state, row.spoken)))

    def more(self, row: SentRow, role: int) -> Any:
        if role == Qt.ItemDataRole.CheckStateRole and row.tick:
            return Qt.CheckState.Checked if row.tick in self.ticked else Qt.CheckState.Unchecked
        return None


class SentDelegate(TickedDelegate):
    """Tick, name, why it may hold a secret, and its size."""

    def paint_row(
        self, painter: QPainter, room: QRectF, box: QRectF, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row = index.data(SENT_ROW)
        if not isinstance(row, SentRow):
            return
        px, tokens = self._look.px, self._look.tokens
        left, right = box.left() if row.heading else box.right() + px(10), room.right() - px(12)
        small = QFontMetricsF(self._look.font(-1))
        for text, ink in ((row.amount, tokens.muted), (row.why, tokens.medium if row.tick else tokens.muted)):
            width = min(small.horizontalAdvance(text) + 1, (right - left) / 2)
            if text == row.amount:
                width = max(width, px(64))
            right = self.paint_small(painter, room, right, text, ink, width) - (px(10) if text or width else 0)
        painter.setPen(QColor(tokens.muted if row.heading or not row.leaves else tokens.text))
        font = self._look.font(-1 if row.heading else 0, bold=row.heading)
        self.paint_name(painter, room, left, right, row.name, font)


class SentList(TickedView[SentRow]):
    """Says when its last row has been on the screen."""

    seen_to_end = Signal(bool)
    toggled = Signal(str)
    """The name of the file whose tick is to be set, or taken away."""

    def __init__(self, look: Look, rows: SentRows) -> None:
        super().__init__(look, rows, tr("Files that would leave this machine"), SentDelegate, ROW)
        self._rows = rows
        self._seen = False

    @property
    def is_seen_to_end(self) -> bool:
        return self._seen

    def begin(self) -> None:
        """Begin with other files: their end counts as unseen."""
        self._seen = False
        self.scrollToTop()
        self.clearSelection()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        last = len(self._rows.rows) - 1
        if self._seen or last < 0 or not self.isVisible():
            return
        room = self.visualRect(self._rows.index(last, 0))
        if room.isValid() and room.bottom() <= self.viewport().height() + 1:
            self._seen = True
            self.seen_to_end.emit(True)

    def toggle(self, row: int) -> None:
        if self._rows.can_tick(row):
            self.toggled.emit(self._rows.rows[row].tick)


class SentFilesView(QWidget):
    """Shows what one request, or a person's version of it, would send."""

    seen_to_end = Signal(bool)
    included_changed = Signal(tuple)
    """Names of the files that a person wants to be sent all the same, sorted."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        px = look.px
        self.total = plain_label(role="strong", wrap=True)
        self.hint = plain_label(role="small", wrap=True)
        for label in (self.total, self.hint):
            label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.rows = SentRows(self)
        self.list = SentList(look, self.rows)
        self._sent: SentFiles | None = None
        head = QVBoxLayout()
        head.setContentsMargins(px(12), px(10), px(12), px(6))
        head.setSpacing(px(4))
        head.addWidget(self.total)
        head.addWidget(self.hint)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.list, 1)
        self.list.seen_to_end.connect(self.seen_to_end)
        self.list.toggled.connect(self._toggle)
        self.setFocusProxy(self.list)

    @property
    def is_seen_to_end(self) -> bool:
        return self.list.is_seen_to_end

    def show_files(self, sent: SentFiles, host: str, *, offered: bool) -> None:
        """Show `sent`, which goes to `host`. With `offered` ticks can be set.

        Where only ticks differ from what is shown, the rows stay, and so does what has been seen of them.
        """
        self.rows.offered = offered
        if sent is self._sent:
            return
        same = self._sent is not None and self._sent.including(()) == sent.including(())
        self._sent = sent
        self.rows.ticked = frozenset(sent.included)
        where = phrases.visible(host) or tr("another machine")
        said = plural(
            "{count} file, {size}, would be sent to {where}",
            "{count} files, {size}, would be sent to {where}",
            len(sent.files),
            size=size(sent.size),
            where=where,
        )
        self.total.setText(said)
        hint = tr("Whoever runs the service can read what leaves.")
        if sent.held:
            hint = f"{hint} {tr('Tick a file that may hold a secret to send it as well.')}"
        self.hint.setText(hint)
        if same:
            self.rows.say_changed(len(self.rows.rows))
        else:
            self.rows.replace(rows_of(sent))
            self.list.begin()

    @Slot(str)
    def _toggle(self, name: str) -> None:
        self.included_changed.emit(tuple(sorted(self.rows.ticked ^ {name})))


def rows_of(sent: SentFiles) -> tuple[SentRow, ...]:
    """Return all rows: what may hold a secret, what never leaves, what leaves; in that order."""
    rows: list[SentRow] = []
    if sent.held:
        rows.append(SentRow(tr("Stays here, unless you tick it"), heading=True))
        for one in sent.held:
            why = tr("may hold a secret, {why}", why=phrases.visible(translated(one.why)))
            rows.append(_row(one.file, why, tick=True))
    if sent.left_out:
        rows.append(SentRow(tr("Stays here in any case"), heading=True))
        rows += [SentRow(one.name, why=phrases.visible(translated(one.why)), leaves=False) for one in sent.left_out]
        if more := sent.further_left_out:
            rows.append(SentRow(tr("and {count} more", count=numeral(more)), leaves=False))
    rows.append(SentRow(tr("Leaves this machine"), heading=True))
    held = {one.file.name for one in sent.held}
    link, program = tr("a link"), tr("a program")
    for file in sent.files:
        if file.name not in held:
            runs = file.mode != LINK and int(file.mode, 8) & 0o111
            rows.append(_row(file, link if file.mode == LINK else program if runs else ""))
    return tuple(rows)


def _row(one: SentFile, why: str, *, tick: bool = False) -> SentRow:
    return SentRow(one.name, size(one.size), why, tick=one.name if tick else "", leaves=not tick)
