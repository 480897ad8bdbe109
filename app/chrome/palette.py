"""Go anywhere: one field that finds pages, requests, agents and commands. It leads there and decides nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Slot
from PySide6.QtGui import QColor, QFontMetricsF, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.parts.fold import fit
from app.parts.mirrored import row_painter
from app.parts.plain import plain_label
from app.parts.row_background import paint_ground
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from PySide6.QtGui import QKeyEvent

    from app.look.look import Look

SHOWN = 12
WAITS, RUNS = tr("waits"), tr("runs")
"""How the kinds of requests end that somebody may have opened the palette for."""
WAY = Qt.ItemDataRole.UserRole


@dataclass(frozen=True, slots=True)
class Way:
    """A place to go to or a command, as the palette lists it."""

    name: str
    """Plain text, already made visible."""
    kind: str
    go: Callable[[], object]
    keys: str = ""
    """What one could press instead."""


class WayDelegate(QStyledItemDelegate):
    """The name at the left, its kind in a column, and the keys at the right. Plain text only."""

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        painter = row_painter(painter, option)
        way = index.data(WAY)
        if not isinstance(way, Way):
            return
        px = self._look.px
        room = QRectF(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(painter, self._look, option.state, room.adjusted(0, 1, 0, -1))
        inner = room.adjusted(px(10), 0, -px(10), 0)
        kind = QRectF(inner.left() + inner.width() * 0.56, inner.top(), inner.width() * 0.26, inner.height())
        name = QRectF(inner.left(), inner.top(), kind.left() - inner.left() - px(10), inner.height())
        self._draw(painter, name, way.name, "text", 0, Qt.AlignmentFlag.AlignLeft)
        self._draw(painter, kind, way.kind, "muted", -1, Qt.AlignmentFlag.AlignLeft)
        self._draw(painter, inner, way.keys, "muted", -1, Qt.AlignmentFlag.AlignRight)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(super().sizeHint(option, index).width(), self._look.px(30))

    def _draw(self, painter: QPainter, room: QRectF, words: str, ink: str, step: float, side: Qt.AlignmentFlag) -> None:
        painter.setFont(self._look.font(step))
        painter.setPen(QColor(getattr(self._look.tokens, ink)))
        shown = QFontMetricsF(painter.font()).elidedText(words, Qt.TextElideMode.ElideMiddle, room.width())
        painter.drawText(room, int(side | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), shown)


class Palette(QDialog):
    """Every word of what is typed has to be in a name or kind. Enter goes to the first one, arrows choose."""

    def __init__(
        self,
        parent: QWidget,
        look: Look,
        ways: Iterable[Way],
        find: Callable[[str, Callable[[str, list[Way]], None]], None] | None = None,
    ) -> None:
        """`find(words, found)` looks for more, and calls `found(words, ways)` some time later, or never."""
        super().__init__(parent, Qt.WindowType.Dialog | Qt.WindowType.FramelessWindowHint)
        px = look.px
        self._ways = tuple(ways)
        self._find = find
        self._found: list[Way] = []
        self.setProperty("framed", True)
        self.setWindowTitle(tr("Go anywhere"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.field = QLineEdit()
        self.field.setPlaceholderText(tr("Page, request, host, file, setting or command"))
        self.field.setAccessibleName(tr("Go to page, request, also a past one, agent, setting or command"))
        self.field.textChanged.connect(self._search)
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Where to go"))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.itemClicked.connect(self._go)
        self.list.setItemDelegate(WayDelegate(look, self.list))
        self.none = plain_label(tr("Nothing has this name."), "muted")
        column = QVBoxLayout(self)
        column.setContentsMargins(px(12), px(12), px(12), px(12))
        column.setSpacing(px(8))
        column.addWidget(self.field)
        column.addWidget(self.list)
        column.addWidget(self.none)
        self._row, self._edge = px(30), self.list.frameWidth()
        fit(self, px(620), px(460))
        self._most = max(self._row, self.height() - px(76))
        self._search("")

    @Slot(str)
    def _search(self, text: str) -> None:
        words = text.casefold().split()
        found = [way for way in self._ways if _fits(way, words)]
        self._found = sorted(found, key=lambda way: _place(way, words))[:SHOWN] if words else first(found, SHOWN)
        self.list.clear()
        self._list(self._found)
        self.list.setCurrentRow(0)
        self._show_found()
        if self._find is not None:
            self._find(text, self._add)

    def _add(self, words: str, ways: list[Way]) -> None:
        """Add what was found meanwhile, below the rest: nothing moves under the hand."""
        if words == self.field.text().strip():
            new = [way for way in ways if way not in self._found]
            self._found += new
            self._list(new)
            if self.list.currentRow() < 0:
                self.list.setCurrentRow(0)
            self._show_found()

    def _list(self, ways: list[Way]) -> None:
        for way in ways:
            item = QListWidgetItem(f"{way.name}    {way.kind}")
            item.setData(WAY, way)
            self.list.addItem(item)

    def _show_found(self) -> None:
        """Make the list as high as what is in it, up to its usual height."""
        self.list.setVisible(bool(self._found))
        self.none.setVisible(not self._found)
        room = min(max(1, len(self._found)) * self._row + 2 * self._edge, self._most)
        self.list.setFixedHeight(room)
        self.setFixedHeight(self.sizeHint().height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle keys that the field leaves to its window."""
        match event.key():
            case Qt.Key.Key_Down:
                self.list.setCurrentRow(min(self.list.currentRow() + 1, self.list.count() - 1))
            case Qt.Key.Key_Up:
                self.list.setCurrentRow(max(self.list.currentRow() - 1, 0))
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self._go()
            case _:
                super().keyPressEvent(event)

    @Slot()
    def _go(self) -> None:
        row = self.list.currentRow()
        if 0 <= row < len(self._found):
            way = self._found[row]
            self.accept()
            way.go()


def _fits(way: Way, words: list[str]) -> bool:
    whole = f"{way.name} {way.kind}".casefold()
    return all(word in whole for word in words)


def _place(way: Way, words: list[str]) -> int:
    """Return how well a way fits what is typed, 0 for the best."""
    name = way.name.casefold()
    if name.startswith(" ".join(words)):
        return 0
    parts = name.split()
    return 1 if all(any(part.startswith(word) for part in parts) for word in words) else 2


def first(ways: list[Way], most: int) -> list[Way]:
    """Return what is shown before anything is typed: what waits or runs, then some of each other kind."""
    urgent = [way for way in ways if way.kind.endswith((WAITS, RUNS))]
    kinds: dict[str, list[Way]] = {}
    for way in ways:
        if way not in urgent:
            kinds.setdefault(way.kind.partition(",")[0], []).append(way)
    found = urgent[: most // 2]
    while len(found) < most and any(kinds.values()):
        for others in kinds.values():
            if others and len(found) < most:
                found.append(others.pop(0))
    return sorted(found, key=ways.index)
