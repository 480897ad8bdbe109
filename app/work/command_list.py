"""The list of commands: it follows the newest until somebody scrolls up; a folded row opens by a click or Enter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, Qt, Slot
from PySide6.QtGui import QColor, QFontMetricsF, QPainter
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.parts.mirrored import row_painter
from app.parts.row_background import RowDelegate, paint_ground
from app.parts.row_model import RowModel
from app.parts.text.copies import offer_copies
from app.parts.text.lines import painted_view
from app.work.command_rows import CommandRow, rows_of
from runner.model.translation import tr

if TYPE_CHECKING:
    from PySide6.QtCore import QObject
    from PySide6.QtWidgets import QStyleOptionViewItem, QTableView

    from app.look.look import Look
    from runner.model.work import WorkSession

ROW = 26
TIME = 46
_COMMAND = Qt.ItemDataRole.UserRole + 11
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
_MOST_NOTE = 0.5
"""Share of a row that its note may take."""


class CommandsModel(RowModel[CommandRow]):
    """Rows that are `CommandRow`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(_COMMAND, parent)

    def show(self, rows: tuple[CommandRow, ...]) -> None:
        """Show rows; where only later ones came, the choice and the place stay."""
        before = self.rows
        if rows == before:
            return
        if before and rows[: len(before)] == before:
            self.add(rows)
        elif len(rows) == len(before):
            self.rows = rows
            self.say_changed(len(rows))
        else:
            self.replace(rows)

    def hint(self, row: CommandRow) -> str:
        return row.whole


class CommandDelegate(RowDelegate):
    """Time, command, and at the right what came of it."""

    def __init__(self, look: Look, view: QTableView) -> None:
        super().__init__(view)
        self._look = look
        self._mono = look.mono()

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        painter = row_painter(painter, option)
        row = index.data(_COMMAND)
        if not isinstance(row, CommandRow):
            return
        px, tokens = self._look.px, self._look.tokens
        room = QRectF(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(painter, self._look, option.state, room)
        inner = room.adjusted(px(8), 0, -px(8), 0)
        painter.setFont(self._look.font(-1))
        metrics = QFontMetricsF(painter.font())
        painter.setPen(QColor(tokens.muted))
        painter.drawText(inner, _LEFT, row.time)
        note = metrics.elidedText(row.note, Qt.TextElideMode.ElideRight, inner.width() * _MOST_NOTE)
        painter.setPen(QColor(getattr(tokens, row.ink)))
        painter.drawText(inner, _RIGHT, note)
        text = inner.adjusted(px(TIME), 0, -(metrics.horizontalAdvance(note) + px(12) if note else 0.0), 0)
        painter.setFont(self._mono)
        painter.setPen(QColor(tokens.text))
        shown = QFontMetricsF(self._mono).elidedText(row.text, Qt.TextElideMode.ElideRight, max(0.0, text.width()))
        painter.drawText(text, _LEFT, shown)
        painter.restore()


class CommandList(QWidget):
    """What a program has run."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session: WorkSession | None = None
        self._opened: frozenset[int] = frozenset()
        self._follows = True
        self.model = CommandsModel(self)
        self.view = painted_view(self.model, tr("Commands"))
        self.view.setItemDelegate(CommandDelegate(look, self.view))
        self.view.verticalHeader().setDefaultSectionSize(look.px(ROW))
        self.view.setMinimumHeight(look.px(2 * ROW))
        self.view.activated.connect(self._toggle)
        self.view.clicked.connect(self._toggle)
        self.view.verticalScrollBar().valueChanged.connect(self._scrolled)
        self.view.verticalScrollBar().rangeChanged.connect(self._grown)
        offer_copies(self.view, self._copies)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.view)

    def show_session(self, session: WorkSession | None) -> None:
        """Show the commands of another program, or more of the same."""
        if session is None or self._session is None or session.name != self._session.name:
            self._opened = frozenset()
            self._follows = True
        self._session = session
        self.model.show(rows_of(session, self._opened) if session is not None else ())
        if self._follows:
            self.view.scrollToBottom()

    @Slot(QModelIndex)
    def _toggle(self, index: QModelIndex) -> None:
        row = self.model.rows[index.row()] if 0 <= index.row() < len(self.model.rows) else None
        if row is None or not row.fold or self._session is None:
            return
        at = self.view.verticalScrollBar().value()
        self._opened ^= {row.fold}
        self.model.show(rows_of(self._session, self._opened))
        self.view.verticalScrollBar().setValue(at)

    @Slot(int)
    def _scrolled(self, value: int) -> None:
        self._follows = value >= self.view.verticalScrollBar().maximum()

    @Slot(int, int)
    def _grown(self, _least: int, most: int) -> None:
        if self._follows:
            self.view.verticalScrollBar().setValue(most)

    def _copies(self, row: int) -> list[tuple[str, str]]:
        return [("command", self.model.rows[row].text)] if 0 <= row < len(self.model.rows) else []
