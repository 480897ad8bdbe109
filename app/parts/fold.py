"""Folding where the window has little room for its text: parts go below each other, dialogs keep inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QDialog, QScrollArea, QSplitter, QStackedWidget, QWidget

from runner.model.translation import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from app.look.look import Look

_EDGE = 40
"""Pixels of the window that stay in sight around a dialog."""


class Folding(QSplitter):
    """Side by side, or below each other where it is narrower than `least`; then each part has the height it needs."""

    turned = Signal(bool)
    """True: now below each other."""

    def __init__(self, look: Look, least: int, heights: tuple[int, ...]) -> None:
        """`least` and `heights` grow with the text."""
        super().__init__(Qt.Orientation.Horizontal)
        self._look = look
        self._least = least
        self._heights = heights
        self.setChildrenCollapsible(False)

    @property
    def folded(self) -> bool:
        return self.orientation() is Qt.Orientation.Vertical

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        folded = self.width() < self._look.px(self._least)
        if folded == self.folded:
            return
        self.setOrientation(Qt.Orientation.Vertical if folded else Qt.Orientation.Horizontal)
        for number, height in enumerate(self._heights):
            if (part := self.widget(number)) is not None:
                part.setMinimumHeight(self._look.px(height) if folded else 0)
        self.turned.emit(folded)


class FoldingRow(QBoxLayout):
    """A row of parts that becomes a column when `fold` says so."""

    def __init__(self) -> None:
        super().__init__(QBoxLayout.Direction.LeftToRight)

    def fold(self, folded: bool) -> None:
        direction = QBoxLayout.Direction.TopToBottom if folded else QBoxLayout.Direction.LeftToRight
        if direction != self.direction():
            self.setDirection(direction)


class FoldingLine(QWidget):
    """Two parts in a line, the first as wide as there is room; or the second below it, at the right."""

    def __init__(self, first: QWidget, second: QWidget, spacing: int) -> None:
        super().__init__()
        self._first, self._second = first, second
        self._row = FoldingRow()
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(spacing)
        self._row.addWidget(first, 1)
        self._row.addWidget(second)
        self.setLayout(self._row)

    def minimumSizeHint(self) -> QSize:
        """Ask for the width of the wider part: the layout would ask for both before it is folded."""
        widest = max(self._first.minimumSizeHint().width(), self._second.sizeHint().width())
        return QSize(widest, super().minimumSizeHint().height())

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self._row.sizeHint().height())

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.LayoutRequest:
            self._fit()  # the words of a part are others
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        least = max(self._first.minimumWidth(), self._first.minimumSizeHint().width())
        folded = self.width() < least + self._row.spacing() + self._second.sizeHint().width()
        self._row.fold(folded)
        at_end = Qt.AlignmentFlag.AlignRight if folded else Qt.AlignmentFlag(0)
        if (item := self._row.itemAt(1)) is not None and item.alignment() != at_end:
            self._row.setAlignment(self._second, at_end)


class Pages(QStackedWidget):
    """A stack that needs no more room than the page on top does; a usual one needs what the largest does."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.currentChanged.connect(self.updateGeometry)

    def minimumSizeHint(self) -> QSize:
        page = self.currentWidget()
        return QSize(0, 0) if page is None else page.minimumSizeHint().expandedTo(page.minimumSize())

    def sizeHint(self) -> QSize:
        return self.minimumSizeHint()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        page = self.currentWidget()
        layout = page.layout() if page is not None else None
        if layout is None or not layout.hasHeightForWidth():
            return self.minimumSizeHint().height()
        only = layout.itemAt(0) if layout.count() == 1 else None
        if only is not None and isinstance(inner := only.widget(), Pages):
            # The layout would ask all pages of a stack inside.
            return max(self.minimumSizeHint().height(), inner.heightForWidth(width))
        return max(self.minimumSizeHint().height(), layout.minimumHeightForWidth(width))


class RoomOfPages(QWidget):
    """Holds `Pages` in a `Room`, which then scrolls for the page on top alone.

    A layout would ask the stack's own layout for its height, and that asks all pages that there are.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._pages: Pages | None = None

    def hold(self, pages: Pages) -> None:
        """Take in the pages, which are its children."""
        self._pages = pages
        pages.setGeometry(self.rect())

    def minimumSizeHint(self) -> QSize:
        if self._pages is None:
            return QSize(0, 0)
        least = self._pages.minimumSizeHint()
        return QSize(least.width(), max(least.height(), self._pages.heightForWidth(max(self.width(), least.width()))))

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.LayoutRequest:
            self.updateGeometry()  # a layout would pass it on
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._pages is not None:
            self._pages.setGeometry(self.rect())
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()


class Room(QScrollArea):
    """The place of the pages. Only where the text is too large for the window is there anything to scroll.

    `inside` is what scrolls; without it, `setWidget` takes one that was made a child of the viewport.
    """

    def __init__(self, inside: QWidget | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(tr("Page"))
        if inside is not None:
            self.setWidget(inside)


def keep_needed_height(part: QWidget) -> None:
    """Give a part of a splitter the height that its texts need at its width, which a splitter does not ask for."""
    layout = part.layout()
    if layout is not None and layout.hasHeightForWidth():
        part.setMinimumHeight(layout.totalMinimumHeightForWidth(max(1, part.width())))


def in_sight(widget: QWidget) -> bool:
    """Return whether any part of a widget can be seen; `reveal` brings it into view."""
    return not widget.visibleRegion().isEmpty()


def reveal(widget: QWidget) -> None:
    """Scroll everything around `widget` until it is in sight, and turn to the page that it is on."""
    inner, step = widget, widget.parentWidget()
    while step is not None:
        if isinstance(step, QScrollArea):
            step.ensureWidgetVisible(widget)
        elif isinstance(step, QStackedWidget) and step.indexOf(inner) >= 0:
            step.setCurrentWidget(inner)
        inner, step = step, step.parentWidget()


def reveal_end(widget: QWidget) -> None:
    """Scroll everything around `widget` until its lower edge is in sight."""
    step = widget.parentWidget()
    while step is not None:
        if isinstance(step, QScrollArea) and (inside := step.widget()) is not None:
            place = widget.mapTo(inside, QPoint(0, widget.height() - 1))
            step.ensureVisible(place.x(), place.y(), 0, 0)
        step = step.parentWidget()


def fit(dialog: QDialog, width: int, height: int) -> None:
    """Make `dialog` as large as wanted, and no larger than the window it stands over."""
    parent = dialog.parentWidget()
    room = QSize(width, height) if parent is None else parent.window().size() - QSize(_EDGE, _EDGE)
    dialog.resize(QSize(width, height).boundedTo(room))
