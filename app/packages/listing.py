"""The packages of a plan as rows: name, version, age and size; below what is known, and what is odd about it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFontMetrics, QKeySequence, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QListView, QStyleOptionViewItem

from app.packages import words
from app.parts.amounts import size
from app.parts.mirrored import row_painter
from app.parts.plain import tip
from app.parts.row_background import RowDelegate, paint_ground
from app.parts.text.lines import set_up_rows
from app.parts.text.visible_characters import visible
from runner.model.translation import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent, QPaintEvent, QResizeEvent
    from PySide6.QtWidgets import QWidget

    from app.look.look import Look
    from runner.model.plan import PlannedPackage

PACKAGE = Qt.ItemDataRole.UserRole
_LINE = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
_WRAP = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap)
_ENDLESS = 1 << 16


class PackageList(QListView):
    """Plain text. Says when its last row has been on the screen."""

    seen_to_end = Signal(bool)
    chosen = Signal(object)
    """The PlannedPackage of the current row."""
    copy_wanted = Signal()

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._seen = False
        self.compact = False
        self._rows = QStandardItemModel(self)
        self.setModel(self._rows)
        self.setItemDelegate(_PackageDelegate(look, self))
        set_up_rows(self, tr("Packages that would be installed"))
        self.setStyleSheet("QListView { selection-background-color: transparent; }")
        self.selectionModel().currentChanged.connect(self._moved)

    def show_packages(self, packages: tuple[PlannedPackage, ...]) -> None:
        """Show other packages, from the first; their end counts as unseen."""
        self._seen = False
        now = time.time()
        self._rows.clear()
        rows = []
        for package in packages:
            row = QStandardItem()
            row.setEditable(False)
            row.setData(package, PACKAGE)
            row.setData(words.spoken(package, now), Qt.ItemDataRole.AccessibleTextRole)
            row.setToolTip(tip(_hover(package)))
            rows.append(row)
        # At once: each insertion by itself is laid out by itself.
        self._rows.invisibleRootItem().appendRows(rows)
        self.scrollToTop()
        if rows:
            self.setCurrentIndex(self._rows.index(0, 0))

    def set_compact(self, compact: bool) -> None:
        """Give each package less height: its facts have one line, whose rest is in its tip."""
        self.compact = compact
        self.scheduleDelayedItemsLayout()
        self.viewport().update()

    @property
    def rows_in_view(self) -> int:
        """How many rows are on the screen from top to bottom."""
        places = (self.visualRect(self._rows.index(row, 0)) for row in range(self.count))
        return sum(place.top() >= 0 and place.bottom() <= self.viewport().height() + 1 for place in places)

    @property
    def count(self) -> int:
        return self._rows.rowCount()

    @property
    def is_seen_to_end(self) -> bool:
        return self._seen

    @Slot(QModelIndex, QModelIndex)
    def _moved(self, current: QModelIndex, _before: QModelIndex) -> None:
        self.chosen.emit(current.data(PACKAGE))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._seen or not self.count or not self.isVisible():
            return
        last = self.visualRect(self._rows.index(self.count - 1, 0))
        if last.isValid() and last.bottom() <= self.viewport().height() + 1:
            self._seen = True
            self.seen_to_end.emit(True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.scheduleDelayedItemsLayout()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_wanted.emit()
        else:
            super().keyPressEvent(event)


def _hover(package: PlannedPackage) -> str:
    lines = (
        visible(package.summary),
        words.facts(package, time.time()),
        visible(package.file),
        f"sha256 {package.sha256}",
        visible(package.url),
        *words.built_with(package),
    )
    return "\n".join(line for line in lines if line)


class _PackageDelegate(RowDelegate):
    def __init__(self, look: Look, view: PackageList) -> None:
        super().__init__(view)
        self._look = look
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        package = index.data(PACKAGE)
        width = max(self._look.px(120), self._view.viewport().width())
        inner = width - 2 * self._look.px(12)
        small = QFontMetrics(self._look.font(-1))
        height = QFontMetrics(self._look.font(0, bold=True)).height() + self._look.px(2)
        facts = words.facts(package, time.time())
        height += small.height() if self._view.compact else _height(small, facts, inner)
        for warning in words.warnings(package):
            height += _height(small, warning, inner) + self._look.px(2)
        return QSize(width, height + 2 * self._margin)

    @property
    def _margin(self) -> int:
        return self._look.px(4 if self._view.compact else 8)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        painter = row_painter(painter, option)
        package = index.data(PACKAGE)
        px, tokens = self._look.px, self._look.tokens
        room = QRect(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(painter, self._look, option.state, QRectF(room).adjusted(px(4), 1, -px(4), -1))
        inner = room.adjusted(px(12), self._margin, -px(12), -self._margin)
        top = self._paint_head(painter, inner, package)
        painter.setFont(self._look.font(-1))
        small = QFontMetrics(self._look.font(-1))
        painter.setPen(QColor(tokens.muted))
        facts = words.facts(package, time.time())
        if self._view.compact:
            line = QRect(inner.left(), top, inner.width(), small.height())
            painter.drawText(line, _LINE, small.elidedText(facts, Qt.TextElideMode.ElideRight, inner.width()))
            top += small.height()
        else:
            top = _wrapped(painter, small, inner, top, facts)
        painter.setPen(QColor(tokens.medium))
        for warning in words.warnings(package):
            top = _wrapped(painter, small, inner, top + px(2), warning)
        painter.restore()

    def _paint_head(self, painter: QPainter, inner: QRect, package: PlannedPackage) -> int:
        """Paint name and version at the left, age and size at the right; return where the next line begins."""
        look, tokens, now = self._look, self._look.tokens, time.time()
        bold = QFontMetrics(look.font(0, bold=True))
        room = QRect(inner.left(), inner.top(), inner.width(), bold.height())
        painter.setFont(look.font(0))
        metrics = QFontMetrics(look.font(0))
        right = room.right()
        for text, ink in (
            (size(package.size), tokens.muted),
            (words.age(package, now), tokens.medium if words.is_new(package, now) else tokens.muted),
        ):
            width = metrics.horizontalAdvance(text)
            painter.setPen(QColor(ink))
            painter.drawText(QRect(right - width, room.top(), width + 1, room.height()), _LINE, text)
            right -= width + look.px(14)
        painter.setFont(look.font(0, bold=True))
        painter.setPen(QColor(tokens.text))
        name = bold.elidedText(
            visible(package.name), Qt.TextElideMode.ElideMiddle, max(0, (right - room.left()) * 2 // 3)
        )
        painter.drawText(room, _LINE, name)
        left = room.left() + bold.horizontalAdvance(name) + look.px(8)
        painter.setFont(look.font(0))
        version = metrics.elidedText(visible(package.version), Qt.TextElideMode.ElideRight, max(0, right - left))
        painter.drawText(QRect(left, room.top(), max(0, right - left), room.height()), _LINE, version)
        return room.bottom() + 1 + look.px(2)


def _height(metrics: QFontMetrics, text: str, width: int) -> int:
    return metrics.boundingRect(QRect(0, 0, width, _ENDLESS), _WRAP, words.breakable(text)).height()


def _wrapped(painter: QPainter, metrics: QFontMetrics, inner: QRect, top: int, text: str) -> int:
    """Paint `text` from `top` on and return where it ends."""
    height = _height(metrics, text, inner.width())
    painter.drawText(QRect(inner.left(), top, inner.width(), height), _WRAP, words.breakable(text))
    return top + height
