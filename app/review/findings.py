"""The list of findings: why each matters, how bad, and where; choosing one shows its line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QResizeEvent,
    QStandardItem,
    QStandardItemModel,
)
from PySide6.QtWidgets import (
    QListView,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app import phrases
from app.parts.mirrored import row_painter
from app.parts.plain import tip
from app.parts.text.lines import set_up_rows
from runner.model import engine_texts
from runner.model.translation import tr, translated

if TYPE_CHECKING:
    from app.look.look import Look
    from runner.model.assessment import Finding

FINDING = Qt.ItemDataRole.UserRole
SHOWN = 200
"""Findings in the list; the code marks all of them."""
MOST_HEIGHTS = 2000
_WRAP = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap)


class FindingsList(QListView):
    """Plain text. Its height follows its rows, up to `most_rows` of a screenful."""

    picked = Signal(int)
    """A line of the code."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows = QStandardItemModel(self)
        self.setModel(self._rows)
        self.setItemDelegate(_FindingDelegate(look, self))
        set_up_rows(self, tr("Findings"))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.clicked.connect(self._pick)

    def set_findings(self, findings: tuple[Finding, ...]) -> None:
        """Show findings, worst first, then in order of place."""
        self._rows.clear()
        rows = []
        for finding in sorted(distinct(findings), key=lambda one: (-one.level, one.span.line))[:SHOWN]:
            row = QStandardItem()
            row.setEditable(False)
            row.setData(finding, FINDING)
            row.setData(_spoken(finding), Qt.ItemDataRole.AccessibleTextRole)
            row.setToolTip(tip(f"{finding.evidence}\n{_reference(finding)}".strip()))
            rows.append(row)
        # At once: each insertion by itself is laid out by itself.
        self._rows.invisibleRootItem().appendRows(rows)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        height = sum(self.sizeHintForRow(row) for row in range(self._rows.rowCount()))
        return QSize(200, height + 2 * self.frameWidth())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.scheduleDelayedItemsLayout()
        self.updateGeometry()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if not self.currentIndex().isValid() and self._rows.rowCount():
            self.setCurrentIndex(self._rows.index(0, 0))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self._pick(self.currentIndex())
            event.accept()
        else:
            super().keyPressEvent(event)

    @Slot(QModelIndex)
    def _pick(self, index: QModelIndex) -> None:
        finding: Finding = index.data(FINDING)
        self.picked.emit(finding.span.line)


def distinct(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return `findings` without those that say the same of the same place as one before."""
    return tuple({(one.level, one.reason, one.span): one for one in findings}.values())


class _FindingDelegate(QStyledItemDelegate):
    """A mark and the reason, wrapped; below it level, line where there is one, and capability."""

    def __init__(self, look: Look, view: FindingsList) -> None:
        super().__init__(view)
        self._look = look
        self._view = view
        self._heights: dict[tuple[str, int], int] = {}
        """Of reasons, by text and width: a layout asks for them again and again."""
        look.changed.connect(self._heights.clear)

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        px = self._look.px
        width = self._view.viewport().width()
        finding: Finding = index.data(FINDING)
        known = (finding.reason, width)
        if known not in self._heights:
            if len(self._heights) > MOST_HEIGHTS:
                self._heights.clear()
            words = QRect(0, 0, max(80, width - px(22 + 4)), 10_000)
            reason = QFontMetrics(self._look.font()).boundingRect(words, _WRAP, engine_texts.in_words(finding.reason))
            below = QFontMetrics(self._look.font(-1)).height()
            self._heights[known] = reason.height() + below + px(10)
        return QSize(width, self._heights[known])

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        painter = row_painter(painter, option)
        px, tokens = self._look.px, self._look.tokens
        finding: Finding = index.data(FINDING)
        room: QRect = option.rect
        state = option.state
        painter.save()
        if state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            strong = state & QStyle.StateFlag.State_Selected and self._view.hasFocus()
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.selection if strong else tokens.hover))
            painter.drawRoundedRect(room.adjusted(0, 1, 0, -1), px(4), px(4))
        mark = self._look.pixmap("triangle-alert", _INKS[finding.level], 14)
        painter.drawPixmap(QPoint(room.left() + px(2), room.top() + px(6)), mark)
        words = room.adjusted(px(22), px(4), -px(4), -px(4))
        painter.setFont(self._look.font())
        painter.setPen(QColor(tokens.text))
        painter.drawText(words, _WRAP, phrases.visible(engine_texts.in_words(finding.reason)))
        painter.setFont(self._look.font(-1))
        painter.setPen(QColor(tokens.muted))
        below = painter.fontMetrics().elidedText(_below(finding), Qt.TextElideMode.ElideRight, words.width())
        painter.drawText(words, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom), below)
        painter.restore()


_INKS = ("", "low", "medium", "high", "critical")


def _below(finding: Finding) -> str:
    return " \N{MIDDLE DOT} ".join(
        filter(None, (finding.level.name, phrases.line(finding.span), translated(finding.capability.value)))
    )


def _reference(finding: Finding) -> str:
    """Return where to read on: a technique of MITRE ATT&CK, or a weakness of the CWE list."""
    number = finding.reference
    if number.startswith("T"):
        return tr("MITRE ATT&CK technique {number}", number=number)
    return tr("Common weakness {number}", number=number) if number else ""


def _spoken(finding: Finding) -> str:
    where = ", ".join(filter(None, (finding.level.name, phrases.line(finding.span))))
    return f"{where}: {phrases.visible(engine_texts.in_words(finding.reason))}"
